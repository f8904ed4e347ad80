//! Headers: how they may be called, and those of responses.

use super::super::keywords;
use super::super::model::Header;
use super::super::node::Text;
use super::super::reader::{At, Reader};
use super::super::rust_name;
use super::{schema, shared, sunset};
use crate::diagnostic::{Code, Diagnostic};

/// Headers that whoever sends the bytes decides on: those of one connection (RFC 9110, 7.6.1), and the body's length.
const OF_THE_CONNECTION: [&str; 8] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether HTTP can send a header of this name: a token (RFC 9110, 5.6.2).
fn is_token(name: &str) -> bool {
    let may_stand = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(may_stand)
}

/// Reports a name that HTTP cannot send, and whether it can.
pub(super) fn sendable(reader: &mut Reader<'_>, name: &Text) -> bool {
    let sendable = is_token(name);
    if !sendable {
        let message = format!("`{}` is no name of a header", name.text);
        let help = "write it without blanks, in letters, digits and hyphens: `X-Total`";
        reader.error(Code::UnsupportedKeyword, name.span, message, help);
    }
    sendable
}

/// The headers of one response.
pub(super) fn list<'n>(reader: &mut Reader<'n>, response: &At<'n>) -> Vec<Header> {
    let Some(list) = reader.child(response, "headers") else { return Vec::new() };
    let mut read = Vec::new();
    let mut names: Vec<&Text> = Vec::new();
    for (name, item) in reader.children(&list) {
        judge(reader, name, &names);
        names.push(name);
        read.extend(shared::once(reader, item, "headers", |reader, at| header(reader, name, at)));
    }
    read
}

/// Reports a name that is none, is not the contract's to give, or is that of a header before it.
fn judge(reader: &mut Reader<'_>, name: &Text, before: &[&Text]) {
    if !sendable(reader, name) {
        return;
    }
    let lower = name.to_ascii_lowercase();
    if lower == "content-type" {
        let message = "OpenAPI ignores a header called `Content-Type`";
        let help = "leave it out: the media type stands under `content`";
        reader.error(Code::UnsupportedKeyword, name.span, message, help);
    } else if OF_THE_CONNECTION.contains(&&*lower) {
        let message = format!("`{}` is written by the server for each connection", name.text);
        let help = "leave it out: a contract has no say in how an answer is framed and sent";
        reader.error(Code::UnsupportedKeyword, name.span, message, help);
    }
    let rust = rust_name::lower(name);
    if let Some(other) = before.iter().find(|other| rust_name::lower(other) == rust) {
        let message = format!("`{}` and `{}` of one response are one header", name.text, other.text);
        let message = if lower == other.to_ascii_lowercase() {
            message
        } else {
            format!("`{}` and `{}` would both be called `{rust}` in Rust (headers)", name.text, other.text)
        };
        let help = "rename one of the two, or leave it out: HTTP does not tell `X-Total` from `x-total`";
        let finding = Diagnostic::error(Code::RustNameCollision, name.span, message, help);
        reader.findings.push(finding.related(other.span, "the other one"));
    }
}

/// One header of a response.
pub(super) fn header<'n>(reader: &mut Reader<'n>, name: &Text, at: &At<'n>) -> Option<Header> {
    if !reader.object(at, &keywords::HEADER) {
        return None;
    }
    shared::examples(reader, at);
    sunset(reader, at);
    let place = reader.needed(at, "schema", "a header")?;
    let schema = schema::read(reader, &place)?;
    Some(Header {
        name: name.clone(),
        required: reader.flag(at, "required"),
        description: reader.text_of(at, "description").map(|text| text.text),
        deprecated: reader.flag(at, "deprecated"),
        schema,
    })
}
