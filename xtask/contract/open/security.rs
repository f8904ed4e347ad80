//! Checks `security` and the security schemes. The server reads them at run time, and must be able to enforce each
//! requirement: a malformed one would admit every caller or none.

use std::collections::BTreeSet;

use super::{Notes, resolve};
use crate::diagnostic::{Code, Diagnostic};
use crate::node::{Entry, Node, Value, escape_pointer_token};
use crate::read::is_header_name;
use crate::source::Span;

/// The expected form, as the remedy of all errors of requirements.
const FORM: &str = "write a list of mappings from schemes of `components.securitySchemes` to lists of scopes, such as \
    `- oauth: [read]`; an empty list makes the operation public";

/// The remedy for schemes that cannot be enforced.
const SCHEMES: &str = "use `http`, `apiKey` in a header, a cookie or the query, `oauth2` or `openIdConnect`";

/// The maximum number of references from one security scheme to the next.
const MAX_REFERENCES: usize = 64;

/// Checks the requirements of the document and of all operations, and the schemes that they name. Adds notes about
/// schemes that no requirement names, and about those whose credentials the service must interpret.
pub(super) fn check(root: &Node, notes: &mut Notes) -> Vec<Diagnostic> {
    let schemes = root.pointer("/components/securitySchemes").and_then(Node::entries).unwrap_or_default();
    let (mut errors, mut used) = (Vec::new(), Vec::new());
    for security in requirements(root) {
        check_alternatives(security, schemes, &mut used, &mut errors);
    }
    let targets: Vec<&str> = schemes.iter().filter_map(|scheme| scheme.value.get("$ref")?.as_str()).collect();
    for alternative in alternatives_of(root) {
        let schemes = alternative.entries().unwrap_or_default();
        let authorization = schemes.iter().filter_map(|scheme| authorization_scheme(root, &scheme.key.text));
        if authorization.collect::<BTreeSet<_>>().len() > 1 {
            let message = "no request has several schemes in `Authorization`";
            let help =
                "make them alternatives, or send one of the credentials in another header as an `apiKey`";
            errors.push(Diagnostic::error(Code::UnsupportedKeyword, alternative.span, message, help));
        }
    }
    for scheme in schemes {
        let (name, span) = (&scheme.key.text, scheme.key.span);
        if !used.contains(&&**name) {
            let pointer = format!("#/components/securitySchemes/{}", escape_pointer_token(name));
            if targets.contains(&&*pointer) {
                continue;
            }
            notes.add(span, format!("no operation uses the security scheme `{name}`"), "it has no effect");
            continue;
        }
        match meaning(root, &scheme.value) {
            Err(problem) => errors.push(Diagnostic {
                message: format!("the security scheme `{name}` cannot be enforced: {}", problem.message),
                ..*problem
            }),
            Ok(None) => {}
            Ok(Some((what, help))) => notes.add(span, format!("the security scheme `{name}` {what}"), &help),
        }
    }
    errors
}

/// Returns `security` of the document and of all operations.
fn requirements(root: &Node) -> impl Iterator<Item = &Node> {
    let paths = root.get("paths").and_then(Node::entries).unwrap_or_default();
    let operations = paths
        .iter()
        .flat_map(|path| path.value.entries().unwrap_or_default())
        .map(|operation| &operation.value);
    std::iter::once(root).chain(operations).filter_map(|node| node.get("security"))
}

/// Returns the alternatives of all requirements.
fn alternatives_of(root: &Node) -> impl Iterator<Item = &Node> {
    requirements(root).flat_map(|security| security.items().unwrap_or_default())
}

/// Returns the scheme in `Authorization` that a security scheme uses, in lowercase.
fn authorization_scheme(root: &Node, name: &str) -> Option<String> {
    let pointer = format!("/components/securitySchemes/{}", escape_pointer_token(name));
    let scheme = resolve(root, root.pointer(&pointer)?);
    match scheme.get("type").and_then(Node::as_str)? {
        "http" => Some(scheme.get("scheme").and_then(Node::as_str)?.to_ascii_lowercase()),
        "oauth2" | "openIdConnect" => Some("bearer".to_owned()),
        _ => None,
    }
}

