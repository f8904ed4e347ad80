//! `readOnly` properties: schemas of requests must not contain any.
//!
//! The generator creates one type for requests and responses, so that the server could not reject the property in
//! requests.

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
            named: BTreeSet::new(),
            reported: &mut reported,
            diagnostics,
        };
        operation.parameters.iter().for_each(|parameter| checker.schema(&parameter.schema));
        operation.body.iter().for_each(|body| checker.schema(&body.content.schema));
    }
}

struct ReadOnlyChecker<'a, 'f> {
    document: &'a Document,
    operation: &'a Operation,
    /// The names of the schemas visited so far.
    named: BTreeSet<&'a str>,
    /// The reported spans. Each is reported for the first operation that reaches it.
    reported: &'f mut BTreeSet<Span>,
    diagnostics: &'f mut Vec<Diagnostic>,
}

impl<'a> ReadOnlyChecker<'a, '_> {
    fn schema(&mut self, schema: &'a Schema) {
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
            Shape::Reference(name) => self.named(name),
            Shape::Object(object) => {
                object.bases().for_each(|name| self.named(name));
                object.own_properties().for_each(|property| self.schema(&property.schema));
            }
            Shape::Array(array) => self.schema(&array.items),
            Shape::Map(map) => self.schema(&map.values),
            Shape::Union(union) => union.members.iter().for_each(|member| self.schema(&member.schema)),
            Shape::Any
            | Shape::String(_)
            | Shape::Enum(_)
            | Shape::IntegerEnum(_)
            | Shape::Integer(_)
            | Shape::Number(_)
            | Shape::Boolean => {}
        }
    }

    fn named(&mut self, name: &'a str) {
        if self.named.insert(name)
            && let Some(schema) = self.document.schema(name)
        {
            self.schema(schema);
        }
    }
}
