//! Checks the coverage gates of each contract: the tests that iterate over all operations exist, and include every operation and status.
//! Also checks that the test of each limitation exists: constructs of the contract that poem-openapi cannot describe, so that the
//! comparison with the code does not cover them.
//!
//! Parses the source code of the tests, but does not run them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use contract::Contract;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use super::finding::CheckFinding;
use super::limitations;

/// The coverage gates of a contract.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gates {
    /// The file.
    file: &'static str,
    /// The tests that iterate over all operations, and what they verify.
    tests: &'static [(&'static str, &'static str)],
}

/// The gates of the Platform API.
pub(crate) const PLATFORM_GATES: Gates = Gates {
    file: "tests/it/platform/coverage.rs",
    tests: &[
        ("no_operation_answers_without_a_token", "rejects requests without a token"),
        ("each_operation_needs_its_scope_and_no_other", "rejects tokens that lack its scope"),
        (
            "every_documented_status_of_every_operation_arises_as_documented",
            "responds with each documented status",
        ),
    ],
};

/// The gates of v1.
pub(crate) const V1_GATES: Gates = Gates { file: "tests/it/coverage.rs", tests: KEY_TESTS };

/// The gates of the Developer API.
pub(crate) const DEVELOPER_GATES: Gates = Gates { file: "tests/it/developer/coverage.rs", tests: KEY_TESTS };

/// The tests of an API with API keys.
const KEY_TESTS: &[(&str, &str)] = &[
    ("no_operation_answers_without_a_key", "rejects requests without a key"),
    ("each_operation_needs_its_scope_and_no_other", "rejects keys that lack its scope"),
    ("no_operation_answers_beyond_the_limit", "rejects requests beyond the rate limit"),
    ("no_operation_returns_data_of_another_workspace", "returns no data of another workspace"),
    (
        "every_documented_status_of_every_operation_arises_as_documented",
        "responds with each documented status",
    ),
];

/// Returns a finding for each gate, operation and status of a contract that is not covered.
///
/// # Errors
/// Returns an error when the file of the gates cannot be read or parsed.
pub(crate) fn check(
    workspace: &Path,
    contract: &Contract,
    gates: Gates,
) -> anyhow::Result<Vec<CheckFinding>> {
    let file = gates.file;
    let text =
        std::fs::read_to_string(workspace.join(file)).with_context(|| format!("cannot read {file}"))?;
    let tests = Tests::read(&text, gates).with_context(|| format!("cannot parse {file} as Rust"))?;
    let mut findings = tests.gates();
    findings.extend(tests.operations(contract));
    Ok(findings)
}

/// The functions of the test file.
struct Tests {
    gates: Gates,
    functions: Vec<Function>,
}

struct Function {
    name: String,
    line: usize,
    is_test: bool,
    /// The identifiers and literals in its body.
    words: BTreeSet<String>,
}

/// Collects the identifiers and literals of tokens at any depth.
fn collect_words(tokens: TokenStream, words: &mut BTreeSet<String>) {
    for token in tokens {
        let word = match token {
            TokenTree::Group(group) => {
                collect_words(group.stream(), words);
                continue;
            }
            TokenTree::Ident(ident) => ident.to_string(),
            TokenTree::Literal(literal) => literal.to_string().trim_matches('"').to_owned(),
            TokenTree::Punct(_) => continue,
        };
        words.insert(word);
    }
}

impl Tests {
    fn read(text: &str, gates: Gates) -> syn::Result<Self> {
        let file: syn::File = syn::parse_str(text)?;
        let functions = file.items.iter().filter_map(|item| match item {
            syn::Item::Fn(function) => Some(Function::of(function)),
            _ => None,
        });
        Ok(Self { gates, functions: functions.collect() })
    }

    fn finding(&self, code: &'static str, line: usize, message: String, help: String) -> CheckFinding {
        CheckFinding { code, file: self.gates.file.to_owned(), line, column: 1, message, help }
    }

    fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Returns findings about gates that are missing or do not iterate over all operations.
    fn gates(&self) -> Vec<CheckFinding> {
        let mut findings = Vec::new();
        for (name, expectation) in self.gates.tests {
            let help = format!(
                "restore a test with this name that verifies that each of `OPERATIONS` {expectation}"
            );
            match self.function(name).filter(|function| function.is_test) {
                None => findings.push(self.finding("gate", 1, format!("test `{name}` does not exist"), help)),
                Some(function) if !function.words.contains("OPERATIONS") => {
                    let message = format!("`{name}` does not iterate over `OPERATIONS`");
                    findings.push(self.finding("gate", function.line, message, help));
                }
                Some(_) => {}
            }
        }
        findings
    }