fn check_alternatives<'n>(
    security: &'n Node,
    schemes: &[Entry],
    used: &mut Vec<&'n str>,
    errors: &mut Vec<Diagnostic>,
) {
    let Some(alternatives) = security.items() else {
        return errors.push(error(Code::WrongType, security.span, "`security` is not a list"));
    };
    for alternative in alternatives {
        let Some(requirements) = alternative.entries() else {
            errors.push(error(Code::WrongType, alternative.span, "a security requirement is not a mapping"));
            continue;
        };
        for requirement in requirements {
            used.push(&requirement.key.text);
            if !schemes.iter().any(|scheme| scheme.key.text == requirement.key.text) {
                let message = format!("the security scheme `{}` is not declared", requirement.key.text);
                errors.push(error(Code::UnresolvedRef, requirement.key.span, message));
            }
            let is_list = requirement.value.items().is_some_and(|scopes| scopes.iter().all(is_text));
            if !is_list {
                errors.push(error(
                    Code::WrongType,
                    requirement.value.span,
                    "the scopes of a security requirement are not a list of strings",
                ));
            }
        }
    }
}

/// Returns what the service must do with the credentials of a scheme, as the end of a sentence and a remedy, or `None` if
/// they are plain keys.
///
/// # Errors
/// Returns an error without the name of the scheme if requests do not contain its credential.
fn meaning<'n>(root: &'n Node, mut scheme: &'n Node) -> Result<Option<(String, String)>, Box<Diagnostic>> {
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = scheme.get("$ref") else { break };
        let target = reference.as_str().unwrap_or_default();
        let Some(pointer) = target.strip_prefix('#') else {
            let message = format!("`{target}` references another document");
            return Err(Box::new(Diagnostic::error(
                Code::ExternalRef,
                reference.span,
                message,
                "copy the scheme",
            )));
        };
        let help = "add the scheme to `components.securitySchemes`, or correct the name";
        let unresolved = || {
            let message = format!("unresolved reference `{target}`");
            Box::new(Diagnostic::error(Code::UnresolvedRef, reference.span, message, help))
        };
        scheme = root.pointer(pointer).ok_or_else(unresolved)?;
    }
    let string = |key| scheme.get(key).and_then(Node::as_str).filter(|text| !text.is_empty());
    let problem = |key: &str, message: String, help: &str| {
        let span = scheme.get(key).map_or(scheme.span, |value| value.span);
        Box::new(Diagnostic::error(Code::UnsupportedKeyword, span, message, help))
    };
    let missing = |key: &str| problem(key, format!("it has no `{key}`"), SCHEMES);
    let in_authorization = |what: &str| format!("the service checks {what} in `Authorization`");
    Ok(match string("type").ok_or_else(|| missing("type"))? {
        "http" => {
            let name = string("scheme").ok_or_else(|| missing("scheme"))?;
            let is_key = ["basic", "bearer"].contains(&&*name.to_ascii_lowercase());
            let help = in_authorization(&format!("what follows `{name}`"));
            (!is_key).then(|| (format!("has the HTTP scheme `{name}`"), help))
        }
        kind @ ("oauth2" | "openIdConnect") => {
            Some((format!("has the type `{kind}`"), in_authorization("the token after `Bearer`")))
        }
        "apiKey" => {
            let location = string("in").ok_or_else(|| missing("in"))?;
            let name = string("name").ok_or_else(|| missing("name"))?;
            if !["header", "cookie", "query"].contains(&location) {
                return Err(problem("in", format!("API keys cannot be in `{location}`"), SCHEMES));
            }
            if location == "header" && !is_header_name(name) {
                return Err(problem(
                    "name",
                    format!("`{name}` is not a valid header name"),
                    "correct the name",
                ));
            }
            None
        }
        "mutualTLS" => {
            let message = "the server does not receive the certificate of the client".to_owned();
            let help =
                "let a proxy check the certificate, and declare the header that it sends as an `apiKey`";
            return Err(problem("type", message, help));
        }
        other => return Err(problem("type", format!("unknown type `{other}`"), SCHEMES)),
    })
}

fn is_text(node: &Node) -> bool {
    matches!(node.value, Value::String(_))
}

fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, span, message, FORM)
}
