//! Examples and defaults are values that their own schemas take, formats included.

use std::collections::BTreeMap;

use jsonschema::{Registry, Validator};
use serde_json::{Value, json};

use super::sites::{self, Site};
use crate::diagnostic::{Code, Diagnostic};
use crate::node::Node;

/// Where the document stands for the references inside it.
const HERE: &str = "urn:contract";

/// Judges every example and default of a document.
pub(super) fn judge(root: &Node, findings: &mut Vec<Diagnostic>) {
    let document = root.to_json();
    let Ok(registry) = Registry::new().add(HERE, &document).and_then(|registry| registry.prepare()) else {
        return;
    };
    let mut judge = Judge { root, registry: &registry, validators: BTreeMap::new(), findings };
    for site in sites::schemas(root) {
        judge.site(&site);
    }
}

struct Judge<'a> {
    root: &'a Node,
    registry: &'a Registry<'a>,
    /// Validators by what they were made from: most places refer to a named schema.
    validators: BTreeMap<String, Result<Validator, String>>,
    findings: &'a mut Vec<Diagnostic>,
}

impl Judge<'_> {
    fn site(&mut self, site: &Site<'_>) {
        if let Some(default) = site.schema.get("default") {
            self.value(site, default, Code::DefaultRefused, "the default");
        }
        if let Some(example) = site.schema.get("example") {
            self.value(site, example, Code::ExampleRefused, "the example");
        }
        for example in site.schema.get("examples").and_then(Node::items).unwrap_or_default() {
            self.value(site, example, Code::ExampleRefused, "the example");
        }
        let Some(owner) = site.owner else { return };
        if let Some(example) = owner.get("example") {
            self.value(site, example, Code::ExampleRefused, "the example");
        }
        for example in owner.get("examples").and_then(Node::entries).unwrap_or_default() {
            // A shared example is held against the schema of each of its uses.
            let shared = example.value.get("$ref").and_then(Node::as_str);
            let shared = shared.and_then(|target| self.root.pointer(target.trim_start_matches('#')));
            if let Some(value) = shared.unwrap_or(&example.value).get("value") {
                let what = format!("the example `{}`", example.key.text);
                self.value(site, value, Code::ExampleRefused, &what);
            }
        }
    }

    fn value(&mut self, site: &Site<'_>, value: &Node, code: Code, what: &str) {
        let target = match site.schema.get("$ref").and_then(Node::as_str) {
            Some(target) => target.to_owned(),
            None => format!("#{}", site.pointer),
        };
        let registry = self.registry;
        let validator =
            self.validators.entry(target).or_insert_with_key(|target| validator(registry, target));
        let validator = match validator {
            Ok(validator) => validator,
            Err(reason) => {
                let message = format!("{what} cannot be held against its schema: {reason}");
                self.findings.push(Diagnostic::error(code, value.span, message, "correct the schema"));
                return;
            }
        };
        for error in validator.iter_errors(&value.to_json()) {
            let pointer = error.instance_path().to_string();
            let place = if pointer.is_empty() { value.span } else { value.place_of(&pointer) };
            let at = if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") };
            self.findings.push(Diagnostic::error(
                code,
                place,
                format!("{what} is refused by its own schema{at}: {}", shortened(&error.to_string())),
                "correct it, or the schema: people copy it and expect it to work",
            ));
        }
    }
}

fn validator(registry: &Registry<'_>, target: &str) -> Result<Validator, String> {
    let schema: Value = json!({ "$ref": format!("{HERE}{}", encoded(target)) });
    let options = jsonschema::draft202012::options().should_validate_formats(true);
    options.with_registry(registry).build(&schema).map_err(|error| error.to_string())
}

/// A JSON pointer as the fragment of a URI: the braces of paths may not stand there.
fn encoded(target: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"#/-._~".contains(&byte);
    let encode = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    target.bytes().map(encode).collect()
}

/// An error message names the whole value; nobody reads more than a line of it.
fn shortened(message: &str) -> String {
    const MOST: usize = 200;
    match message.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &message[..end]),
        None => message.to_owned(),
    }
}
