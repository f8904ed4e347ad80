//! Converts the string values of parameters to JSON values.

use serde_json::{Number, Value};

use crate::contract::{Parameter, ParameterKind, ParameterLocation};

/// Converts the value of a parameter, or returns what is wrong with it.
pub(super) fn convert(parameter: &Parameter, text: &str) -> Result<Value, String> {
    match parameter.kind {
        ParameterKind::List(kind, _) => convert_list(parameter, *kind, &text.split(',').collect::<Vec<_>>()),
        kind => convert_scalar(parameter.location, kind, text).map_err(str::to_owned),
    }
}

/// Converts the items of a list, or returns what is wrong with the first invalid item.
pub(super) fn convert_list(
    parameter: &Parameter,
    kind: ParameterKind,
    items: &[&str],
) -> Result<Value, String> {
    let mut values = Vec::with_capacity(items.len());
    for (index, text) in items.iter().enumerate() {
        if text.is_empty() {
            return Err(item_message(Some(index), "is empty"));
        }
        let value = convert_scalar(parameter.location, kind, text);
        values.push(value.map_err(|message| item_message(Some(index), message))?);
    }
    Ok(Value::Array(values))
}

/// Returns a message about an item of a list, numbered from 1, or about the whole value if `index` is `None`.
pub(super) fn item_message(index: Option<usize>, message: &str) -> String {
    match index {
        Some(index) => format!("has an invalid item (number {}): it {message}", index + 1),
        None => message.to_owned(),
    }
}

/// Converts a value that is not a list, or returns what is wrong with it.
fn convert_scalar(
    location: ParameterLocation,
    kind: ParameterKind,
    text: &str,
) -> Result<Value, &'static str> {
    match kind {
        // An id with NUL does not exist, so the operation returns 404 for such a path instead of 422.
        ParameterKind::String if text.contains('\0') && location != ParameterLocation::Path => {
            Err("must not contain the character NUL (U+0000)")
        }
        ParameterKind::String => Ok(Value::String(text.to_owned())),
        ParameterKind::Boolean => match text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err("must be `true` or `false`"),
        },
        ParameterKind::Integer => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err("must be an integer in decimal digits");
            }
            text.parse::<i64>().map(Value::from).map_err(|_| "is out of range")
        }
        ParameterKind::Number => {
            text.parse::<Number>().map(Value::Number).map_err(|_| "must be a number, such as `12.5`")
        }
        ParameterKind::List(..) => Err("is a list within a list"),
    }
}
