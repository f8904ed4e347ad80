//! Validates the structure of a document: each keyword must have the type that OpenAPI requires.
//!
//! A value of another type would be ignored, and changes of ignored values are not found. Keywords that [`keywords`] does not
//! list may have any type; they are compared as plain values. Shared objects are validated where they are defined. References
//! are followed only from path items, whose siblings of `$ref` apply too.

mod keywords;

use contract::diagnostic::{Code, Diagnostic};
use contract::node::{Entry, Node, Value};
use contract::source::Span;

use self::keywords::ObjectKind;
use self::keywords::ValueType::{
    self, AnyList, AnyMap, Boolean, ListOf, MapOf, Number, NumberOrBoolean, Object, Responses, StringList,
    StringListMap, StringMap, StringValue, TypeNames,
};
use super::references;
use super::schema::is_annotation;
use super::schema::types::JsonTypes;

/// Reports every value of the wrong type.
pub(crate) fn check(root: &Node, findings: &mut Vec<Diagnostic>) {
    let mut check = StructureCheck { root, findings };
    check.object(root, root.span, ObjectKind::Document);
    let top = Span { start: root.span.start, end: root.span.start };
    if !["paths", "webhooks", "components"].iter().any(|keyword| root.get(keyword).is_some()) {
        check.findings.push(Diagnostic::error(
            Code::MissingKeyword,
            top,
            "the document is empty: it has neither `paths` nor `webhooks` nor `components`",
            "specify the root document of the contract; a contract without operations has `paths: {}`",
        ));
    }
}

struct StructureCheck<'a> {
    root: &'a Node,
    findings: &'a mut Vec<Diagnostic>,
}

