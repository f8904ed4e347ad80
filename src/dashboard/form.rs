//! A form as it was sent, and what is wrong with it, field by field.
//!
//! The gate has read it and has held its token against the browser's before a page sees it.

use std::sync::Arc;

use poem::{FromRequest, Request, RequestBody};
use url::form_urlencoded;

use super::csrf;
use super::failure::Failure;
use domain::Fault;

/// The fields of a form, in the order in which they were sent. Absent on a request that is no form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Form(Arc<Vec<(String, String)>>);

impl Form {
    /// Reads the body of a form. NUL, which nobody types and no text of PostgreSQL holds, is read as what cannot be shown.
    pub(super) fn read(body: &[u8]) -> Self {
        let text = |text: &str| text.replace('\0', "\u{fffd}");
        let fields = form_urlencoded::parse(body).map(|(field, value)| (text(&field), text(&value)));
        Self(Arc::new(fields.collect()))
    }

    /// A field's first value; empty when there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// All values of a field: ticked boxes, chosen rows.
    pub(crate) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Whether a field has this value among its values.
    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|given| given == value)
    }

    /// Which form of all this is: other for each page that shows one, the same when it is sent again.
    pub(super) fn nonce(&self) -> Option<[u8; 16]> {
        csrf::nonce(self.text(csrf::FIELD))
    }

    /// A field's whole number; `None` when it is empty, a fault when it is something else.
    pub(crate) fn number(&self, name: &str, faults: &mut Faults) -> Option<i32> {
        let text = self.text(name).trim();
        if text.is_empty() {
            return None;
        }
        let number = text.parse().ok();
        if number.is_none() {
            faults.add(name, "must be a whole number");
        }
        number
    }
}

impl<'a> FromRequest<'a> for Form {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let form = request.extensions().get::<Self>().cloned();
        let missing = || Failure::Internal(anyhow::anyhow!("a form was asked for beside the gate"));
        Ok(form.ok_or_else(missing)?)
    }
}

/// What is wrong with a form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    /// One more; the message goes on after the field's name: "must be a whole number".
    pub(crate) fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault { field: field.into(), message: message.into() });
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is wrong with a field, or with one of its parts (`tags/2` is a part of `tags`).
    pub(crate) fn of(&self, field: &str) -> Option<&str> {
        let inside = |fault: &&Fault| {
            fault.field.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.0.iter().find(inside).map(|fault| fault.message.as_str())
    }
}

impl From<Vec<Fault>> for Faults {
    fn from(faults: Vec<Fault>) -> Self {
        Self(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_as_it_was_sent() {
        let form = Form::read(b"name=A+%26+B&scope=x&scope=y&n=+12&bad=1x&none=");
        assert_eq!(form.text("name"), "A & B");
        assert_eq!(form.all("scope").collect::<Vec<_>>(), ["x", "y"]);
        assert!(form.has("scope", "y") && !form.has("scope", "z"));
        assert_eq!(form.text("absent"), "");
        let mut faults = Faults::default();
        assert_eq!((form.number("n", &mut faults), form.number("none", &mut faults)), (Some(12), None));
        assert!(faults.is_empty());
        assert_eq!(form.number("bad", &mut faults), None);
        assert_eq!(faults.of("bad"), Some("must be a whole number"));
        assert_eq!(Form::read(b"q=a%00b").text("q"), "a\u{fffd}b");
    }

    #[test]
    fn a_fault_stands_at_its_field() {
        let mut faults = Faults::default();
        faults.add("tags/2", "must not be given twice");
        assert_eq!(faults.of("tags"), Some("must not be given twice"));
        assert_eq!((faults.of("tag"), faults.of("tags/1")), (None, None));
    }
}
