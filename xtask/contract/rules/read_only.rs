//! What requests send: nothing there may say that only answers have it.
//!
//! A server that takes such a property from a request does what the contract forbids, and one type for both cannot tell.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Operation, Schema, Shape};
use crate::source::Span;

/// Judges every schema that the parameters and bodies of operations reach. Webhooks are answers in this: we send them.
pub(super) fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    let mut told = BTreeSet::new();
    for operation in &document.operations {
        let mut judge = Judge { document, operation, named: BTreeSet::new(), told: &mut told, findings };
        operation.parameters.iter().for_each(|parameter| judge.schema(&parameter.schema));
        operation.body.iter().for_each(|body| judge.schema(&body.content.schema));
    }
}

struct Judge<'a, 'f> {
    document: &'a Document,
    operation: &'a Operation,
    /// The schemas that were entered by their names.
    named: BTreeSet<&'a str>,
    /// The places that were reported, each at the first operation that reaches it.
    told: &'f mut BTreeSet<Span>,
    findings: &'f mut Vec<Diagnostic>,
}

impl<'a> Judge<'a, '_> {
    fn schema(&mut self, schema: &'a Schema) {
        if let Some(place) = schema.read_only.filter(|place| self.told.insert(*place)) {
            let id = &self.operation.id;
            self.findings.push(
                Diagnostic::error(
                    Code::UnsupportedKeyword,
                    place,
                    format!("`readOnly` stands in what `{}` is sent", id.text),
                    "give requests a schema of their own, without what only answers have",
                )
                .related(id.span, "this operation"),
            );
        }
        match &schema.shape {
            Shape::Reference(name) => self.named(name),
            Shape::Object(object) => {
                object.bases().for_each(|name| self.named(name));
                object.own().for_each(|property| self.schema(&property.schema));
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
