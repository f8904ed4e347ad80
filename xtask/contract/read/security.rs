//! Reads security schemes and the scope of an operation.

use super::super::keywords;
use super::super::model::{Access, Credential, SecurityScheme};
use super::super::node::{Node, SpannedString};
use super::super::reader::{Cursor, NodeReader};
use super::super::source::Span;
use super::header;
use crate::diagnostic::Code;

/// Reads `components.securitySchemes`. Only schemes that send API keys are supported.
pub(super) fn schemes<'n>(reader: &mut NodeReader<'n>, components: &Cursor<'n>) -> Vec<SecurityScheme> {
    let Some(schemes) = reader.child(components, "securitySchemes") else { return Vec::new() };
    let mut parsed = Vec::new();
    for (name, cursor) in reader.children(&schemes) {
        if !reader.check_keywords(&cursor, &keywords::SECURITY_SCHEME) {
            continue;
        }
        if let Some(credential) = credential(reader, name, &cursor) {
            parsed.push(SecurityScheme { name: name.clone(), credential });
        }
    }
    parsed
}

/// Returns where requests contain the API key. Reports an unsupported security scheme.
fn credential<'n>(
    reader: &mut NodeReader<'n>,
    name: &SpannedString,
    cursor: &Cursor<'n>,
) -> Option<Credential> {
    let string = |key| cursor.node.get(key).and_then(Node::as_str).unwrap_or_default();
    let http_scheme = string("scheme").to_ascii_lowercase();
    match (string("type"), &*http_scheme, string("in")) {
        ("http", "bearer", "") => return Some(Credential::Bearer),
        ("http", "basic", "") => return Some(Credential::Basic),
        ("apiKey", "", location @ ("header" | "cookie")) => {
            let key_name = reader.required_child(cursor, "name", "an API key in a header or cookie")?;
            let key_name = reader.string(&key_name)?;
            if location == "header" {
                header::check_name(reader, &key_name);
            }
            return Some(if location == "header" {
                Credential::Header(key_name.text)
            } else {
                Credential::Cookie(key_name.text)
            });
        }
        _ => {}
    }
    let (message, help) = match (string("type"), string("in")) {
        ("apiKey", "query") => (
            format!("the security scheme `{}` sends API keys in the query", name.text),
            "write `in: header`: URLs appear in logs, and must not contain keys",
        ),
        ("oauth2" | "openIdConnect" | "mutualTLS", _) => {
            (format!("the security scheme `{}` does not send API keys", name.text), keywords::USE_KEYS)
        }
        _ => (
            format!("the security scheme `{}` is not supported", name.text),
            "use `type: http` with `scheme: bearer` or `basic`, or `type: apiKey` with `in: header` or `cookie`",
        ),
    };
    reader.error(Code::UnsupportedKeyword, name.span, message, help);
    None
}

/// Returns the security scheme and the scope of an operation: `security: [{scheme: [scope]}]`, or `[{scheme: []}]` without a scope.
/// `span` is the span of the operation.
pub(super) fn access<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, span: Span) -> Option<Access> {
    let scheme_and_scope = reader.child(cursor, "security").and_then(|security| {
        let [requirement] = security.node.items()? else { return None };
        let [scheme] = requirement.entries()? else { return None };
        let scope = match scheme.value.items()? {
            [] => None,
            [scope] => Some(SpannedString { text: scope.as_str()?.to_owned(), span: scope.span }),
            _ => return None,
        };
        Some((scheme.key.clone(), scope))
    });
    let Some((scheme, scope)) = scheme_and_scope else {
        let span = cursor.node.entry("security").map_or(span, |entry| entry.key.span);
        reader.error(
            Code::OperationWithoutScope,
            span,
            "an operation must have a security scheme and at most one scope",
            "write `security: [{apiKey: ['read:things']}]`: the server rejects keys without the scope; `[{apiKey: []}]` accepts \
             every valid key",
        );
        return None;
    };
    let pointer = format!("/components/securitySchemes/{}", scheme.text);
    if reader.root.pointer(&pointer).is_none() {
        reader.error(
            Code::UnresolvedRef,
            scheme.span,
            format!("unknown security scheme `{}`", scheme.text),
            "use one of `components.securitySchemes`",
        );
        return None;
    }
    Some(Access { scheme, scope })
}
