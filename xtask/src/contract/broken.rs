//! Contracts that were broken at random places: each is generated from, or refused with its source drawn.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::mutation::{self, changed, changes, edited, edits};
use super::node::Node;
use super::source::Source;
use super::{Contract, Customs, Refused, read};
use crate::codegen::{V1, generate};
use crate::diagnostic::{self, Format};

/// Sound contracts, from the small to the large: each case takes one.
pub static SOUND: LazyLock<[(String, Node); 3]> = LazyLock::new(|| {
    ["xtask/src/contract/fixtures/sound.yaml", "tests/second/contract.yaml", "openapi/v1.yaml"].map(|name| {
        let text = fs::read_to_string(crate::workspace().join(name)).expect("a contract can be read");
        let tree = mutation::tree(name, &text);
        (text, tree)
    })
});

/// The number of a sound contract: most cases take one of the two that are quickly read.
fn number() -> impl Strategy<Value = usize> {
    prop_oneof![20 => Just(0usize), 40 => Just(1), 1 => Just(2)]
}

fn customs() -> Customs<'static> {
    Customs { beginning: "/", spelled: V1.customs.spelled }
}

/// Judges a text. One that makes it fail is written to `target/broken`: made smaller, it becomes a file of the folder
/// `broken`.
fn judged(name: &str, text: &str) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| judge(name, text))) {
        let folder = crate::workspace().join("target/broken");
        fs::create_dir_all(&folder).expect("a folder can be made");
        fs::write(folder.join(name), text).expect("a text can be written");
        resume_unwind(panic);
    }
}

/// Reads a text as `codegen` does. What has no findings is generated from.
fn judge(name: &str, text: &str) {
    match read(Source::new(name, text), &customs()) {
        Ok(contract) => drop(files(&contract)),
        Err(refused) => drawn(&refused),
    }
}

fn files(contract: &Contract) -> usize {
    generate(contract, &V1).len()
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

proptest! {
    #![proptest_config(ProptestConfig { cases: mutation::cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_contract_with_changed_values_is_generated_from_or_refused_with_its_source(number in number(), changes in changes()) {
        judged("broken.json", &changed(&SOUND[number].1, &changes));
    }

    #[test]
    fn a_contract_with_changed_text_is_generated_from_or_refused_with_its_source(number in number(), edits in edits()) {
        judged("broken.yaml", &edited(&SOUND[number].0, &edits));
    }
}

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

#[test]
fn depth_costs_no_stack_and_references_no_time() {
    for around in AROUND {
        for deep in [10, 93, 186, 1_000] {
            judged("deep.yaml", &nested(around, deep));
        }
    }
    for last in ["Thing", "S0", "S20", "Nobody"] {
        for count in [30, 250, 1_000] {
            judged("chain.yaml", &chained(count, last));
        }
    }
    let extending = |count: usize, part: &str| {
        let schema = |at| {
            let base = part.replace("BASE", &format!("{{ $ref: '#/components/schemas/E{}' }}", at + 1));
            format!("    E{at}: {base}\n")
        };
        let last =
            format!("    E{count}: {{ type: object, properties: {{ a: {{ type: string, enum: [a] }} }} }}\n");
        SOUND[0].0.clone() + &(0..count).map(schema).collect::<String>() + &last
    };
    for count in [10, 40, 300] {
        judged("twice.yaml", &extending(count, "{ allOf: [BASE, BASE, { type: object, properties: {} }] }"));
        let inside = "{ allOf: [BASE, { type: object, properties: { a: { type: string } } }] }";
        let both = format!("{{ type: object, properties: {{ a: {inside}, b: {inside} }} }}");
        judged("types.yaml", &extending(count, &both));
    }
}

#[test]
fn what_once_made_the_generator_panic_is_refused_or_generated_from() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/contract/broken");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the folder of regressions can be read") {
        let path = entry.expect("its entries can be read").path();
        let text = fs::read_to_string(&path).expect("a regression can be read");
        judged(&path.file_name().expect("a file has a name").to_string_lossy(), &text);
        count += 1;
    }
    assert!(count > 0);
}
