//! Validates responses against the contract that the server serves: status, headers and body.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

use api::generated::operations::OPERATIONS;
use contract_runtime::contract::Operation;
use serde_json::{Map, Value};

use crate::support::{TestApp, TestResponse, send};

/// Headers of HTTP itself, which operations do not document.
const HTTP_HEADERS: &[&str] = &[
    "content-type",
    "content-length",
    "content-encoding",
    "connection",
    "date",
    "transfer-encoding",
    "vary",
];

/// Headers that HTTP itself requires of every request with a JSON body.
const REQUEST_HEADERS: [&str; 4] = ["accept", "content-length", "content-type", "host"];

/// A validator for the served contract, made strict: an undeclared field is an error.
pub struct ContractValidator {
    document: Value,
    /// The compiled schemas by JSON pointer.
    compiled: Mutex<BTreeMap<String, jsonschema::Validator>>,
}

impl ContractValidator {
    /// Reads the contract from a running server.
    pub async fn of(app: &TestApp) -> Self {
        let served = send(app.request(reqwest::Method::GET, "/openapi/v1.json")).await.assert_status(200);
        let mut document = served.json();
        close(&mut document, false);
        Self { document, compiled: Mutex::default() }
    }

    /// Returns the value at this JSON pointer, with a `$ref` resolved.
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
        let mut compiled = self.compiled.lock().expect("the lock is not poisoned");
        let validator = compiled.entry(pointer.to_owned()).or_insert_with(|| self.compile(pointer));
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

    /// Returns the schema of the body of a webhook.
    pub fn event_schema(event_type: &str) -> String {
        format!("/webhooks/{event_type}/post/requestBody/content/application~1json/schema")
    }

    /// Returns the errors of the headers of a webhook, by their lower-case names: missing, undeclared or invalid headers.
    pub fn webhook_header_errors(&self, event_type: &str, sent: &BTreeMap<String, String>) -> Vec<String> {
        let place = format!("/webhooks/{event_type}/post/parameters");
        let count = self.at(&place).as_array().map_or(0, Vec::len);
        let (mut errors, mut known) = (Vec::new(), BTreeSet::from(REQUEST_HEADERS.map(str::to_owned)));
        for parameter in (0..count).map(|number| self.resolved(&format!("{place}/{number}"))) {
            let name = self.at(&parameter)["name"].as_str().unwrap_or_default().to_lowercase();
            let schema = format!("{parameter}/schema");
            match sent.get(&name) {
                None => errors.push(format!("{name} is missing")),
                Some(text) => {
                    let value_errors = self.header_errors(&schema, text);
                    errors.extend(value_errors.into_iter().map(|error| format!("{name}{error}")));
                }
            }
            known.insert(name);
        }
        let undeclared = sent.keys().filter(|name| !known.contains(*name));
        errors.extend(undeclared.map(|name| format!("{name} is not declared")));
        errors
    }

    /// Asserts that the contract documents this response of the operation: its status, every header, and the body.
    #[track_caller]
    pub fn assert_documents(&self, operation: &Operation, response: &TestResponse) {
        let path = operation.path.replace('~', "~0").replace('/', "~1");
        let pointer =
            format!("/paths/{path}/{}/responses/{}", operation.method.to_lowercase(), response.status);
        let what = format!("{} {}", operation.id, response.status);
        assert!(self.document.pointer(&pointer).is_some(), "{what} is not documented: {response:?}");
        let pointer = self.resolved(&pointer);
        self.assert_headers(&what, &pointer, response);
        self.assert_body(&what, &pointer, response);
    }

    fn resolved(&self, pointer: &str) -> String {
        let reference = self.document.pointer(pointer).and_then(|value| value["$ref"].as_str());
        reference.map_or_else(|| pointer.to_owned(), |reference| reference.trim_start_matches('#').to_owned())
    }

