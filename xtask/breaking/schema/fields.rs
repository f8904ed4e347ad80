//! What a property must meet, by its name: in each text the schema that names it and those whose pattern it matches, or else
//! the one for all others.
//!
//! Owns which schemas speak of a name. It never compares.

use std::collections::BTreeSet;

use contract::node::{Entry, Node, Value};
use regex::Regex;

use super::view::{Parts, Text, View, says_nothing};

/// What a property must meet.
#[derive(Clone, Debug)]
pub(super) struct Field<'n> {
    /// The schemas.
    pub parts: Parts<'n>,
    /// Whether it is named.
    pub named: bool,
}

impl Field<'_> {
    /// Whether it can never be there.
    pub(super) fn is_refused(&self) -> bool {
        self.parts.nodes.iter().any(|node| matches!(node.value, Value::Bool(false)))
    }

    /// Whether all is valid.
    pub(super) const fn is_free(&self) -> bool {
        self.parts.nodes.is_empty()
    }
}

/// The properties of a schema.
pub(super) struct Fields<'a, 'n> {
    view: &'a View<'n>,
    texts: Vec<OfText<'n>>,
}

/// What one text says of properties.
struct OfText<'n> {
    named: Option<&'n Node>,
    patterns: Vec<(Regex, &'n Node)>,
    others: Option<&'n Node>,
}

impl<'n> OfText<'n> {
    fn of(text: Text<'_, 'n>) -> Option<Self> {
        let value = |keyword| text.entry(keyword).map(|entry| &entry.value);
        let (named, patterns, others) =
            (value("properties"), value("patternProperties"), value("additionalProperties"));
        named.or(patterns).or(others)?;
        let patterns = patterns.and_then(Node::entries).unwrap_or_default();
        // A pattern that cannot be read matches nothing that is known by name.
        let read = |entry: &'n Entry| Some((Regex::new(&entry.key.text).ok()?, &entry.value));
        Some(Self { named, patterns: patterns.iter().filter_map(read).collect(), others })
    }
}

impl<'a, 'n> Fields<'a, 'n> {
    /// Gathers them.
    pub(super) fn of(view: &'a View<'n>) -> Self {
        Self { view, texts: view.texts().filter_map(OfText::of).collect() }
    }

    /// The names that there are.
    pub(super) fn names(&self) -> BTreeSet<&'n str> {
        let named = self.texts.iter().filter_map(|text| text.named?.entries()).flatten();
        named.map(|entry| entry.key.text.as_str()).collect()
    }

    /// A property by its name.
    pub(super) fn get(&self, name: &str) -> Field<'n> {
        let mut field = Field { parts: Parts::any(self.view.place("properties")), named: false };
        let mut evaluated = false;
        for text in &self.texts {
            let own = text.named.and_then(|named| named.entry(name));
            if let Some(own) = own.filter(|_| !field.named) {
                field.parts.at = own.key.span;
            }
            field.named |= own.is_some();
            let own = own.map(|entry| &entry.value);
            let by_pattern = text.patterns.iter().filter(|(regex, _)| regex.is_match(name));
            let mut found: Vec<&Node> = own.into_iter().chain(by_pattern.map(|(_, node)| *node)).collect();
            if found.is_empty() {
                found.extend(text.others);
            }
            evaluated |= !found.is_empty();
            field.parts.nodes.extend(found.into_iter().filter(|node| !says_nothing(node)));
        }
        if !evaluated {
            let rest = self.view.parts("unevaluatedProperties");
            field.parts.nodes.extend(rest.into_iter().flat_map(|parts| parts.nodes));
        }
        field
    }
}
