//! Is an answer what the contract says? Status, headers and body, judged by the contract that the server serves.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

use api::generated::operations::OPERATIONS;
use contract_runtime::contract::Operation;
use serde_json::{Map, Value};

use crate::support::{Answer, TestApp, send};

/// Headers of HTTP itself, which no operation documents.
const OF_HTTP: &[&str] = &[
    "content-type",
    "content-length",
    "content-encoding",
    "connection",
    "date",
    "transfer-encoding",
    "vary",
];

/// What HTTP itself wants of a request with a body in JSON, whatever it is about.
const OF_EVERY_REQUEST: [&str; 4] = ["accept", "content-length", "content-type", "host"];

/// The contract as served, made strict: a field that it does not declare is a fault.
pub struct Contract {
    document: Value,
    /// The schemas used so far, compiled, by their JSON pointer.
    compiled: Mutex<BTreeMap<String, jsonschema::Validator>>,
}

impl Contract {
    /// Reads it from a running server.
    pub async fn of(app: &TestApp) -> Self {
        let served = send(app.request(reqwest::Method::GET, "/openapi/v1.json")).await.assert_status(200);
        let mut document = served.json();
        close(&mut document, false);
        Self { document, compiled: Mutex::default() }
    }

    /// The document's value at this JSON pointer, behind its `$ref` where there is one.
    #[track_caller]
    pub fn at(&self, pointer: &str) -> &Value {
        let value = self.document.pointer(pointer).unwrap_or_else(|| panic!("the contract has no {pointer}"));
        match value["$ref"].as_str() {
            Some(reference) => self.at(reference.trim_start_matches('#')),
            None => value,
        }
    }

