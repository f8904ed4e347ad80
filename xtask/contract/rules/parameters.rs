//! Parameters and response headers: values must be scalars. Query and header parameters can also be lists of scalars. A
//! required parameter has no default.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Header, Parameter, ParameterLocation, Schema, Shape};
use crate::source::Span;

/// Checks every parameter and every response header.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let mut checker = ParameterChecker { document, diagnostics };
    for operation in &document.operations {
        operation.parameters.iter().for_each(|parameter| checker.check_parameter(parameter));
        operation
            .responses
            .iter()
            .flat_map(|response| &response.headers)
            .for_each(|header| checker.check_header(header));
    }
}

/// The kind of the values of a parameter, a header or an item.
enum ValueKind {
    Scalar,
    Nullable,
    List,
    Object,
    /// Several types, or any type.
    Several,
}

struct ParameterChecker<'a> {
    document: &'a Document,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl ParameterChecker<'_> {
    fn check_parameter(&mut self, parameter: &Parameter) {
        let name = &parameter.name;
        if parameter.required
            && let Some(default) = &parameter.schema.default
        {
            let message = format!("the required parameter `{}` has a default", name.text);
            self.report(
                default.span,
                message,
                "remove `default` or `required`: a required parameter is always sent",
            );
        }
        let Some(target) = self.document.resolve(&parameter.schema) else { return };
        let can_be_list = [ParameterLocation::Query, ParameterLocation::Header].contains(&parameter.location);
        match &target.shape {
            Shape::Array(array) if can_be_list => {
                self.require_scalar_items(&name.text, &array.items, name.span)
            }
            Shape::Array(_) => {
                let message = format!("the list parameter `{}` must be in the query or a header", name.text);
                self.report(name.span, message, "use `in: query`");
            }
            _ => self.require_scalar(&name.text, &parameter.schema, name.span),
        }
    }

    fn check_header(&mut self, header: &Header) {
        self.require_scalar(&header.name.text, &header.schema, header.name.span);
    }

    /// Reports a schema that is not a scalar.
    fn require_scalar(&mut self, name: &str, schema: &Schema, span: Span) {
        let problem = match self.kind(schema) {
            ValueKind::Scalar => return,
            ValueKind::Nullable => "can be null",
            ValueKind::List => "is a list",
            ValueKind::Object => "is an object",
            ValueKind::Several => "can have several types",
        };
        let message = format!("`{name}` {problem}, but must be a scalar");
        let help = "use a string, a number or a boolean; omit absent values, and move objects to the body";
        self.report(span, message, help);
    }

    /// Reports the items of a list that are not scalars.
    fn require_scalar_items(&mut self, name: &str, items: &Schema, span: Span) {
        let problem = match self.kind(items) {
            ValueKind::Scalar => return,
            ValueKind::Nullable => "can be null",
            ValueKind::List => "are lists",
            ValueKind::Object => "are objects",
            ValueKind::Several => "can have several types",
        };
        let message = format!("the items of the list `{name}` {problem}, but must be scalars");
        let help = "use strings, numbers or booleans as items, and move other values to the body";
        self.report(span, message, help);
    }

    /// Returns the kind of a schema's values. An invalid schema, which is already reported, counts as a scalar.
    fn kind(&self, schema: &Schema) -> ValueKind {
        let Some(target) = self.document.resolve(schema) else { return ValueKind::Scalar };
        match &target.shape {
            _ if self.document.is_nullable(schema) => ValueKind::Nullable,
            Shape::String(_)
            | Shape::Enum(_)
            | Shape::IntegerEnum(_)
            | Shape::Integer(_)
            | Shape::Number(_)
            | Shape::Boolean => ValueKind::Scalar,
            Shape::Array(_) => ValueKind::List,
            Shape::Object(_) | Shape::Map(_) => ValueKind::Object,
            Shape::Any | Shape::Union(_) | Shape::Reference(_) => ValueKind::Several,
        }
    }

    /// Reports a problem once, even if several operations share the parameter or header.
    fn report(&mut self, span: Span, message: String, help: &str) {
        if !self.diagnostics.iter().any(|reported| reported.span == span && reported.message == message) {
            self.diagnostics.push(Diagnostic::error(Code::UnsupportedKeyword, span, message, help));
        }
    }
}
