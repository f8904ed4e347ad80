//! Compiles the contract's schemas and validates parameters and bodies with them.
//!
//! Each parameter and body of an operation has a validator. It is compiled once at startup from the schema that a JSON
//! pointer in the operation tables refers to.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use jsonschema::{Draft, PatternOptions, Registry, Validator};
use serde_json::{Value, json};

use super::body::BodyValidator;
use super::conformance::ReceivedRequest;
use super::deprecation::{self, Announcements, DeprecatedUse, OperationDeprecations};
use super::known_fields::KnownFields;
use super::message::{DescribePattern, Messages};
use super::query::{self, QueryParameter};
use super::{
    RequestPart, Violation, Violations, date_time, header_values, message, number_bounds, parameter_value,
    read_only,
};
use crate::contract::{BodyFormat, Contract, Operation, Parameter, ParameterKind, ParameterLocation};
use crate::json::MAX_ERRORS;
use crate::scalar::Base64;

/// The URI under which the contract's document is registered.
const DOCUMENT: &str = "urn:contract";

/// The compiled schemas of one operation.
pub struct Schemas {
    /// The operation.
    pub operation: &'static Operation,
    /// The validators of the parameters, in the order of [`Operation::parameters`].
    parameters: Vec<Validator>,
    /// The validator of the body. `None` without a body, and for bytes, which no schema describes.
    body: Option<Arc<BodyValidator>>,
    /// Whether the operation has a body that requests may omit.
    pub(crate) body_is_optional: bool,
    /// Everything that the contract marks as deprecated.
    pub(crate) announcements: Arc<Announcements>,
    /// What of the operation is deprecated; `None` if nothing is.
    deprecations: Option<OperationDeprecations>,
    messages: Arc<Messages>,
}

/// Returns the schemas of a contract, in the order of its operations. They are compiled once, and shared by all servers of the
/// process, since compiling them takes most of a server's start.
///
/// # Errors
/// Returns the errors of [`compile`].
pub fn shared(contract: &Contract, describe_pattern: DescribePattern) -> anyhow::Result<Vec<Arc<Schemas>>> {
    static COMPILED: Mutex<Vec<(Contract, Vec<Arc<Schemas>>)>> = Mutex::new(Vec::new());
    let is_same = |other: &Contract| {
        std::ptr::eq(other.json, contract.json) && std::ptr::eq(other.operations, contract.operations)
    };
    // A panic leaves the list as it was.
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, schemas)) = compiled.iter().find(|(other, _)| is_same(other)) {
        return Ok(schemas.clone());
    }
    let schemas = compile(contract.json, contract.operations, describe_pattern)?;
    let schemas: Vec<_> = schemas.into_iter().map(Arc::new).collect();
    compiled.push((*contract, schemas.clone()));
    Ok(schemas)
}

/// Compiles the schemas of operations from the contract's JSON, in the order of the operations.
///
/// # Errors
/// Returns an error when the document is not JSON, a JSON pointer does not resolve or a schema cannot be compiled. This
/// happens only if the generated files do not match each other.
pub fn compile(
    document: &str,
    operations: &[&'static Operation],
    describe_pattern: DescribePattern,
) -> anyhow::Result<Vec<Schemas>> {
    let document = read_document(document)?;
    let body_is_optional = |operation: &Operation| {
        operation.body.as_ref().is_some_and(|body| !is_required(&document, body.schema))
    };
    let optional_bodies: Vec<bool> = operations.iter().map(|operation| body_is_optional(operation)).collect();
    let compiler = SchemaCompiler::new(&document, describe_pattern)?;
    let announcements = Arc::new(deprecation::announcements_of(&document));
    let schemas = operations.iter().zip(optional_bodies).map(|(operation, body_is_optional)| {
        let parameters = operation.parameters.iter().map(|parameter| compiler.compile(parameter.schema));
        let has_schema = |media_type| BodyFormat::of(media_type) != BodyFormat::Bytes;
        let body = operation.body.as_ref().filter(|body| has_schema(body.media_type));
        let body =
            body.map(|body| BodyValidator::compile(&compiler, body.schema).map(Arc::new)).transpose()?;
        let parameters = parameters.collect::<anyhow::Result<_>>()?;
        let deprecations = OperationDeprecations::new(&document, &announcements, operation);
        let (announcements, messages) = (Arc::clone(&announcements), Arc::clone(&compiler.messages));
        Ok(Schemas { operation, parameters, body, body_is_optional, announcements, deprecations, messages })
    });
    schemas.collect()
}

/// Parses a contract's JSON, and changes its schemas to those of requests.
pub(super) fn read_document(document: &str) -> anyhow::Result<Value> {
    let mut document: Value = serde_json::from_str(document).context("the contract's JSON cannot be read")?;
    number_bounds::add_bounds(&mut document);
    read_only::make_optional(&mut document);
    Ok(document)
}

/// Compiles schemas of a document.
pub(super) struct SchemaCompiler<'d> {
    pub(super) document: &'d Value,
    registry: Registry<'d>,
    pub(super) messages: Arc<Messages>,
}

