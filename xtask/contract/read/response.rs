//! Bodies and responses.

use super::super::keywords;
use super::super::model::{Body, Content, Header, Media, Method, Response, Shape};
use super::super::reader::{At, Reader};
use super::{header, schema, shared};
use crate::diagnostic::Code;

/// The body of an operation.
pub(super) fn body<'n>(reader: &mut Reader<'n>, at: &At<'n>, method: Method) -> Option<Body> {
    let stated = reader.child(at, "requestBody")?;
    let named = stated.named;
    if matches!(method, Method::Get | Method::Delete) {
        let message = format!("a {} has no body", method.key().to_uppercase());
        let help = "send what it needs as parameters: proxies and clients drop such a body";
        reader.error(Code::UnsupportedKeyword, named, message, help);
    }
    let mut body = shared::once(reader, stated, "requestBodies", body_of)?;
    body.span = named;
    if !body.required {
        let message = "a body that may be left out is not supported";
        let help = "write `required: true`, and let its fields be optional";
        reader.error(Code::UnsupportedKeyword, named, message, help);
    }
    Some(body)
}

/// What a body is made of.
pub(super) fn body_of<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Body> {
    if !reader.object(at, &keywords::REQUEST_BODY) {
        return None;
    }
    reader.needed(at, "content", "a request body")?;
    let content = content(reader, at)?;
    Some(Body { required: reader.flag(at, "required"), content, span: at.named })
}

/// The one media type of `content`.
fn content<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Content> {
    let content = reader.child(at, "content")?;
    let types = reader.children(&content);
    for (key, extra) in types.iter().skip(1) {
        let message = format!("`{}` is a second media type", key.text);
        let help = "write one media type, and an operation of its own for another form";
        reader.error(Code::UnsupportedKeyword, extra.named, message, help);
    }
    let (name, at) = types.into_iter().next()?;
    let media = Media::ALL.into_iter().find(|media| media.as_str() == &**name);
    if media.is_none() {
        let message = format!("the media type `{}` is not supported", name.text);
        let known = Media::ALL.map(|media| format!("`{}`", media.as_str())).join(", ");
        reader.error(Code::UnsupportedKeyword, name.span, message, format!("write one of {known}"));
    }
    reader.object(&at, &keywords::MEDIA_TYPE);
    shared::examples(reader, &at);
    let schema = reader.needed(&at, "schema", "a media type")?;
    let schema = schema::read(reader, &schema)?;
    let media = media?;
    let fits = match (&schema.shape, media) {
        (_, Media::Json) => true,
        // What is no text has nothing that a schema could say of it.
        (Shape::String(string), Media::Text) => string.scalar().is_none() && !schema.nullable,
        (Shape::Any, Media::Bytes) => true,
        _ => false,
    };
    if !fits {
        let (message, help) = if media == Media::Text {
            ("the body of `text/plain` is not a string", "write `schema: {type: string}`, with its bounds")
        } else {
            (
                "a schema says nothing of bytes",
                "write `schema: true`: any bytes are taken up to the cap on bodies",
            )
        };
        reader.error(Code::UnsupportedKeyword, at.named, message, help);
    }
    Some(Content { media, span: name.span, schema })
}

/// The responses of an operation.
pub(super) fn responses<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Vec<Response> {
    let Some(responses) = reader.needed(at, "responses", "an operation") else { return Vec::new() };
    let mut read = Vec::new();
    for (key, item) in reader.children(&responses) {
        let Some(status) = key.text.parse().ok().filter(|status| (100..=599).contains(status)) else {
            let message = format!("`{}` is not one status", key.text);
            let help = "write each status by its number: generated code answers with one variant for each";
            reader.error(Code::UnsupportedKeyword, key.span, message, help);
            continue;
        };
        let parts = shared::once(reader, item, "responses", parts);
        let whole = parts.is_some();
        // A response that could not be read was reported; that its status is documented still holds.
        let (description, headers, content) = parts.unwrap_or_default();
        if content.is_some() && [204, 205, 304].contains(&status) {
            let message = format!("a response of status {status} has no body");
            reader.error(
                Code::UnsupportedKeyword,
                key.span,
                message,
                "leave `content` out, or answer with 200",
            );
        }
        read.push(Response { status, span: key.span, description, headers, content, whole });
    }
    read
}

type Parts = (String, Vec<Header>, Option<Content>);

/// What a response is made of.
pub(super) fn parts<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Parts> {
    if !reader.object(at, &keywords::RESPONSE) {
        return None;
    }
    let description = reader.needed(at, "description", "a response").and_then(|text| reader.text(&text));
    let headers = header::list(reader, at);
    let content = content(reader, at);
    Some((description.map(|text| text.text).unwrap_or_default(), headers, content))
}
