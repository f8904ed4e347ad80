//! Compares the facts of two documents.

use super::facts::Fact;
use super::limitations::{self, Limitation};

/// The facts that only one of two documents contains.
#[derive(Debug, Default)]
pub(crate) struct DocumentDifferences {
    /// Facts of the contract that the code lacks.
    pub contract_only: Vec<Difference>,
    /// Facts of the code that the contract lacks.
    pub code_only: Vec<Difference>,
    /// Facts of the contract that poem-openapi cannot express: the number of facts for each limitation.
    pub limitations: Vec<(&'static Limitation, usize)>,
}

/// A fact that only one document contains.
#[derive(Debug)]
pub(crate) struct Difference {
    /// The path of facts that leads to it: operation, parameter or response, and so on.
    pub path: String,
    /// The JSON pointer to the fact in the contract, or to the closest enclosing fact that the contract has.
    pub pointer: String,
    /// The number of other paths to the same fact, through shared schemas.
    pub other_uses: usize,
}

/// Compares the facts of contract and code.
pub(crate) fn compare(contract: &Fact, code: &Fact) -> DocumentDifferences {
    let mut differences = DocumentDifferences::default();
    differences.compare_children(&mut vec![contract], code);
    differences
}

impl DocumentDifferences {
    /// Returns whether the two documents are equal, apart from limitations of poem-openapi.
    pub(crate) fn is_empty(&self) -> bool {
        self.contract_only.is_empty() && self.code_only.is_empty()
    }

    /// Compares the children of the last fact of `path`, which both documents contain.
    fn compare_children<'f>(&mut self, path: &mut Vec<&'f Fact>, code: &'f Fact) {
        let Some(contract) = path.last().copied() else { return };
        for fact in &contract.children {
            path.push(fact);
            match code.child(&fact.name) {
                Some(counterpart) => self.compare_children(path, counterpart),
                None => self.add_contract_only(path),
            }
            path.pop();
        }
        for fact in code.children.iter().filter(|fact| contract.child(&fact.name).is_none()) {
            path.push(fact);
            push(&mut self.code_only, joined_names(path), contract.pointer.clone());
            path.pop();
        }
    }

    /// Adds a fact that only the contract contains, or counts it if it is a limitation of poem-openapi.
    fn add_contract_only(&mut self, path: &[&Fact]) {
        let Some(fact) = path.last() else { return };
        match limitations::limitation(path) {
            None => push(&mut self.contract_only, joined_names(path), fact.pointer.clone()),
            Some(limitation) => {
                match self.limitations.iter_mut().find(|(counted, _)| counted.id == limitation.id) {
                    Some((_, count)) => *count += 1,
                    None => self.limitations.push((limitation, 1)),
                }
            }
        }
    }
}

/// Returns the names of the facts of a path, without the document itself.
fn joined_names(path: &[&Fact]) -> String {
    path.iter().skip(1).map(|fact| &*fact.name).collect::<Vec<_>>().join(" > ")
}

