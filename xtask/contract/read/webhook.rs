//! Webhooks.

use super::super::keywords;
use super::super::model::{Body, Location, Media, Parameter, Webhook};
use super::super::node::Text;
use super::super::reader::{At, Reader};
use super::{external_docs, parameter, response, shared, sunset};
use crate::diagnostic::Code;

/// Reads `webhooks`: each is one POST with a JSON body.
pub(super) fn webhooks<'n>(reader: &mut Reader<'n>, webhooks: &At<'n>) -> Vec<Webhook> {
    let mut read = Vec::new();
    for (name, item) in reader.children(webhooks) {
        read.extend(webhook(reader, name, &item));
    }
    read
}

fn webhook<'n>(reader: &mut Reader<'n>, name: &Text, item: &At<'n>) -> Option<Webhook> {
    if !reader.object(item, &keywords::WEBHOOK) {
        return None;
    }
    let mut parameters = parameter::list(reader, item);
    let post = reader.needed(item, "post", "a webhook")?;
    if !reader.object(&post, &keywords::OPERATION) {
        return None;
    }
    external_docs(reader, &post);
    sunset(reader, &post);
    parameters.extend(parameter::list(reader, &post));
    refuse_unsent(reader, &parameters);
    refuse_security(reader, &post);
    responses(reader, &post);
    let id = id(reader, name, &post);
    let tags = reader.child(&post, "tags").map(|tags| reader.items(&tags)).unwrap_or_default();
    let tags = tags.iter().filter_map(|tag| reader.text(tag)).collect();
    let body = body(reader, &post)?;
    Some(Webhook {
        name: name.clone(),
        id: id?,
        tags,
        summary: reader.text_of(&post, "summary").map(|text| text.text),
        deprecated: reader.flag(&post, "deprecated"),
        content: body.content,
    })
}

fn id<'n>(reader: &mut Reader<'n>, name: &Text, post: &At<'n>) -> Option<Text> {
    let id = reader.text_of(post, "operationId");
    if id.is_none() && post.node.get("operationId").is_none() {
        let message = format!("the webhook `{}` has no `operationId`", name.text);
        let help = "add one in camelCase, such as `onCourseUpdated`: receivers' generators name it after it";
        reader.error(Code::MissingOperationId, post.named, message, help);
    }
    id
}

/// An event goes to an address that the receiver chose, by POST: it has headers, and nothing else beside its body.
fn refuse_unsent(reader: &mut Reader<'_>, parameters: &[Parameter]) {
    for parameter in parameters.iter().filter(|parameter| parameter.location != Location::Header) {
        let message = format!("an event is not sent with `{}`: it is no header", parameter.name.text);
        let help = "send it as a header or in the body: the address is the receiver's own";
        reader.error(Code::UnsupportedKeyword, parameter.name.span, message, help);
    }
}

/// Receivers verify a signature, and hand out no keys to us.
fn refuse_security<'n>(reader: &mut Reader<'n>, post: &At<'n>) {
    let Some(security) = post.node.entry("security") else { return };
    if security.value.items().is_none_or(|list| !list.is_empty()) {
        let help = "write `security: []`, and describe the headers that prove where an event comes from";
        let message = "an event is sent without keys";
        reader.error(Code::UnsupportedKeyword, security.key.span, message, help);
    }
}

fn body<'n>(reader: &mut Reader<'n>, post: &At<'n>) -> Option<Body> {
    let stated = reader.needed(post, "requestBody", "a webhook")?;
    let named = stated.named;
    let body = shared::once(reader, stated, "requestBodies", response::body_of)?;
    if !body.required {
        let help = "write `required: true`: every event has its body";
        reader.error(Code::UnsupportedKeyword, named, "the body of an event may be left out", help);
    }
    if body.content.media != Media::Json {
        let message = "the body of an event is not JSON";
        reader.error(Code::UnsupportedKeyword, body.content.span, message, "write `application/json`");
    }
    Some(body)
}

/// The receiver answers, so ranges and `default` may stand here.
fn responses<'n>(reader: &mut Reader<'n>, post: &At<'n>) {
    let Some(responses) = reader.child(post, "responses") else { return };
    for (key, item) in reader.children(&responses) {
        if !is_answer(key) {
            let message = format!("`{}` is no status that a receiver can answer with", key.text);
            let help = "write a number from 100 to 599, a range such as `2XX`, or `default`";
            reader.error(Code::UnsupportedKeyword, key.span, message, help);
        }
        shared::once(reader, item, "responses", response::parts);
    }
}

fn is_answer(key: &str) -> bool {
    let number = key.parse().is_ok_and(|status: u16| (100..=599).contains(&status));
    number || ["default", "1XX", "2XX", "3XX", "4XX", "5XX"].contains(&key)
}
