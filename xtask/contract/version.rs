//! Which OpenAPI a document says it is.
//!
//! Owns the versions that can be compared, the one that code is generated from, and the sentences for all others. It never
//! reads further than the top.

use super::node::Node;
use super::source::Span;
use crate::diagnostic::{Code, Diagnostic};

/// A version of OpenAPI that is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 3.0.x: schemas have `nullable`, and bounds are exclusive by a flag.
    V30,
    /// 3.1.x: schemas are JSON Schema 2020-12.
    V31,
}

/// The dialects of JSON Schema whose keywords are known here.
const DIALECTS: [&str; 3] = [
    "https://spec.openapis.org/oas/3.1/dialect/base",
    "https://spec.openapis.org/oas/3.1/dialect/2024-11-10",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Whether a dialect's keywords are known here.
pub fn is_known_dialect(uri: &str) -> bool {
    DIALECTS.contains(&uri.trim_end_matches('#'))
}

/// The version of a document that is compared.
///
/// # Errors
/// One finding when it has none, one that is not understood, or a dialect that is not.
pub fn of(root: &Node) -> Result<Version, Box<Diagnostic>> {
    if let Some(dialect) = root.get("jsonSchemaDialect")
        && !dialect.as_str().is_some_and(is_known_dialect)
    {
        let message = "the dialect of JSON Schema is not one that is understood";
        let help = "leave `jsonSchemaDialect` out: the dialect of OpenAPI 3.1 is the default";
        return refuse(dialect.span, message.to_owned(), help);
    }
    stated(root, &COMPARED)
}

/// Whether code is generated from a document of this version.
///
/// # Errors
/// One finding when it has none, or another than 3.1.
pub fn generated(root: &Node) -> Result<(), Box<Diagnostic>> {
    match stated(root, &GENERATED)? {
        Version::V31 => Ok(()),
        Version::V30 => Err(other(root, &GENERATED)),
    }
}

/// What a tool takes, for the sentences about all else.
struct Taken {
    /// Which versions, after Swagger 2.
    over_swagger: &'static str,
    /// Which versions, after another of OpenAPI.
    over_others: &'static str,
    /// What to write.
    help: &'static str,
}

const COMPARED: Taken = Taken {
    over_swagger: "OpenAPI 3.0 and 3.1 can be compared",
    over_others: "3.0.x and 3.1.x can be compared",
    help: "write `openapi: 3.1.0` or `openapi: 3.0.3`, in quotes when it could be a number",
};

const GENERATED: Taken = Taken {
    over_swagger: "code is generated from OpenAPI 3.1 alone",
    over_others: "code is generated from 3.1.x alone",
    help: "write `openapi: 3.1.0`: null is a type there, and webhooks are known; a 3.0 twin is derived from it",
};

fn refuse<T>(span: Span, message: String, help: &str) -> Result<T, Box<Diagnostic>> {
    Err(Box::new(Diagnostic::error(Code::UnsupportedVersion, span, message, help)))
}

/// The version that a document states.
fn stated(root: &Node, taken: &Taken) -> Result<Version, Box<Diagnostic>> {
    let top = Span { start: root.span.start, end: root.span.start };
    if root.entries().is_none() {
        let message = format!("an OpenAPI document is a mapping, this is {}", root.value.kind());
        return refuse(top, message, "begin with `openapi: 3.1.0`");
    }
    if let Some(entry) = root.entry("swagger") {
        let message = format!("the document is Swagger 2; {}", taken.over_swagger);
        return refuse(entry.key.span, message, "convert it first, for example with `swagger2openapi`");
    }
    let Some(stated) = root.get("openapi") else {
        let message = "the document does not say which OpenAPI it is".to_owned();
        return refuse(top, message, "begin with `openapi: 3.1.0`");
    };
    let mut numbers = stated.as_str().unwrap_or_default().split('.');
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some("3"), Some("0"), Some(_)) => Ok(Version::V30),
        (Some("3"), Some("1"), Some(_)) => Ok(Version::V31),
        _ => Err(other(root, taken)),
    }
}

/// The finding on a version that is not taken.
fn other(root: &Node, taken: &Taken) -> Box<Diagnostic> {
    let stated = root.get("openapi").unwrap_or(root);
    let said = match stated.as_str() {
        Some(text) if !text.is_empty() => format!("`{text}`"),
        _ => stated.value.kind().to_owned(),
    };
    let message = format!("`openapi` is {said}; {}", taken.over_others);
    Box::new(Diagnostic::error(Code::UnsupportedVersion, stated.span, message, taken.help))
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::super::yaml;
    use super::*;

    fn version(text: &str) -> Result<Version, String> {
        let root = yaml::read(&Source::new("a.yaml", text), &mut Vec::new()).expect("YAML");
        of(&root).map_err(|finding| finding.message)
    }

    #[test]
    fn two_versions_are_understood_and_all_others_refused_by_name() {
        assert_eq!(version("openapi: 3.0.3"), Ok(Version::V30));
        assert_eq!(version("openapi: '3.1.1'"), Ok(Version::V31));
        let refused = |text| version(text).unwrap_err();
        assert_eq!(refused("openapi: 3.2.0"), "`openapi` is `3.2.0`; 3.0.x and 3.1.x can be compared");
        assert_eq!(refused("openapi: 3.1"), "`openapi` is a number; 3.0.x and 3.1.x can be compared");
        assert_eq!(
            refused("swagger: '2.0'"),
            "the document is Swagger 2; OpenAPI 3.0 and 3.1 can be compared"
        );
        assert_eq!(refused("info: {}"), "the document does not say which OpenAPI it is");
        assert_eq!(refused("[1]"), "an OpenAPI document is a mapping, this is a list");
        assert!(refused("openapi: 3.1.0\njsonSchemaDialect: https://example.com/mine").contains("dialect"));
    }
}
