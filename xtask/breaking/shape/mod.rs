//! Validates the structure of a document: each keyword must have the type that OpenAPI requires.
//!
//! A value of another type would be ignored, and changes of ignored values would be missed. Keywords that [`keywords`]
//! does not list may have any type; they are compared as plain values. Shared objects are validated where they are
//! defined. References are followed only from path items, in which the siblings of `$ref` apply too.

pub(crate) mod keywords;

use contract::diagnostic::{Code, Diagnostic};
use contract::node::{Entry, Node, Value};
use contract::source::Span;

use self::keywords::ObjectKind;
use self::keywords::ValueType::{
    self, AnyList, AnyMap, Boolean, DiscriminatorMapping, ListOf, MapOf, Number, NumberOrBoolean, Object,
    Responses, StringList, StringListMap, StringValue, TypeNames,
};
use super::references;
use super::schema::is_annotation;
use super::schema::types::JsonTypes;

/// Reports an empty document, every value of the wrong type, every missing required keyword, every key of `paths` that
/// is not a path, and every keyword that a path item and the target of its reference both define.
pub(crate) fn check(root: &Node, diagnostics: &mut Vec<Diagnostic>) {
    let mut check = StructureCheck { root, diagnostics };
    check.check_object(root, root.span, ObjectKind::Document);
    let document_start = Span { start: root.span.start, end: root.span.start };
    if !["paths", "webhooks", "components"].iter().any(|keyword| root.get(keyword).is_some()) {
        check.diagnostics.push(Diagnostic::error(
            Code::MissingKeyword,
            document_start,
            "the document is empty: it has neither `paths` nor `webhooks` nor `components`",
            "specify the root document of the contract; a contract without operations has `paths: {}`",
        ));
    }
}

