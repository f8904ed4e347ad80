//! The contract's schemas, compiled.
//!
//! Owns one validator for each parameter and body of each operation, compiled once at start from the JSON pointers
//! in the operation tables.

use anyhow::Context;
use jsonschema::{Draft, PatternOptions, Registry, Validator};
use serde_json::{Value, json};

use super::message::DescribePattern;
use super::query::{self, Pair};
use super::read::{self, read};
use super::{Fault, Faults, Part, date_time, message, texts, widths};
use crate::contract::{BYTES, Operation, Parameter, ParameterKind, Place, TEXT};
use crate::json::{self as strict_json, MAX_FAULTS};
use crate::scalar::Base64;

/// Under this name the contract's document is known to the schemas.
const DOCUMENT: &str = "urn:contract";

/// The compiled schemas of one operation.
pub struct Schemas {
    /// The operation.
    pub operation: &'static Operation,
    /// In the order of its parameters.
    parameters: Vec<Validator>,
    body: Option<Validator>,
    describe_pattern: DescribePattern,
}

/// Compiles the schemas of these operations out of the contract's JSON, in the same order.
///
/// # Errors
/// When the document is not JSON or a pointer leads nowhere: the generated files do not belong together.
pub fn compile(
    document: &str,
    operations: &[&'static Operation],
    describe_pattern: DescribePattern,
) -> anyhow::Result<Vec<Schemas>> {
    let mut document: Value = serde_json::from_str(document).context("the contract's JSON cannot be read")?;
    widths::bound(&mut document);
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
            .with_format("byte", Base64::fits)
            .with_pattern_options(PatternOptions::regex())
            .build(&json!({ "$ref": format!("{DOCUMENT}#{}", fragment(pointer)) }))
            .map_err(|error| anyhow::anyhow!("the schema at {pointer} cannot be compiled: {error}"))
    };
    let schemas = operations.iter().map(|operation| {
        let parameters = operation.parameters.iter().map(|parameter| compile(parameter.schema));
        let body = operation.body.as_ref().map(|body| compile(body.schema)).transpose()?;
        let parameters = parameters.collect::<anyhow::Result<_>>()?;
        Ok(Schemas { operation, parameters, body, describe_pattern })
    });
    schemas.collect()
}

impl Schemas {
    /// Judges the path's parameters, given in the order of the path.
    pub fn check_path(&self, values: &[(&str, String)], faults: &mut Faults) {
        for (name, value) in values {
            self.check_value(Place::Path, name, value, faults);
        }
    }

    /// Judges the query: unknown, missing, empty and malformed parameters.
    pub fn check_query(&self, pairs: &[Pair], faults: &mut Faults) {
        for (at, Pair { name, value }) in pairs.iter().enumerate() {
            if self.operation.is_repeated(name) {
                // The items of a list are judged together, where the first of them stands.
                if !pairs[..at].iter().any(|pair| pair.name == *name) {
                    let items = pairs.iter().filter(|pair| pair.name == *name).map(|pair| &*pair.value);
                    self.check_list(name, &items.collect::<Vec<_>>(), faults);
                }
            } else if !self.check_value(Place::Query, name, value, faults) {
                let name = super::shorten(name).into_owned();
                faults.push(Fault {
                    place: Part::Query,
                    field: name,
                    message: message::UNKNOWN_PARAMETER.to_owned(),
                });
            }
        }
        for parameter in self.operation.parameters.iter().filter(|it| it.required && it.place == Place::Query)
        {
            let absent = !pairs.iter().any(|pair| pair.name == parameter.name);
            let reported =
                faults.iter().any(|fault| fault.place == Part::Query && fault.field == parameter.name);
            if absent && !reported {
                faults.push(parameter_fault(parameter, "is required".to_owned()));
            }
        }
    }

    /// Judges the headers that the contract names.
    pub fn check_headers(&self, headers: &poem::http::HeaderMap, faults: &mut Faults) {
        for parameter in self.operation.parameters.iter().filter(|parameter| parameter.place == Place::Header)
        {
            let mut values = headers.get_all(parameter.name).iter();
            match (values.next(), values.next()) {
                (None, _) if parameter.required => {
                    faults.push(parameter_fault(parameter, "is required".to_owned()));
                }
                (None, _) => {}
                // A list may be spread over several lines of its header (RFC 9110, 5.3); a single value may not.
                _ if matches!(parameter.kind, ParameterKind::List(..)) => {
                    let whole = texts::header_list(headers, parameter.name).unwrap_or_default();
                    self.check_value(Place::Header, parameter.name, &whole, faults);
                }
                (Some(_), Some(_)) if !parameter.name.eq_ignore_ascii_case("if-none-match") => {
                    faults.push(parameter_fault(parameter, "is given more than once".to_owned()));
                }
                (Some(value), _) => match value.to_str() {
                    Ok(value) => {
                        self.check_value(Place::Header, parameter.name, value, faults);
                    }
                    Err(_) => {
                        faults
                            .push(parameter_fault(parameter, "must be visible ASCII characters".to_owned()));
                    }
                },
            }
        }
    }

