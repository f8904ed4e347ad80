//! Checks the length of files and functions, module comments, and ignored tests.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::TidyFinding;
use super::source::SourceFile;

/// A file with more lines causes a warning.
const WARNING_FILE_LINES: usize = 400;
/// A file with more lines causes a finding that fails the check.
const MAX_FILE_LINES: usize = 600;
/// The maximum number of lines of a function body, including its braces.
const MAX_FUNCTION_LINES: usize = 80;

/// Returns the findings of a file.
pub(super) fn check(source: &SourceFile) -> Vec<TidyFinding> {
    if source.is_generated() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let lines = source.text.lines().count();
    if lines > WARNING_FILE_LINES {
        let message = format!("{lines} lines");
        let mut finding =
            TidyFinding::new(&source.file, 1, message, "split it if it has more than one responsibility");
        finding.warning = lines <= MAX_FILE_LINES;
        findings.push(finding);
    }
    let first = source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !first.starts_with("//!") {
        let remedy = "start the file with a `//!` comment that describes the responsibility of the module";
        findings.push(TidyFinding::new(&source.file, 1, "no module comment", remedy));
    }
    walk(source, source.tokens.clone(), &mut findings);
    findings
}

/// Adds findings about functions and ignored tests, at any depth.
fn walk(source: &SourceFile, tokens: TokenStream, findings: &mut Vec<TidyFinding>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if word == "fn" => findings.extend(function(source, &tokens[at + 1..])),
            TokenTree::Group(group) => {
                if at > 0 && is_ignore(&tokens[at - 1], group) {
                    let line = group.span().start().line;
                    let remedy = "fix or remove the test";
                    findings.push(TidyFinding::new(&source.file, line, "ignored test", remedy));
                }
                walk(source, group.stream(), findings);
            }
            _ => {}
        }
    }
}

/// Returns a finding if a function is too long. The first token is its name.
fn function(source: &SourceFile, tokens: &[TokenTree]) -> Option<TidyFinding> {
    let TokenTree::Ident(name) = tokens.first()? else { return None };
    let body = tokens.iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Some(group)),
        TokenTree::Punct(punct) if punct.as_char() == ';' => Some(None),
        _ => None,
    });
    let body = body??;
    let (start, end) = (body.span_open().start().line, body.span_close().end().line);
    let lines = end + 1 - start;
    (lines > MAX_FUNCTION_LINES).then(|| {
        let message = format!("`{name}` has {lines} lines, more than {MAX_FUNCTION_LINES}");
        TidyFinding::new(&source.file, start, message, "split it into smaller functions")
    })
}

/// The attribute of the tests that `cargo xtask test --fast` leaves out.
const SLOW_TEST: &str = "ignore = \"slow\"";

/// Returns whether a group and the token before it are the attribute `ignore` of a test that never runs.
fn is_ignore(before: &TokenTree, group: &proc_macro2::Group) -> bool {
    let attribute = matches!(before, TokenTree::Punct(punct) if punct.as_char() == '#');
    let text = group.stream().to_string();
    attribute && text.starts_with("ignore") && text != SLOW_TEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<TidyFinding> {
        check(&SourceFile::parse("src/a.rs", text.to_owned()).unwrap())
    }

    #[test]
    fn a_file_above_400_lines_is_a_warning_and_above_600_a_violation() {
        let file = |lines: usize| format!("//! A.\n{}", "const A: u8 = 1;\n".repeat(lines - 1));
        assert!(findings(&file(400)).is_empty());
        assert!(findings(&file(401))[0].warning);
        assert!(!findings(&file(601))[0].warning);
    }

    #[test]
    fn a_long_function_is_found_by_name_and_line() {
        let text =
            format!("//! A.\nimpl A {{\n    fn long() {{\n{}    }}\n}}\n", "        f();\n".repeat(79));
        let found = findings(&text);
        assert_eq!(
            found[0].to_string(),
            "src/a.rs:3: `long` has 81 lines, more than 80; split it into smaller functions"
        );
        assert!(findings("//! A.\nfn short();\nfn other() {}\n").is_empty());
    }

    #[test]
    fn a_missing_module_comment_and_an_ignored_test_are_reported() {
        assert_eq!(findings("fn a() {}\n")[0].message, "no module comment");
        for (attribute, expected) in [("ignore", 1), ("ignore = \"broken\"", 1), (SLOW_TEST, 0)] {
            let text = format!("//! A.\n#[test]\n#[{attribute}]\nfn a() {{}}\n");
            assert_eq!(findings(&text).len(), expected, "{attribute}");
        }
    }
}
