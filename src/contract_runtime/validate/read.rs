//! The text of a parameter as the JSON value that it stands for.

use serde_json::{Number, Value};

use crate::contract::{Parameter, ParameterKind, Place};

/// The value of a parameter's text, or what is wrong with it.
pub(super) fn read(parameter: &Parameter, text: &str) -> Result<Value, String> {
    match parameter.kind {
        ParameterKind::List(kind, _) => list(parameter, *kind, &text.split(',').collect::<Vec<_>>()),
        kind => scalar(parameter.place, kind, text).map_err(str::to_owned),
    }
}

/// The value of a list's items, or what is wrong with the first that is none.
pub(super) fn list(parameter: &Parameter, kind: ParameterKind, items: &[&str]) -> Result<Value, String> {
    let mut values = Vec::with_capacity(items.len());
    for (at, text) in items.iter().enumerate() {
        if text.is_empty() {
            return Err(of_item(Some(at), "is empty"));
        }
        let value = scalar(parameter.place, kind, text);
        values.push(value.map_err(|message| of_item(Some(at), message))?);
    }
    Ok(Value::Array(values))
}

/// A message about one item of a list, counted from 1; about the whole when it is none.
pub(super) fn of_item(at: Option<usize>, message: &str) -> String {
    match at {
        Some(at) => format!("holds an item (number {}) that {message}", at + 1),
        None => message.to_owned(),
    }
}

fn scalar(place: Place, kind: ParameterKind, text: &str) -> Result<Value, &'static str> {
    match kind {
        // In a path it belongs to an id that does not resolve, which is for the look-up to say.
        ParameterKind::String if text.contains('\0') && place != Place::Path => {
            Err("must not hold the character NUL (U+0000)")
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
                return Err("must be a whole number in decimal digits");
            }
            text.parse::<i64>().map(Value::from).map_err(|_| "is out of range")
        }
        ParameterKind::Number => {
            text.parse::<Number>().map(Value::Number).map_err(|_| "must be a number, such as `12.5`")
        }
        ParameterKind::List(..) => Err("is a list within a list"),
    }
}
