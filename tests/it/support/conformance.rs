//! Validates responses and webhooks against the contract that the server serves: status, headers and body.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

use api::generated::operations::OPERATIONS;
use contract_runtime::contract::Operation;
use serde_json::{Map, Value};

use super::{TestApp, TestResponse, send};

/// Response headers of HTTP itself, which the contract does not document.
const HTTP_RESPONSE_HEADERS: &[&str] = &[
    "content-type",
    "content-length",
    "content-encoding",
    "connection",
    "date",
    "transfer-encoding",
    "vary",
];

/// Request headers of HTTP itself, which the contract does not document for webhooks.
const HTTP_REQUEST_HEADERS: [&str; 4] = ["accept", "content-length", "content-type", "host"];

/// Validates responses and webhooks against the served contract. It is stricter than the contract: undeclared fields
/// are errors.
pub struct ContractValidator {
    document: Value,
    /// The compiled schemas by JSON pointer.
    validators: Mutex<BTreeMap<String, jsonschema::Validator>>,
}

impl ContractValidator {
    /// Requests the contract of v1 from a running server.
    pub async fn fetch(app: &TestApp) -> Self {
        Self::fetch_contract(app, "v1").await
    }

    /// Requests the contract with this name from a running server.
    pub async fn fetch_contract(app: &TestApp, name: &str) -> Self {
        let request = app.request(reqwest::Method::GET, &format!("/openapi/{name}.json"));
        let served = send(request).await.assert_status(200);
        let mut document = served.json();
        forbid_undeclared_fields(&mut document, false);
        Self { document, validators: Mutex::default() }
    }

    /// Returns the value at this JSON pointer. If the value is a `$ref`, returns its target.
    #[track_caller]
    pub fn at(&self, pointer: &str) -> &Value {
        let value = self.document.pointer(pointer).unwrap_or_else(|| panic!("the contract has no {pointer}"));
        match value["$ref"].as_str() {
            Some(reference) => self.at(reference.trim_start_matches('#')),
            None => value,
        }
    }

