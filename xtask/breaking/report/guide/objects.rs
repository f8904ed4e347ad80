//! Members that an object lost and gained: the properties of a schema, or the parameters of an operation in one location.

use contract::node::{Node, Value};
use contract::plain_text::plain_text;

use super::super::markdown::code;
use super::diff::{MAX_LINE, diff, summarized};
use super::entries::{GuideEntry, advice, direction};
use super::examples::{Examples, declared_names, entry, value_at};
use super::messages::{Operation, Part, value};
use super::place::Place;
use super::templates::{
    MEMBERS_ADDED, PAGING_ADVICE, PAGING_NAMES, RENAMED_IN_REQUESTS, RENAMED_IN_RESPONSES, SAME_TYPE,
};
use super::{Guide, Sides, list};
use crate::document::IndexedDocument;
use crate::rule::Direction;
use crate::schema::proof::DocumentSide::{Base, Revision};
use crate::schema::proof::{DocumentSide, Operand, Proof};
use crate::schema::types::JsonTypes;
use crate::schema::view::SchemaParts;

/// The locations of parameters.
pub(super) const LOCATIONS: [&str; 4] = ["query", "path", "header", "cookie"];

/// A member of an object.
struct Member<'n> {
    name: &'n str,
    part: Part<'n>,
    is_required: bool,
}

/// The members of an object that changed.
struct ObjectChange<'g, 'n> {
    guide: &'g Guide<'n>,
    sides: &'g Sides<'n>,
    direction: Direction,
    object: &'g Place,
    /// Members that have another name in the revision.
    renamed: Vec<(Member<'n>, Member<'n>)>,
    removed: Vec<Member<'n>>,
    added: Vec<Member<'n>>,
}

/// Describes the members that an object lost and gained.
pub(super) fn describe(guide: &Guide<'_>, change: &mut GuideEntry<'_>) {
    let first = change.findings[0];
    let Some(affected) = guide.first_affected(first) else { return };
    let Some((object, _)) = Place::object_of(first, affected) else { return };
    let noun = match object.part.as_str() {
        "header" => "header",
        location if LOCATIONS.contains(&location) => &format!("{location} parameter"),
        _ => "field",
    };
    let named = |names: &[String]| {
        let (ending, was) = if names.len() > 1 { ("s", "were") } else { ("", "was") };
        let names: Vec<String> = names.iter().map(|name| code(&plain_text(name))).collect();
        (format!("the {noun}{ending} {}", list(&names)), was)
    };
    let sides = guide.sides(&affected.operation, &object.part);
    let object_change =
        sides.as_ref().map(|sides| ObjectChange::new(guide, sides, direction(first), &object));
    let renamed = object_change.as_ref().map_or(&[][..], |change| &change.renamed);
    // The names of the members, and the advice about them.
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for finding in &change.findings {
        let member = finding.operations.first().and_then(|affected| Place::object_of(finding, affected));
        let Some((_, name)) = member else { continue };
        if renamed.iter().any(|(old, new)| old.is(&name) || new.is(&name)) {
            continue;
        }
        let is_added = MEMBERS_ADDED.contains(&finding.id.as_str());
        let is_paging = !is_added && PAGING_NAMES.contains(&name.as_str());
        let advice = if is_paging { PAGING_ADVICE } else { advice(finding) };
        (if is_added { &mut added } else { &mut removed }).push((advice, name));
    }
    let mut clauses = Vec::new();
    let mut advice = Vec::new();
    if let Some(((old, new), others)) = renamed.split_first() {
        let pair = |(old, new): &(Member<'_>, Member<'_>)| format!("{} to {}", old.code(), new.code());
        let first_pair = format!("{} was renamed to {}", old.code(), new.code());
        let pairs: Vec<String> = [first_pair].into_iter().chain(others.iter().map(pair)).collect();
        let noun = if noun == "field" { String::new() } else { format!("the {noun} ") };
        clauses.push(format!("{noun}{} (same type)", list(&pairs)));
        let names: Vec<String> = renamed.iter().map(|(_, new)| new.name.to_owned()).collect();
        let template = if first.is_about_requests { RENAMED_IN_REQUESTS } else { RENAMED_IN_RESPONSES };
        advice.push(template.replace("{what}", &named(&names).0));
    }
    for (members, clause) in [(&removed, "removed"), (&added, "added and must be sent")] {
        let names: Vec<String> = members.iter().map(|(_, name)| name.clone()).collect();
        if !names.is_empty() {
            let (names, was) = named(&names);
            clauses.push(format!("{names} {was} {clause}"));
        }
        for members in members.chunk_by(|left: &(&str, String), right| left.0 == right.0) {
            let names: Vec<String> = members.iter().map(|(_, name)| name.clone()).collect();
            advice.push(guide.fill(members[0].0, first, &named(&names).0));
        }
    }
    change.change = clauses.join("; ");
    change.advice = advice.join(" ");
    let block = object_change.as_ref().and_then(ObjectChange::example);
    change.example = block.or_else(|| guide.contract_lines(first)).unwrap_or_default();
    change.facts = object_change.map(|change| change.facts()).unwrap_or_default();
}

