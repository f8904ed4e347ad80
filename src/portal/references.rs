//! What code spans of texts link to.

use std::collections::HashMap;

use super::contract_text::ContractText;

/// The paths that code spans link to: operations, event types, error codes and pages.
#[derive(Debug, Default)]
pub(crate) struct References(HashMap<String, String>);

impl References {
    /// Collects the names. Of contracts that share a name, the first one counts.
    pub(crate) fn new<'a>(
        contracts: &[ContractText],
        error_codes: impl Iterator<Item = &'static str>,
        pages: impl Iterator<Item = &'a String>,
    ) -> Self {
        let mut paths = HashMap::new();
        for contract in contracts {
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
