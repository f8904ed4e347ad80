//! The law of documents of several files: moving parts of a document to files changes nothing.

use contract::testing::VALID_CONTRACTS;
use proptest::prelude::*;
use serde_json::Value;

use super::files::{folder, read_file};
use super::{TODAY, compare, ids_and_levels, read};

/// Moves schemas of the components to files, and refers to them.
fn move_to_files(document: &Value, is_moved: impl Fn(usize) -> bool) -> Vec<(String, String)> {
    let mut main = document.clone();
    let mut files = Vec::new();
    let names: Vec<String> = document["components"]["schemas"].as_object().unwrap().keys().cloned().collect();
    let moved: Vec<&String> =
        names.iter().enumerate().filter(|(index, _)| is_moved(*index)).map(|(_, name)| name).collect();
    let rewrite = |value: &Value, in_file: bool| {
        let mut text = value.to_string();
        for name in &names {
            let (from, here) = (format!("\"#/components/schemas/{name}\""), format!("schemas/{name}.json"));
            let to = match (moved.contains(&name), in_file) {
                (true, true) => format!("\"{name}.json\""),
                (true, false) => format!("\"{here}\""),
                (false, true) => format!("\"../api.json#/components/schemas/{name}\""),
                (false, false) => from.clone(),
            };
            text = text.replace(&from, &to);
        }
        text
    };
    for name in &moved {
        files
            .push((format!("schemas/{name}.json"), rewrite(&document["components"]["schemas"][*name], true)));
        main["components"]["schemas"].as_object_mut().unwrap().remove(*name);
    }
    files.push(("api.json".to_owned(), rewrite(&main, false)));
    files
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn moving_schemas_to_files_changes_nothing(number in 0..3usize, moved in any::<u64>()) {
        let (text, tree) = &VALID_CONTRACTS[number];
        let files = move_to_files(&tree.to_json(), |index| moved >> (index % 64) & 1 == 1);
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let folder = folder(&files);
        let (one, several) = (read("a.yaml", text), read_file(folder.path(), "api.json").map_err(TestCaseError::fail)?);
        prop_assert_eq!(ids_and_levels(&compare(&one, &several, TODAY)), []);
        prop_assert_eq!(ids_and_levels(&compare(&several, &one, TODAY)), []);
        prop_assert_eq!(ids_and_levels(&compare(&several, &several, TODAY)), []);
    }
}
