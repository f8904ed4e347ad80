//! The place of a change, and its names in texts.

use contract::plain_text::plain_text;

use super::super::markdown::code;
use super::examples::is_alternative;
use super::objects::LOCATIONS;
use super::templates::{MEMBERS_ADDED, MEMBERS_REMOVED};
use crate::compare::AffectedOperation;
use crate::finding::Finding;

/// The place of a change in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The part, such as `body`, `query limit`, `200` or `200 header Link`; empty for the operation itself.
    pub part: String,
    /// The steps within the part.
    pub steps: Vec<String>,
}

impl Place {
    /// Returns the place of a finding. Parameters, headers and bodies that only one document has are in its details.
    pub(super) fn of(finding: &Finding, affected: &AffectedOperation) -> Self {
        let (part, details) = (affected.part.as_str(), finding.details.as_str());
        let part = match finding.id.as_str() {
            "request-body-added-required" | "request-body-became-required" | "request-body-removed" => "body",
            "webhook-payload-removed" | "webhook-payload-became-optional" => "payload",
            "required-response-header-removed" | "optional-response-header-removed" => {
                &format!("{part} header {details}")
            }
            "new-required-request-parameter" | "new-required-request-default-parameter-to-existing-path" => {
                details
            }
            id if id.starts_with("request-parameter-removed") => details,
            _ => part,
        };
        Self { part: part.trim_start().to_owned(), steps: affected.steps.clone() }
    }

    /// Returns the object whose members a finding adds or removes, and the name of the member: that of the parameters of an
    /// operation is their location, such as `query`. Returns `None` for other findings.
    pub(super) fn object_of(finding: &Finding, affected: &AffectedOperation) -> Option<(Self, String)> {
        if ![MEMBERS_ADDED, MEMBERS_REMOVED].concat().contains(&finding.id.as_str()) {
            return None;
        }
        let mut place = Self::of(finding, affected);
        if let Some(name) = place.steps.pop() {
            return Some((place, name));
        }
        let (location, name) = place.part.split_once(' ')?;
        Some((Self { part: location.to_owned(), steps: Vec::new() }, name.to_owned()))
    }

    /// Returns the place of a member of this object.
    pub(super) fn member(&self, name: &str) -> Self {
        Self { part: self.part.clone(), steps: [&*self.steps, &[name.to_owned()]].concat() }
    }

    /// Splits the steps before the last field: its name, and the steps to its items and alternatives.
    fn split(&self) -> (&[String], &[String]) {
        let is_name = |step: &String| !step.starts_with('[') && !is_alternative(step);
        self.steps.split_at(self.steps.iter().rposition(is_name).unwrap_or(0))
    }

    /// Returns the name of the parameter, header or field, if it has one.
    pub(super) fn name(&self) -> Option<&str> {
        let parameter = || Some(self.part.rsplit_once(' ')?.1);
        self.split().1.first().map(String::as_str).or_else(parameter)
    }

    /// Returns the changed object with an article, for example ``the query parameter `limit` ``.
    pub(super) fn subject(&self, whole: &str) -> String {
        if let Some(field) = path(self.split().1) {
            return format!("the field {field}");
        }
        let name = |name: &str| code(&plain_text(name));
        match (self.part.as_str(), self.part.split_once(' ')) {
            ("", _) => whole.to_owned(),
            ("body", _) => "the request body".to_owned(),
            ("payload", _) => "the body of the event".to_owned(),
            (_, Some(("header", header))) => format!("the header {}", name(header)),
            (_, Some((location @ ("query" | "path" | "cookie"), parameter))) => {
                format!("the {location} parameter {}", name(parameter))
            }
            (part, Some(_)) => match part.split_once(" header ") {
                Some((_, header)) => format!("the header {}", name(header)),
                None => format!("the part {}", name(part)),
            },
            (status, None) => format!("the body of response {}", plain_text(status)),
        }
    }

    /// Returns the location of the subject in the operation, for example ``response 200, `data[]` ``; empty if the subject names
    /// it.
    pub(super) fn location(&self) -> String {
        let (outer, subject) = self.split();
        let (status, is_header) = match self.part.split_once(" header ") {
            Some((status, _)) => (status, true),
            None => (self.part.as_str(), false),
        };
        let part = match status {
            _ if subject.is_empty() && !is_header => String::new(),
            "body" => "request body".to_owned(),
            "payload" => "event".to_owned(),
            parameter if parameter.contains(' ') => {
                Self { part: self.part.clone(), steps: Vec::new() }.subject("")[4..].to_owned()
            }
            location if location.is_empty() || LOCATIONS.contains(&location) => String::new(),
            status => format!("response {}", plain_text(status)),
        };
        [part, path(outer).unwrap_or_default()].join(", ").trim_matches([',', ' ']).to_owned()
    }
}

/// Returns the path of fields, for example `` `data[].title` ``.
fn path(steps: &[String]) -> Option<String> {
    let mut path = String::new();
    for step in steps.iter().filter(|step| !is_alternative(step)) {
        path += if path.is_empty() || step.starts_with('[') { "" } else { "." };
        path += step;
    }
    (!path.is_empty()).then(|| code(&plain_text(&path)))
}