impl Member<'_> {
    /// Whether the member has a name. Findings have the names of headers in lowercase.
    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    fn code(&self) -> String {
        code(&plain_text(self.name))
    }
}

impl<'g, 'n> ObjectChange<'g, 'n> {
    fn new(guide: &'g Guide<'n>, sides: &'g Sides<'n>, direction: Direction, object: &'g Place) -> Self {
        let examples = guide.examples(direction);
        let members = |side, document, operation: Option<Operation<'n>>, part: &Option<Part<'n>>| match part {
            Some(part) => properties(&examples, side, part, object),
            None => operation.map(|operation| parameters(document, operation, object)).unwrap_or_default(),
        };
        let mut removed = members(Base, &guide.base, Some(sides.old), &sides.base);
        let mut added = members(Revision, &guide.revision, sides.new, &sides.revision);
        let names: Vec<&str> = removed.iter().map(|member| member.name).collect();
        removed.retain(|old| !added.iter().any(|new| new.name == old.name));
        added.retain(|new| !names.contains(&new.name));
        // A new name of a member differs only in case and separators, and has the same type.
        let normalized = |member: &Member<'_>| member.name.to_lowercase().replace(['_', '-'], "");
        let is_renamed = |old: &Member<'n>, new: &Member<'n>| {
            let operand = |side, member: &Member<'n>| Operand::new(side, member.part.schema.clone());
            normalized(old) == normalized(new)
                && Proof::new(&guide.base, &guide.revision, &guide.proofs, direction)
                    .are_equivalent(&operand(Base, old), &operand(Revision, new))
        };
        let mut renamed = Vec::new();
        for old in std::mem::take(&mut removed) {
            match added.iter().position(|new| is_renamed(&old, new)) {
                Some(index) => renamed.push((old, added.remove(index))),
                None => removed.push(old),
            }
        }
        Self { guide, sides, direction, object, renamed, removed, added }
    }