/// Adds a difference, or counts another use of a fact that is already listed.
fn push(list: &mut Vec<Difference>, path: String, pointer: String) {
    let last_name = |path: &str| path.rsplit(" > ").next().map(str::to_owned);
    let listed = list
        .iter_mut()
        .find(|difference| difference.pointer == pointer && last_name(&difference.path) == last_name(&path));
    match listed {
        Some(difference) => difference.other_uses += 1,
        None => list.push(Difference { path, pointer, other_uses: 0 }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::facts;

    /// Creates a document with one operation, its parameter and its response.
    fn document(parameter: Value, response: Value) -> Value {
        json!({
            "paths": { "/things": { "get": {
                "operationId": "listThings",
                "security": [{ "apiKey": ["read:things"] }],
                "parameters": [{ "name": "limit", "in": "query", "schema": parameter }],
                "responses": { "200": { "content": { "application/json": { "schema": response } } } },
            } } },
            "components": { "schemas": {
                "Limit": { "type": "integer", "maximum": 100.0 },
                "Thing": { "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } } },
            } },
        })
    }

    /// Compares two documents. Returns the paths of the facts that only the contract and only the code contains.
    fn differing_paths(contract: &Value, code: &Value) -> (Vec<String>, Vec<String>) {
        let differences = compare(&facts::of(contract), &facts::of(code));
        let paths = |list: Vec<Difference>| list.into_iter().map(|difference| difference.path).collect();
        (paths(differences.contract_only), paths(differences.code_only))
    }

    #[test]
    fn equivalent_notations_are_equal() {
        let thing = json!({ "$ref": "#/components/schemas/Thing" });
        let limit = json!({ "$ref": "#/components/schemas/Limit" });
        let with_inline_limit = document(json!({ "type": "integer", "maximum": 100 }), thing);
        let inline =
            json!({ "required": ["id"], "type": "object", "properties": { "id": { "type": "string" } } });
        assert_eq!(differing_paths(&with_inline_limit, &document(limit, inline)), (vec![], vec![]));
    }

    #[test]
    fn a_number_is_64_bits_wide_by_default() {
        let response = json!({ "type": "string" });
        let number =
            |format: Value| document(json!({ "type": "integer", "format": format }), response.clone());
        let without_format = document(json!({ "type": "integer" }), response.clone());
        assert_eq!(differing_paths(&without_format, &number(json!("int64"))), (vec![], vec![]));
        let path = vec!["GET /things > query parameter `limit` > format \"int32\"".to_owned()];
        assert_eq!(differing_paths(&without_format, &number(json!("int32"))), (vec![], path));
    }

    #[test]
    fn an_operation_of_one_document_is_reported_as_a_whole() {
        let with_operation = document(json!({ "type": "integer" }), json!({ "type": "string" }));
        let without_operation = json!({ "paths": {} });
        let path = || vec!["GET /things".to_owned()];
        assert_eq!(differing_paths(&with_operation, &without_operation), (path(), vec![]));
        assert_eq!(differing_paths(&without_operation, &with_operation), (vec![], path()));
    }

    #[test]
    fn a_different_bound_is_in_both_lists() {
        let response = json!({ "type": "string" });
        let contract = document(json!({ "type": "integer", "maximum": 100 }), response.clone());
        let code = document(json!({ "type": "integer", "maximum": 50 }), response);
        let path = |bound| vec![format!("GET /things > query parameter `limit` > maximum {bound}")];
        assert_eq!(differing_paths(&contract, &code), (path(100), path(50)));
    }

    #[test]
    fn optional_and_missing_properties_are_reported_with_their_path() {
        let limit = json!({ "type": "integer" });
        let field = json!({ "type": "string" });
        let contract = json!({ "type": "array", "items": {
            "type": "object", "required": ["id"], "properties": { "id": field, "name": field },
        } });
        let code = json!({ "type": "array", "items": { "type": "object", "properties": { "id": field, "size": field } } });
        let (contract_only, code_only) =
            differing_paths(&document(limit.clone(), contract), &document(limit, code));
        let prefix = "GET /things > response 200 > application/json > items > property";
        assert_eq!(contract_only, [format!("{prefix} `id` > required"), format!("{prefix} `name`")]);
        assert_eq!(code_only, [format!("{prefix} `size`")]);
    }

    #[test]
    fn a_difference_in_a_shared_schema_is_reported_once_with_its_uses() {
        let list = |item: Value| json!({ "type": "object", "properties": { "first": item, "second": item } });
        let shared = list(json!({ "$ref": "#/components/schemas/Thing" }));
        let code = list(json!({ "type": "object", "properties": { "id": { "type": "string" } } }));
        let limit = json!({ "type": "integer" });
        let (contract, code) = (document(limit.clone(), shared), document(limit, code));
        let differences = compare(&facts::of(&contract), &facts::of(&code));
        let [only] = &differences.contract_only[..] else { panic!("{differences:?}") };
        assert_eq!((&*only.pointer, only.other_uses), ("/components/schemas/Thing/required", 1));
    }

    #[test]
    fn limitations_of_poem_openapi_are_counted_and_not_reported() {
        let limit = json!({ "type": "integer" });
        let contract = json!({
            "type": "object", "additionalProperties": false, "required": ["at"],
            "properties": { "at": { "type": ["string", "null"], "format": "uri" } },
        });
        let code = json!({ "type": "object", "properties": { "at": { "type": ["string", "null"] } } });
        let differences =
            compare(&facts::of(&document(limit.clone(), contract)), &facts::of(&document(limit, code)));
        assert!(differences.is_empty(), "{differences:?}");
        let rows: Vec<_> =
            differences.limitations.iter().map(|(limitation, count)| (limitation.id, *count)).collect();
        assert_eq!(rows, [("closed-object", 1), ("required-and-nullable", 1), ("string-format", 1)]);
    }

    #[test]
    fn circular_references_end() {
        let tree = json!({ "paths": { "/tree": { "get": { "responses": { "200": { "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/Tree" },
        } } } } } } }, "components": { "schemas": { "Tree": {
            "type": "object", "properties": { "below": { "$ref": "#/components/schemas/Tree" } },
        } } } });
        assert_eq!(differing_paths(&tree, &tree), (vec![], vec![]));
    }
}
