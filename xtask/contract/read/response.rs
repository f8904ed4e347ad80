//! Reads request bodies and responses.

use super::super::keywords;
use super::super::model::{Body, Content, Header, MediaType, Method, Response, ResponseStatus, Shape};
use super::super::node::SpannedString;
use super::super::reader::{Cursor, NodeReader};
use super::{header, schema, shared};
use crate::Profile;
use crate::diagnostic::Code;

/// Reads the request body of an operation.
pub(super) fn body<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, method: Method) -> Option<Body> {
    let body = reader.child(cursor, "requestBody")?;
    let name_span = body.name_span;
    let has_body = match method {
        Method::Get => false,
        Method::Delete => reader.profile == Profile::Open,
        _ => true,
    };
    if !has_body {
        let message = format!("a {} operation cannot have a body", method.key().to_uppercase());
        let help = "use parameters: proxies and clients discard the body";
        reader.error(Code::UnsupportedKeyword, name_span, message, help);
    }
    let mut body = shared::inline_or_shared(reader, body, "requestBodies", request_body)?;
    body.span = name_span;
    if !body.required && reader.profile == Profile::Server {
        let message = "optional request bodies are not supported";
        let help = "write `required: true`, and make its properties optional";
        reader.error(Code::UnsupportedKeyword, name_span, message, help);
    }
    Some(body)
}

/// Reads a request body object.
pub(super) fn request_body<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) -> Option<Body> {
    if !reader.check_keywords(cursor, &keywords::REQUEST_BODY) {
        return None;
    }
    reader.required_child(cursor, "content", "a request body")?;
    let content = content(reader, cursor)?;
    Some(Body { required: reader.flag(cursor, "required"), content, span: cursor.name_span })
}

/// Reads the only media type of `content`, if present. Reports further media types.
fn content<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) -> Option<Content> {
    let content = reader.child(cursor, "content")?;
    let types = reader.children(&content);
    for (key, media_type) in types.iter().skip(1) {
        let message = format!("more than one media type: `{}`", key.text);
        let help = "keep one media type, and add a separate operation for the other";
        reader.error(Code::UnsupportedKeyword, media_type.name_span, message, help);
    }
    let (name, cursor) = types.into_iter().next()?;
    let media_type = match reader.profile {
        Profile::Server => MediaType::ALL.into_iter().find(|media_type| media_type.as_str() == &**name),
        Profile::Open => {
            check_media_type(reader, name);
            Some(MediaType::of_any(name))
        }
    };
    if media_type.is_none() {
        let message = format!("the media type `{}` is not supported", name.text);
        let names = MediaType::ALL.map(|media_type| format!("`{}`", media_type.as_str())).join(", ");
        reader.error(Code::UnsupportedKeyword, name.span, message, format!("use one of {names}"));
    }
    reader.check_keywords(&cursor, &keywords::MEDIA_TYPE);
    shared::examples(reader, &cursor);
    let schema = reader.required_child(&cursor, "schema", "a media type")?;
    let schema = schema::read(reader, &schema)?;
    let media_type = media_type?;
    let is_suitable = match (&schema.shape, media_type) {
        (_, MediaType::Json | MediaType::Lines) => true,
        (Shape::String(string), MediaType::Text) => string.rust_type().is_none() && !schema.nullable,
        // A schema cannot describe binary data.
        (Shape::Any, MediaType::Bytes) => true,
        _ => false,
    };
    if !is_suitable {
        let (message, help) = if media_type == MediaType::Text {
            (
                "the schema of a `text/plain` body must be a string",
                "write `schema: {type: string}`, optionally with bounds",
            )
        } else {
            (
                "a schema cannot describe binary data",
                "write `schema: true`: any bytes up to the size limit are valid",
            )
        };
        reader.error(Code::UnsupportedKeyword, cursor.name_span, message, help);
    }
    Some(Content { media_type, name: name.text.clone(), span: name.span, schema })
}

/// Reports a media type or range that no body can have, and a charset that the server does not decode.
fn check_media_type(reader: &mut NodeReader<'_>, name: &SpannedString) {
    let mut parts = name.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let is_valid = match essence.split_once('/') {
        Some((kind, "*")) => kind == "*" || is_token_without_star(kind),
        Some((kind, subtype)) => is_token_without_star(kind) && is_token_without_star(subtype),
        None => false,
    };
    if !is_valid {
        let message = format!("`{}` is neither a media type nor a range of media types", name.text);
        let help = "write a type such as `application/json`, or a range such as `image/*`";
        reader.error(Code::UnsupportedKeyword, name.span, message, help);
    }
    let charsets = parts.filter_map(|parameter| {
        let (key, value) = parameter.split_once('=')?;
        key.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
    });
    for charset in charsets {
        if MediaType::of_any(name) != MediaType::Bytes && !charset.eq_ignore_ascii_case("utf-8") {
            let message = format!("the charset `{charset}` is not supported");
            let help = "write `charset=utf-8`, or remove the parameter: JSON and text are UTF-8";
            reader.error(Code::UnsupportedKeyword, name.span, message, help);
        }
    }
}

fn is_token_without_star(name: &str) -> bool {
    header::is_header_name(name) && !name.contains('*')
}

/// Reads the responses of an operation.
pub(super) fn responses<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) -> Vec<Response> {
    let Some(responses) = reader.required_child(cursor, "responses", "an operation") else {
        return Vec::new();
    };
    let mut parsed = Vec::new();
    for (key, item) in reader.children(&responses) {
        let status = ResponseStatus::from_key(key);
        let is_supported =
            |status: &ResponseStatus| reader.profile == Profile::Open || status.code().is_some();
        let Some(status) = status.filter(is_supported) else {
            let message = format!("`{}` is not a status code", key.text);
            let help = "write each status code as a number: the generated enum has one variant per status";
            reader.error(Code::UnsupportedKeyword, key.span, message, help);
            continue;
        };
        let contents = shared::inline_or_shared(reader, item, "responses", response_contents);
        let complete = contents.is_some();
        // An invalid response was reported. Its status still counts as documented.
        let (description, headers, content) = contents.unwrap_or_default();
        if content.is_some() && status.code().is_some_and(|code| [204, 205, 304].contains(&code)) {
            let message = format!("a response with status {status} cannot have a body");
            reader.error(Code::UnsupportedKeyword, key.span, message, "remove `content`, or use status 200");
        }
        parsed.push(Response { status, span: key.span, description, headers, content, complete });
    }
    parsed
}

/// The description, the headers and the body of a response.
type ResponseContents = (String, Vec<Header>, Option<Content>);

/// Reads a response object.
pub(super) fn response_contents<'n>(
    reader: &mut NodeReader<'n>,
    cursor: &Cursor<'n>,
) -> Option<ResponseContents> {
    if !reader.check_keywords(cursor, &keywords::RESPONSE) {
        return None;
    }
    let description =
        reader.required_child(cursor, "description", "a response").and_then(|text| reader.string(&text));
    let headers = header::list(reader, cursor);
    let content = content(reader, cursor);
    Some((description.map(|text| text.text).unwrap_or_default(), headers, content))
}
