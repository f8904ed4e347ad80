//! Plays the scenarios of tests/clients/scripted/expectations.json and the test vectors of webhook signatures.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use creator_api_client::webhooks::{self, EventBody, VerificationError, verify_signature};
use creator_api_client::{Client, Error, List, Options, connect, paginate, types};
use futures::TryStreamExt;
use serde_json::{Map, Value, json};

mod readme {
    include!(concat!(env!("OUT_DIR"), "/readme.rs"));
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read_json(path: &str) -> Value {
    let text = std::fs::read_to_string(repository().join(path)).expect("the file can be read");
    serde_json::from_str(&text).expect("the file is JSON")
}

/// The scripted server. It ends when its standard input is closed.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new("python3");
        command.arg(repository().join("tests/clients/scripted/server.py"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 starts");
        let mut url = String::new();
        let output = child.stdout.take().expect("the output is piped");
        BufReader::new(output).read_line(&mut url).expect("the server prints its URL");
        Self { child, url: url.trim().to_owned() }
    }

    /// Sends the outcome of a scenario to the server and returns the violations.
    async fn report(&self, name: &str, outcome: &Value) -> Vec<Value> {
        let response = reqwest::Client::new().post(format!("{}/outcome/{name}", self.url)).json(outcome);
        let response: Value = response.send().await.expect("a response").json().await.expect("JSON");
        response["violations"].as_array().expect("a list").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn describe(error: &Error) -> Value {
    match error {
        Error::Api(error) => {
            let fields: Vec<&str> = error.details.iter().map(|detail| &*detail.field).collect();
            json!({
                "kind": "api", "status": error.status, "code": error.code, "request_id": error.request_id,
                "retry_after": error.retry_after.map(|delay| delay.as_secs()), "fields": fields,
            })
        }
        Error::Configuration(_) => json!({ "kind": "configuration" }),
        Error::Connection(_) => json!({ "kind": "connection" }),
        _ => json!({ "kind": "invalid_response" }),
    }
}

fn reason(error: VerificationError) -> &'static str {
    match error {
        VerificationError::Malformed => "malformed",
        VerificationError::TooOld => "too_old",
        VerificationError::TooNew => "too_new",
        VerificationError::NoMatch => "no_match",
        _ => "invalid_body",
    }
}

/// Returns a function that finds a header by its lowercase name.
fn header_of<'h>(headers: &'h HashMap<String, String>) -> impl Fn(&str) -> Option<&'h str> + Copy {
    move |name: &str| headers.get(name).map(String::as_str)
}

fn lowercase(headers: &Value) -> HashMap<String, String> {
    let headers = headers.as_object().expect("an object").iter();
    headers.map(|(name, value)| (name.to_lowercase(), value.as_str().expect("a string").to_owned())).collect()
}

/// Returns the time `now` of a call or a test vector.
fn time_of(call: &Value) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(call["now"].as_u64().expect("a time"))
}

