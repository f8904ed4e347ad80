//! The coverage gates: the tests that look at every operation are there, and every operation and status is in them.
//!
//! Reads the sources of the tests. It never runs one: a gate that fails does so in the tests.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use contract::Contract;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use super::finding::Finding;
use super::unsayable;

/// The file of the gates.
const FILE: &str = "tests/it/coverage.rs";

/// The tests that go over every operation, and what they hold it to.
const GATES: &[(&str, &str)] = &[
    ("no_operation_answers_without_a_key", "is refused without a key"),
    ("each_operation_needs_its_scope_and_no_other", "is refused under a key of another scope"),
    ("no_operation_answers_beyond_the_limit", "is refused beyond the rate limit"),
    ("no_operation_sees_into_another_workspace", "shows nothing of another workspace"),
    (
        "every_documented_status_of_every_operation_arises_as_documented",
        "answers with each documented status",
    ),
];

/// What the gates leave open.
///
/// # Errors
/// When the file of the gates cannot be read.
pub(crate) fn judge(workspace: &Path, contract: &Contract) -> anyhow::Result<Vec<Finding>> {
    let text =
        std::fs::read_to_string(workspace.join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let tests = Tests::read(&text).with_context(|| format!("{FILE} is no Rust"))?;
    let mut findings = tests.gates();
    findings.extend(tests.operations(contract));
    findings.extend(shown(workspace));
    Ok(findings)
}

fn finding(code: &'static str, line: usize, message: String, help: String) -> Finding {
    Finding { code, file: FILE.to_owned(), line, column: 1, message, help }
}

/// The functions of the file, by what is in them.
struct Tests {
    functions: Vec<Function>,
}

struct Function {
    name: String,
    line: usize,
    is_test: bool,
    /// The names and literals in its body.
    words: BTreeSet<String>,
}

/// The names and literals of tokens, at any depth; a literal as its value.
fn words(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        let word = match token {
            TokenTree::Group(group) => {
                words(group.stream(), found);
                continue;
            }
            TokenTree::Ident(ident) => ident.to_string(),
            TokenTree::Literal(literal) => literal.to_string().trim_matches('"').to_owned(),
            TokenTree::Punct(_) => continue,
        };
        found.insert(word);
    }
}

impl Tests {
    fn read(text: &str) -> syn::Result<Self> {
        let file: syn::File = syn::parse_str(text)?;
        let functions = file.items.iter().filter_map(|item| match item {
            syn::Item::Fn(function) => Some(Function::of(function)),
            _ => None,
        });
        Ok(Self { functions: functions.collect() })
    }

    fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The gates that are gone, or look at something else than every operation.
    fn gates(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (name, holds) in GATES {
            let help =
                format!("bring back a test of that name that shows for each of `OPERATIONS` that it {holds}");
            match self.function(name).filter(|function| function.is_test) {
                None => findings.push(finding("gate", 1, format!("there is no test `{name}`"), help)),
                Some(function) if !function.words.contains("OPERATIONS") => {
                    let message = format!("`{name}` does not go over every operation");
                    findings.push(finding("gate", function.line, message, help));
                }
                Some(_) => {}
            }
        }
        findings
    }

    /// The operations without an example, and the statuses that nothing brings about.
    fn operations(&self, contract: &Contract) -> Vec<Finding> {
        let mut findings = Vec::new();
        let none = BTreeSet::new();
        let of = |name: &str| self.function(name).map_or((1, &none), |it| (it.line, &it.words));
        let ((example_line, examples), (provoke_line, provoked)) = (of("example"), of("provoke"));
        let mut told = BTreeSet::new();
        for operation in &contract.document.operations {
            if !examples.contains(&operation.id.text) {
                let message = format!("the gates have no example of `{}`", operation.id.text);
                let help = "add a request that succeeds to `example`: every gate looks at it".to_owned();
                findings.push(finding("gate", example_line, message, help));
            }
            for response in &operation.responses {
                let status = response.status.to_string();
                if !provoked.contains(&status) && told.insert(status.clone()) {
                    let message = format!("nothing brings about the {status} of `{}`", operation.id.text);
                    let help = "say in `provoke` how it comes about".to_owned();
                    findings.push(finding("gate", provoke_line, message, help));
                }
            }
        }
        findings
    }
}

impl Function {
    fn of(function: &syn::ItemFn) -> Self {
        let mut found = BTreeSet::new();
        words(function.block.to_token_stream(), &mut found);
        let is_test = function
            .attrs
            .iter()
            .any(|attribute| attribute.path().segments.last().is_some_and(|segment| segment.ident == "test"));
        Self {
            name: function.sig.ident.to_string(),
            line: function.sig.ident.span().start().line,
            is_test,
            words: found,
        }
    }
}

/// The rows of what poem-openapi cannot say whose test is gone.
fn shown(workspace: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in unsayable::ROWS {
        let (file, function) = row.test.split_once(": ").unwrap_or((row.test, ""));
        let text = std::fs::read_to_string(workspace.join(file)).unwrap_or_default();
        if !text.contains(&format!("fn {function}(")) {
            findings.push(Finding {
                code: "unsayable",
                file: "xtask/src/check/unsayable.rs".to_owned(),
                line: 1,
                column: 1,
                message: format!("`{}` is shown by {}, which is not there", row.id, row.test),
                help: "name the test that sends the violating request, or looks at the answer".to_owned(),
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
        let source = contract::open(&crate::workspace(), V1.contract).expect("it can be read");
        contract::read(source, &V1.customs).expect("it has no findings")
    }

    #[test]
    fn the_gates_stand_and_hold_every_operation() {
        assert_eq!(judge(&crate::workspace(), &v1()).expect("the gates are read"), []);
    }

    #[test]
    fn an_operation_without_an_example_and_a_gate_that_is_gone_are_found() {
        let text = r#"
            fn example(operation: &Operation) { match operation.id { "listCourses" => {} } }
            async fn provoke(status: u16) { match status { 200 | 401 => {} } }
            #[tokio::test]
            async fn no_operation_answers_without_a_key() { for operation in OPERATIONS {} }
            #[tokio::test]
            async fn no_operation_answers_beyond_the_limit() {}
            async fn each_operation_needs_its_scope_and_no_other() { for operation in OPERATIONS {} }
        "#;
        let tests = Tests::read(text).expect("it is Rust");
        let messages = |findings: Vec<Finding>| findings.into_iter().map(|it| it.message).collect::<Vec<_>>();
        assert_eq!(
            messages(tests.gates()),
            [
                "there is no test `each_operation_needs_its_scope_and_no_other`",
                "`no_operation_answers_beyond_the_limit` does not go over every operation",
                "there is no test `no_operation_sees_into_another_workspace`",
                "there is no test `every_documented_status_of_every_operation_arises_as_documented`",
            ]
        );
        let told = messages(tests.operations(&v1()));
        assert!(told.contains(&"the gates have no example of `createStudent`".to_owned()), "{told:?}");
        assert!(!told.contains(&"the gates have no example of `listCourses`".to_owned()), "{told:?}");
        assert!(told.iter().any(|message| message.starts_with("nothing brings about the 429")), "{told:?}");
    }
}
