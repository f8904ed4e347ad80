//! Random mutations of valid documents, for property tests.
//!
//! A mutation consists of indexes that apply to any document, so that proptest can shrink a failing case.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::node::{Entry, Node, SpannedString, Value, escape_pointer_token};
use crate::source::{Source, Span};
use crate::yaml;

/// Returns the number of cases of a property test. Set `MUTATION_CASES` to run more.
pub fn case_count() -> u32 {
    let configured = std::env::var("MUTATION_CASES").ok().and_then(|count| count.parse().ok());
    configured.unwrap_or(256)
}

/// A mutation of a tree. Each index chooses a value of the tree.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// Deletes a value.
    Delete(Index),
    /// Replaces a value.
    Replace(Index, Value),
    /// Swaps two values.
    Swap(Index, Index),
    /// Renames a key.
    Rename(Index, &'static str),
    /// Changes a `$ref` to this string, or to the pointer of another value if there is no string.
    ChangeReference(Index, Index, Option<&'static str>),
    /// Replaces a value with a reference to a shared schema.
    ReplaceWithReference(Index, Index),
    /// Inserts a keyword at the start of a mapping.
    Insert(Index, &'static str, Value),
    /// Inserts a keyword at the start of a mapping, with a copy of another value.
    InsertCopy(Index, &'static str, Index),
    /// Duplicates an entry or an item.
    Duplicate(Index),
    /// Nests a value inside this keyword, this number of times. The empty keyword nests it in lists.
    Nest(Index, &'static str, usize),
}

/// Names and keywords that are valid somewhere, and some that are not valid anywhere.
const KEYS: &str = "\
    $ref additionalProperties allOf anyOf components const content default deprecated description \
    discriminator enum example examples exclusiveMinimum format headers in items mapping maxLength \
    minimum multipleOf name not nullable oneOf operationId parameters pattern properties propertyName \
    readOnly required schema type x-sunset m² Self";

/// Strings for `$ref` that do not target a schema.
const TARGETS: [&str; 8] = [
    "",
    "#",
    "#/",
    "#/components/schemas",
    "#/components/schemas/Nobody",
    "#/components/schemas/a~2b",
    "other.yaml#/components/schemas/A",
    "#/paths/~1a/%7B",
];

/// Generates a value, mostly one that is unusual at its position.
fn value() -> impl Strategy<Value = Value> {
    let text = |text: &str| Value::String(text.to_owned());
    select(vec![
        Value::Null,
        Value::Bool(true),
        Value::Bool(false),
        Value::Integer(0),
        Value::Integer(-1),
        Value::Integer(i64::MIN),
        Value::Integer(i64::MAX),
        Value::Float(1.5),
        Value::Float(-1e308),
        text(""),
        text("object"),
        text("string"),
        text("integer"),
        text("date-time"),
        text("^(a+)+$"),
        text("[\u{1f600}\t\u{202e}"),
        text("lines\nand\r\nlines"),
        Value::Sequence(Vec::new()),
        Value::Sequence(vec![Node::without_span(Value::Null), Node::string("null")]),
        Value::Mapping(Vec::new()),
        Value::Mapping(vec![entry("type", Node::string("object"))]),
    ])
}

/// Generates one to three mutations.
pub fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let at = any::<Index>;
    let key = || select(KEYS.split(' ').chain([""]).collect::<Vec<_>>());
    let target = prop_oneof![2 => Just(None), 1 => select(TARGETS.to_vec()).prop_map(Some)];
    let keyword = select(vec!["", "allOf", "oneOf", "items", "properties", "additionalProperties", "schema"]);
    let mutation = prop_oneof![
        at().prop_map(Mutation::Delete),
        (at(), value()).prop_map(|(at, value)| Mutation::Replace(at, value)),
        (at(), at()).prop_map(|(first, second)| Mutation::Swap(first, second)),
        (at(), key()).prop_map(|(at, key)| Mutation::Rename(at, key)),
        (at(), at(), target).prop_map(|(at, other, text)| Mutation::ChangeReference(at, other, text)),
        (at(), at()).prop_map(|(at, other)| Mutation::ReplaceWithReference(at, other)),
        (at(), key(), value()).prop_map(|(at, key, value)| Mutation::Insert(at, key, value)),
        (at(), key(), at()).prop_map(|(at, key, other)| Mutation::InsertCopy(at, key, other)),
        at().prop_map(Mutation::Duplicate),
        // Deeper nesting could overflow the stack of the test itself.
        (at(), keyword, prop_oneof![1..4usize, 20..100usize])
            .prop_map(|(at, keyword, depth)| Mutation::Nest(at, keyword, depth)),
    ];
    prop::collection::vec(mutation, 1..4)
}

/// Parses a valid document.
pub fn parse_valid(name: &str, text: &str) -> Node {
    yaml::read(&Source::new(name, text), &mut Vec::new()).expect("the document is valid")
}

/// Applies mutations to a tree. Returns it as JSON with one value per line.
pub fn apply_mutations(valid: &Node, mutations: &[Mutation]) -> String {
    let mut root = valid.clone();
    mutations.iter().for_each(|mutation| apply(&mut root, mutation));
    serde_json::to_string_pretty(&root).expect("plain values serialize to JSON")
}

fn apply(root: &mut Node, mutation: &Mutation) {
    let paths = paths(root);
    let path = |at: &Index| at.get(&paths).clone();
    match mutation {
        Mutation::Delete(at) => change_parent(root, &path(at), |parent, last| match &mut parent.value {
            Value::Sequence(items) => drop(items.remove(last)),
            Value::Mapping(entries) => drop(entries.remove(last)),
            _ => {}
        }),
        Mutation::Replace(at, value) => node_at(root, &path(at)).value = value.clone(),
        Mutation::Swap(first, second) => {
            let (first, second) = (path(first), path(second));
            // Swapping a value with its own descendant is not possible.
            if !first.starts_with(&second) && !second.starts_with(&first) {
                let (first_value, second_value) =
                    (node_at(root, &first).clone(), node_at(root, &second).clone());
                *node_at(root, &first) = second_value;
                *node_at(root, &second) = first_value;
            }
        }
        Mutation::Rename(at, key) => change_parent(root, &path(at), |parent, last| {
            if let Value::Mapping(entries) = &mut parent.value {
                entries[last].key.text = (*key).to_owned();
            }
        }),
        Mutation::ChangeReference(at, other, text) => {
            let target = text.map_or_else(|| pointer(root, &path(other)), str::to_owned);
            let references = references(root, &paths);
            if !references.is_empty() {
                node_at(root, at.get::<Vec<usize>>(&references)).value = Value::String(target);
            }
        }
        Mutation::ReplaceWithReference(at, other) => {
            let schemas: Vec<_> = paths.iter().filter(|path| is_schema(root, path)).cloned().collect();
            if !schemas.is_empty() {
                let target = Node::string(pointer(root, other.get::<Vec<usize>>(&schemas)));
                node_at(root, &path(at)).value = Value::Mapping(vec![entry("$ref", target)]);
            }
        }
        Mutation::Insert(at, key, value) => {
            insert(node_at(root, &path(at)), key, Node::without_span(value.clone()))
        }
        Mutation::InsertCopy(at, key, other) => {
            let value = node_at(root, &path(other)).clone();
            insert(node_at(root, &path(at)), key, value);
        }
        Mutation::Duplicate(at) => change_parent(root, &path(at), |parent, last| match &mut parent.value {
            Value::Sequence(items) => items.insert(last, items[last].clone()),
            Value::Mapping(entries) => entries.insert(last, entries[last].clone()),
            _ => {}
        }),
        Mutation::Nest(at, keyword, depth) => nest(node_at(root, &path(at)), keyword, *depth),
    }
}

fn insert(node: &mut Node, key: &str, value: Node) {
    if let Value::Mapping(entries) = &mut node.value {
        entries.insert(0, entry(key, value));
    }
}

fn nest(node: &mut Node, keyword: &str, depth: usize) {
    for _ in 0..depth {
        let inner = std::mem::replace(node, Node::without_span(Value::Null));
        let list = |inner| Node::without_span(Value::Sequence(vec![inner]));
        let mapping = |key: &str, inner| Node::without_span(Value::Mapping(vec![entry(key, inner)]));
        *node = match keyword {
            "" => list(inner),
            "allOf" | "oneOf" => mapping(keyword, list(inner)),
            "properties" => mapping(keyword, mapping("a", inner)),
            other => mapping(other, inner),
        };
        if let ("items" | "properties" | "additionalProperties", Value::Mapping(entries)) =
            (keyword, &mut node.value)
        {
            let kind = if keyword == "items" { "array" } else { "object" };
            entries.insert(0, entry("type", Node::string(kind)));
        }
    }
}

fn entry(key: &str, value: Node) -> Entry {
    Entry { key: SpannedString { text: key.to_owned(), span: Span::default() }, value }
}

/// Returns the path of every value, as the index in each ancestor.
fn paths(root: &Node) -> Vec<Vec<usize>> {
    fn walk(node: &Node, path: &mut Vec<usize>, paths: &mut Vec<Vec<usize>>) {
        paths.push(path.clone());
        let children: Vec<&Node> = match &node.value {
            Value::Sequence(items) => items.iter().collect(),
            Value::Mapping(entries) => entries.iter().map(|entry| &entry.value).collect(),
            _ => Vec::new(),
        };
        for (at, child) in children.into_iter().enumerate() {
            path.push(at);
            walk(child, path, paths);
            path.pop();
        }
    }
    let mut all = Vec::new();
    walk(root, &mut Vec::new(), &mut all);
    all
}

/// Returns the paths of all `$ref` values.
fn references(root: &Node, paths: &[Vec<usize>]) -> Vec<Vec<usize>> {
    paths.iter().filter(|path| pointer(root, path).ends_with("/$ref")).cloned().collect()
}

fn is_schema(root: &Node, path: &[usize]) -> bool {
    path.len() == 3 && pointer(root, path).starts_with("#/components/schemas/")
}

/// Returns the value at a path.
fn node_at<'n>(root: &'n mut Node, path: &[usize]) -> &'n mut Node {
    path.iter().fold(root, |node, at| match &mut node.value {
        Value::Sequence(items) => &mut items[*at],
        Value::Mapping(entries) => &mut entries[*at].value,
        _ => unreachable!("a path leads through lists and mappings"),
    })
}

/// Applies a mutation to the parent of the value at a path. The second argument of the mutation is the index of the
/// value in the parent. Does nothing for the root.
fn change_parent(root: &mut Node, path: &[usize], mutation: impl FnOnce(&mut Node, usize)) {
    if let Some((last, parent)) = path.split_last() {
        mutation(node_at(root, parent), *last);
    }
}

/// Returns the `$ref` for the value at a path.
fn pointer(root: &Node, path: &[usize]) -> String {
    let mut node = root;
    let mut text = "#".to_owned();
    for at in path {
        (node, text) = match &node.value {
            Value::Sequence(items) => (&items[*at], format!("{text}/{at}")),
            Value::Mapping(entries) => {
                let entry = &entries[*at];
                (&entry.value, format!("{text}/{}", escape_pointer_token(&entry.key)))
            }
            _ => break,
        };
    }
    text
}

/// A random edit of a text.
#[derive(Clone, Debug)]
pub enum TextEdit {
    /// Deletes a line.
    DeleteLine(Index),
    /// Duplicates a line.
    DuplicateLine(Index),
    /// Indents a line by this number of spaces.
    Indent(Index, usize),
    /// Inserts characters.
    InsertText(Index, &'static str),
    /// Truncates the text.
    Truncate(Index),
    /// Converts all line endings to CRLF.
    UseCrlf,
}

/// Generates one to three edits.
pub fn edits() -> impl Strategy<Value = Vec<TextEdit>> {
    let at = any::<Index>;
    let inserted = vec![
        "'",
        "\"",
        "\\",
        "\t",
        "\r",
        "\u{feff}",
        "\u{0}",
        "\u{85}",
        "\u{2028}",
        "é",
        "\u{1f600}",
        ": ",
        "- ",
        "? ",
        "&a ",
        "*a ",
        "!t ",
        "<<: ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "#",
        "|\n",
        ">\n",
        "%",
        "@",
        "`",
        "\n...\n",
        "\n---\n",
        ".inf",
        "0x",
        "9999999999999999999999",
        "1e400",
        "~",
    ];
    let edit = prop_oneof![
        1 => at().prop_map(TextEdit::DeleteLine),
        1 => at().prop_map(TextEdit::DuplicateLine),
        1 => (at(), 1..5usize).prop_map(|(at, spaces)| TextEdit::Indent(at, spaces)),
        4 => (at(), select(inserted)).prop_map(|(at, text)| TextEdit::InsertText(at, text)),
        1 => at().prop_map(TextEdit::Truncate),
        1 => Just(TextEdit::UseCrlf),
    ];
    prop::collection::vec(edit, 1..4)
}

/// Applies edits to a text.
pub fn apply_edits(valid: &str, edits: &[TextEdit]) -> String {
    let mut text = valid.to_owned();
    for edit in edits {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        if lines.is_empty() {
            break;
        }
        let character_boundary = |at: &Index, text: &str| {
            let boundaries: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
            *at.get(&boundaries)
        };
        match edit {
            TextEdit::DeleteLine(at) => drop(lines.remove(at.index(lines.len()))),
            TextEdit::DuplicateLine(at) => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at].clone());
            }
            TextEdit::Indent(at, spaces) => {
                let at = at.index(lines.len());
                lines[at].insert_str(0, &" ".repeat(*spaces));
            }
            TextEdit::InsertText(at, inserted) => {
                let at = character_boundary(at, &text);
                text.insert_str(at, inserted);
                continue;
            }
            TextEdit::Truncate(at) => {
                text.truncate(character_boundary(at, &text));
                continue;
            }
            TextEdit::UseCrlf => {
                text = text.replace('\n', "\r\n");
                continue;
            }
        }
        text = lines.concat();
    }
    text
}
