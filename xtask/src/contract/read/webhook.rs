//! Webhooks.

use super::super::keywords;
use super::super::model::{Media, Webhook};
use super::super::reader::{At, Reader};
use super::{external_docs, parameter, response, shared, sunset};
use crate::diagnostic::Code;

/// Reads `webhooks`: each is one POST with a JSON body.
pub fn webhooks<'n>(reader: &mut Reader<'n>, webhooks: &At<'n>) -> Vec<Webhook> {
    let mut read = Vec::new();
    for (name, item) in reader.children(webhooks) {
        if !reader.object(&item, &keywords::WEBHOOK) {
            continue;
        }
        parameter::list(reader, &item);
        let Some(post) = reader.needed(&item, "post", "a webhook") else { continue };
        if !reader.object(&post, &keywords::OPERATION) {
            continue;
        }
        external_docs(reader, &post);
        sunset(reader, &post);
        parameter::list(reader, &post);
        responses(reader, &post);
        let Some(body) = reader.needed(&post, "requestBody", "a webhook") else { continue };
        let Some(body) = shared::once(reader, body, "requestBodies", response::body_of) else { continue };
        if body.content.media != Media::Json {
            let message = "the body of an event is not JSON";
            reader.error(Code::UnsupportedKeyword, body.content.span, message, "write `application/json`");
        }
        let summary = reader.text_of(&post, "summary").map(|text| text.text);
        read.push(Webhook { name: name.clone(), summary, content: body.content });
    }
    read
}

/// The receiver answers, so ranges and `default` may stand here.
fn responses<'n>(reader: &mut Reader<'n>, post: &At<'n>) {
    let Some(responses) = reader.child(post, "responses") else { return };
    for (_, item) in reader.children(&responses) {
        shared::once(reader, item, "responses", response::parts);
    }
}
