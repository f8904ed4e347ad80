//! Valid and invalid contracts for the tests of all tools that read contracts.
//!
//! This module requires the feature `testing`.

pub mod mutation;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::InvalidContract;
use crate::diagnostic::{self, DiagnosticFormat};
use crate::node::Node;

/// Returns the root folder of the workspace.
pub fn workspace() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().nth(2).unwrap_or(folder).to_owned()
}

/// Valid contracts of different sizes: the text and the parsed tree of each.
pub static VALID_CONTRACTS: LazyLock<[(String, Node); 3]> = LazyLock::new(|| {
    ["xtask/contract/fixtures/valid.yaml", "tests/second_version/contract.yaml", "openapi/v1.yaml"].map(
        |name| {
            let text = fs::read_to_string(workspace().join(name)).expect("the contract is readable");
            let tree = mutation::parse_valid(name, &text);
            (text, tree)
        },
    )
});

/// How a schema can be nested: the JSON before it and after it.
pub const NESTINGS: [(&str, &str); 7] = [
    ("[", "]"),
    ("{\"type\":\"array\",\"items\":", "}"),
    ("{\"allOf\":[", "]}"),
    ("{\"oneOf\":[{\"type\":\"string\"},", "]}"),
    ("{\"type\":\"object\",\"properties\":{\"a\":", "}}"),
    ("{\"type\":\"object\",\"additionalProperties\":", "}"),
    ("{\"type\":\"object\",\"properties\":{},\"propertyNames\":", "}"),
];

/// Returns a valid contract plus a schema nested `depth` times.
pub fn contract_with_nested_schema((before, after): (&str, &str), depth: usize) -> String {
    let schema = before.repeat(depth) + "{\"type\":\"boolean\"}" + &after.repeat(depth);
    format!("{}    Deep: {schema}\n", VALID_CONTRACTS[0].0)
}

/// Returns a valid contract plus a chain of `count` schemas. Each references the next one, and the last references
/// `last`.
pub fn contract_with_reference_chain(count: usize, last: &str) -> String {
    let mut text = VALID_CONTRACTS[0].0.clone();
    for index in 0..count {
        let next = if index + 1 < count { &format!("S{}", index + 1) } else { last };
        let item = format!("{{ $ref: '#/components/schemas/{next}' }}");
        text += &format!("    S{index}: {{ type: object, properties: {{ a: {item}, b: {item} }} }}\n");
    }
    text
}

/// Asserts that each diagnostic is rendered with its position and, if the line is short and in ASCII, its source
/// excerpt.
pub fn assert_rendered(invalid: &InvalidContract) {
    assert!(!invalid.diagnostics.is_empty(), "there is at least one diagnostic");
    for diagnostic in &invalid.diagnostics {
        let text =
            diagnostic::render(&invalid.source, std::slice::from_ref(diagnostic), DiagnosticFormat::Text);
        let position = invalid.source.position(diagnostic.span);
        let location = format!(
            "--> {}:{}:{}",
            invalid.source.file_name(diagnostic.span),
            position.line,
            position.column
        );
        assert!(text.contains(&location), "missing {location} in:\n{text}");
        let line = invalid.source.text.lines().nth(position.line - 1).unwrap_or_default().trim();
        let is_plain = line.chars().all(|letter| letter.is_ascii_graphic() || letter == ' ');
        if is_plain && line.len() < 100 {
            assert!(text.contains(line), "missing `{line}` in:\n{text}");
        }
    }
    for format in [DiagnosticFormat::Text, DiagnosticFormat::Json, DiagnosticFormat::Github] {
        assert!(!invalid.render(format).is_empty());
    }
}
