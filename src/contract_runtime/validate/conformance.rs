//! Compares requests and responses with a contract that is not served, such as the draft of the next version.
//!
//! A [`Fault`] names the failing keyword of the contract instead of the place in the message, and contains no values: names that
//! clients choose become `*`.

use std::collections::BTreeSet;
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{ValidationError, Validator};
use poem::http::HeaderMap;
use serde_json::Value;

use super::body::{self, BodyValidator};
use super::message::{DescribePattern, Messages, UNKNOWN_PARAMETER};
use super::query::{self, QueryParameter};
use super::schemas::{self, SchemaCompiler};
use super::{Violations, header_values, parameter_value};
use crate::contract::{BodyFormat, Operation, Parameter, ParameterKind, ParameterLocation};
use crate::media_type;

/// The maximum number of faults that are returned for a message.
const MAX_FAULTS: usize = 50;

/// Why a message does not conform to a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The part of the message and the keyword, such as `request-body-max-length`.
    pub code: String,
    /// The JSON pointer of the failing keyword in the contract.
    pub pointer: String,
    /// The property, or the location and name of the parameter, such as `query limit`. `*` if clients choose the name, and empty
    /// if the fault is about no single one.
    pub name: String,
    /// What is expected, as the end of a sentence that begins with the name.
    pub reason: String,
}

/// An operation of the contract, and where it is in the contract's JSON.
#[derive(Debug)]
pub struct ConformanceOperation {
    /// The operation.
    pub operation: &'static Operation,
    /// The JSON pointer of the operation.
    pub pointer: String,
    /// The success statuses, each with the JSON pointer of the schema of its JSON body, if it has one.
    pub responses: Vec<(u16, Option<String>)>,
}

/// The parts of a request that a contract describes.
#[derive(Debug, Clone, Copy)]
pub struct ReceivedRequest<'a> {
    /// The decoded path parameters, in the order of the path.
    pub path: &'a [String],
    /// The query string.
    pub query: &'a str,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body.
    pub body: &'a [u8],
}

/// The parameters that a request contains.
pub(super) struct SentParameters<'a> {
    operation: &'a Operation,
    request: &'a ReceivedRequest<'a>,
    /// The query parameters that are well-formed.
    query: Vec<QueryParameter>,
    /// What is wrong with the query string.
    violations: Violations,
}

impl<'a> SentParameters<'a> {
    pub(super) fn parse(operation: &'a Operation, request: &'a ReceivedRequest<'a>) -> Self {
        let mut violations = Violations::new();
        let query = query::parse(request.query, |name| operation.is_repeated(name), &mut violations);
        Self { operation, request, query, violations }
    }

    /// Returns the texts of a parameter, of which only a list can have several. Empty if the request does not contain it.
    pub(super) fn values(&self, parameter: &Parameter) -> Vec<String> {
        match parameter.location {
            ParameterLocation::Path => {
                let parameters = self.operation.parameters.iter();
                let mut in_path = parameters.filter(|other| other.location == ParameterLocation::Path);
                let index = in_path.position(|other| other.name == parameter.name);
                index.and_then(|index| self.request.path.get(index).cloned()).into_iter().collect()
            }
            ParameterLocation::Query => {
                let sent = self.query.iter().filter(|sent| sent.name == parameter.name);
                sent.map(|sent| sent.value.clone()).collect()
            }
            ParameterLocation::Header => {
                header_values::header_list(self.request.headers, parameter.name).into_iter().collect()
            }
            ParameterLocation::Cookie => header_values::cookies(self.request.headers, parameter.name),
        }
    }

    /// Converts the texts of a parameter, of which there is at least one, to the value that its schema describes.
    ///
    /// # Errors
    /// Returns what is wrong, as the end of a sentence that begins with the name of the parameter.
    pub(super) fn convert(&self, parameter: &Parameter, values: &[String]) -> Result<Value, String> {
        match parameter.kind {
            ParameterKind::List(kind, _) if self.operation.is_repeated(parameter.name) => {
                let items: Vec<&str> = values.iter().map(String::as_str).collect();
                parameter_value::convert_list(parameter, *kind, &items)
            }
            _ => parameter_value::convert(parameter, values.first().map_or("", String::as_str)),
        }
    }
}

