//! What the adapters of all Rust clients share. checks.py describes the protocol.

use std::io::BufRead;

use serde_json::{Value, json};

/// The result of a call: a value, or `error` or `exception` with what happened.
pub type CallResult = Result<Value, Value>;

/// Returns an exception.
pub fn exception(error: impl std::fmt::Debug) -> Value {
    json!({ "exception": format!("{error:?}") })
}

/// Describes a response with an error.
pub fn failure(status: u16, retry_after: Option<&str>, body: &Value) -> Value {
    let details = body["error"]["details"].as_array().cloned().unwrap_or_default();
    let fields: Vec<&Value> = details.iter().map(|detail| &detail["field"]).collect();
    json!({ "error": {
        "status": status, "code": body["error"]["code"], "retry_after": retry_after, "fields": fields,
    } })
}

/// Converts a value of a client to JSON.
pub fn to_json(value: impl serde::Serialize) -> CallResult {
    serde_json::to_value(value).map_err(exception)
}

/// Parses JSON into a type of a client.
pub fn from_json<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T, Value> {
    serde_json::from_value(value.clone()).map_err(exception)
}

/// Parses an event into the model of its type, and converts it back.
pub fn event<T: serde::de::DeserializeOwned + serde::Serialize>(body: &str) -> CallResult {
    to_json(serde_json::from_str::<T>(body).map_err(exception)?)
}

/// Verifies the signature of an event and parses it.
pub fn verified(arguments: &Value, parse: impl Fn(&str, &str) -> Option<CallResult>) -> CallResult {
    let (body, secret) = (text(&arguments["body"]), text(&arguments["secret"]));
    let mut headers = arguments["headers"].as_object().into_iter().flatten();
    let header = headers.find(|(name, _)| name.eq_ignore_ascii_case("x-svc-signature"));
    let header = header.map(|(_, value)| text(value)).unwrap_or_default();
    let part = |name: &str| header.split(',').find_map(|part| part.strip_prefix(name)).unwrap_or_default();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
    let tag = ring::hmac::sign(&key, format!("{}.{body}", part("t=")).as_bytes());
    let signature: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    if signature != part("v1=") {
        return Err(json!({ "error": { "code": "signature" } }));
    }
    let event: Value = serde_json::from_str(body).map_err(exception)?;
    let event_type = text(&event["type"]);
    parse(event_type, body).unwrap_or_else(|| Ok(json!({ "unknown": event_type })))
}

/// Returns a string, or an empty one.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Answers the calls from standard input.
pub async fn serve(answer: impl AsyncFn(&Value) -> CallResult) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let call: Value = serde_json::from_str(&line).expect("a call is JSON");
        println!("{}", match answer(&call).await {
            Ok(value) => json!({ "value": value }),
            Err(error) => error,
        });
    }
}
