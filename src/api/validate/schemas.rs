//! The contract's schemas, compiled.
//!
//! Owns one validator for each parameter and body of each operation, made once at start from the JSON pointers
//! in the operation tables.

use std::collections::HashMap;

use anyhow::Context;
use jsonschema::{Draft, PatternOptions, Registry, Validator};
use serde_json::{Number, Value, json};

use super::query::{self, Pair};
use super::{Fault, Faults, Part, date_time, message};
use crate::api::contract::{Operation, Parameter, ParameterKind, Place};
use crate::json::{self as strict_json, MAX_FAULTS};

/// Under this name the contract's document is known to the schemas.
const DOCUMENT: &str = "urn:contract";

/// The compiled schemas of all operations.
pub struct Schemas {
    operations: HashMap<&'static str, Compiled>,
}

/// The compiled schemas of one operation, in the order of its parameters.
struct Compiled {
    parameters: Vec<Validator>,
    body: Option<Validator>,
}

impl Schemas {
    /// Compiles the schemas of these operations out of the contract's JSON.
    ///
    /// # Errors
    /// When the document is not JSON or a pointer leads nowhere: the generated files do not belong together.
    pub fn compile(document: &str, operations: &[&'static Operation]) -> anyhow::Result<Self> {
        let document: Value = serde_json::from_str(document).context("the contract's JSON cannot be read")?;
        let registry = Registry::new()
            .add(DOCUMENT, Draft::Draft202012.create_resource(document))
            .and_then(|builder| builder.prepare())
            .context("the contract's JSON cannot be registered")?;
        let compile = |pointer: &str| {
            jsonschema::options()
                .with_draft(Draft::Draft202012)
                .with_registry(&registry)
                .should_validate_formats(true)
                .with_format("date-time", |text: &str| date_time::check(text).is_ok())
                .with_pattern_options(PatternOptions::regex())
                .build(&json!({ "$ref": format!("{DOCUMENT}#{}", fragment(pointer)) }))
                .map_err(|error| anyhow::anyhow!("the schema at {pointer} cannot be compiled: {error}"))
        };
        let operations = operations
            .iter()
            .map(|operation| {
                let parameters = operation.parameters.iter().map(|parameter| compile(parameter.schema));
                let body = operation.body.as_ref().map(|body| compile(body.schema)).transpose()?;
                Ok((operation.id, Compiled { parameters: parameters.collect::<anyhow::Result<_>>()?, body }))
            })
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { operations })
    }

    /// Judges the path's parameters, given in the order of the path.
    pub fn check_path(&self, operation: &Operation, values: &[(&str, String)], faults: &mut Faults) {
        for (name, value) in values {
            self.check_value(operation, Place::Path, name, value, faults);
        }
    }

    /// Judges the query: unknown, missing, empty and malformed parameters.
    pub fn check_query(&self, operation: &Operation, pairs: &[Pair], faults: &mut Faults) {
        for Pair { name, value } in pairs {
            if !self.check_value(operation, Place::Query, name, value, faults) {
                let name = super::shorten(name).into_owned();
                faults.push(Fault {
                    place: Part::Query,
                    field: name,
                    message: message::UNKNOWN_PARAMETER.to_owned(),
                });
            }
        }
        for parameter in operation.parameters.iter().filter(|it| it.required && it.place == Place::Query) {
            let absent = !pairs.iter().any(|pair| pair.name == parameter.name);
            let reported =
                faults.iter().any(|fault| fault.place == Part::Query && fault.field == parameter.name);
            if absent && !reported {
                faults.push(parameter_fault(parameter, "is required".to_owned()));
            }
        }
    }

    /// Judges the headers that the contract names.
    pub fn check_headers(&self, operation: &Operation, headers: &poem::http::HeaderMap, faults: &mut Faults) {
        for parameter in operation.parameters.iter().filter(|parameter| parameter.place == Place::Header) {
            let mut values = headers.get_all(parameter.name).iter();
            match (values.next(), values.next()) {
                (None, _) if parameter.required => {
                    faults.push(parameter_fault(parameter, "is required".to_owned()));
                }
                (None, _) => {}
                // A list may be spread over several lines of its header (RFC 9110, 5.3); a single value may not.
                (Some(_), Some(_)) if !parameter.name.eq_ignore_ascii_case("if-none-match") => {
                    faults.push(parameter_fault(parameter, "is given more than once".to_owned()));
                }
                (Some(value), _) => match value.to_str() {
                    Ok(value) => {
                        self.check_value(operation, Place::Header, parameter.name, value, faults);
                    }
                    Err(_) => {
                        faults
                            .push(parameter_fault(parameter, "must be visible ASCII characters".to_owned()));
                    }
                },
            }
        }
    }

    /// Judges a parameter's text; false when the operation has no such parameter.
    fn check_value(
        &self,
        operation: &Operation,
        place: Place,
        name: &str,
        text: &str,
        faults: &mut Faults,
    ) -> bool {
        let mut known = operation.parameters.iter().zip(&self.operations[operation.id].parameters);
        let Some((parameter, validator)) =
            known.find(|(parameter, _)| parameter.place == place && parameter.name == name)
        else {
            return false;
        };
        if text.is_empty() {
            let message = match place {
                Place::Query => "is empty; leave it out or give it a value",
                Place::Path | Place::Header => "is empty",
            };
            faults.push(parameter_fault(parameter, message.to_owned()));
            return true;
        }
        match read(parameter, text) {
            Err(message) => faults.push(parameter_fault(parameter, message.to_owned())),
            Ok(value) if validator.is_valid(&value) => {}
            Ok(value) => {
                for error in validator.iter_errors(&value) {
                    for (_, message) in message::describe(&error) {
                        faults.push(parameter_fault(parameter, message));
                    }
                }
            }
        }
        true
    }

    /// Reads and judges a body.
    pub fn check_body(&self, operation: &Operation, body: &[u8], faults: &mut Faults) {
        let Some(validator) = &self.operations[operation.id].body else { return };
        let in_body = |field, message| Fault { place: Part::Body, field, message };
        let value = match strict_json::read(body) {
            Ok(value) => value,
            Err(found) => {
                faults.extend(found.into_iter().map(|fault| in_body(fault.pointer, fault.message)));
                return;
            }
        };
        if validator.is_valid(&value) {
            return;
        }
        let found =
            validator.iter_errors(&value).flat_map(|error| message::describe(&error)).take(MAX_FAULTS);
        faults.extend(found.map(|(field, message)| in_body(field, message)));
    }
}

/// A JSON pointer as a URI's fragment (RFC 6901, 6).
fn fragment(pointer: &str) -> String {
    pointer.split('/').map(query::encode).collect::<Vec<_>>().join("/")
}

fn parameter_fault(parameter: &Parameter, message: String) -> Fault {
    Fault { place: parameter.place.into(), field: parameter.name.to_owned(), message }
}

/// A parameter's text as the JSON value that it stands for.
fn read(parameter: &Parameter, text: &str) -> Result<Value, &'static str> {
    match parameter.kind {
        // In a path it belongs to an id that does not resolve, which is for the look-up to say.
        ParameterKind::String if text.contains('\0') && parameter.place != Place::Path => {
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
    }
}