    /// Returns findings about operations without an example and statuses that no test provokes. A status is reported
    /// once, for the first operation that documents it.
    fn operations(&self, contract: &Contract) -> Vec<CheckFinding> {
        let mut findings = Vec::new();
        let no_words = BTreeSet::new();
        let line_and_words = |name: &str| {
            self.function(name).map_or((1, &no_words), |function| (function.line, &function.words))
        };
        let ((example_line, examples), (provoke_line, provoked)) =
            (line_and_words("example"), line_and_words("provoke"));
        let mut reported = BTreeSet::new();
        for operation in &contract.document.operations {
            if !examples.contains(&operation.id.text) {
                let message = format!("`example` has no request for `{}`", operation.id.text);
                let help = "add a request that succeeds to `example`, which all gates use".to_owned();
                findings.push(self.finding("gate", example_line, message, help));
            }
            for response in &operation.responses {
                let status = response.status.to_string();
                if !provoked.contains(&status) && reported.insert(status.clone()) {
                    let message =
                        format!("`provoke` does not cover status {status} of `{}`", operation.id.text);
                    let help = "add a request that provokes the status to `provoke`".to_owned();
                    findings.push(self.finding("gate", provoke_line, message, help));
                }
            }
        }
        findings
    }
}

impl Function {
    fn of(function: &syn::ItemFn) -> Self {
        let mut words = BTreeSet::new();
        collect_words(function.block.to_token_stream(), &mut words);
        let is_test = function
            .attrs
            .iter()
            .any(|attribute| attribute.path().segments.last().is_some_and(|segment| segment.ident == "test"));
        Self {
            name: function.sig.ident.to_string(),
            line: function.sig.ident.span().start().line,
            is_test,
            words,
        }
    }
}

/// Returns findings about limitations of poem-openapi whose test does not exist.
pub(crate) fn missing_tests(workspace: &Path) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    for limitation in limitations::LIMITATIONS {
        let (file, function) = limitation.test.split_once(": ").unwrap_or((limitation.test, ""));
        let text = std::fs::read_to_string(workspace.join(file)).unwrap_or_default();
        if !text.contains(&format!("fn {function}(")) {
            findings.push(CheckFinding {
                code: "limitation",
                file: "xtask/check/limitations.rs".to_owned(),
                line: 1,
                column: 1,
                message: format!("the test of `{}`, {}, does not exist", limitation.id, limitation.test),
                help: "set `test` of the entry to a test that sends a request which violates the construct, or checks a response".to_owned(),
            });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use codegen::V1;

    fn v1() -> Contract {
        let source = contract::read_file(&crate::workspace(), V1.contract).expect("the contract can be read");
        contract::read(source, &V1.conventions).expect("the contract is valid")
    }

    #[test]
    fn the_gates_cover_every_operation() {
        assert_eq!(check(&crate::workspace(), &v1(), V1_GATES).expect("the gates are read"), []);
    }

    #[test]
    fn a_missing_example_and_a_missing_gate_are_reported() {
        let text = r#"
            fn example(operation: &Operation) { match operation.id { "listCourses" => {} } }
            async fn provoke(status: u16) { match status { 200 | 401 => {} } }
            #[tokio::test]
            async fn no_operation_answers_without_a_key() { for operation in OPERATIONS {} }
            #[tokio::test]
            async fn no_operation_answers_beyond_the_limit() {}
            async fn each_operation_needs_its_scope_and_no_other() { for operation in OPERATIONS {} }
        "#;
        let tests = Tests::read(text, V1_GATES).expect("the text is valid Rust");
        let messages = |findings: Vec<CheckFinding>| {
            findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        assert_eq!(
            messages(tests.gates()),
            [
                "test `each_operation_needs_its_scope_and_no_other` does not exist",
                "`no_operation_answers_beyond_the_limit` does not iterate over `OPERATIONS`",
                "test `no_operation_returns_data_of_another_workspace` does not exist",
                "test `every_documented_status_of_every_operation_arises_as_documented` does not exist",
            ]
        );
        let reported = messages(tests.operations(&v1()));
        assert!(
            reported.contains(&"`example` has no request for `createStudent`".to_owned()),
            "{reported:?}"
        );
        assert!(!reported.contains(&"`example` has no request for `listCourses`".to_owned()), "{reported:?}");
        assert!(
            reported.iter().any(|message| message.starts_with("`provoke` does not cover status 429")),
            "{reported:?}"
        );
    }
}
