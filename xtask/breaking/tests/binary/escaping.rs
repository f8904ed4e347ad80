//! Texts of documents in the output: they are neither commands of a terminal or a CI service nor Markdown.

use crate::support::{CONTRACT, Folder};

/// A text with an escape sequence, line breaks, commands for GitHub, Markdown and HTML.
const HOSTILE: &str =
    "a\\u001b[31m\\n::stop-commands::x\\r\\n##[error]y\\u2028\\u202e`b` ``<img src=x> [c](d) *e*";

/// Returns the outputs of both streams for a format.
fn output(folder: &Folder, command: &str, format: &str) -> String {
    let outcome = folder.run(&[command, "--base", "old.yaml", "new.yaml", "--format", format]);
    assert!(outcome.code < Some(2), "{outcome:?}");
    outcome.output + &outcome.errors
}

#[test]
fn texts_of_documents_are_escaped_in_all_formats() {
    let folder = Folder::new();
    let named = |text: &str| {
        let name = format!("\"{HOSTILE}\"");
        text.replace("operationId: getA", &format!("operationId: {name}"))
            .replace("required: [name]", &format!("required: [{name}]"))
            .replace(
                "name: {type: string, maxLength: 10}",
                &format!("{name}: {{type: string}}\n                  a: {{required: true, {name}: 1}}"),
            )
    };
    let old = named(CONTRACT);
    folder.write("old.yaml", &old);
    let removed = old.replace("{type: string}", "{type: integer}").replace("'200':", "'201':");
    for new in [&removed, &old.replace("{type: string}", "{type: integer}"), &old.replace("/a:", "/b:")] {
        folder.write("new.yaml", new);
        for format in ["text", "github", "markdown", "sarif", "json"] {
            for command in ["check", "changelog"] {
                let text = output(&folder, command, format);
                let is_data = ["sarif", "json"].contains(&format);
                let control = |character: char| character != '\n' && character.is_control();
                assert!(!text.contains(control), "{format}: {text:?}");
                assert!(is_data || !text.contains(['\u{2028}', '\u{202e}']), "{format}: {text:?}");
                assert!(is_data || !text.contains("##["), "{format}: {text}");
                let is_command = |line: &str| line.trim_start().starts_with("::stop-commands");
                assert!(!text.lines().any(is_command), "{format}: {text}");
            }
        }
        let args = ["check", "--base", "old.yaml", "new.yaml", "--format", "markdown"];
        let markdown = folder.run(&args).output;
        assert!(markdown.lines().all(is_without_html), "{markdown}");
    }
}

/// Whether each `<` of a line is escaped or in code, and each delimiter of code has a counterpart.
fn is_without_html(line: &str) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find(['\\', '`', '<']) {
        let run = rest[at..].bytes().take_while(|byte| *byte == b'`').count();
        rest = match &rest[at..=at] {
            "\\" => rest.get(at + 2..).unwrap_or(""),
            "<" => return false,
            _ => {
                let after = &rest[at + run..];
                let mut ends = after.match_indices('`').map(|(end, _)| end);
                let is_end = |end: &usize| {
                    !after[..*end].ends_with('`')
                        && after[*end..].bytes().take_while(|byte| *byte == b'`').count() == run
                };
                let Some(end) = ends.find(is_end) else { return false };
                &after[end + run..]
            }
        };
    }
    true
}