impl StructureCheck<'_> {
    fn object(&mut self, node: &Node, at: Span, kind: ObjectKind) {
        let Some(entries) = node.entries() else {
            if kind != ObjectKind::Schema || !matches!(node.value, Value::Bool(_)) {
                let expected =
                    if kind == ObjectKind::Schema { "a mapping or a boolean" } else { "a mapping" };
                self.wrong_type(node, at, expected);
            }
            return;
        };
        if let Some(reference) = node.entry("$ref") {
            self.value_type(reference, StringValue);
            if kind == ObjectKind::PathItem {
                self.conflicting_keywords(node, entries);
            }
        } else {
            self.require_keywords(node, at, kind);
        }
        let keywords = kind.keywords();
        for entry in entries {
            let key = entry.key.text.as_str();
            if key.starts_with("x-") || key == "$ref" {
                continue;
            }
            if kind == ObjectKind::Paths && !key.starts_with('/') {
                self.findings.push(Diagnostic::error(
                    Code::UnknownKeyword,
                    entry.key.span,
                    format!("`{key}` is not a path: paths begin with `/`"),
                    format!("write `/{key}` for a path, or `x-{key}` for an extension"),
                ));
            }
            let known =
                keywords.iter().find(|(keyword, _)| *keyword == key).map(|(_, value_type)| *value_type);
            if let Some(value_type) = known.or(kind.default_value_type()) {
                self.value_type(entry, value_type);
            }
        }
    }

    /// Reports keywords that a path item and the target of its reference both define: OpenAPI leaves open which of them
    /// applies.
    fn conflicting_keywords(&mut self, node: &Node, entries: &[Entry]) {
        let reference_chain = references::reference_chain(self.root, node);
        let counts = |key: &str| key != "$ref" && !is_annotation(key);
        for Entry { key, .. } in entries.iter().filter(|entry| counts(&entry.key.text)) {
            if reference_chain.iter().skip(1).any(|text| text.entry(key).is_some()) {
                self.findings.push(Diagnostic::error(
                    Code::DuplicateKey,
                    key.span,
                    format!(
                        "`{}` is defined next to the reference and in its target; which of them applies is undefined",
                        key.text
                    ),
                    "define it in one of them only",
                ));
            }
        }
    }

    fn require_keywords(&mut self, node: &Node, at: Span, kind: ObjectKind) {
        for keyword in kind.required_keywords().iter().filter(|keyword| node.get(keyword).is_none()) {
            let kind_name = format!("{kind:?}").to_lowercase();
            self.findings.push(Diagnostic::error(
                Code::MissingKeyword,
                at,
                format!("{kind_name} without `{keyword}`"),
                format!("add `{keyword}`"),
            ));
        }
    }

    fn value_type(&mut self, entry: &Entry, value_type: ValueType) {
        let (node, at) = (&entry.value, entry.key.span);
        match value_type {
            Object(kind) => self.object(node, at, kind),
            ListOf(kind) => match node.items() {
                Some(items) => items.iter().for_each(|item| self.object(item, item.span, kind)),
                None => self.wrong_type(node, at, "a list"),
            },
            // Extensions are allowed among responses; elsewhere a user-defined name may begin with `x-`.
            Responses => self.named(node, at, "a mapping", |check, entry| {
                if !entry.key.text.starts_with("x-") {
                    check.object(&entry.value, entry.key.span, ObjectKind::Response);
                }
            }),
            MapOf(kind) => self.named(node, at, "a mapping", |check, entry| {
                check.object(&entry.value, entry.key.span, kind);
            }),
            StringMap => self
                .named(node, at, "a mapping of strings", |check, entry| check.value_type(entry, StringValue)),
            StringListMap => {
                self.named(node, at, "a mapping", |check, entry| check.value_type(entry, StringList))
            }
            AnyMap => self.named(node, at, "a mapping", |_, _| {}),
            StringList => match node.items() {
                Some(items) => items.iter().filter(|item| item.as_str().is_none()).for_each(|item| {
                    self.wrong_type(item, item.span, "a string");
                }),
                None => self.wrong_type(node, at, "a list of strings"),
            },
            TypeNames => match node.items() {
                Some(items) => items.iter().for_each(|item| self.type_name(item, item.span)),
                None => self.type_name(node, at),
            },
            AnyList | StringValue | Boolean | Number | NumberOrBoolean => self.plain(node, at, value_type),
        }
    }

    fn plain(&mut self, node: &Node, at: Span, value_type: ValueType) {
        let is_flag = matches!(node.value, Value::Bool(_));
        let is_number = matches!(node.value, Value::Integer(_) | Value::Float(_));
        match value_type {
            AnyList if node.items().is_none() => self.wrong_type(node, at, "a list"),
            StringValue if node.as_str().is_none() => self.wrong_type(node, at, "a string"),
            Boolean if !is_flag => self.wrong_type(node, at, "a boolean"),
            Number if !is_number => self.wrong_type(node, at, "a number"),
            NumberOrBoolean if !is_number && !is_flag => self.wrong_type(node, at, "a number or a boolean"),
            _ => {}
        }
    }

    fn named(
        &mut self,
        node: &Node,
        at: Span,
        expected: &str,
        default_value_type: impl Fn(&mut Self, &Entry),
    ) {
        match node.entries() {
            Some(entries) => entries.iter().for_each(|entry| default_value_type(self, entry)),
            None => self.wrong_type(node, at, expected),
        }
    }

    fn type_name(&mut self, node: &Node, at: Span) {
        match node.as_str() {
            Some(type_name) if JsonTypes::is_type_name(type_name) => {}
            Some(type_name) => self.findings.push(Diagnostic::error(
                Code::WrongType,
                position_of(node, at),
                format!("`{type_name}` is not a type"),
                "expected string, number, integer, boolean, array, object or 'null'",
            )),
            None if matches!(node.value, Value::Null) => self.findings.push(Diagnostic::error(
                Code::WrongType,
                position_of(node, at),
                "expected the name of a type, got null",
                "write 'null' in quotes for the type null",
            )),
            None => self.wrong_type(node, at, "the name of a type"),
        }
    }

    fn wrong_type(&mut self, node: &Node, at: Span, expected: &str) {
        self.findings.push(Diagnostic::error(
            Code::WrongType,
            position_of(node, at),
            format!("expected {expected}, got {}", node.value.kind()),
            "correct the type: a value of another type would be ignored, and so would its changes",
        ));
    }
}

/// Returns the position of a value, or `at` if the value is empty.
fn position_of(node: &Node, at: Span) -> Span {
    if node.span.end > node.span.start { node.span } else { at }
}