    /// Returns the validation errors of a value against the schema at this JSON pointer.
    #[track_caller]
    pub fn errors(&self, pointer: &str, value: &Value) -> Vec<String> {
        let mut validators = self.validators.lock().expect("the lock is not poisoned");
        let validator = validators.entry(pointer.to_owned()).or_insert_with(|| self.compile(pointer));
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    fn compile(&self, pointer: &str) -> jsonschema::Validator {
        self.at(pointer);
        let mut schema = self.document.clone();
        // In a URI, the braces of a path are percent-encoded.
        schema["$ref"] = format!("#{}", pointer.replace('{', "%7B").replace('}', "%7D")).into();
        schema["unevaluatedProperties"] = false.into();
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        options.build(&schema).unwrap_or_else(|error| panic!("{pointer}: {error}"))
    }

    /// Returns the JSON pointer of the schema of a webhook's body.
    pub fn event_schema(event_type: &str) -> String {
        format!("/webhooks/{event_type}/post/requestBody/content/application~1json/schema")
    }

    /// Returns the errors of the headers of a webhook: missing, undeclared or invalid headers. The names in `sent`
    /// are in lower case.
    pub fn webhook_header_errors(&self, event_type: &str, sent: &BTreeMap<String, String>) -> Vec<String> {
        let parameters = format!("/webhooks/{event_type}/post/parameters");
        let count = self.at(&parameters).as_array().map_or(0, Vec::len);
        let (mut errors, mut declared) =
            (Vec::new(), BTreeSet::from(HTTP_REQUEST_HEADERS.map(str::to_owned)));
        for parameter in (0..count).map(|index| self.resolve(&format!("{parameters}/{index}"))) {
            let name = self.at(&parameter)["name"].as_str().unwrap_or_default().to_lowercase();
            let schema = format!("{parameter}/schema");
            match sent.get(&name) {
                None if self.at(&parameter)["required"] == true => errors.push(format!("{name} is missing")),
                None => {}
                Some(text) => {
                    let value_errors = self.header_errors(&schema, text);
                    errors.extend(value_errors.into_iter().map(|error| format!("{name}{error}")));
                }
            }
            declared.insert(name);
        }
        let undeclared = sent.keys().filter(|name| !declared.contains(*name));
        errors.extend(undeclared.map(|name| format!("{name} is not declared")));
        errors
    }

    /// Asserts that the contract documents this response of the operation: its status, every header, and the body.
    #[track_caller]
    pub fn assert_documents(&self, operation: &Operation, response: &TestResponse) {
        let path = operation.path.replace('~', "~0").replace('/', "~1");
        let pointer =
            format!("/paths/{path}/{}/responses/{}", operation.method.to_lowercase(), response.status);
        let label = format!("{} {}", operation.id, response.status);
        assert!(self.document.pointer(&pointer).is_some(), "{label} is not documented: {response:?}");
        let pointer = self.resolve(&pointer);
        self.assert_headers(&label, &pointer, response);
        self.assert_body(&label, &pointer, response);
    }

    /// Returns the JSON pointer of the target if the value at this pointer is a `$ref`, or else this pointer.
    fn resolve(&self, pointer: &str) -> String {
        let reference = self.document.pointer(pointer).and_then(|value| value["$ref"].as_str());
        reference.map_or_else(|| pointer.to_owned(), |reference| reference.trim_start_matches('#').to_owned())
    }

    #[track_caller]
    fn assert_headers(&self, label: &str, response_pointer: &str, response: &TestResponse) {
        let no_headers = Map::new();
        let documented = self.at(response_pointer)["headers"].as_object().unwrap_or(&no_headers);
        let sent: BTreeSet<&str> = response.headers.keys().map(|name| name.as_str()).collect();
        for name in &sent {
            let is_documented = documented.keys().any(|documented| documented.eq_ignore_ascii_case(name));
            assert!(
                is_documented || HTTP_RESPONSE_HEADERS.contains(name),
                "{label} has the undocumented header {name}"
            );
        }
        for name in documented.keys() {
            let pointer = self.resolve(&format!("{response_pointer}/headers/{}", name.replace('/', "~1")));
            let header = self.at(&pointer);
            let is_present = sent.contains(name.to_lowercase().as_str());
            assert!(is_present || header["required"] != true, "{label} lacks the header {name}");
            if !is_present {
                continue;
            }
            assert_eq!(response.headers.get_all(name).iter().count(), 1, "{label} has {name} more than once");
            let schema = format!("{pointer}/schema");
            assert_eq!(self.header_errors(&schema, response.header(name)), [""; 0], "{label}: header {name}");
        }
    }

    /// Returns the validation errors of a header's value against the schema at this JSON pointer.
    #[track_caller]
    fn header_errors(&self, schema: &str, text: &str) -> Vec<String> {
        let value = match self.at(schema)["type"].as_str() {
            Some("integer") => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
            _ => text.into(),
        };
        self.errors(schema, &value)
    }

    #[track_caller]
    fn assert_body(&self, label: &str, response_pointer: &str, response: &TestResponse) {
        let schema = format!("{response_pointer}/content/application~1x-ndjson/schema");
        if self.document.pointer(&schema).is_some() {
            assert_eq!(response.header("content-type"), "application/x-ndjson", "{label}");
            for line in response.body.split_inclusive(|byte| *byte == b'\n') {
                let line = serde_json::from_slice(line).expect("each line is JSON");
                assert_eq!(self.errors(&schema, &line), [""; 0], "{label}: {line}");
            }
            return;
        }
        let schema = format!("{response_pointer}/content/application~1json/schema");
        if self.document.pointer(&schema).is_none() {
            assert!(response.body.is_empty(), "{label} has a body, but the contract documents none");
            assert_eq!(response.header("content-type"), "", "{label}");
            return;
        }
        assert_eq!(response.header("content-type"), "application/json", "{label}");
        assert_eq!(self.errors(&schema, &response.json()), [""; 0], "{label}: {}", response.json());
    }
}

/// Forbids undeclared fields wherever a schema is referenced. The parts of an `allOf` still allow them, because
/// another part may declare them.
fn forbid_undeclared_fields(value: &mut Value, in_all_of: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| forbid_undeclared_fields(item, in_all_of)),
        Value::Object(fields) => {
            let is_schema_reference = fields
                .get("$ref")
                .and_then(Value::as_str)
                .is_some_and(|target| target.starts_with("#/components/schemas/"));
            if is_schema_reference && !in_all_of {
                fields.insert("unevaluatedProperties".to_owned(), false.into());
            }
            fields.iter_mut().for_each(|(name, field)| forbid_undeclared_fields(field, name == "allOf"));
        }
        _ => {}
    }
}