    /// Returns sentences on the types of the members that were removed and added, and on the parameters that remain.
    fn facts(&self) -> String {
        let type_of = |side, member: &Member<'n>| {
            type_name(&self.guide.examples(self.direction), side, &member.part.schema, 0)
        };
        let described = |side, members: &[Member<'n>]| {
            let optional = |member: &Member<'_>| if member.is_required { "" } else { ", optional" };
            let one = |member: &Member<'n>| {
                format!("{} ({}{})", member.code(), type_of(side, member), optional(member))
            };
            members.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let mut facts = Vec::new();
        let is_location = LOCATIONS.contains(&self.object.part.as_str());
        if !self.removed.is_empty() && !self.added.is_empty() {
            facts.push(format!("Removed: {}.", described(Base, &self.removed)));
        }
        if !self.added.is_empty() && self.removed.len() + self.renamed.len() > 0 {
            let object = if is_location { "" } else { " in the same object" };
            facts.push(format!("Added{object}: {}.", described(Revision, &self.added)));
        }
        for new in &self.added {
            let type_of_new = type_of(Revision, new);
            // Only types with a name say that two members have the same meaning.
            let is_same = |old: &&Member<'n>| type_of_new.contains('`') && type_of(Base, old) == type_of_new;
            if let Some(old) = self.removed.iter().find(is_same) {
                facts.push(SAME_TYPE.replace("{new}", &new.code()).replace("{old}", &old.code()));
            }
        }
        if let Some(new) = self.sides.new.filter(|_| is_location && !self.removed.is_empty()) {
            let names = new.parameters(&self.guide.revision, &self.object.part).into_iter();
            let names: Vec<String> = names.map(|(name, _)| code(&plain_text(name))).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            facts.push(format!("The {} parameters of the new version: {names}.", self.object.part));
        }
        facts.join(" ")
    }

    /// Renders the object before and after the change.
    fn example(&self) -> Option<String> {
        match &self.sides.base {
            Some(part) => self.bodies(part),
            None => self.requests(),
        }
    }

    fn bodies(&self, part: &Part<'n>) -> Option<String> {
        let examples = self.guide.examples(self.direction);
        let mut root = examples.example(Base, part)?;
        for old in self.removed.iter().chain(self.renamed.iter().map(|(old, _)| old)) {
            root = examples.with_value(Base, part, root, &self.object.member(old.name).steps)?;
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut position = None;
        for old in value_at(&root, &self.object.steps)?.entries()? {
            let name = &old.key.text;
            if self.removed.iter().any(|member| member.name == name) {
                before.push(entry(name, summarized(&old.value)));
                position.get_or_insert(after.len());
            } else {
                let renamed = self.renamed.iter().find(|(member, _)| member.name == name);
                before.push(old.clone());
                after.push(entry(renamed.map_or(name, |(_, new)| new.name), old.value.clone()));
            }
        }
        let mut added = Vec::new();
        for new in &self.added {
            let steps = self.object.member(new.name).steps;
            // Each value has the full limit of schemas.
            let examples = self.guide.examples(self.direction);
            let value = examples.value(Revision, self.sides.revision.as_ref()?, &steps)?;
            added.push(entry(new.name, summarized(&value)));
        }
        let position = position.unwrap_or(after.len());
        after.splice(position..position, added);
        let lines = |entries| {
            let object = Some(Node::without_span(Value::Mapping(entries)));
            let root = examples.replace(
                Base,
                part.schema.clone(),
                Some(root.clone()),
                &self.object.steps,
                object,
            )??;
            Some(self.sides.old.message(&self.object.part, Some(part), Some(&root)))
        };
        diff(&lines(before)?, &lines(after)?)
    }

    fn requests(&self) -> Option<String> {
        let examples = self.guide.examples(self.direction);
        let lines = |parameters: &[(&str, Node)]| {
            let parameters: Vec<(&str, &Node)> =
                parameters.iter().map(|(name, value)| (*name, value)).collect();
            self.sides.old.request(&self.object.part, &parameters)
        };
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (old, new) in &self.renamed {
            let value = examples.example(Base, &old.part)?;
            before.push((old.name, value.clone()));
            after.push((new.name, value));
        }
        for new in self.added.iter().filter(|new| new.is_required) {
            after.push((new.name, examples.example(Revision, &new.part)?));
        }
        for old in &self.removed {
            before.push((old.name, examples.example(Base, &old.part)?));
            // The example shows as many parameters as fit in a line.
            if before.len() > 1 && lines(&before).iter().any(|line| line.len() > MAX_LINE) {
                before.pop();
            }
        }
        diff(&lines(&before), &lines(&after))
    }
}

/// Returns the properties of an object in a message.
fn properties<'n>(
    examples: &Examples<'_, 'n>,
    side: DocumentSide,
    part: &Part<'n>,
    object: &Place,
) -> Vec<Member<'n>> {
    let Some(view) = examples.view_at(side, part, &object.steps) else { return Vec::new() };
    let (required, mut schemas) = (view.required(), view.properties());
    let member = |name: &'n str| {
        let part = Part { schema: schemas.remove(name)?, example: None, media_type: None };
        Some(Member { name, part, is_required: required.contains_key(name) })
    };
    declared_names(&view).into_iter().filter_map(member).collect()
}

/// Returns the parameters of an operation in a location.
fn parameters<'n>(
    document: &IndexedDocument<'n>,
    operation: Operation<'n>,
    object: &Place,
) -> Vec<Member<'n>> {
    let is_true = |node: &Node| matches!(node.value, Value::Bool(true));
    let member = |(name, node): (&'n str, &'n Node)| Member {
        name,
        part: value(document, node),
        is_required: node.get("required").is_some_and(is_true),
    };
    operation.parameters(document, &object.part).into_iter().map(member).collect()
}

/// Returns the type of a schema in words, such as ``array of `Course` ``.
fn type_name<'n>(
    examples: &Examples<'_, 'n>,
    side: DocumentSide,
    schema: &SchemaParts<'n>,
    nesting: usize,
) -> String {
    let view = examples.view(side, schema);
    let name = match (view.name, view.parts("items")) {
        (_, Some(items)) if view.types == JsonTypes::ARRAY && nesting < 2 => {
            format!("array of {}", type_name(examples, side, &items, nesting + 1))
        }
        (Some(name), _) if view.types.contains(JsonTypes::OBJECT) => code(&plain_text(name)),
        _ => view.types.to_string(),
    };
    if view.accepts_null && !view.types.is_any() { name + " or null" } else { name }
}
