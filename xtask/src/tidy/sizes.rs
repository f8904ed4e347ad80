//! How long files and functions are, that each file says what it owns, and that no test is left out.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Finding;
use super::source::Source;

/// Lines above which a file is worth another look.
const LARGE_FILE: usize = 400;
/// Lines above which a file holds more than one thing.
const LARGEST_FILE: usize = 600;
/// Lines of a function's body, its braces included, that are never passed.
const LARGEST_FUNCTION: usize = 80;

/// What is too large in this file, or missing at its head.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    if source.is_generated() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let lines = source.text.lines().count();
    if lines > LARGE_FILE {
        let message = format!("{lines} lines");
        let mut finding =
            Finding::new(&source.file, 1, message, "look whether it holds more than one thing, and part it");
        finding.warning = lines <= LARGEST_FILE;
        findings.push(finding);
    }
    let first = source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !first.starts_with("//!") {
        let remedy = "begin it with `//!` and what it owns and never does";
        findings.push(Finding::new(&source.file, 1, "no module comment", remedy));
    }
    walk(source, source.tokens.clone(), &mut findings);
    findings
}

fn walk(source: &Source, tokens: TokenStream, findings: &mut Vec<Finding>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) if word == "fn" => findings.extend(function(source, &tokens[at + 1..])),
            TokenTree::Group(group) => {
                if at > 0 && is_ignore(&tokens[at - 1], group) {
                    let line = group.span().start().line;
                    let remedy = "make it pass or take it away: nothing is skipped in silence";
                    findings.push(Finding::new(
                        &source.file,
                        line,
                        "a test is left out by `#[ignore]`",
                        remedy,
                    ));
                }
                walk(source, group.stream(), findings);
            }
            _ => {}
        }
    }
}

/// The finding on the function whose name comes first in `rest`, when it is too long.
fn function(source: &Source, rest: &[TokenTree]) -> Option<Finding> {
    let TokenTree::Ident(name) = rest.first()? else { return None };
    let body = rest.iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Some(group)),
        TokenTree::Punct(punct) if punct.as_char() == ';' => Some(None),
        _ => None,
    });
    let body = body??;
    let (start, end) = (body.span_open().start().line, body.span_close().end().line);
    let lines = end + 1 - start;
    (lines > LARGEST_FUNCTION).then(|| {
        let message = format!("`{name}` has {lines} lines, more than {LARGEST_FUNCTION}");
        Finding::new(&source.file, start, message, "part it by what its steps do")
    })
}

fn is_ignore(before: &TokenTree, group: &proc_macro2::Group) -> bool {
    let attribute = matches!(before, TokenTree::Punct(punct) if punct.as_char() == '#');
    let first = group.stream().into_iter().next();
    attribute && matches!(first, Some(TokenTree::Ident(word)) if word == "ignore")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<Finding> {
        check(&Source::parse("src/a.rs", text.to_owned()).unwrap())
    }

    #[test]
    fn a_file_is_looked_at_from_400_lines_and_refused_from_600() {
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
            "src/a.rs:3: `long` has 81 lines, more than 80; part it by what its steps do"
        );
        assert!(findings("//! A.\nfn short();\nfn other() {}\n").is_empty());
    }

    #[test]
    fn a_file_says_what_it_owns_and_leaves_no_test_out() {
        assert_eq!(findings("fn a() {}\n")[0].message, "no module comment");
        assert_eq!(findings("//! A.\n#[test]\n#[ignore]\nfn a() {}\n").len(), 1);
    }
}
