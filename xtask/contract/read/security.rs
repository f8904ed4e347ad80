//! Security schemes, and the scope of an operation.

use super::super::keywords;
use super::super::model::{Credential, Scheme};
use super::super::node::{Node, Text};
use super::super::reader::{At, Reader};
use super::super::source::Span;
use super::header;
use crate::diagnostic::Code;

/// Reads `components.securitySchemes`: every scheme is one that keys are sent with.
pub(super) fn schemes<'n>(reader: &mut Reader<'n>, components: &At<'n>) -> Vec<Scheme> {
    let Some(schemes) = reader.child(components, "securitySchemes") else { return Vec::new() };
    let mut read = Vec::new();
    for (name, at) in reader.children(&schemes) {
        if !reader.object(&at, &keywords::SECURITY_SCHEME) {
            continue;
        }
        if let Some(credential) = credential(reader, name, &at) {
            read.push(Scheme { name: name.clone(), credential });
        }
    }
    read
}

fn credential<'n>(reader: &mut Reader<'n>, name: &Text, at: &At<'n>) -> Option<Credential> {
    let word = |key| at.node.get(key).and_then(Node::as_str).unwrap_or_default();
    let lower = word("scheme").to_ascii_lowercase();
    match (word("type"), &*lower, word("in")) {
        ("http", "bearer", "") => return Some(Credential::Bearer),
        ("http", "basic", "") => return Some(Credential::Basic),
        ("apiKey", "", place @ ("header" | "cookie")) => {
            let sent = reader.needed(at, "name", "a key in a header or cookie")?;
            let sent = reader.text(&sent)?;
            if place == "header" {
                header::sendable(reader, &sent);
            }
            return Some(if place == "header" {
                Credential::Header(sent.text)
            } else {
                Credential::Cookie(sent.text)
            });
        }
        _ => {}
    }
    let (message, help) = match (word("type"), word("in")) {
        ("apiKey", "query") => (
            format!("the security scheme `{}` sends keys in the query", name.text),
            "write `in: header`: addresses are logged, and a key must not be",
        ),
        ("oauth2" | "openIdConnect" | "mutualTLS", _) => {
            (format!("the security scheme `{}` is not one of keys", name.text), keywords::NO_TOKENS)
        }
        _ => (
            format!("the security scheme `{}` is not one that the server can hold requests to", name.text),
            "write `type: http` with `scheme: bearer` or `basic`, or `type: apiKey` with `in: header` or `cookie`",
        ),
    };
    reader.error(Code::UnsupportedKeyword, name.span, message, help);
    None
}

/// The scheme and the one scope of `security: [{scheme: [scope]}]`.
pub(super) fn scope<'n>(reader: &mut Reader<'n>, at: &At<'n>, span: Span) -> Option<(Text, Text)> {
    let named = reader.child(at, "security").and_then(|security| {
        let [requirement] = security.node.items()? else { return None };
        let [scheme] = requirement.entries()? else { return None };
        let [scope] = scheme.value.items()? else { return None };
        let text = Text { text: scope.as_str()?.to_owned(), span: scope.span };
        Some((scheme.key.clone(), text))
    });
    let Some((scheme, scope)) = named else {
        let place = at.node.entry("security").map_or(span, |entry| entry.key.span);
        reader.error(
            Code::OperationWithoutScope,
            place,
            "the operation does not name exactly one scope",
            "write `security: [{apiKey: ['read:things']}]`: a key without that scope is refused",
        );
        return None;
    };
    let pointer = format!("/components/securitySchemes/{}", scheme.text);
    if reader.root.pointer(&pointer).is_none() {
        reader.error(
            Code::UnresolvedRef,
            scheme.span,
            format!("there is no security scheme `{}`", scheme.text),
            "name one of `components.securitySchemes`",
        );
        return None;
    }
    Some((scheme, scope))
}
