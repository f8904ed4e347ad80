//! Reads webhooks.

use super::super::keywords;
use super::super::model::{Body, MediaType, Parameter, ParameterLocation, Webhook};
use super::super::node::SpannedString;
use super::super::reader::{Cursor, NodeReader};
use super::{check_external_docs, deprecation, parameter, response, shared};
use crate::diagnostic::Code;

/// Reads `webhooks`. Each is a POST with a JSON body.
pub(super) fn webhooks<'n>(reader: &mut NodeReader<'n>, webhooks: &Cursor<'n>) -> Vec<Webhook> {
    let mut parsed = Vec::new();
    for (name, item) in reader.children(webhooks) {
        parsed.extend(webhook(reader, name, &item));
    }
    parsed
}

fn webhook<'n>(reader: &mut NodeReader<'n>, name: &SpannedString, item: &Cursor<'n>) -> Option<Webhook> {
    if !reader.check_keywords(item, &keywords::WEBHOOK) {
        return None;
    }
    let mut parameters = parameter::list(reader, item);
    let post = reader.required_child(item, "post", "a webhook")?;
    if !reader.check_keywords(&post, &keywords::OPERATION) {
        return None;
    }
    check_external_docs(reader, &post);
    deprecation::check(reader, &post);
    parameters.extend(parameter::list(reader, &post));
    require_headers(reader, &parameters);
    reject_security(reader, &post);
    check_responses(reader, &post);
    let id = id(reader, name, &post);
    let tags = reader.child(&post, "tags").map(|tags| reader.items(&tags)).unwrap_or_default();
    let tags = tags.iter().filter_map(|tag| reader.string(tag)).collect();
    let body = body(reader, &post)?;
    Some(Webhook {
        name: name.clone(),
        id: id?,
        tags,
        summary: reader.string_child(&post, "summary").map(|text| text.text),
        deprecated: reader.flag(&post, "deprecated"),
        content: body.content,
    })
}

fn id<'n>(reader: &mut NodeReader<'n>, name: &SpannedString, post: &Cursor<'n>) -> Option<SpannedString> {
    let id = reader.string_child(post, "operationId");
    if id.is_none() && post.node.get("operationId").is_none() {
        let message = format!("the webhook `{}` has no `operationId`", name.text);
        let help =
            "add one in camelCase, such as `onCourseUpdated`: it names the handlers that receivers generate";
        reader.error(Code::MissingOperationId, post.name_span, message, help);
    }
    id
}

/// Reports parameters other than headers. The receiver chooses the URL, so an event cannot have path or query
/// parameters.
fn require_headers(reader: &mut NodeReader<'_>, parameters: &[Parameter]) {
    for parameter in parameters.iter().filter(|parameter| parameter.location != ParameterLocation::Header) {
        let message = format!("the parameter `{}` of a webhook is not a header", parameter.name.text);
        let help = "use a header or the body: the receiver chooses the URL";
        reader.error(Code::UnsupportedKeyword, parameter.name.span, message, help);
    }
}

/// Reports a security requirement: events are signed instead of being sent with API keys.
fn reject_security<'n>(reader: &mut NodeReader<'n>, post: &Cursor<'n>) {
    let Some(security) = post.node.entry("security") else { return };
    if security.value.items().is_none_or(|list| !list.is_empty()) {
        let help = "write `security: []`, and describe the signature headers as parameters";
        let message = "webhooks are sent without API keys";
        reader.error(Code::UnsupportedKeyword, security.key.span, message, help);
    }
}

fn body<'n>(reader: &mut NodeReader<'n>, post: &Cursor<'n>) -> Option<Body> {
    let body = reader.required_child(post, "requestBody", "a webhook")?;
    let name_span = body.name_span;
    let body = shared::inline_or_shared(reader, body, "requestBodies", response::request_body)?;
    if !body.required {
        let help = "write `required: true`: every event has a body";
        reader.error(Code::UnsupportedKeyword, name_span, "the body of a webhook must be required", help);
    }
    if body.content.media_type != MediaType::Json {
        let message = "the body of a webhook must be JSON";
        reader.error(Code::UnsupportedKeyword, body.content.span, message, "use `application/json`");
    }
    Some(body)
}

/// Checks the responses of a receiver. Their statuses can also be ranges and `default`.
fn check_responses<'n>(reader: &mut NodeReader<'n>, post: &Cursor<'n>) {
    let Some(responses) = reader.child(post, "responses") else { return };
    for (key, item) in reader.children(&responses) {
        if !is_response_status(key) {
            let message = format!("`{}` is not a response status", key.text);
            let help = "use a number from 100 to 599, a range such as `2XX`, or `default`";
            reader.error(Code::UnsupportedKeyword, key.span, message, help);
        }
        shared::inline_or_shared(reader, item, "responses", response::response_contents);
    }
}

fn is_response_status(key: &str) -> bool {
    let number = key.parse().is_ok_and(|status: u16| (100..=599).contains(&status));
    number || ["default", "1XX", "2XX", "3XX", "4XX", "5XX"].contains(&key)
}