/// Compares the messages of one operation with its description.
#[derive(Debug)]
pub struct Conformance {
    operation: &'static Operation,
    pointer: String,
    parameters: Vec<Validator>,
    body: Option<BodyValidator>,
    body_is_optional: bool,
    responses: Vec<(u16, Option<Validator>)>,
    messages: Arc<Messages>,
    declared_names: Arc<BTreeSet<String>>,
}

impl Conformance {
    /// Compiles the schemas of operations from the contract's JSON, in the order of the operations. `declared_names` are the names
    /// that clients do not choose.
    ///
    /// # Errors
    /// Returns an error when the document is not JSON, a JSON pointer does not resolve or a schema cannot be compiled.
    pub fn compile(
        document: &str,
        operations: Vec<ConformanceOperation>,
        declared_names: BTreeSet<String>,
        describe_pattern: DescribePattern,
    ) -> anyhow::Result<Vec<Self>> {
        let requests = schemas::read_document(document)?;
        let responses: Value = serde_json::from_str(document)?;
        let requests = SchemaCompiler::new(&requests, describe_pattern)?;
        let responses = SchemaCompiler::new(&responses, describe_pattern)?;
        let declared_names = Arc::new(declared_names);
        let compile = |ConformanceOperation { operation, pointer, responses: statuses }| {
            let parameters = operation.parameters.iter().map(|parameter| requests.compile(parameter.schema));
            let body = operation.body.as_ref().filter(|body| {
                matches!(BodyFormat::of(body.media_type), BodyFormat::Json | BodyFormat::Text)
            });
            let statuses = statuses.into_iter().map(|(status, schema)| {
                Ok((status, schema.map(|pointer| responses.compile(&pointer)).transpose()?))
            });
            let body_is_optional = operation
                .body
                .as_ref()
                .is_some_and(|body| !schemas::is_required(requests.document, body.schema));
            Ok(Self {
                operation,
                pointer,
                parameters: parameters.collect::<anyhow::Result<_>>()?,
                body: body.map(|body| BodyValidator::compile(&requests, body.schema)).transpose()?,
                body_is_optional,
                responses: statuses.collect::<anyhow::Result<_>>()?,
                messages: Arc::clone(&requests.messages),
                declared_names: Arc::clone(&declared_names),
            })
        };
        operations.into_iter().map(compile).collect()
    }

    /// Returns why a request does not conform to the contract. Credentials are not checked.
    pub fn check_request(&self, request: &ReceivedRequest<'_>) -> Vec<Fault> {
        let mut faults = Vec::new();
        let sent = SentParameters::parse(self.operation, request);
        let of_operation = |location: &str, keyword: &str, name: &str, reason: &str| Fault {
            code: format!("request-{location}-{keyword}"),
            pointer: format!("{}/parameters", self.pointer),
            name: format!("{location} {}", self.masked(name)),
            reason: reason.to_owned(),
        };
        for violation in &sent.violations {
            faults.push(of_operation("query", "malformed", &violation.field, &violation.message));
        }
        let is_declared = |sent: &QueryParameter| {
            let mut parameters = self.operation.parameters.iter();
            parameters.any(|known| known.location == ParameterLocation::Query && known.name == sent.name)
        };
        for sent in sent.query.iter().filter(|sent| !is_declared(sent)) {
            add(&mut faults, of_operation("query", "unknown", &sent.name, UNKNOWN_PARAMETER));
        }
        for (parameter, validator) in self.operation.parameters.iter().zip(&self.parameters) {
            self.check_parameter(parameter, validator, &sent, &mut faults);
        }
        self.check_body(request, &mut faults);
        limited(faults, "other")
    }

