//! Generates the doc comments, validators and default values of items.

use contract::model::{ArrayShape, Document, NumberShape, Schema, Shape};
use contract::node::Value;
use contract::rust_name;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::types::{RustTypes, TypeModule};

/// Generates a doc comment from a description, or from `fallback` if the description is missing or empty.
pub(crate) fn docs(text: Option<&str>, fallback: &str) -> TokenStream {
    let text = text.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(fallback);
    let lines = text
        .lines()
        .map(|line| if line.is_empty() { String::new() } else { format!(" {}", escape_markdown(line)) });
    quote!(#(#[doc = #lines])*)
}

/// Generates a doc comment from a summary and a description, separated by an empty line.
pub(crate) fn docs_with_summary(
    summary: Option<&str>,
    description: Option<&str>,
    fallback: &str,
) -> TokenStream {
    let summary = summary.unwrap_or(fallback);
    match description {
        Some(description) => docs(Some(&format!("{summary}\n\n{description}")), fallback),
        None => docs(Some(summary), fallback),
    }
}

/// Generates the last paragraph of the doc comment of a deprecated item.
pub(crate) fn deprecation_note(deprecated: bool) -> Option<TokenStream> {
    deprecated.then(|| quote!(#[doc = ""] #[doc = " Deprecated in the contract."]))
}

/// Escapes brackets and angle brackets outside of code, which rustdoc would read as links and tags.
fn escape_markdown(line: &str) -> String {
    let mut in_code = false;
    let mut escaped = String::with_capacity(line.len());
    for character in line.chars() {
        match character {
            '`' => in_code = !in_code,
            '[' | ']' | '<' | '>' if !in_code => escaped.push('\\'),
            _ => {}
        }
        escaped.push(character);
    }
    escaped
}

/// Returns the restrictions of a schema as arguments of poem-openapi's `validator(...)` attribute.
pub(crate) fn validators(document: &Document, schema: &Schema) -> Vec<TokenStream> {
    let mut parts = Vec::new();
    let Some(shape) = document.shape(schema) else { return parts };
    match shape {
        Shape::Array(array) => {
            parts = item_validators(document, &array.items);
            parts.extend(array_bounds(array));
        }
        Shape::Map(map) => {
            parts = item_validators(document, &map.values);
            parts.extend(map.min_properties.map(|count| count_bound("min_properties", count)));
            parts.extend(map.max_properties.map(|count| count_bound("max_properties", count)));
        }
        // poem-openapi has no validators for the types of formatted strings, such as times.
        Shape::String(string) if string.rust_type().is_some() => {}
        Shape::String(string) => {
            parts.extend(string.min_length.map(|count| count_bound("min_length", count)));
            parts.extend(string.max_length.map(|count| count_bound("max_length", count)));
            parts.extend(string.pattern.as_deref().map(|pattern| quote!(pattern = #pattern)));
        }
        Shape::Integer(number) | Shape::Number(number) => parts = number_bounds(number),
        Shape::Any
        | Shape::Reference(_)
        | Shape::Object(_)
        | Shape::Union(_)
        | Shape::Enum(_)
        | Shape::IntegerEnum(_)
        | Shape::Boolean => {}
    }
    parts
}

/// Returns the validators of a parameter. poem-openapi does not support validators for the items of a list parameter.
pub(crate) fn parameter_validators(document: &Document, schema: &Schema) -> Vec<TokenStream> {
    match document.shape(schema) {
        Some(Shape::Array(array)) => array_bounds(array),
        _ => validators(document, schema),
    }
}

/// Returns the validators of the items of a list or the values of a map. Nested lists and maps have none: poem-openapi
/// would apply their bounds to the outer list.
fn item_validators(document: &Document, schema: &Schema) -> Vec<TokenStream> {
    match document.shape(schema) {
        Some(Shape::Array(_) | Shape::Map(_)) => Vec::new(),
        _ => validators(document, schema),
    }
}

fn array_bounds(array: &ArrayShape) -> Vec<TokenStream> {
    let counts = [("min_items", array.min_items), ("max_items", array.max_items)];
    let mut parts: Vec<_> =
        counts.into_iter().filter_map(|(name, count)| count.map(|count| count_bound(name, count))).collect();
    parts.extend(array.unique_items.then(|| quote!(unique_items)));
    parts
}

fn count_bound(name: &str, count: u64) -> TokenStream {
    let name = format_ident!("{name}");
    let count = Literal::u64_unsuffixed(count);
    quote!(#name = #count)
}

fn number_bounds(number: &NumberShape) -> Vec<TokenStream> {
    let bound = |name, value: Option<f64>, exclusive: Option<TokenStream>| {
        let (name, value) = (format_ident!("{name}"), value?.to_string());
        Some(quote!(#name(value = #value #exclusive)))
    };
    let exclusive = || Some(quote!(, exclusive));
    let parts = [
        bound("minimum", number.minimum, None),
        bound("maximum", number.maximum, None),
        bound("minimum", number.exclusive_minimum, exclusive()),
        bound("maximum", number.exclusive_maximum, exclusive()),
        number.multiple_of.map(|value| value.to_string()).map(|value| quote!(multiple_of = #value)),
    ];
    parts.into_iter().flatten().collect()
}

/// Returns the default value of a schema as a Rust expression, or `None` without a default. The contract's rules allow
/// only scalars and empty lists. `owner` is the name of an inline type, and `from` the module that contains the
/// expression, or `None` for any other generated file.
pub(crate) fn default_expression(
    types: &RustTypes<'_>,
    document: &Document,
    schema: &Schema,
    (owner, from): (&str, Option<TypeModule>),
) -> Option<TokenStream> {
    let default = document.default_of(schema)?;
    let value = match (document.shape(schema)?, &default.value) {
        (Shape::Enum(_), Value::String(value)) => {
            let path = types.inner_type(schema, owner, from);
            let variant = format_ident!("{}", rust_name::upper_camel_case(value));
            quote!(#path::#variant)
        }
        (Shape::IntegerEnum(_), value) => {
            let path = types.inner_type(schema, owner, from);
            let variant =
                format_ident!("{}", rust_name::upper_camel_case(&integer_value(value)?.to_string()));
            quote!(#path::#variant)
        }
        (Shape::Array(_), Value::Sequence(_)) => quote!(Vec::new()),
        (Shape::String(_), Value::String(value)) => quote!(#value.to_owned()),
        (Shape::Integer(_), value) => Literal::i64_unsuffixed(integer_value(value)?).into_token(),
        (Shape::Number(_), Value::Float(value)) => Literal::f64_unsuffixed(*value).into_token(),
        (Shape::Number(_), Value::Integer(value)) => {
            format!("{value}.0").parse::<Literal>().ok()?.into_token()
        }
        (Shape::Boolean, Value::Bool(value)) => quote!(#value),
        _ => return None,
    };
    Some(value)
}

/// Returns an integer. A default such as `2.0` is valid for an integer schema.
#[allow(clippy::cast_possible_truncation)] // The value is valid for its schema, so it is an integer in range.
const fn integer_value(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(value) => Some(*value),
        Value::Float(value) => Some(*value as i64),
        _ => None,
    }
}

trait IntoToken {
    fn into_token(self) -> TokenStream;
}

impl IntoToken for Literal {
    fn into_token(self) -> TokenStream {
        quote!(#self)
    }
}
