//! The contract documents under `/openapi/`, byte for byte.

use contract_runtime::contract::{Contract, JSON};
use web::public_response::FILE_POLICY;

use super::document::Document;

/// The contract documents, by file name.
#[derive(Debug, Default)]
pub(crate) struct Downloads(Vec<(String, Document)>);

impl Downloads {
    /// Adds the documents of a contract.
    pub(crate) fn add(&mut self, contract: &'static Contract) {
        let texts = [
            contract.yaml,
            contract.json,
            contract.json_3_0,
            contract.clients_json,
            contract.clients_json_3_0,
        ];
        for (file, text) in file_names(contract).into_iter().zip(texts) {
            let media_type = if file.ends_with(".yaml") { "application/yaml; charset=utf-8" } else { JSON };
            self.0.push((file, Document::new(media_type, FILE_POLICY, text)));
        }
    }

    /// Returns the document with this file name.
    pub(crate) fn get(&self, file: &str) -> Option<&Document> {
        self.0.iter().find(|(name, _)| name == file).map(|(_, document)| document)
    }
}

/// Returns the names of a contract's documents: YAML, JSON, and OpenAPI 3.0 as JSON, then those for client generators in
/// 3.1 and 3.0.
pub(crate) fn file_names(contract: &Contract) -> [String; 5] {
    let name = contract.name;
    [".yaml", ".json", ".openapi-3.0.json", ".clients.json", ".clients.openapi-3.0.json"]
        .map(|extension| format!("{name}{extension}"))
}
