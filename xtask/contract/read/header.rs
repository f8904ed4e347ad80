//! Reads response headers and validates header names.

use super::super::keywords;
use super::super::model::Header;
use super::super::node::SpannedString;
use super::super::reader::{Cursor, NodeReader};
use super::super::rust_name;
use super::{deprecation, schema, shared};
use crate::diagnostic::{Code, Diagnostic};

/// Headers that the sender controls for each connection (RFC 9110, 7.6.1), and `Content-Length`.
const CONNECTION_HEADERS: [&str; 8] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Returns whether the name is a valid header name: a token (RFC 9110, 5.6.2).
pub(crate) fn is_header_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(allowed)
}

/// Returns whether a header name is valid. Reports an invalid name.
pub(super) fn check_name(reader: &mut NodeReader<'_>, name: &SpannedString) -> bool {
    let valid = is_header_name(name);
    if !valid {
        let message = format!("`{}` is not a valid header name", name.text);
        let help = "use letters, digits and hyphens without spaces, such as `X-Total`";
        reader.error(Code::UnsupportedKeyword, name.span, message, help);
    }
    valid
}

/// Reads the headers of a response.
pub(super) fn list<'n>(reader: &mut NodeReader<'n>, response: &Cursor<'n>) -> Vec<Header> {
    let Some(list) = reader.child(response, "headers") else { return Vec::new() };
    let mut parsed = Vec::new();
    let mut names: Vec<&SpannedString> = Vec::new();
    for (name, item) in reader.children(&list) {
        check_response_header(reader, name, &names);
        names.push(name);
        parsed.extend(shared::inline_or_shared(reader, item, "headers", |reader, cursor| {
            header(reader, name, cursor)
        }));
    }
    parsed
}

/// Reports a header name that is invalid, reserved or a duplicate.
fn check_response_header(
    reader: &mut NodeReader<'_>,
    name: &SpannedString,
    previous_names: &[&SpannedString],
) {
    if !check_name(reader, name) {
        return;
    }
    let lower = name.to_ascii_lowercase();
    if lower == "content-type" {
        let message = "OpenAPI ignores a response header named `Content-Type`";
        let help = "remove it: `content` declares the media type";
        reader.error(Code::UnsupportedKeyword, name.span, message, help);
    } else if CONNECTION_HEADERS.contains(&&*lower) {
        let message = format!("the server sets `{}` for each connection", name.text);
        let help = "remove it: a contract cannot define headers of the connection";
        reader.error(Code::UnsupportedKeyword, name.span, message, help);
    }
    let rust = rust_name::snake_case(name);
    if let Some(other) = previous_names.iter().find(|other| rust_name::snake_case(other) == rust) {
        let (name_text, other_text) = (&name.text, &other.text);
        let (message, help) = if lower == other.to_ascii_lowercase() {
            (
                format!("duplicate response header: `{name_text}` and `{other_text}`"),
                "rename or remove one of them: header names are case-insensitive",
            )
        } else {
            (
                format!("`{name_text}` and `{other_text}` would both be named `{rust}` in Rust (headers)"),
                "rename one of them",
            )
        };
        let diagnostic = Diagnostic::error(Code::RustNameCollision, name.span, message, help);
        reader.diagnostics.push(diagnostic.with_related(other.span, "first used here"));
    }
}

/// Reads a response header.
pub(super) fn header<'n>(
    reader: &mut NodeReader<'n>,
    name: &SpannedString,
    cursor: &Cursor<'n>,
) -> Option<Header> {
    if !reader.check_keywords(cursor, &keywords::HEADER) {
        return None;
    }
    shared::examples(reader, cursor);
    deprecation::check(reader, cursor);
    let schema = reader.required_child(cursor, "schema", "a header")?;
    let schema = schema::read(reader, &schema)?;
    Some(Header {
        name: name.clone(),
        required: reader.flag(cursor, "required"),
        description: reader.string_child(cursor, "description").map(|text| text.text),
        deprecated: reader.flag(cursor, "deprecated"),
        schema,
    })
}
