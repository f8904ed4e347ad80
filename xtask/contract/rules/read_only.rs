//! `readOnly` properties: schemas of requests must not contain any.
//!
//! The generator creates one type for requests and responses, so the server cannot reject the property in requests.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Operation, Schema, Shape};
use crate::source::Span;

/// Checks every schema that parameters and request bodies reach. Webhook bodies count as responses because the server
/// sends them.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let mut reported = BTreeSet::new();
    for operation in &document.operations {
        let mut checker = ReadOnlyChecker {
            document,
            operation,
            visited: BTreeSet::new(),
            reported: &mut reported,
            diagnostics,
        };
        operation.parameters.iter().for_each(|parameter| checker.check_schema(&parameter.schema));
        operation.body.iter().for_each(|body| checker.check_schema(&body.content.schema));
    }
}

struct ReadOnlyChecker<'a, 'f> {
    document: &'a Document,
    operation: &'a Operation,
    /// The names of the schemas visited so far.
    visited: BTreeSet<&'a str>,
    /// The reported spans. Each is reported for the first operation that reaches it.
    reported: &'f mut BTreeSet<Span>,
    diagnostics: &'f mut Vec<Diagnostic>,
}

impl<'a> ReadOnlyChecker<'a, '_> {
    fn check_schema(&mut self, schema: &'a Schema) {
        if let Some(span) = schema.read_only.filter(|span| self.reported.insert(*span)) {
            let id = &self.operation.id;
            self.diagnostics.push(
                Diagnostic::error(
                    Code::UnsupportedKeyword,
                    span,
                    format!("the request of `{}` contains a `readOnly` property", id.text),
                    "use a separate schema for requests, without the properties that only responses have",
                )
                .with_related(id.span, "this operation"),
            );
        }
        match &schema.shape {
            Shape::Reference(name) => self.check_named(name),
            Shape::Object(object) => {
                object.bases().for_each(|name| self.check_named(name));
                object.own_properties().for_each(|property| self.check_schema(&property.schema));
            }
            Shape::Array(array) => self.check_schema(&array.items),
            Shape::Map(map) => self.check_schema(&map.values),
            Shape::Union(union) => union.members.iter().for_each(|member| self.check_schema(&member.schema)),
            Shape::Any
            | Shape::String(_)
            | Shape::Enum(_)
            | Shape::IntegerEnum(_)
            | Shape::Integer(_)
            | Shape::Number(_)
            | Shape::Boolean => {}
        }
    }

    fn check_named(&mut self, name: &'a str) {
        if self.visited.insert(name)
            && let Some(schema) = self.document.schema(name)
        {
            self.check_schema(schema);
        }
    }
}