/// Asserts the status, code, headers and body of an error, and returns its message.
#[track_caller]
pub fn assert_error(response: &TestResponse, status: u16, code: &str) -> String {
    assert_eq!(response.status, status, "{}", String::from_utf8_lossy(&response.body));
    assert_eq!(response.header("content-type"), "application/json");
    assert_eq!(response.header("cache-control"), "private, no-store");
    assert_rate_limit_headers(response);
    assert_eq!(response.code(), code);
    let body = response.json();
    let error = &body["error"];
    assert_eq!(error["request_id"], response.header("x-request-id"));
    assert!(!response.header("x-request-id").is_empty());
    let page = error["doc_url"].as_str().expect("an error has a `doc_url`");
    assert!(page.ends_with(&format!("/docs/errors#{code}")), "{page}");
    assert_eq!(body.as_object().map(Map::len), Some(1), "{body}");
    assert_eq!(error["retryAfterSeconds"].is_null(), status != 429, "{body}");
    response.message()
}

/// Asserts that the response has the six rate-limit headers, with numbers.
#[track_caller]
pub fn assert_rate_limit_headers(response: &TestResponse) {
    for name in ["limit", "remaining", "reset", "daily-limit", "daily-remaining", "daily-reset"] {
        let text = response.header(&format!("x-ratelimit-{name}"));
        assert!(text.parse::<u64>().is_ok(), "X-RateLimit-{name} is {text:?} on {response:?}");
    }
}

#[tokio::test]
async fn the_validator_detects_missing_undeclared_and_mistyped_parts() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let course = workspace.course("rust", 1).await;
    let operation = OPERATIONS
        .iter()
        .find(|operation| operation.id == "getCourse")
        .expect("the contract has `getCourse`");
    let contract = ContractValidator::fetch(&app).await;
    let response = workspace.key_with_all_scopes().await.get(&format!("/api/v1/courses/{course}")).await;
    contract.assert_documents(operation, &response);

    let is_valid = |edit: fn(&mut Value)| {
        let mut body = response.json();
        edit(&mut body);
        contract.errors("/components/schemas/CourseDetail", &body).is_empty()
    };
    assert!(is_valid(|_| ()));
    assert!(!is_valid(|course| drop(course.as_object_mut().and_then(|fields| fields.remove("slug")))));
    assert!(!is_valid(|course| course["color"] = "red".into()));
    assert!(!is_valid(|course| course["modules"][0]["color"] = "red".into()));
    assert!(!is_valid(|course| course["modules"][0]["lessons"][0]["position"] = "1".into()));
    assert!(!is_valid(|course| course["created_at"] = "yesterday".into()));
    assert!(!is_valid(|course| course["id"] = "stu_01kerv87j8fgjt30swgcw4scc1".into()));

    // Headers and statuses are validated as well.
    let mut incomplete = response.clone();
    incomplete.headers.remove("x-ratelimit-reset");
    let mut undeclared = response.clone();
    undeclared.headers.insert("x-powered-by", "poem".parse().expect("a value"));
    let undocumented_status = TestResponse { status: 201, ..response };
    for invalid in [incomplete, undeclared, undocumented_status] {
        let validated =
            std::panic::catch_unwind(AssertUnwindSafe(|| contract.assert_documents(operation, &invalid)));
        assert!(validated.is_err(), "{invalid:?}");
    }
}
