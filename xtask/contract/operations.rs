//! The operations of two contracts that replace each other, with digests of what the server validates.
//!
//! An operation of the base is matched by its `operationId`, or else by its method and path. Paths are compared from the
//! segment after the version on, without the names of parameters, so that `/api/v1/a/{id}` matches `/api/v2/a/{key}`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::node::{Entry, Node, Value, escape_pointer_token};

/// An operation of a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationEntry {
    /// The `operationId`, or else the method and the path.
    pub id: String,
    /// The JSON pointer of the operation.
    pub pointer: String,
    /// A digest of the operation and of everything that it references. It does not depend on descriptions, examples,
    /// tags, extensions, names of components, the order of keys, and other operations.
    pub digest: String,
    /// The method, and the path without the version and the names of parameters.
    address: String,
}

/// An operation of the base, and the operation of the other contract that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationPair {
    /// The operation of the base.
    pub base: OperationEntry,
    /// The operation of the other contract. `None` if it was removed.
    pub candidate: Option<OperationEntry>,
}

impl OperationPair {
    /// Returns whether the operation has another method, or another path apart from the version and the names of parameters.
    pub fn is_moved(&self) -> bool {
        self.candidate.as_ref().is_some_and(|candidate| candidate.address != self.base.address)
    }

    /// Returns the digest of the operation in the other contract, or the text `removed`.
    pub fn candidate_digest(&self) -> &str {
        self.candidate.as_ref().map_or("removed", |candidate| &candidate.digest)
    }
}

/// Returns all operations of the base, each with its replacement, in document order.
pub fn pairs(base: &Node, candidate: &Node) -> Vec<OperationPair> {
    let candidates = list(candidate);
    let by_id: BTreeMap<&str, &OperationEntry> =
        candidates.iter().map(|operation| (&*operation.id, operation)).collect();
    let by_address: BTreeMap<&str, &OperationEntry> =
        candidates.iter().map(|operation| (&*operation.address, operation)).collect();
    let pair = |base: OperationEntry| {
        let candidate = by_id.get(&*base.id).or_else(|| by_address.get(&*base.address));
        OperationPair { candidate: candidate.map(|candidate| (*candidate).clone()), base }
    };
    list(base).into_iter().map(pair).collect()
}

/// The keys of a path item that contain operations.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

fn list(root: &Node) -> Vec<OperationEntry> {
    let mut operations = Vec::new();
    for path in root.get("paths").and_then(Node::entries).unwrap_or_default() {
        let item = root.follow(&path.value);
        for method in item.entries().unwrap_or_default() {
            if !METHODS.contains(&&*method.key.text) {
                continue;
            }
            let id = method.value.get("operationId").and_then(Node::as_str).map(str::to_owned);
            let name = method.key.text.to_uppercase();
            let address = format!("{name} {}", address(&path.key));
            let pointer = format!("/paths/{}/{}", escape_pointer_token(&path.key), method.key.text);
            let digest = digest(root, item, &method.value, &address);
            let id = id.unwrap_or_else(|| format!("{name} {}", path.key.text));
            operations.push(OperationEntry { id, pointer, digest, address });
        }
    }
    operations
}

/// Returns the beginning of a path up to the version, such as `/api/v1/` of `/api/v1/a/{id}`. Empty without a version.
pub fn version_prefix(path: &str) -> &str {
    let is_version = |segment: &str| {
        let number = segment.strip_prefix('v').unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut end = 0;
    for segment in path.split_inclusive('/') {
        end += segment.len();
        if is_version(segment.trim_end_matches('/')) {
            return &path[..end];
        }
    }
    ""
}

/// Returns a path from the segment after the version on, without the names of parameters.
fn address(path: &str) -> String {
    let segments = path[version_prefix(path).len()..].split('/');
    segments
        .map(|segment| if segment.starts_with('{') { "{}" } else { segment })
        .collect::<Vec<_>>()
        .join("/")
}

/// Keywords that do not affect which requests and responses are valid.
const PROSE: [&str; 10] = [
    "description",
    "summary",
    "title",
    "example",
    "examples",
    "externalDocs",
    "tags",
    "operationId",
    "deprecated",
    "$comment",
];
/// Keywords whose value is data.
const DATA: [&str; 3] = ["const", "default", "enum"];
/// Keywords whose value maps names to objects. A name is no keyword.
const NAME_MAPS: [&str; 13] = [
    "properties",
    "dependentRequired",
    "mapping",
    "encoding",
    "variables",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "responses",
    "headers",
    "content",
    "callbacks",
    "links",
];

/// What the keys of a mapping are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Keywords,
    Names,
    Data,
}