    #[track_caller]
    fn assert_headers(&self, what: &str, response_pointer: &str, response: &TestResponse) {
        let none = Map::new();
        let documented = self.at(response_pointer)["headers"].as_object().unwrap_or(&none);
        let sent: BTreeSet<&str> = response.headers.keys().map(|name| name.as_str()).collect();
        for name in &sent {
            let known = documented.keys().any(|known| known.eq_ignore_ascii_case(name));
            assert!(known || HTTP_HEADERS.contains(name), "{what} has the undocumented header {name}");
        }
        for name in documented.keys() {
            let pointer = self.resolved(&format!("{response_pointer}/headers/{}", name.replace('/', "~1")));
            let header = self.at(&pointer);
            let present = sent.contains(name.to_lowercase().as_str());
            assert!(present || header["required"] != true, "{what} lacks the header {name}");
            if !present {
                continue;
            }
            assert_eq!(response.headers.get_all(name).iter().count(), 1, "{what} has {name} twice");
            let schema = format!("{pointer}/schema");
            assert_eq!(self.header_errors(&schema, response.header(name)), [""; 0], "{what}: header {name}");
        }
    }

    /// Returns the validation errors of a header's value.
    #[track_caller]
    fn header_errors(&self, schema: &str, text: &str) -> Vec<String> {
        let value = match self.at(schema)["type"].as_str() {
            Some("integer") => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
            _ => text.into(),
        };
        self.errors(schema, &value)
    }

    #[track_caller]
    fn assert_body(&self, what: &str, response_pointer: &str, response: &TestResponse) {
        let schema = format!("{response_pointer}/content/application~1json/schema");
        if self.document.pointer(&schema).is_none() {
            assert!(response.body.is_empty(), "{what} documents no body, and has one");
            assert_eq!(response.header("content-type"), "", "{what}");
            return;
        }
        assert_eq!(response.header("content-type"), "application/json", "{what}");
        assert_eq!(self.errors(&schema, &response.json()), [""; 0], "{what}: {}", response.json());
    }
}

/// Forbids undeclared fields wherever a schema is used as a whole. The parts of an `allOf` stay open.
fn close(value: &mut Value, in_all_of: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| close(item, in_all_of)),
        Value::Object(fields) => {
            let names_schema = fields
                .get("$ref")
                .and_then(Value::as_str)
                .is_some_and(|to| to.starts_with("#/components/schemas/"));
            if names_schema && !in_all_of {
                fields.insert("unevaluatedProperties".to_owned(), false.into());
            }
            fields.iter_mut().for_each(|(name, field)| close(field, name == "allOf"));
        }
        _ => {}
    }
}

/// Asserts the body and headers of an error and returns its message.
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
    let page = error["doc_url"].as_str().expect("an error names its page");
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
    let operation =
        OPERATIONS.iter().find(|operation| operation.id == "getCourse").expect("getCourse is there");
    let contract = ContractValidator::of(&app).await;
    let response = workspace.full_key().await.get(&format!("/api/v1/courses/{course}")).await;
    contract.assert_documents(operation, &response);

    let fits = |edit: fn(&mut Value)| {
        let mut body = response.json();
        edit(&mut body);
        contract.errors("/components/schemas/CourseDetail", &body).is_empty()
    };
    assert!(fits(|_| ()));
    assert!(!fits(|course| drop(course.as_object_mut().and_then(|fields| fields.remove("slug")))));
    assert!(!fits(|course| course["color"] = "red".into()));
    assert!(!fits(|course| course["modules"][0]["color"] = "red".into()));
    assert!(!fits(|course| course["modules"][0]["lessons"][0]["position"] = "1".into()));
    assert!(!fits(|course| course["created_at"] = "yesterday".into()));
    assert!(!fits(|course| course["id"] = "stu_01kerv87j8fgjt30swgcw4scc1".into()));

    // Headers and statuses are validated as well.
    let mut bare = response.clone();
    bare.headers.remove("x-ratelimit-reset");
    let mut undeclared = response.clone();
    undeclared.headers.insert("x-powered-by", "poem".parse().expect("a value"));
    let undocumented_status = TestResponse { status: 201, ..response };
    for wrong in [bare, undeclared, undocumented_status] {
        let validated =
            std::panic::catch_unwind(AssertUnwindSafe(|| contract.assert_documents(operation, &wrong)));
        assert!(validated.is_err(), "{wrong:?}");
    }
}