impl<'d> SchemaCompiler<'d> {
    pub(super) fn new(document: &'d Value, describe_pattern: DescribePattern) -> anyhow::Result<Self> {
        let registry = Registry::new()
            .add(DOCUMENT, Draft::Draft202012.create_resource_ref(document))
            .and_then(|builder| builder.prepare())
            .context("the contract's JSON cannot be registered")?;
        let known_fields = KnownFields::of(document);
        let messages = Arc::new(Messages { describe_pattern, known_fields });
        Ok(Self { document, registry, messages })
    }

    /// Compiles the schema at a JSON pointer.
    pub(super) fn compile(&self, pointer: &str) -> anyhow::Result<Validator> {
        jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_registry(&self.registry)
            .should_validate_formats(true)
            .with_format("date-time", |text: &str| date_time::check(text).is_ok())
            .with_format("byte", Base64::is_valid)
            .with_keyword(number_bounds::EXACT_INTEGER, |_, _, _| Ok(Box::new(number_bounds::ExactInteger)))
            .with_pattern_options(PatternOptions::regex())
            .build(&json!({ "$ref": format!("{DOCUMENT}#{}", fragment(pointer)) }))
            .map_err(|error| anyhow::anyhow!("the schema at {pointer} cannot be compiled: {error}"))
    }
}

/// Returns whether a request body is required. `schema` is the JSON pointer to the schema of its media type:
/// `.../content/{media type}/schema`. `required` is beside `content`.
pub(super) fn is_required(document: &Value, schema: &str) -> bool {
    let body = schema.rsplitn(4, '/').nth(3).and_then(|pointer| document.pointer(pointer));
    // Without `content` around the schema, the document is not an OpenAPI document.
    body.is_none_or(|body| body.get("content").is_none() || body.get("required") == Some(&Value::Bool(true)))
}

impl Schemas {
    /// Returns what a request uses that the contract marks as deprecated.
    pub(crate) fn deprecated_uses(&self, request: &ReceivedRequest<'_>) -> Vec<DeprecatedUse> {
        let Some(deprecations) = &self.deprecations else { return Vec::new() };
        deprecations.uses(self.operation, &self.parameters, self.body.as_deref(), request)
    }

    /// Returns whether something of the operation is deprecated.
    pub(crate) fn has_deprecations(&self) -> bool {
        self.deprecations.is_some()
    }

    /// Validates the path parameters.
    pub fn check_path(&self, values: &[(&str, String)], violations: &mut Violations) {
        for (name, value) in values {
            self.check_value(ParameterLocation::Path, name, value, violations);
        }
    }

    /// Validates the query parameters. Reports unknown, missing, empty and invalid parameters.
    pub fn check_query(&self, query: &[QueryParameter], violations: &mut Violations) {
        for (index, QueryParameter { name, value }) in query.iter().enumerate() {
            if self.operation.is_repeated(name) {
                // All items of a list are validated together when the first one is reached.
                if !query[..index].iter().any(|parameter| parameter.name == *name) {
                    let items = query
                        .iter()
                        .filter(|parameter| parameter.name == *name)
                        .map(|parameter| &*parameter.value);
                    self.check_list(name, &items.collect::<Vec<_>>(), violations);
                }
            } else if !self.check_value(ParameterLocation::Query, name, value, violations) {
                violations.push(Violation {
                    part: RequestPart::Query,
                    field: super::shorten(name).into_owned(),
                    message: message::UNKNOWN_PARAMETER.to_owned(),
                });
            }
        }
        for parameter in self
            .operation
            .parameters
            .iter()
            .filter(|parameter| parameter.required && parameter.location == ParameterLocation::Query)
        {
            let is_missing = !query.iter().any(|sent| sent.name == parameter.name);
            // A malformed parameter is not in `query`, but its violation is already reported.
            let is_reported = violations
                .iter()
                .any(|violation| violation.part == RequestPart::Query && violation.field == parameter.name);
            if is_missing && !is_reported {
                violations.push(parameter_violation(parameter, "is required".to_owned()));
            }
        }
    }

    /// Validates the headers that the contract declares.
    pub fn check_headers(&self, headers: &poem::http::HeaderMap, violations: &mut Violations) {
        for parameter in self
            .operation
            .parameters
            .iter()
            .filter(|parameter| parameter.location == ParameterLocation::Header)
        {
            let mut values = headers.get_all(parameter.name).iter();
            match (values.next(), values.next()) {
                (None, _) if parameter.required => {
                    violations.push(parameter_violation(parameter, "is required".to_owned()));
                }
                (None, _) => {}
                // Lists can be spread over several header lines (RFC 9110, section 5.3); single values cannot.
                _ if matches!(parameter.kind, ParameterKind::List(..)) => {
                    let list = header_values::header_list(headers, parameter.name).unwrap_or_default();
                    self.check_value(ParameterLocation::Header, parameter.name, &list, violations);
                }
                // `If-None-Match` is a list in HTTP, although the contract declares it as a string.
                (Some(_), Some(_)) if !parameter.name.eq_ignore_ascii_case("if-none-match") => {
                    violations.push(parameter_violation(parameter, "is specified more than once".to_owned()));
                }
                (Some(value), _) => match value.to_str() {
                    Ok(value) => {
                        self.check_value(ParameterLocation::Header, parameter.name, value, violations);
                    }
                    Err(_) => {
                        violations.push(parameter_violation(
                            parameter,
                            "must be visible ASCII characters".to_owned(),
                        ));
                    }
                },
            }
        }
    }

