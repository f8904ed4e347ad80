//! Small parts of generated items: documentation, validators, defaults.

use contract::model::{ArrayShape, Document, NumberShape, Schema, Shape};
use contract::node::Value;
use contract::rust_name;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::types::{Module, Types};

/// The lines of a text as documentation; `otherwise` when there is none.
pub(crate) fn docs(text: Option<&str>, otherwise: &str) -> TokenStream {
    let text = text.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(otherwise);
    let lines =
        text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {}", safe(line)) });
    quote!(#(#[doc = #lines])*)
}

/// Two texts as documentation: a summary, and what follows it after an empty line.
pub(crate) fn docs_with_summary(
    summary: Option<&str>,
    description: Option<&str>,
    otherwise: &str,
) -> TokenStream {
    let summary = summary.unwrap_or(otherwise);
    match description {
        Some(description) => docs(Some(&format!("{summary}\n\n{description}")), otherwise),
        None => docs(Some(summary), otherwise),
    }
}

/// What the documentation of a thing adds when it is going away.
pub(crate) fn deprecated(deprecated: bool) -> Option<TokenStream> {
    deprecated.then(|| quote!(#[doc = ""] #[doc = " Deprecated in the contract."]))
}

/// Keeps rustdoc from reading brackets and angle brackets of prose as links and tags.
fn safe(line: &str) -> String {
    let mut in_code = false;
    let mut safe = String::with_capacity(line.len());
    for character in line.chars() {
        match character {
            '`' => in_code = !in_code,
            '[' | ']' | '<' | '>' if !in_code => safe.push('\\'),
            _ => {}
        }
        safe.push(character);
    }
    safe
}

/// What poem-openapi is told about the values of a schema, as the parts of `validator(...)`.
pub(crate) fn validators(document: &Document, schema: &Schema) -> Vec<TokenStream> {
    let mut parts = Vec::new();
    let Some(shape) = document.shape(schema) else { return parts };
    match shape {
        Shape::Array(array) => {
            parts = within(document, &array.items);
            parts.extend(array_bounds(array));
        }
        Shape::Map(map) => {
            parts = within(document, &map.values);
            parts.extend(map.min_properties.map(|count| sized("min_properties", count)));
            parts.extend(map.max_properties.map(|count| sized("max_properties", count)));
        }
        // A time is no text to poem-openapi; what else its schema says is implied by the format.
        Shape::String(string) if string.scalar().is_some() => {}
        Shape::String(string) => {
            parts.extend(string.min_length.map(|count| sized("min_length", count)));
            parts.extend(string.max_length.map(|count| sized("max_length", count)));
            parts.extend(string.pattern.as_deref().map(|pattern| quote!(pattern = #pattern)));
        }
        Shape::Integer(number) | Shape::Number(number) => parts = bounds(number),
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

/// What poem-openapi is told of a list that is sent as a parameter: nothing of its items.
pub(crate) fn list_validators(document: &Document, schema: &Schema) -> Vec<TokenStream> {
    match document.shape(schema) {
        Some(Shape::Array(array)) => array_bounds(array),
        _ => validators(document, schema),
    }
}

/// What it is told of the values inside a list or map. It knows one level: of a list within a list it would hear the
/// bounds as those of the outer one.
fn within(document: &Document, schema: &Schema) -> Vec<TokenStream> {
    match document.shape(schema) {
        Some(Shape::Array(_) | Shape::Map(_)) => Vec::new(),
        _ => validators(document, schema),
    }
}

fn array_bounds(array: &ArrayShape) -> Vec<TokenStream> {
    let counts = [("min_items", array.min_items), ("max_items", array.max_items)];
    let mut parts: Vec<_> =
        counts.into_iter().filter_map(|(name, count)| count.map(|count| sized(name, count))).collect();
    parts.extend(array.unique_items.then(|| quote!(unique_items)));
    parts
}

fn sized(name: &str, count: u64) -> TokenStream {
    let name = format_ident!("{name}");
    let count = Literal::u64_unsuffixed(count);
    quote!(#name = #count)
}

fn bounds(number: &NumberShape) -> Vec<TokenStream> {
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

/// A default as an expression of Rust. Only scalars and empty lists get this far: others are refused.
pub(crate) fn default_expression(
    types: &Types<'_>,
    document: &Document,
    schema: &Schema,
    (owner, from): (&str, Option<Module>),
) -> Option<TokenStream> {
    let default = document.default_of(schema)?;
    let value = match (document.shape(schema)?, &default.value) {
        (Shape::Enum(_), Value::String(value)) => {
            let path = types.bare(schema, owner, from);
            let variant = format_ident!("{}", rust_name::upper(value));
            quote!(#path::#variant)
        }
        (Shape::IntegerEnum(_), value) => {
            let path = types.bare(schema, owner, from);
            let variant = format_ident!("{}", rust_name::upper(&whole(value)?.to_string()));
            quote!(#path::#variant)
        }
        (Shape::Array(_), Value::Sequence(_)) => quote!(Vec::new()),
        (Shape::String(_), Value::String(value)) => quote!(#value.to_owned()),
        (Shape::Integer(_), value) => Literal::i64_unsuffixed(whole(value)?).into_token(),
        (Shape::Number(_), Value::Float(value)) => Literal::f64_unsuffixed(*value).into_token(),
        (Shape::Number(_), Value::Integer(value)) => {
            format!("{value}.0").parse::<Literal>().ok()?.into_token()
        }
        (Shape::Boolean, Value::Bool(value)) => quote!(#value),
        _ => return None,
    };
    Some(value)
}

/// A whole number. What takes one with a fraction of zero takes it as a default, too.
#[allow(clippy::cast_possible_truncation)] // The schema took it, and its format holds it.
const fn whole(value: &Value) -> Option<i64> {
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