    /// Judges the cookies that the contract names; others are none of its business.
    pub fn check_cookies(&self, headers: &poem::http::HeaderMap, faults: &mut Faults) {
        for parameter in self.operation.parameters.iter().filter(|parameter| parameter.place == Place::Cookie)
        {
            match &texts::cookies(headers, parameter.name)[..] {
                [] if parameter.required => {
                    faults.push(parameter_fault(parameter, "is required".to_owned()));
                }
                [] => {}
                [one] => {
                    self.check_value(Place::Cookie, parameter.name, one, faults);
                }
                _ => faults.push(parameter_fault(parameter, "is given more than once".to_owned())),
            }
        }
    }

    /// Judges a list that is given item by item.
    fn check_list(&self, name: &str, items: &[&str], faults: &mut Faults) {
        let Some((parameter, validator)) = self.known(Place::Query, name) else { return };
        let ParameterKind::List(kind, _) = parameter.kind else { return };
        match read::list(parameter, *kind, items) {
            Err(message) => faults.push(parameter_fault(parameter, message)),
            Ok(value) => self.judge(parameter, validator, &value, faults),
        }
    }

    /// A parameter of an operation, and its schema.
    fn known(&self, place: Place, name: &str) -> Option<(&'static Parameter, &Validator)> {
        let mut known = self.operation.parameters.iter().zip(&self.parameters);
        known.find(|(parameter, _)| parameter.place == place && parameter.name == name)
    }

    /// Judges a parameter's text; false when the operation has no such parameter.
    fn check_value(&self, place: Place, name: &str, text: &str, faults: &mut Faults) -> bool {
        let Some((parameter, validator)) = self.known(place, name) else { return false };
        if text.is_empty() {
            let message = match place {
                Place::Query => "is empty; leave it out or give it a value",
                Place::Path | Place::Header | Place::Cookie => "is empty",
            };
            faults.push(parameter_fault(parameter, message.to_owned()));
            return true;
        }
        match read(parameter, text) {
            Err(message) => faults.push(parameter_fault(parameter, message)),
            Ok(value) => self.judge(parameter, validator, &value, faults),
        }
        true
    }

    /// Reads and judges a body. Returns its value when it has one that is valid.
    pub fn check_body(&self, body: &[u8], faults: &mut Faults) -> Option<Value> {
        let validator = self.body.as_ref()?;
        let in_body = |field, message| Fault { place: Part::Body, field, message };
        let media_type = self.operation.body.as_ref().map_or("", |body| body.media_type);
        let value = match whole_body(media_type, body) {
            Ok(value) => value,
            Err(found) => {
                faults.extend(found.into_iter().map(|fault| in_body(fault.pointer, fault.message)));
                return None;
            }
        };
        if validator.is_valid(&value) {
            return Some(value);
        }
        let errors = validator.iter_errors(&value);
        let found =
            errors.flat_map(|error| message::describe(&error, self.describe_pattern)).take(MAX_FAULTS);
        faults.extend(found.map(|(field, message)| in_body(field, message)));
        None
    }

    /// Holds the value of a parameter against its schema.
    fn judge(&self, parameter: &Parameter, validator: &Validator, value: &Value, faults: &mut Faults) {
        if validator.is_valid(value) {
            return;
        }
        for error in validator.iter_errors(value) {
            let item = error.instance_path().to_string();
            let item = item.strip_prefix('/').and_then(|index| index.parse::<usize>().ok());
            for (_, message) in message::describe(&error, self.describe_pattern) {
                faults.push(parameter_fault(parameter, read::of_item(item, &message)));
            }
        }
    }
}

/// The value that a body of this media type stands for.
fn whole_body(media_type: &str, body: &[u8]) -> Result<Value, Vec<strict_json::Fault>> {
    let fault = |message: &str| strict_json::Fault { pointer: String::new(), message: message.to_owned() };
    match media_type {
        // Bytes have no value in JSON; their schema takes anything.
        BYTES => Ok(Value::Null),
        TEXT => {
            let text = std::str::from_utf8(body).map_err(|_| vec![fault("is not valid UTF-8")])?;
            if text.contains('\0') {
                return Err(vec![fault("must not hold the character NUL (U+0000)")]);
            }
            Ok(Value::String(text.to_owned()))
        }
        _ => strict_json::read(body),
    }
}

/// A JSON pointer as a URI's fragment (RFC 6901, 6).
fn fragment(pointer: &str) -> String {
    pointer.split('/').map(query::encode).collect::<Vec<_>>().join("/")
}

fn parameter_fault(parameter: &Parameter, message: String) -> Fault {
    Fault { place: parameter.place.into(), field: parameter.name.to_owned(), message }
}