    fn check_parameter(
        &self,
        parameter: &Parameter,
        validator: &Validator,
        sent: &SentParameters<'_>,
        faults: &mut Vec<Fault>,
    ) {
        let location = location_name(parameter.location);
        let own_pointer = parameter.schema.strip_suffix("/schema").unwrap_or(parameter.schema);
        let name = match parameter.location {
            ParameterLocation::Header => format!("{location} {}", parameter.name.to_ascii_lowercase()),
            _ => format!("{location} {}", parameter.name),
        };
        let fault = |keyword: &str, pointer: String, reason: String| Fault {
            code: format!("request-{location}-{keyword}"),
            pointer,
            name: name.clone(),
            reason,
        };
        let values = sent.values(parameter);
        if values.is_empty() {
            if parameter.required {
                faults.push(fault("required", format!("{own_pointer}/required"), "is required".to_owned()));
            }
            return;
        }
        match sent.convert(parameter, &values) {
            Err(reason) => faults.push(fault("type", format!("{}/type", parameter.schema), reason)),
            Ok(value) if validator.is_valid(&value) => {}
            Ok(value) => {
                for error in validator.iter_errors(&value) {
                    for cause in self.causes(&error, parameter.schema) {
                        add(faults, fault(&cause.code, cause.pointer, cause.reason));
                    }
                }
            }
        }
    }

    fn check_body(&self, request: &ReceivedRequest<'_>, faults: &mut Vec<Fault>) {
        let Some(declared) = &self.operation.body else { return };
        let fault = |keyword: &str, pointer: String, name: &str, reason: &str| Fault {
            code: format!("request-body-{keyword}"),
            pointer,
            name: self.masked(name),
            reason: reason.to_owned(),
        };
        let mut steps = declared.schema.rsplitn(4, '/').skip(3);
        let own_pointer = steps.next().unwrap_or(&self.pointer);
        if request.body.is_empty() {
            if !self.body_is_optional {
                faults.push(fault("required", format!("{own_pointer}/required"), "", "is required"));
            }
            return;
        }
        if media_type::check(request.headers, declared.media_type).is_err() {
            let reason = format!("must be {}", declared.media_type);
            faults.push(fault("media-type", format!("{own_pointer}/content"), "", &reason));
            return;
        }
        let Some(validator) = &self.body else { return };
        let Ok(value) = body::parse(BodyFormat::of(declared.media_type), request.body) else {
            faults.push(fault("syntax", declared.schema.to_owned(), "", "cannot be parsed"));
            return;
        };
        match validator.validator_of(&value) {
            Err(violation) => {
                let name = violation.field.trim_start_matches('/');
                let pointer = format!("{}/discriminator", declared.schema);
                faults.push(fault("discriminator", pointer, name, &violation.message));
            }
            Ok(validator) => self.check_value(validator, &value, "request-body", declared.schema, faults),
        }
    }

    /// Returns why a response with this success status does not conform to the contract.
    pub fn check_response(&self, status: u16, body: &[u8]) -> Vec<Fault> {
        let mut faults = Vec::new();
        let pointer = format!("{}/responses", self.pointer);
        let fault = |keyword: &str, reason: &str| Fault {
            code: format!("response-{keyword}"),
            pointer: pointer.clone(),
            name: status.to_string(),
            reason: reason.to_owned(),
        };
        match self.responses.iter().find(|(documented, _)| *documented == status) {
            None => faults.push(fault("status", "is not documented")),
            Some((_, None)) if body.is_empty() => {}
            Some((_, None)) => faults.push(fault("body", "has no documented body")),
            Some((_, Some(validator))) => match serde_json::from_slice(body) {
                Err(_) => faults.push(fault("body", "must have a JSON body")),
                Ok(value) => self.check_value(
                    validator,
                    &value,
                    "response-body",
                    &format!("{pointer}/{status}"),
                    &mut faults,
                ),
            },
        }
        limited(faults, "response-other")
    }

