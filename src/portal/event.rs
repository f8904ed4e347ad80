//! The event catalog: a page for each event type.

use std::fmt::Write;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::block::{Block, Card};
use super::contract_text::ContractText;
use super::field::{self, deprecation};
use super::json::Json;
use super::operation;

/// The secret of the test vectors, with which the examples are signed.
const EXAMPLE_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// The time at which the examples are signed, in seconds: that of the test vectors.
const EXAMPLE_TIME: u32 = 1_767_225_600;

/// Returns the parts of the list of event types.
pub(crate) fn list(contract: &ContractText) -> Vec<Block> {
    let text = "The events that a workspace can subscribe to. Each event is sent as a signed `POST` request to your endpoint. \
                The guide [Webhooks](/docs/webhooks) shows how to receive them; the dashboard, at `/dashboard/developer/webhooks`, \
                creates webhooks and sends test events.\n\nMore types can be added: ignore those that you do not recognize.";
    let cards = contract.events().map(|(event_type, json)| Card {
        path: contract.event_path(event_type),
        title: event_type.to_owned(),
        text: format!("{}.", json["summary"].text()),
    });
    vec![Block::Text(text.to_owned()), Block::Cards(cards.collect())]
}

/// Returns the parts of the page of an event type.
pub(crate) fn blocks(contract: &ContractText, event_type: &str) -> Vec<Block> {
    let Some((_, json)) = contract.events().find(|(other, _)| *other == event_type) else {
        return Vec::new();
    };
    let mut text = format!("**{}**\n\n", json["summary"].text());
    if let Some(deprecation) = deprecation(json) {
        let _ = write!(text, "{deprecation}\n\n");
    }
    text += json["description"].text().trim();
    text += "\n\nTo receive an example of this event, send a test event in the dashboard, at `/dashboard/developer/webhooks`.\n\n\
             ## Fields of data";
    let mut blocks = vec![Block::Text(text)];
    let Some(body) = contract.body(&json["requestBody"]) else { return blocks };
    let (data, envelope): (Vec<_>, Vec<_>) = field::rows(contract, body.schema, "field-")
        .into_iter()
        .partition(|row| row.name.starts_with("data."));
    blocks.push(Block::Fields { label: "Field", rows: data });
    blocks.push(Block::Text("## Fields of the envelope".to_owned()));
    blocks.push(Block::Fields { label: "Field", rows: envelope });
    blocks.push(Block::Text("## Headers".to_owned()));
    blocks.push(Block::Fields { label: "Header", rows: operation::parameter_rows(contract, json) });
    if let Some((_, example)) = body.examples.first() {
        blocks.push(Block::Text(example_request(contract, event_type, json, example)));
    }
    let receive = "## Receive it\n\nVerify the signature with the raw bytes of the body: in [Python](/docs/webhooks#verify.py), \
                   [TypeScript or Node.js](/docs/webhooks#verify.ts), [Rust](/docs/webhooks#verify.rs) or \
                   [Go](/docs/webhooks#verify.go). A complete receiver is [receiver.py](/docs/webhooks#receiver.py). Respond with a \
                   2xx status within 15 seconds, and skip events whose `id` you have processed.";
    blocks.push(Block::Text(receive.to_owned()));
    blocks
}

/// Returns the example as a complete request with valid signatures.
fn example_request(contract: &ContractText, event_type: &str, json: &Json, example: &Json) -> String {
    let body = example.pretty();
    let signature = signature(&body);
    let mut text = "## Example\n\n```http\nPOST /hook HTTP/1.1\nContent-Type: application/json\n".to_owned();
    for parameter in json["parameters"].items().iter().map(|parameter| contract.resolve(parameter)) {
        let value = match parameter["name"].text() {
            "X-SVC-Signature" => format!("t={EXAMPLE_TIME},v1={signature}"),
            "X-SVC-Event" => event_type.to_owned(),
            "X-SVC-Sequence" => example["id"].text().trim_start_matches("evt_").to_owned(),
            "webhook-id" => example["id"].text().to_owned(),
            "webhook-timestamp" => EXAMPLE_TIME.to_string(),
            // The other signature follows the same rules, and the guide has an example of it.
            "webhook-signature" => continue,
            _ => match described_example(contract, parameter) {
                Some(value) => value,
                None => continue,
            },
        };
        let _ = writeln!(text, "{}: {value}", parameter["name"].text());
    }
    let _ = write!(
        text,
        "\n{body}\n```\n\nThe signature is that of exactly these bytes, with the secret `{EXAMPLE_SECRET}`. In the real request, the \
         body is on one line, and the headers of Standard Webhooks contain an equivalent signature."
    );
    text
}

/// Returns the example of a header, or the one in the description of its schema.
fn described_example(contract: &ContractText, parameter: &Json) -> Option<String> {
    let schema = contract.resolve(&parameter["schema"]);
    let own = [&parameter["example"], &schema["example"]].into_iter().find_map(|example| example.as_str());
    own.or_else(|| schema["description"].text().split('`').nth(1)).map(str::to_owned)
}

/// Returns the value of `v1` for a body.
fn signature(body: &str) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(EXAMPLE_SECRET.as_bytes()).expect("HMAC accepts keys of any length");
    mac.update(format!("{EXAMPLE_TIME}.{body}").as_bytes());
    hex::encode(mac.finalize().into_bytes())
}
