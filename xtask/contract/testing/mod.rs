//! Sound and broken contracts, for the tests of every tool that reads contracts.
//!
//! The feature `testing` compiles this module; no tool contains it.

pub mod mutation;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::Refused;
use crate::diagnostic::{self, Format};
use crate::node::Node;

/// The root folder of the workspace.
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Sound contracts, from the small to the large: each case takes one.
pub static SOUND: LazyLock<[(String, Node); 3]> = LazyLock::new(|| {
    ["xtask/contract/fixtures/sound.yaml", "tests/second/contract.yaml", "openapi/v1.yaml"].map(|name| {
        let text = fs::read_to_string(workspace().join(name)).expect("a contract can be read");
        let tree = mutation::tree(name, &text);
        (text, tree)
    })
});

/// How a schema can stand in another one: what is written before it and after it.
pub const AROUND: [(&str, &str); 7] = [
    ("[", "]"),
    ("{\"type\":\"array\",\"items\":", "}"),
    ("{\"allOf\":[", "]}"),
    ("{\"oneOf\":[{\"type\":\"string\"},", "]}"),
    ("{\"type\":\"object\",\"properties\":{\"a\":", "}}"),
    ("{\"type\":\"object\",\"additionalProperties\":", "}"),
    ("{\"type\":\"object\",\"properties\":{},\"propertyNames\":", "}"),
];

/// A sound contract with a schema inside many others.
pub fn nested((before, after): (&str, &str), deep: usize) -> String {
    let schema = before.repeat(deep) + "{\"type\":\"boolean\"}" + &after.repeat(deep);
    format!("{}    Deep: {schema}\n", SOUND[0].0)
}

/// A sound contract with schemas that refer to each other, the last to this one.
pub fn chained(count: usize, last: &str) -> String {
    let mut text = SOUND[0].0.clone();
    for at in 0..count {
        let next = if at + 1 < count { &format!("S{}", at + 1) } else { last };
        let item = format!("{{ $ref: '#/components/schemas/{next}' }}");
        text += &format!("    S{at}: {{ type: object, properties: {{ a: {item}, b: {item} }} }}\n");
    }
    text
}

/// Each finding is drawn with its place and, where it is short enough to be shown whole, its line.
pub fn drawn(refused: &Refused) {
    assert!(!refused.findings.is_empty(), "what is refused has a reason");
    for finding in &refused.findings {
        let text = diagnostic::render(&refused.source, std::slice::from_ref(finding), Format::Text);
        let place = refused.source.place(finding.span);
        let named = format!("--> {}:{}:{}", refused.source.name, place.line, place.column);
        assert!(text.contains(&named), "{named} is not named in:\n{text}");
        let line = refused.source.text.lines().nth(place.line - 1).unwrap_or_default().trim();
        let plain = line.chars().all(|letter| letter.is_ascii_graphic() || letter == ' ');
        if plain && line.len() < 100 {
            assert!(text.contains(line), "`{line}` is not drawn in:\n{text}");
        }
    }
    for format in [Format::Text, Format::Json, Format::Github] {
        assert!(!refused.render(format).is_empty());
    }
}
