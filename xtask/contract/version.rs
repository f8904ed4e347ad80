//! The OpenAPI version of a document.
//!
//! This module lists the versions that can be compared and the versions that code is generated from. It reads only the
//! top level of the document.

use super::node::Node;
use super::source::Span;
use crate::diagnostic::{Code, Diagnostic};

/// A supported OpenAPI version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 3.0.x: schemas have `nullable`, and exclusive bounds are booleans.
    V30,
    /// 3.1.x: schemas are JSON Schema 2020-12.
    V31,
    /// 3.2.x: as 3.1, with further keywords.
    V32,
}

/// The supported dialects of JSON Schema.
const DIALECTS: [&str; 4] = [
    "https://spec.openapis.org/oas/3.1/dialect/base",
    "https://spec.openapis.org/oas/3.1/dialect/2024-11-10",
    "https://spec.openapis.org/oas/3.2/dialect/2025-09-17",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Returns whether the dialect of JSON Schema is supported.
pub fn is_known_dialect(uri: &str) -> bool {
    DIALECTS.contains(&uri.trim_end_matches('#'))
}

/// Returns the version of a document to compare.
///
/// # Errors
/// Returns a diagnostic if the version is missing or not supported, or if the dialect of JSON Schema is not supported.
pub fn of(root: &Node) -> Result<Version, Box<Diagnostic>> {
    ensure_known_dialect(root)?;
    declared(root, &COMPARED)
}

/// Returns the version of a document from which code is generated with [`Profile::Open`](crate::Profile::Open).
///
/// # Errors
/// Returns a diagnostic if the version is not 3.0 or 3.1, or if the dialect of JSON Schema is not supported.
pub(crate) fn of_open(root: &Node) -> Result<Version, Box<Diagnostic>> {
    ensure_known_dialect(root)?;
    match declared(root, &OPEN)? {
        Version::V32 => Err(unsupported_version(root, &OPEN)),
        version => Ok(version),
    }
}

fn ensure_known_dialect(root: &Node) -> Result<(), Box<Diagnostic>> {
    if let Some(dialect) = root.get("jsonSchemaDialect")
        && !dialect.as_str().is_some_and(is_known_dialect)
    {
        let message = "unsupported dialect of JSON Schema";
        let help = "remove `jsonSchemaDialect`: the dialect of OpenAPI 3.1 is the default";
        return unsupported(dialect.span, message.to_owned(), help);
    }
    Ok(())
}

/// Checks that code can be generated from the version of the document.
///
/// # Errors
/// Returns a diagnostic if the version is missing or not 3.1.
pub fn ensure_v31(root: &Node) -> Result<(), Box<Diagnostic>> {
    match declared(root, &GENERATED)? {
        Version::V31 => Ok(()),
        Version::V30 | Version::V32 => Err(unsupported_version(root, &GENERATED)),
    }
}

/// The versions that a tool supports, for messages.
struct Supported {
    /// The versions.
    versions: &'static str,
    /// The remedy.
    help: &'static str,
}

/// The versions that contracts can be compared in.
const COMPARED: Supported = Supported {
    versions: "3.0.x, 3.1.x or 3.2.x",
    help: "write `openapi: 3.1.0` or `openapi: 3.0.3`, in quotes if it could be a number",
};

/// The versions that code can be generated from with [`Profile::Open`](crate::Profile::Open).
const OPEN: Supported = Supported {
    versions: "3.0.x or 3.1.x",
    help: "write `openapi: 3.1.0` or `openapi: 3.0.3`, in quotes if it could be a number",
};

/// The version that code can be generated from with [`Profile::Server`](crate::Profile::Server).
const GENERATED: Supported = Supported {
    versions: "3.1.x",
    help: "write `openapi: 3.1.0`; the OpenAPI 3.0 version of the contract is derived from it",
};

fn unsupported<T>(span: Span, message: String, help: &str) -> Result<T, Box<Diagnostic>> {
    Err(Box::new(Diagnostic::error(Code::UnsupportedVersion, span, message, help)))
}

/// Returns the version that a document declares.
fn declared(root: &Node, supported: &Supported) -> Result<Version, Box<Diagnostic>> {
    let top = Span { start: root.span.start, end: root.span.start };
    if root.entries().is_none() {
        let message = format!("expected an OpenAPI document, found {}", root.value.kind());
        return unsupported(top, message, "start with `openapi: 3.1.0`");
    }
    if let Some(entry) = root.entry("swagger") {
        let message = format!("expected OpenAPI {}, found Swagger 2", supported.versions);
        return unsupported(entry.key.span, message, "convert it first, for example with `swagger2openapi`");
    }
    let Some(declared) = root.get("openapi") else {
        let message = "the document has no `openapi` version".to_owned();
        return unsupported(top, message, "start with `openapi: 3.1.0`");
    };
    let mut numbers = declared.as_str().unwrap_or_default().split('.');
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some("3"), Some("0"), Some(_)) => Ok(Version::V30),
        (Some("3"), Some("1"), Some(_)) => Ok(Version::V31),
        (Some("3"), Some("2"), Some(_)) => Ok(Version::V32),
        _ => Err(unsupported_version(root, supported)),
    }
}

/// Returns the diagnostic for an unsupported version.
fn unsupported_version(root: &Node, supported: &Supported) -> Box<Diagnostic> {
    let declared = root.get("openapi").unwrap_or(root);
    let found = match declared.as_str() {
        Some(text) if !text.is_empty() => format!("`{text}`"),
        _ => declared.value.kind().to_owned(),
    };
    let message = format!("expected OpenAPI {}, found {found}", supported.versions);
    Box::new(Diagnostic::error(Code::UnsupportedVersion, declared.span, message, supported.help))
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::super::yaml;
    use super::*;

    fn version(text: &str) -> Result<Version, String> {
        let root = yaml::read(&Source::new("a.yaml", text), &mut Vec::new()).expect("YAML");
        of(&root).map_err(|diagnostic| diagnostic.message)
    }

    #[test]
    fn versions_other_than_3_0_3_1_and_3_2_are_rejected() {
        assert_eq!(version("openapi: 3.0.3"), Ok(Version::V30));
        assert_eq!(version("openapi: '3.1.1'"), Ok(Version::V31));
        let error = |text| version(text).unwrap_err();
        assert_eq!(version("openapi: 3.2.0"), Ok(Version::V32));
        assert_eq!(error("openapi: 3.3.0"), "expected OpenAPI 3.0.x, 3.1.x or 3.2.x, found `3.3.0`");
        assert_eq!(error("openapi: 3.1"), "expected OpenAPI 3.0.x, 3.1.x or 3.2.x, found a number");
        assert_eq!(error("swagger: '2.0'"), "expected OpenAPI 3.0.x, 3.1.x or 3.2.x, found Swagger 2");
        assert_eq!(error("info: {}"), "the document has no `openapi` version");
        assert_eq!(error("[1]"), "expected an OpenAPI document, found a list");
        assert!(error("openapi: 3.1.0\njsonSchemaDialect: https://example.com/mine").contains("dialect"));
    }
}