/// The state of a validation. The methods take a node and the position that is reported if the node itself is empty.
struct StructureCheck<'a> {
    root: &'a Node,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl StructureCheck<'_> {
    fn check_object(&mut self, node: &Node, span: Span, kind: ObjectKind) {
        let Some(entries) = node.entries() else {
            if kind != ObjectKind::Schema || !matches!(node.value, Value::Bool(_)) {
                let expected =
                    if kind == ObjectKind::Schema { "a mapping or a boolean" } else { "a mapping" };
                self.report_wrong_type(node, span, expected);
            }
            return;
        };
        if let Some(reference) = node.entry("$ref") {
            self.check_value(reference, StringValue);
            if kind == ObjectKind::PathItem {
                self.report_conflicting_keywords(node, entries);
            }
        } else {
            self.report_missing_keywords(node, span, kind);
        }
        let keywords = kind.keywords();
        for entry in entries {
            let key = entry.key.text.as_str();
            if key.starts_with("x-") || key == "$ref" {
                continue;
            }
            if kind == ObjectKind::Paths && !key.starts_with('/') {
                self.diagnostics.push(Diagnostic::error(
                    Code::UnknownKeyword,
                    entry.key.span,
                    format!("`{key}` is not a path: paths begin with `/`"),
                    format!("write `/{key}` for a path, or `x-{key}` for an extension"),
                ));
            }
            let keyword_type =
                keywords.iter().find(|(keyword, _)| *keyword == key).map(|(_, value_type)| *value_type);
            if let Some(value_type) = keyword_type.or(kind.default_value_type()) {
                self.check_value(entry, value_type);
            }
        }
    }

    /// Reports keywords that a path item and the target of its reference both define: OpenAPI leaves open which of them
    /// applies.
    fn report_conflicting_keywords(&mut self, node: &Node, entries: &[Entry]) {
        let reference_chain = references::reference_chain(self.root, node);
        let is_relevant = |key: &str| key != "$ref" && !is_annotation(key);
        for Entry { key, .. } in entries.iter().filter(|entry| is_relevant(&entry.key.text)) {
            if reference_chain.iter().skip(1).any(|target| target.entry(key).is_some()) {
                self.diagnostics.push(Diagnostic::error(
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

    fn report_missing_keywords(&mut self, node: &Node, span: Span, kind: ObjectKind) {
        for keyword in kind.required_keywords().iter().filter(|keyword| node.get(keyword).is_none()) {
            let kind_name = format!("{kind:?}").to_lowercase();
            self.diagnostics.push(Diagnostic::error(
                Code::MissingKeyword,
                span,
                format!("{kind_name} without `{keyword}`"),
                format!("add `{keyword}`"),
            ));
        }
    }

    fn check_value(&mut self, entry: &Entry, value_type: ValueType) {
        let (node, span) = (&entry.value, entry.key.span);
        match value_type {
            Object(kind) => self.check_object(node, span, kind),
            ListOf(kind) => match node.items() {
                Some(items) => items.iter().for_each(|item| self.check_object(item, item.span, kind)),
                None => self.report_wrong_type(node, span, "a list"),
            },
            // Extensions are allowed among responses; elsewhere a user-defined name may begin with `x-`.
            Responses => self.check_mapping(node, span, "a mapping", |check, entry| {
                if !entry.key.text.starts_with("x-") {
                    check.check_object(&entry.value, entry.key.span, ObjectKind::Response);
                }
            }),
            MapOf(kind) => self.check_mapping(node, span, "a mapping", |check, entry| {
                check.check_object(&entry.value, entry.key.span, kind);
            }),
            DiscriminatorMapping => self.check_mapping(node, span, "a mapping of strings", |check, entry| {
                check.check_value(entry, StringValue)
            }),
            StringListMap => self
                .check_mapping(node, span, "a mapping", |check, entry| check.check_value(entry, StringList)),
            AnyMap => self.check_mapping(node, span, "a mapping", |_, _| {}),
            StringList => match node.items() {
                Some(items) => items.iter().filter(|item| item.as_str().is_none()).for_each(|item| {
                    self.report_wrong_type(item, item.span, "a string");
                }),
                None => self.report_wrong_type(node, span, "a list of strings"),
            },
            TypeNames => match node.items() {
                Some(items) => items.iter().for_each(|item| self.check_type_name(item, item.span)),
                None => self.check_type_name(node, span),
            },
            AnyList | StringValue | Boolean | Number | NumberOrBoolean => {
                self.check_plain_value(node, span, value_type)
            }
        }
    }

    fn check_plain_value(&mut self, node: &Node, span: Span, value_type: ValueType) {
        let is_boolean = matches!(node.value, Value::Bool(_));
        let is_number = matches!(node.value, Value::Integer(_) | Value::Float(_));
        match value_type {
            AnyList if node.items().is_none() => self.report_wrong_type(node, span, "a list"),
            StringValue if node.as_str().is_none() => self.report_wrong_type(node, span, "a string"),
            Boolean if !is_boolean => self.report_wrong_type(node, span, "a boolean"),
            Number if !is_number => self.report_wrong_type(node, span, "a number"),
            NumberOrBoolean if !is_number && !is_boolean => {
                self.report_wrong_type(node, span, "a number or a boolean")
            }
            _ => {}
        }
    }

    fn check_mapping(
        &mut self,
        node: &Node,
        span: Span,
        expected: &str,
        check_entry: impl Fn(&mut Self, &Entry),
    ) {
        match node.entries() {
            Some(entries) => entries.iter().for_each(|entry| check_entry(self, entry)),
            None => self.report_wrong_type(node, span, expected),
        }
    }

    fn check_type_name(&mut self, node: &Node, span: Span) {
        match node.as_str() {
            Some(type_name) if JsonTypes::is_type_name(type_name) => {}
            Some(type_name) => self.diagnostics.push(Diagnostic::error(
                Code::WrongType,
                position_of(node, span),
                format!("`{type_name}` is not a type"),
                "expected string, number, integer, boolean, array, object or 'null'",
            )),
            None if matches!(node.value, Value::Null) => self.diagnostics.push(Diagnostic::error(
                Code::WrongType,
                position_of(node, span),
                "expected the name of a type, got null",
                "write 'null' in quotes for the type null",
            )),
            None => self.report_wrong_type(node, span, "the name of a type"),
        }
    }

    fn report_wrong_type(&mut self, node: &Node, span: Span, expected: &str) {
        self.diagnostics.push(Diagnostic::error(
            Code::WrongType,
            position_of(node, span),
            format!("expected {expected}, got {}", node.value.kind()),
            "correct the type: a value of another type would be ignored, and so would its changes",
        ));
    }
}

/// Returns the position of a value, or `fallback` if the value is empty.
fn position_of(node: &Node, fallback: Span) -> Span {
    if node.span.end > node.span.start { node.span } else { fallback }
}
