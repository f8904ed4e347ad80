//! What code spans of texts link to.

use std::collections::HashMap;

use super::contract_text::ContractText;

/// The paths that code spans of one contract's pages link to: operations, event types, error codes and pages.
#[derive(Debug, Default)]
pub(crate) struct References(HashMap<String, String>);

impl References {
    /// Collects the names for the pages of the contract at this position. Its own names come first, then those of the others in order.
    pub(crate) fn new<'a>(
        contracts: &[ContractText],
        own: usize,
        error_codes: impl Iterator<Item = &'static str>,
        pages: impl Iterator<Item = &'a String>,
    ) -> Self {
        let mut paths = HashMap::new();
        for contract in contracts.get(own).into_iter().chain(contracts) {
            for (operation, _) in contract.operations() {
                paths.entry(operation.id.to_owned()).or_insert_with(|| contract.operation_path(operation.id));
            }
            for (event_type, json) in contract.events() {
                for name in [json["operationId"].text(), event_type] {
                    paths.entry(name.to_owned()).or_insert_with(|| contract.event_path(event_type));
                }
            }
            for (name, _) in contract.schemas() {
                paths.entry(name.clone()).or_insert_with(|| contract.object_path(name));
            }
        }
        paths.extend(error_codes.map(|code| (code.to_owned(), format!("/docs/errors#{code}"))));
        paths.extend(pages.map(|path| (path.clone(), path.clone())));
        Self(paths)
    }

    /// Returns the path of what a code span names.
    pub(crate) fn path<'a>(&'a self, code: &'a str) -> Option<&'a str> {
        if code == "/dashboard" || code.starts_with("/dashboard/") {
            return Some(code);
        }
        self.0.get(code).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract_text::for_tests;
    use super::*;

    #[test]
    fn names_of_the_own_contract_come_first() {
        let first = for_tests("v1", r#"{"components":{"schemas":{"Page":{},"Course":{}}}}"#);
        let second = for_tests("platform-v1", r#"{"components":{"schemas":{"Page":{}}}}"#);
        let contracts = [first, second];
        let paths = [0, 1].map(|own| {
            let references = References::new(&contracts, own, std::iter::empty(), std::iter::empty());
            ["Page", "Course"].map(|name| references.path(name).unwrap().to_owned())
        });
        assert_eq!(
            paths,
            [
                ["/docs/objects/Page", "/docs/objects/Course"],
                ["/docs/platform/objects/Page", "/docs/objects/Course"]
            ]
        );
    }
}