    /// What the schema at this JSON pointer has against the value.
    #[track_caller]
    pub fn faults(&self, pointer: &str, value: &Value) -> Vec<String> {
        let mut compiled = self.compiled.lock().expect("no story panics in here");
        let validator = compiled.entry(pointer.to_owned()).or_insert_with(|| self.compile(pointer));
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    fn compile(&self, pointer: &str) -> jsonschema::Validator {
        self.at(pointer);
        let mut schema = self.document.clone();
        // A pointer in a URI: the braces of a path are percent-encoded.
        schema["$ref"] = format!("#{}", pointer.replace('{', "%7B").replace('}', "%7D")).into();
        schema["unevaluatedProperties"] = false.into();
        let options = jsonschema::draft202012::options().should_validate_formats(true);
        options.build(&schema).unwrap_or_else(|error| panic!("{pointer}: {error}"))
    }

    /// The schema that judges the body of a webhook.
    pub fn event_schema(event_type: &str) -> String {
        format!("/webhooks/{event_type}/post/requestBody/content/application~1json/schema")
    }

    /// What the contract has against the headers of a webhook, by their names in lower case: one that is missing, undeclared,
    /// or not as its schema says.
    pub fn webhook_header_faults(&self, event_type: &str, sent: &BTreeMap<String, String>) -> Vec<String> {
        let place = format!("/webhooks/{event_type}/post/parameters");
        let many = self.at(&place).as_array().map_or(0, Vec::len);
        let (mut faults, mut known) = (Vec::new(), BTreeSet::from(OF_EVERY_REQUEST.map(str::to_owned)));
        for parameter in (0..many).map(|number| self.resolved(&format!("{place}/{number}"))) {
            let name = self.at(&parameter)["name"].as_str().unwrap_or_default().to_lowercase();
            let schema = format!("{parameter}/schema");
            match sent.get(&name) {
                None => faults.push(format!("{name} is missing")),
                Some(text) => {
                    let of_it = self.header_faults(&schema, text);
                    faults.extend(of_it.into_iter().map(|fault| format!("{name}{fault}")));
                }
            }
            known.insert(name);
        }
        let undeclared = sent.keys().filter(|name| !known.contains(*name));
        faults.extend(undeclared.map(|name| format!("{name} is not declared")));
        faults
    }

    /// Asserts that the operation's contract documents this answer: the status, every header, the body.
    #[track_caller]
    pub fn assert_documents(&self, operation: &Operation, answer: &Answer) {
        let path = operation.path.replace('~', "~0").replace('/', "~1");
        let pointer =
            format!("/paths/{path}/{}/responses/{}", operation.method.to_lowercase(), answer.status);
        let what = format!("{} {}", operation.id, answer.status);
        assert!(self.document.pointer(&pointer).is_some(), "{what} is not documented: {answer:?}");
        let pointer = self.resolved(&pointer);
        self.assert_headers(&what, &pointer, answer);
        self.assert_body(&what, &pointer, answer);
    }

    fn resolved(&self, pointer: &str) -> String {
        let reference = self.document.pointer(pointer).and_then(|value| value["$ref"].as_str());
        reference.map_or_else(|| pointer.to_owned(), |reference| reference.trim_start_matches('#').to_owned())
    }

    #[track_caller]
    fn assert_headers(&self, what: &str, response: &str, answer: &Answer) {
        let none = Map::new();
        let documented = self.at(response)["headers"].as_object().unwrap_or(&none);
        let sent: BTreeSet<&str> = answer.headers.keys().map(|name| name.as_str()).collect();
        for name in &sent {
            let known = documented.keys().any(|known| known.eq_ignore_ascii_case(name));
            assert!(known || OF_HTTP.contains(name), "{what} has the undocumented header {name}");
        }
        for name in documented.keys() {
            let pointer = self.resolved(&format!("{response}/headers/{}", name.replace('/', "~1")));
            let header = self.at(&pointer);
            let present = sent.contains(name.to_lowercase().as_str());
            assert!(present || header["required"] != true, "{what} lacks the header {name}");
            if !present {
                continue;
            }
            assert_eq!(answer.headers.get_all(name).iter().count(), 1, "{what} has {name} twice");
            let schema = format!("{pointer}/schema");
            assert_eq!(self.header_faults(&schema, answer.header(name)), [""; 0], "{what}: header {name}");
        }
    }

    /// What a header's schema has against its text.
    #[track_caller]
    fn header_faults(&self, schema: &str, text: &str) -> Vec<String> {
        let value = match self.at(schema)["type"].as_str() {
            Some("integer") => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
            _ => text.into(),
        };
        self.faults(schema, &value)
    }

    #[track_caller]
    fn assert_body(&self, what: &str, response: &str, answer: &Answer) {
        let schema = format!("{response}/content/application~1json/schema");
        if self.document.pointer(&schema).is_none() {
            assert!(answer.body.is_empty(), "{what} documents no body, and has one");
            assert_eq!(answer.header("content-type"), "", "{what}");
            return;
        }
        assert_eq!(answer.header("content-type"), "application/json", "{what}");
        assert_eq!(self.faults(&schema, &answer.json()), [""; 0], "{what}: {}", answer.json());
    }
}

/// Allows nothing but what is declared wherever a schema is used as a whole; the parts of an `allOf` stay open.
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

/// Asserts the envelope and the headers of an error, whoever produced it; returns its message.
#[track_caller]
pub fn assert_error(answer: &Answer, status: u16, code: &str) -> String {
    assert_eq!(answer.status, status, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("cache-control"), "private, no-store");
    assert_rate_limit_headers(answer);
    assert_eq!(answer.code(), code);
    let body = answer.json();
    let error = &body["error"];
    assert_eq!(error["request_id"], answer.header("x-request-id"));
    assert!(!answer.header("x-request-id").is_empty());
    let page = error["doc_url"].as_str().expect("an error names its page");
    assert!(page.ends_with(&format!("/docs/errors#{code}")), "{page}");
    assert_eq!(body.as_object().map(Map::len), Some(1), "{body}");
    assert_eq!(error["retryAfterSeconds"].is_null(), status != 429, "{body}");
    answer.message()
}

/// Asserts that the six headers of the seed stand on the answer, as numbers.
#[track_caller]
pub fn assert_rate_limit_headers(answer: &Answer) {
    for name in ["limit", "remaining", "reset", "daily-limit", "daily-remaining", "daily-reset"] {
        let text = answer.header(&format!("x-ratelimit-{name}"));
        assert!(text.parse::<u64>().is_ok(), "X-RateLimit-{name} is {text:?} on {answer:?}");
    }
}

#[tokio::test]
async fn the_judge_of_answers_sees_what_is_missing_undeclared_or_of_another_type() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let course = workspace.course("rust", 1).await;
    let operation =
        OPERATIONS.iter().find(|operation| operation.id == "getCourse").expect("getCourse is there");
    let contract = Contract::of(&app).await;
    let answer = workspace.full_key().await.get(&format!("/api/v1/courses/{course}")).await;
    contract.assert_documents(operation, &answer);

    let fits = |edit: fn(&mut Value)| {
        let mut body = answer.json();
        edit(&mut body);
        contract.faults("/components/schemas/CourseDetail", &body).is_empty()
    };
    assert!(fits(|_| ()));
    assert!(!fits(|course| drop(course.as_object_mut().and_then(|fields| fields.remove("slug")))));
    assert!(!fits(|course| course["colour"] = "red".into()));
    assert!(!fits(|course| course["modules"][0]["colour"] = "red".into()));
    assert!(!fits(|course| course["modules"][0]["lessons"][0]["position"] = "1".into()));
    assert!(!fits(|course| course["created_at"] = "yesterday".into()));
    assert!(!fits(|course| course["id"] = "stu_01kerv87j8fgjt30swgcw4scc1".into()));

    // Headers and statuses are held to the contract as well.
    let mut bare = answer.clone();
    bare.headers.remove("x-ratelimit-reset");
    let mut wordy = answer.clone();
    wordy.headers.insert("x-powered-by", "poem".parse().expect("a value"));
    let made = Answer { status: 201, ..answer };
    for wrong in [bare, wordy, made] {
        let judged =
            std::panic::catch_unwind(AssertUnwindSafe(|| contract.assert_documents(operation, &wrong)));
        assert!(judged.is_err(), "{wrong:?}");
    }
}
