//! Examples and defaults are valid against their schemas, including formats.

use std::collections::BTreeMap;

use jsonschema::{Registry, Validator};
use serde_json::{Value, json};

use super::schema_locations::{self, SchemaLocation};
use crate::diagnostic::{Code, Diagnostic};
use crate::node::Node;

/// The URI of the document, for resolving references inside it.
const DOCUMENT_URI: &str = "urn:contract";

/// Checks every example and default of a document.
pub(super) fn check(root: &Node, diagnostics: &mut Vec<Diagnostic>) {
    let document = root.to_json();
    let Ok(registry) = Registry::new().add(DOCUMENT_URI, &document).and_then(|registry| registry.prepare())
    else {
        return;
    };
    let mut checker = ExampleChecker { root, registry: &registry, validators: BTreeMap::new(), diagnostics };
    for location in schema_locations::find(root) {
        checker.check_location(&location);
    }
}

struct ExampleChecker<'a> {
    root: &'a Node,
    registry: &'a Registry<'a>,
    /// The validators by the `$ref` of their schema. Locations with the same reference share a validator.
    validators: BTreeMap<String, Result<Validator, String>>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl ExampleChecker<'_> {
    fn check_location(&mut self, location: &SchemaLocation<'_>) {
        if let Some(default) = location.schema.get("default") {
            self.check_value(location, default, Code::DefaultRefused, "the default");
        }
        if let Some(example) = location.schema.get("example") {
            self.check_value(location, example, Code::ExampleRefused, "the example");
        }
        for example in location.schema.get("examples").and_then(Node::items).unwrap_or_default() {
            self.check_value(location, example, Code::ExampleRefused, "the example");
        }
        let Some(owner) = location.owner else { return };
        if let Some(example) = owner.get("example") {
            self.check_value(location, example, Code::ExampleRefused, "the example");
        }
        for example in owner.get("examples").and_then(Node::entries).unwrap_or_default() {
            // Each use of a shared example is validated against the schema of that use.
            let shared = example.value.get("$ref").and_then(Node::as_str);
            let shared = shared.and_then(|target| self.root.pointer(target.trim_start_matches('#')));
            if let Some(value) = shared.unwrap_or(&example.value).get("value") {
                let subject = format!("the example `{}`", example.key.text);
                self.check_value(location, value, Code::ExampleRefused, &subject);
            }
        }
    }

    fn check_value(&mut self, location: &SchemaLocation<'_>, value: &Node, code: Code, subject: &str) {
        let target = match location.schema.get("$ref").and_then(Node::as_str) {
            Some(target) => target.to_owned(),
            None => format!("#{}", location.pointer),
        };
        let registry = self.registry;
        let validator =
            self.validators.entry(target).or_insert_with_key(|target| validator(registry, target));
        let validator = match validator {
            Ok(validator) => validator,
            Err(reason) => {
                let message = format!("cannot validate {subject}: {reason}");
                self.diagnostics.push(Diagnostic::error(code, value.span, message, "correct the schema"));
                return;
            }
        };
        for error in validator.iter_errors(&value.to_json()) {
            let pointer = error.instance_path().to_string();
            let span = if pointer.is_empty() { value.span } else { value.span_at(&pointer) };
            let location = if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") };
            self.diagnostics.push(Diagnostic::error(
                code,
                span,
                format!("{subject} does not match its schema{location}: {}", truncated(&error.to_string())),
                "correct the value or the schema",
            ));
        }
    }
}

fn validator(registry: &Registry<'_>, target: &str) -> Result<Validator, String> {
    let schema: Value = json!({ "$ref": format!("{DOCUMENT_URI}{}", uri_fragment(target)) });
    let options = jsonschema::draft202012::options().should_validate_formats(true);
    options.with_registry(registry).build(&schema).map_err(|error| error.to_string())
}

/// Encodes a JSON pointer as a URI fragment: braces of path templates are not valid there.
pub(crate) fn uri_fragment(target: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"#/-._~".contains(&byte);
    let encode = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    target.bytes().map(encode).collect()
}

/// Truncates an error message, which can contain the whole value.
fn truncated(message: &str) -> String {
    const MAX_CHARACTERS: usize = 200;
    match message.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}...", &message[..end]),
        None => message.to_owned(),
    }
}
