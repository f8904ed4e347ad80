//! Parameters and headers: what can be sent as one text, or as a list of them.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Header, Location, Parameter, Schema, Shape};
use crate::source::Span;

/// Judges every parameter and every response header.
pub(super) fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    let mut judge = Judge { document, findings };
    for operation in &document.operations {
        operation.parameters.iter().for_each(|one| judge.parameter(one));
        operation.responses.iter().flat_map(|response| &response.headers).for_each(|one| judge.header(one));
    }
}

struct Judge<'a> {
    document: &'a Document,
    findings: &'a mut Vec<Diagnostic>,
}

impl Judge<'_> {
    fn parameter(&mut self, parameter: &Parameter) {
        let name = &parameter.name;
        if parameter.required
            && let Some(default) = &parameter.schema.default
        {
            let message = format!("`{}` is required and has a default", name.text);
            self.report(
                default.span,
                message,
                "take one of the two out: what is always sent needs no default",
            );
        }
        let Some(target) = self.document.resolve(&parameter.schema) else { return };
        let lists = [Location::Query, Location::Header].contains(&parameter.location);
        match &target.shape {
            Shape::Array(array) if lists => self.scalar(&name.text, &array.items, name.span),
            Shape::Array(_) => {
                let message =
                    format!("`{}` is a list, and is sent neither in the query nor as a header", name.text);
                self.report(name.span, message, "send the list in the query");
            }
            _ => self.scalar(&name.text, &parameter.schema, name.span),
        }
    }

    fn header(&mut self, header: &Header) {
        self.scalar(&header.name.text, &header.schema, header.name.span);
    }

    /// Reports a schema that is no single text.
    fn scalar(&mut self, name: &str, schema: &Schema, span: Span) {
        let Some(target) = self.document.resolve(schema) else { return };
        let what = match &target.shape {
            _ if schema.nullable || target.nullable => "may be null",
            Shape::String(_)
            | Shape::Enum(_)
            | Shape::IntegerEnum(_)
            | Shape::Integer(_)
            | Shape::Number(_)
            | Shape::Boolean => return,
            Shape::Array(_) => "holds a list",
            _ => "holds an object",
        };
        let message = format!("`{name}` {what}, and is sent as text");
        let help = "send scalars: a value that is absent is left out, one with fields belongs into a body";
        self.report(span, message, help);
    }

    /// Reports once what many operations share.
    fn report(&mut self, span: Span, message: String, help: &str) {
        if !self.findings.iter().any(|known| known.span == span && known.message == message) {
            self.findings.push(Diagnostic::error(Code::UnsupportedKeyword, span, message, help));
        }
    }
}