    fn check_value(
        &self,
        validator: &Validator,
        value: &Value,
        part: &str,
        schema: &str,
        faults: &mut Vec<Fault>,
    ) {
        if validator.is_valid(value) {
            return;
        }
        for error in validator.iter_errors(value) {
            for cause in self.causes(&error, schema) {
                add(faults, Fault { code: format!("{part}-{}", cause.code), ..cause });
            }
        }
    }

    /// Returns the causes of an error, with the keyword as their code. `schema` is the JSON pointer of the schema.
    fn causes(&self, error: &ValidationError<'_>, schema: &str) -> Vec<Fault> {
        if let Kind::OneOfNotValid { context } | Kind::AnyOf { context } = error.kind()
            && let Some(errors) = only_fitting_member(error, context)
        {
            return errors.iter().flat_map(|inner| self.causes(inner, schema)).collect();
        }
        let keyword = error.absolute_keyword_location().and_then(|location| location.fragment());
        let pointer = keyword.and_then(|fragment| query::decode_segment(fragment.as_str()));
        let pointer = pointer.filter(|pointer| pointer.starts_with('/')).unwrap_or_else(|| schema.to_owned());
        let names = match error.kind() {
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                let names: BTreeSet<String> = unexpected.iter().map(|name| self.masked(name)).collect();
                names.into_iter().collect()
            }
            Kind::Required { property } => vec![self.masked(property.as_str().unwrap_or_default())],
            Kind::PropertyNames { .. } => vec!["*".to_owned()],
            _ => vec![String::new()],
        };
        let (code, described) = (kebab_case(error.kind().keyword()), self.messages.describe(error));
        let reason = described.into_iter().next().map(|(_, reason)| reason).unwrap_or_default();
        let fault =
            |name| Fault { code: code.clone(), pointer: pointer.clone(), name, reason: reason.clone() };
        names.into_iter().map(fault).collect()
    }

    /// Returns a name, or `*` if clients choose it.
    fn masked(&self, name: &str) -> String {
        let is_known = name.is_empty() || self.declared_names.contains(name);
        if is_known { name.to_owned() } else { "*".to_owned() }
    }
}

/// Adds a fault, unless it is there already or [`limited`] would remove it.
fn add(faults: &mut Vec<Fault>, fault: Fault) {
    if faults.len() <= MAX_FAULTS && !faults.contains(&fault) {
        faults.push(fault);
    }
}

/// Limits the number of faults. If there are more, the last one has the code `other` and does not say where it is.
fn limited(mut faults: Vec<Fault>, other: &str) -> Vec<Fault> {
    if faults.len() > MAX_FAULTS {
        faults.truncate(MAX_FAULTS);
        let reason = "there are further reasons".to_owned();
        faults.push(Fault { code: other.to_owned(), pointer: String::new(), name: String::new(), reason });
    }
    faults
}

/// Returns the errors of the only member of a union that has the type of the value.
fn only_fitting_member<'e, 'm>(
    error: &ValidationError<'_>,
    members: &'e [Vec<ValidationError<'m>>],
) -> Option<&'e [ValidationError<'m>]> {
    let has_wrong_type = |errors: &[ValidationError<'_>]| {
        let mut at_value = errors.iter().filter(|inner| inner.instance_path() == error.instance_path());
        at_value.any(|inner| matches!(inner.kind(), Kind::Type { .. }))
    };
    let mut fitting = members.iter().filter(|errors| !has_wrong_type(errors));
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first.as_slice())
}

const fn location_name(location: ParameterLocation) -> &'static str {
    match location {
        ParameterLocation::Path => "path",
        ParameterLocation::Query => "query",
        ParameterLocation::Header => "header",
        ParameterLocation::Cookie => "cookie",
    }
}

/// Converts a keyword such as `maxLength` to `max-length`.
fn kebab_case(keyword: &str) -> String {
    let mut text = String::with_capacity(keyword.len() + 4);
    for character in keyword.chars().filter(|character| *character != '$') {
        if character.is_ascii_uppercase() {
            text.push('-');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}
