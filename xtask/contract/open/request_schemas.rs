//! Checks that the server can compile the schemas of requests, which it does at its start.
//!
//! The copy that becomes Rust types does not have all keywords of the original schemas, so the reader does not see every
//! malformed one.

use std::collections::BTreeSet;

use jsonschema::{Draft, PatternOptions, Registry, draft202012};
use regex::Regex;
use serde_json::json;

use crate::diagnostic::{Code, Diagnostic};
use crate::model::Document;
use crate::node::{Node, Value};
use crate::read::regex_problem;
use crate::rules::uri_fragment;

/// The URI of the document, as in the runtime library.
const DOCUMENT_URI: &str = "urn:contract";

/// Returns the errors of the schemas of all parameters and request bodies. `root` is the document that the server serves.
pub(super) fn errors(root: &Node, document: &Document) -> Vec<Diagnostic> {
    let registry = Registry::new().add(DOCUMENT_URI, Draft::Draft202012.create_resource(root.to_json()));
    let registry = match registry.and_then(|registry| registry.prepare()) {
        Ok(registry) => registry,
        Err(error) => {
            let message = format!("the schemas of the document cannot be read: {error}");
            let help = "correct `$id` and `$anchor`, or remove them";
            return vec![Diagnostic::error(Code::UnsupportedKeyword, root.span, message, help)];
        }
    };
    let options = draft202012::options()
        .should_validate_formats(true)
        .with_registry(&registry)
        .with_pattern_options(PatternOptions::regex());
    let parameters = document.operations.iter().flat_map(|operation| &operation.parameters);
    let bodies = document.operations.iter().filter_map(|operation| operation.body.as_ref());
    let schemas =
        parameters.map(|parameter| &parameter.schema).chain(bodies.map(|body| &body.content.schema));
    let pointers: BTreeSet<&str> = schemas.map(|schema| &*schema.pointer).collect();
    let mut finder = ProblemFinder { root, visited: BTreeSet::new(), diagnostics: Vec::new() };
    for pointer in pointers {
        let reference = json!({ "$ref": format!("{DOCUMENT_URI}#{}", uri_fragment(pointer)) });
        let Err(error) = options.build(&reference) else { continue };
        finder.document_part(pointer);
        // A problem that was found for another schema can be the cause for this one, too.
        if finder.diagnostics.is_empty() {
            let message = format!("the server cannot validate requests with this schema: {error}");
            let help = "correct the schema, or the schemas that it references";
            let span = root.span_at(pointer);
            finder.diagnostics.push(Diagnostic::error(Code::UnsupportedKeyword, span, message, help));
        }
    }
    finder.diagnostics
}

/// Finds what prevents the compilation of a schema, in the schema and in those that it references.
struct ProblemFinder<'n> {
    root: &'n Node,
    /// The pointers of the schemas that were searched.
    visited: BTreeSet<String>,
    diagnostics: Vec<Diagnostic>,
}

impl ProblemFinder<'_> {
    /// Searches the schema at a pointer that is not part of a schema that was searched before.
    fn document_part(&mut self, pointer: &str) {
        let Some(schema) = self.root.pointer(pointer).filter(|_| self.visited.insert(pointer.to_owned()))
        else {
            return;
        };
        for error in draft202012::meta::validator().iter_errors(&schema.to_json()) {
            let place = error.instance_path().to_string();
            let keyword = place.rsplit('/').next().unwrap_or_default();
            let message = format!("`{keyword}` is not valid in a schema: {error}");
            let help = match keyword {
                "required" => "list the names of required properties in the object around them",
                _ => "correct the value, or remove the keyword",
            };
            let span = schema.pointer(&place).unwrap_or(schema).span;
            self.diagnostics.push(Diagnostic::error(Code::WrongType, span, message, help));
        }
        self.keywords(schema);
    }

    /// Searches patterns and references at any depth. Values of `enum` and others that only look like schemas are
    /// searched, too, which is no problem: the schema is known to be invalid.
    fn keywords(&mut self, node: &Node) {
        for entry in node.entries().unwrap_or_default() {
            match (&*entry.key, &entry.value.value) {
                ("pattern", Value::String(pattern)) => self.pattern(pattern, &entry.value),
                ("patternProperties", Value::Mapping(properties)) => {
                    for property in properties {
                        let key = Node { span: property.key.span, value: Value::Null };
                        self.pattern(&property.key.text, &key);
                    }
                }
                ("$ref", Value::String(target)) => self.reference(target, &entry.value),
                ("enum" | "const" | "default" | "example" | "examples", _) => continue,
                _ => {}
            }
            self.keywords(&entry.value);
        }
        node.items().unwrap_or_default().iter().for_each(|item| self.keywords(item));
    }

    fn pattern(&mut self, pattern: &str, node: &Node) {
        if let Err(error) = Regex::new(pattern) {
            self.diagnostics.push(regex_problem(&error, node.span));
        }
    }

    fn reference(&mut self, target: &str, node: &Node) {
        let Some(pointer) = target.strip_prefix('#') else {
            let message = format!("`{target}` references another document");
            let help = "copy the schema to `components.schemas` and reference it there";
            return self.diagnostics.push(Diagnostic::error(Code::ExternalRef, node.span, message, help));
        };
        if self.root.pointer(pointer).is_none() {
            let message = format!("unresolved reference `{target}`");
            let help = "add the schema to `components.schemas`, or correct the name";
            return self.diagnostics.push(Diagnostic::error(Code::UnresolvedRef, node.span, message, help));
        }
        self.document_part(pointer);
    }
}