/// Writes the canonical text of an operation. A reference is written as the number of its target, in the order in which targets are
/// reached, so that neither names nor cycles matter.
struct CanonicalText<'n> {
    root: &'n Node,
    text: String,
    targets: Vec<&'n Node>,
}

fn digest<'n>(root: &'n Node, item: &'n Node, operation: &'n Node, address: &str) -> String {
    let mut canonical = CanonicalText { root, text: address.to_owned(), targets: Vec::new() };
    canonical.write(operation, Keys::Keywords);
    for inherited in
        [item.get("parameters"), root.get("security").filter(|_| operation.get("security").is_none())]
    {
        canonical.text.push('\n');
        inherited.into_iter().for_each(|node| canonical.write(node, Keys::Keywords));
    }
    let mut written = 0;
    while let Some(target) = canonical.targets.get(written).copied() {
        canonical.text.push('\n');
        canonical.write(target, Keys::Keywords);
        written += 1;
    }
    let digest = Sha256::digest(canonical.text);
    digest[..8].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl<'n> CanonicalText<'n> {
    fn write(&mut self, node: &'n Node, keys: Keys) {
        match &node.value {
            Value::Mapping(entries) => self.write_mapping(entries, keys),
            Value::Sequence(items) => {
                self.text.push('[');
                for item in items {
                    self.write(item, if keys == Keys::Names { Keys::Keywords } else { keys });
                    self.text.push(',');
                }
                self.text.push(']');
            }
            _ => self.text += &serde_json::to_string(node).unwrap_or_default(),
        }
    }

    fn write_mapping(&mut self, entries: &'n [Entry], keys: Keys) {
        let is_relevant =
            |key: &str| keys != Keys::Keywords || !(PROSE.contains(&key) || key.starts_with("x-"));
        let mut entries: Vec<&Entry> = entries.iter().filter(|entry| is_relevant(&entry.key)).collect();
        entries.sort_by_key(|entry| &entry.key.text);
        self.text.push('{');
        for Entry { key, value } in entries {
            let _ = write!(self.text, "{:?}:", key.text);
            let target =
                (keys == Keys::Keywords && key.text == "$ref").then(|| self.root.target(value)).flatten();
            match target {
                Some(target) => self.write_reference(target),
                None => self.write(value, kind_of_value(keys, &key.text)),
            }
            self.text.push(',');
        }
        self.text.push('}');
    }

    fn write_reference(&mut self, target: &'n Node) {
        let known = self.targets.iter().position(|known| std::ptr::eq(*known, target));
        let number = known.unwrap_or(self.targets.len());
        if known.is_none() {
            self.targets.push(target);
        }
        let _ = write!(self.text, "#{number}");
    }
}

/// Returns what the keys of the value of `key` are.
fn kind_of_value(keys: Keys, key: &str) -> Keys {
    match keys {
        Keys::Data => Keys::Data,
        Keys::Keywords if DATA.contains(&key) => Keys::Data,
        Keys::Keywords if NAME_MAPS.contains(&key) => Keys::Names,
        Keys::Keywords | Keys::Names => Keys::Keywords,
    }
}

/// Returns the names of the query, header and path parameters of an operation, and of all properties in the contract, as they can
/// appear in usage reports. All other names are chosen by clients.
pub fn declared_names(root: &Node) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if let Some(name) = node.get("in").and_then(|_| node.get("name")).and_then(Node::as_str) {
            names.insert(name.to_owned());
        }
        for entry in node.entries().unwrap_or_default() {
            if entry.key.text == "properties" {
                names.extend(
                    entry.value.entries().unwrap_or_default().iter().map(|entry| entry.key.text.clone()),
                );
            }
            open.push(&entry.value);
        }
        open.extend(node.items().unwrap_or_default());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;
    use crate::yaml;

    const CONTRACT: &str = "
paths:
  /api/v1/a/{id}:
    parameters: [{in: path, name: id, required: true, schema: {type: string}}]
    get:
      operationId: getA
      responses: {'200': {description: Fine., content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}
  /api/v1/b:
    post:
      operationId: createB
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/B'}}}}
components:
  schemas:
    A: {type: object, properties: {description: {type: string}, next: {$ref: '#/components/schemas/A'}}}
    B: {type: string, maxLength: 10, enum: [{description: a}]}
";

    fn read(text: &str) -> Node {
        yaml::read(&Source::new("a.yaml", text), &mut Vec::new()).unwrap()
    }

    /// Returns whether the digests of `getA` and of `createB` stay the same after an edit.
    fn stay_same(old: &str, new: &str) -> [bool; 2] {
        assert!(CONTRACT.contains(old), "{old}");
        let pairs = pairs(&read(CONTRACT), &read(&CONTRACT.replace(old, new)));
        [0, 1].map(|index| pairs[index].candidate_digest() == pairs[index].base.digest)
    }

    #[test]
    fn a_digest_depends_on_what_is_validated_in_its_operation_only() {
        for (old, new) in [
            ("description: Fine.", "description: Good."),
            ("type: string, maxLength: 10", "maxLength: 10, title: B, type: string, x-note: b"),
            ("schemas/B", "schemas/A2"),
            ("operationId: getA", "operationId: readA\n      deprecated: true\n      tags: [a]"),
            ("/api/v1/", "/api/v2/"),
        ] {
            let (old_name, new_name) = if old == "schemas/B" { ("    B:", "    A2:") } else { ("#", "#") };
            let renamed = CONTRACT.replace(old, new).replace(old_name, new_name);
            let pairs = pairs(&read(CONTRACT), &read(&renamed));
            for pair in pairs {
                assert_eq!(pair.candidate_digest(), pair.base.digest, "{new}");
            }
        }
        assert_eq!(stay_same("maxLength: 10", "maxLength: 11"), [true, false]);
        assert_eq!(stay_same("description: {type: string}", "description: {type: integer}"), [false, true]);
        assert_eq!(stay_same("[{description: a}]", "[{description: b}]"), [true, false]);
        assert_eq!(stay_same("schema: {type: string}", "schema: {type: integer}"), [false, true]);
        assert_eq!(stay_same("name: id", "name: key"), [false, true]);
    }

    #[test]
    fn operations_are_matched_by_id_or_by_method_and_path() {
        let matched = |old: &str, new: &str| {
            let pairs = pairs(&read(CONTRACT), &read(&CONTRACT.replace(old, new)));
            pairs[0].candidate.as_ref().map(|candidate| candidate.pointer.clone())
        };
        assert_eq!(matched("/api/v1/a/{id}", "/api/v1/c").as_deref(), Some("/paths/~1api~1v1~1c/get"));
        let renamed = "/api/v2/a/{key}:\n    get:\n      operationId: readA\n  /x:";
        assert_eq!(
            matched("/api/v1/a/{id}:", renamed).as_deref(),
            Some("/paths/~1x/get"),
            "the id comes first"
        );
        assert_eq!(
            matched("operationId: getA", "operationId: readA").as_deref(),
            Some("/paths/~1api~1v1~1a~1{id}/get")
        );
        assert_eq!(matched("get:\n      operationId: getA", "put:\n      operationId: putA"), None);
    }

    #[test]
    fn names_of_parameters_and_properties_are_declared() {
        assert_eq!(Vec::from_iter(declared_names(&read(CONTRACT))), ["description", "id", "next"]);
    }
}