fn verify(call: &Value) -> Value {
    let secrets: Vec<&str> =
        call["secrets"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let (body, headers) = (call["body"].as_str().expect("a body"), lowercase(&call["headers"]));
    match webhooks::verify(body.as_bytes(), header_of(&headers), &secrets, time_of(call)) {
        // The typed body is compared, not the JSON that arrived.
        Ok(event) => json!({ "event": {
            "id": event.id, "type": event.event_type, "data": data_of(&event.body),
        } }),
        Err(VerificationError::InvalidSecret) => json!({ "error": { "kind": "configuration" } }),
        Err(error) => json!({ "error": { "kind": "verification", "reason": reason(error) } }),
    }
}

fn data_of(body: &EventBody) -> Value {
    match body {
        EventBody::StudentCreated(event) => serde_json::to_value(&event.data).expect("JSON"),
        EventBody::OrderPaid(event) => serde_json::to_value(&event.data).expect("JSON"),
        EventBody::Unknown(body) => body["data"].clone(),
        other => panic!("unexpected {other:?}"),
    }
}

async fn read_all(list: impl List<Item = types::Student>, items: &mut Vec<String>) -> Result<(), Error> {
    let mut students = std::pin::pin!(paginate(list));
    while let Some(student) = students.try_next().await? {
        items.push(student.id.to_string());
    }
    Ok(())
}

async fn make_call(client: &Client, call: &Value, outcome: &mut Map<String, Value>) -> Result<(), Error> {
    match call["operation"].as_str() {
        Some("createStudent") => {
            let body: types::NewStudent =
                serde_json::from_value(call["body"].clone()).expect("a new student");
            let student = client.create_student().body(body).send().await?.into_inner();
            outcome.insert("value".to_owned(), serde_json::to_value(student).expect("JSON"));
        }
        Some("getOrder") => {
            let order =
                client.get_order().id(call["id"].as_str().unwrap_or_default()).send().await?.into_inner();
            outcome.insert("value".to_owned(), serde_json::to_value(order).expect("JSON"));
        }
        Some("listStudents") => {
            let mut list = client.list_students();
            if let Some(limit) = call["query"]["limit"].as_u64() {
                list = list.limit(u32::try_from(limit).expect("a small number"));
            }
            if let Some(tag) = call["query"]["tag"].as_str() {
                list = list.tag(tag);
            }
            if let Some(cursor) = call["query"]["cursor"].as_str() {
                list = list.cursor(cursor);
            }
            let mut items = Vec::new();
            let result = read_all(list, &mut items).await;
            outcome.insert("items".to_owned(), json!(items));
            result?;
        }
        operation => panic!("unknown operation {operation:?}"),
    }
    Ok(())
}

#[tokio::test]
async fn scenarios() {
    let (server, file) = (Server::start(), read_json("tests/clients/scripted/expectations.json"));
    let milliseconds = |name: &str| Duration::from_millis(file["options"][name].as_u64().expect("a number"));
    let mut failures = Vec::new();
    for scenario in file["scenarios"].as_array().expect("a list") {
        let (name, call) = (scenario["name"].as_str().expect("a name"), &scenario["call"]);
        let outcome = match call["operation"].as_str() {
            Some("readme") => continue,
            Some("verify") => verify(call),
            _ => {
                let key = call["api_key"].as_str().or(file["api_key"].as_str()).expect("a key");
                let options = Options {
                    timeout: milliseconds("timeout_ms"),
                    max_retries: u32::try_from(file["options"]["max_retries"].as_u64().expect("a number"))
                        .expect("small"),
                    base_delay: milliseconds("base_delay_ms"),
                    ..Options::default()
                };
                let mut outcome = Map::new();
                let result = match connect(&format!("{}/s/{name}", server.url), key, options) {
                    Ok(client) => make_call(&client, call, &mut outcome).await,
                    Err(error) => Err(error),
                };
                if let Err(error) = result {
                    outcome.insert("error".to_owned(), describe(&error));
                }
                Value::Object(outcome)
            }
        };
        let violations = server.report(name, &outcome).await;
        failures.extend(violations.into_iter().map(|violation| format!("{name}: {violation}")));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[tokio::test]
async fn the_code_of_the_readme_runs() {
    let (server, file) = (Server::start(), read_json("tests/clients/scripted/expectations.json"));
    let scenarios = file["scenarios"].as_array().expect("a list");
    let event = scenarios.iter().find(|scenario| scenario["name"] == "event").expect("the scenario exists");
    let secret = event["call"]["secrets"][0].as_str().expect("a secret");
    let url = format!("{}/s/readme", server.url);
    let emails =
        readme::emails(&url, file["api_key"].as_str().expect("a key")).await.expect("the calls succeed");
    let violations = server.report("readme", &json!({ "items": emails.len() })).await;
    assert!(violations.is_empty(), "{violations:?}");

    let body = event["call"]["body"].as_str().expect("a body");
    let sign = |body: &str| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
        let tag = ring::hmac::sign(&key, format!("{now}.{body}").as_bytes());
        let signature: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("t={now},v1={signature}")
    };
    let (mut processed, mut welcomed) = (HashSet::new(), Vec::new());
    let mut receive = |body: &str, signature: String, secret: &str| {
        let headers = HashMap::from([("x-svc-signature".to_owned(), signature)]);
        readme::receive(body.as_bytes(), &headers, &[secret], &mut processed, &mut welcomed)
    };
    let test_event = body.replacen('{', r#"{"test":true,"#, 1);
    assert_eq!(receive(&test_event, sign(&test_event), secret), 204, "a test event is accepted and skipped");
    assert_eq!(receive("{}", sign("{}"), secret), 500, "a body that this version cannot read is sent again");
    assert_eq!(receive(body, sign(body), "whsec_"), 500, "so is an event without a valid secret");
    assert_eq!(receive(body, sign(body), secret), 204);
    assert_eq!(receive(body, sign(body), secret), 204, "a replayed event is accepted and skipped");
    assert_eq!(receive(body, "t=1,v1=0".to_owned(), secret), 400);
    assert_eq!(welcomed, ["jonas.weber@example.com"]);
}

#[test]
fn vectors() {
    for vector in read_json("src/webhooks/vectors.json")["vectors"].as_array().expect("a list") {
        let text = |name: &str| vector[name].as_str().unwrap_or_default();
        let mut headers = vec![lowercase(&json!({ "X-SVC-Signature": text("x_svc_signature") }))];
        if vector["webhook_id"].is_string() {
            headers.push(lowercase(&json!({
                "webhook-id": text("webhook_id"),
                "webhook-timestamp": text("webhook_timestamp"),
                "webhook-signature": text("webhook_signature"),
            })));
        }
        for headers in &headers {
            let (body, secret) = (text("body").as_bytes(), text("secret"));
            let verified = verify_signature(body, header_of(headers), &[secret], time_of(vector));
            assert_eq!(verified.map_err(reason).err(), vector["reject"].as_str(), "{vector}");
        }
    }
}