    /// Validates the cookies that the contract declares. Ignores others.
    pub fn check_cookies(&self, headers: &poem::http::HeaderMap, violations: &mut Violations) {
        for parameter in self
            .operation
            .parameters
            .iter()
            .filter(|parameter| parameter.location == ParameterLocation::Cookie)
        {
            match &header_values::cookies(headers, parameter.name)[..] {
                [] if parameter.required => {
                    violations.push(parameter_violation(parameter, "is required".to_owned()));
                }
                [] => {}
                [value] => {
                    self.check_value(ParameterLocation::Cookie, parameter.name, value, violations);
                }
                _ => {
                    violations.push(parameter_violation(parameter, "is specified more than once".to_owned()))
                }
            }
        }
    }

    /// Validates a list whose name is repeated for each item.
    fn check_list(&self, name: &str, items: &[&str], violations: &mut Violations) {
        let Some((parameter, validator)) = self.parameter(ParameterLocation::Query, name) else { return };
        let ParameterKind::List(kind, _) = parameter.kind else { return };
        match parameter_value::convert_list(parameter, *kind, items) {
            Err(message) => violations.push(parameter_violation(parameter, message)),
            Ok(value) => self.validate(parameter, validator, &value, violations),
        }
    }

    /// Returns the parameter of the operation with this name, and its validator.
    fn parameter(&self, location: ParameterLocation, name: &str) -> Option<(&'static Parameter, &Validator)> {
        let mut parameters = self.operation.parameters.iter().zip(&self.parameters);
        parameters.find(|(parameter, _)| parameter.location == location && parameter.name == name)
    }

    /// Validates the value of a parameter. Returns false when the operation has no such parameter.
    fn check_value(
        &self,
        location: ParameterLocation,
        name: &str,
        text: &str,
        violations: &mut Violations,
    ) -> bool {
        let Some((parameter, validator)) = self.parameter(location, name) else { return false };
        // A header can have an empty value, such as `If-None-Match`, if its schema allows it.
        let can_be_empty = location == ParameterLocation::Header
            && parameter.kind == ParameterKind::String
            && validator.is_valid(&Value::String(String::new()));
        if text.is_empty() && !can_be_empty {
            let message = match location {
                ParameterLocation::Query => "is empty; omit it or provide a value",
                ParameterLocation::Path | ParameterLocation::Header | ParameterLocation::Cookie => "is empty",
            };
            violations.push(parameter_violation(parameter, message.to_owned()));
            return true;
        }
        match parameter_value::convert(parameter, text) {
            Err(message) => violations.push(parameter_violation(parameter, message)),
            Ok(value) => self.validate(parameter, validator, &value, violations),
        }
        true
    }

    /// Parses and validates a body. Returns its value, or `None` if the body is invalid or the operation has no body.
    pub fn check_body(&self, body: &[u8], violations: &mut Violations) -> Option<Value> {
        let validator = self.body.as_ref()?;
        let format = BodyFormat::of(self.operation.body.as_ref()?.media_type);
        match validator.parse(format, body) {
            Ok(value) => Some(value),
            Err(mut body_violations) => {
                violations.append(&mut body_violations);
                None
            }
        }
    }

    /// Returns the validator of the lines of the body. `None` if the operation has no body with a schema.
    pub(crate) fn line_validator(&self) -> Option<Arc<BodyValidator>> {
        self.body.clone()
    }

    /// Validates the value of a parameter against its schema.
    fn validate(
        &self,
        parameter: &Parameter,
        validator: &Validator,
        value: &Value,
        violations: &mut Violations,
    ) {
        if validator.is_valid(value) {
            return;
        }
        for error in validator.iter_errors(value).take(MAX_ERRORS) {
            let pointer = error.instance_path().to_string();
            let item_index = pointer.strip_prefix('/').and_then(|index| index.parse::<usize>().ok());
            for (_, message) in self.messages.describe(&error) {
                violations.push(parameter_violation(
                    parameter,
                    parameter_value::item_message(item_index, &message),
                ));
            }
        }
    }
}

/// Encodes a JSON pointer as a URI fragment (RFC 6901, section 6).
fn fragment(pointer: &str) -> String {
    pointer.split('/').map(query::encode).collect::<Vec<_>>().join("/")
}

fn parameter_violation(parameter: &Parameter, message: String) -> Violation {
    Violation { part: parameter.location.into(), field: parameter.name.to_owned(), message }
}
