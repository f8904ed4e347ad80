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
    let stated = std::env::var("MUTATION_CASES").ok().and_then(|count| count.parse().ok());
    stated.unwrap_or(256)
}

/// A mutation of a tree.
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
    /// Changes a `$ref` to the pointer of another value, or to this string.
    Redirect(Index, Index, Option<&'static str>),
    /// Replaces a value with a reference to a shared schema.
    Refer(Index, Index),
    /// Inserts a keyword at the start of a mapping.
    Insert(Index, &'static str, Value),
    /// Inserts a keyword at the start of a mapping, with a copy of another value.
    Graft(Index, &'static str, Index),
    /// Duplicates an entry or an item.
    Double(Index),
    /// Nests a value several levels deep.
    Bury(Index, &'static str, usize),
}

/// Names and keywords that are valid somewhere, and some that are not valid anywhere.
const KEYS: &str = "\
    $ref additionalProperties allOf anyOf components const content default deprecated description \
    discriminator enum example examples exclusiveMinimum format headers in items mapping maxLength \
    minimum multipleOf name not nullable oneOf operationId parameters pattern properties propertyName \
    readOnly required schema type x-sunset m² Self";

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
    let around = select(vec!["", "allOf", "oneOf", "items", "properties", "additionalProperties", "schema"]);
    let mutation = prop_oneof![
        at().prop_map(Mutation::Delete),
        (at(), value()).prop_map(|(at, value)| Mutation::Replace(at, value)),
        (at(), at()).prop_map(|(one, other)| Mutation::Swap(one, other)),
        (at(), key()).prop_map(|(at, key)| Mutation::Rename(at, key)),
        (at(), at(), target).prop_map(|(at, other, text)| Mutation::Redirect(at, other, text)),
        (at(), at()).prop_map(|(at, other)| Mutation::Refer(at, other)),
        (at(), key(), value()).prop_map(|(at, key, value)| Mutation::Insert(at, key, value)),
        (at(), key(), at()).prop_map(|(at, key, other)| Mutation::Graft(at, key, other)),
        at().prop_map(Mutation::Double),
        // Deeper nesting could overflow the stack of the test itself.
        (at(), around, prop_oneof![1..4usize, 20..100usize])
            .prop_map(|(at, around, depth)| Mutation::Bury(at, around, depth)),
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
        Mutation::Delete(at) => parent(root, &path(at), |parent, last| match &mut parent.value {
            Value::Sequence(items) => drop(items.remove(last)),
            Value::Mapping(entries) => drop(entries.remove(last)),
            _ => {}
        }),
        Mutation::Replace(at, value) => find(root, &path(at)).value = value.clone(),
        Mutation::Swap(one, other) => {
            let (one, other) = (path(one), path(other));
            // Swapping a value with its own descendant is not possible.
            if !one.starts_with(&other) && !other.starts_with(&one) {
                let (left, right) = (find(root, &one).clone(), find(root, &other).clone());
                *find(root, &one) = right;
                *find(root, &other) = left;
            }
        }
        Mutation::Rename(at, key) => parent(root, &path(at), |parent, last| {
            if let Value::Mapping(entries) = &mut parent.value {
                entries[last].key.text = (*key).to_owned();
            }
        }),
        Mutation::Redirect(at, other, text) => {
            let target = text.map_or_else(|| pointer(root, &path(other)), str::to_owned);
            let references = references(root, &paths);
            if !references.is_empty() {
                find(root, at.get::<Vec<usize>>(&references)).value = Value::String(target);
            }
        }
        Mutation::Refer(at, other) => {
            let shared: Vec<_> = paths.iter().filter(|path| is_schema(root, path)).cloned().collect();
            if !shared.is_empty() {
                let target = Node::string(pointer(root, other.get::<Vec<usize>>(&shared)));
                find(root, &path(at)).value = Value::Mapping(vec![entry("$ref", target)]);
            }
        }
        Mutation::Insert(at, key, value) => {
            insert(find(root, &path(at)), key, Node::without_span(value.clone()))
        }
        Mutation::Graft(at, key, other) => {
            let value = find(root, &path(other)).clone();
            insert(find(root, &path(at)), key, value);
        }
        Mutation::Double(at) => parent(root, &path(at), |parent, last| match &mut parent.value {
            Value::Sequence(items) => items.insert(last, items[last].clone()),
            Value::Mapping(entries) => entries.insert(last, entries[last].clone()),
            _ => {}
        }),
        Mutation::Bury(at, around, depth) => bury(find(root, &path(at)), around, *depth),
    }
}

fn insert(node: &mut Node, key: &str, value: Node) {
    if let Value::Mapping(entries) = &mut node.value {
        entries.insert(0, entry(key, value));
    }
}

fn bury(node: &mut Node, around: &str, depth: usize) {
    for _ in 0..depth {
        let inner = std::mem::replace(node, Node::without_span(Value::Null));
        let list = |inner| Node::without_span(Value::Sequence(vec![inner]));
        let mapping = |key: &str, inner| Node::without_span(Value::Mapping(vec![entry(key, inner)]));
        *node = match around {
            "" => list(inner),
            "allOf" | "oneOf" => mapping(around, list(inner)),
            "properties" => mapping(around, mapping("a", inner)),
            keyword => mapping(keyword, inner),
        };
        if let ("items" | "properties" | "additionalProperties", Value::Mapping(entries)) =
            (around, &mut node.value)
        {
            let kind = if around == "items" { "array" } else { "object" };
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

fn references(root: &Node, paths: &[Vec<usize>]) -> Vec<Vec<usize>> {
    paths.iter().filter(|path| pointer(root, path).ends_with("/$ref")).cloned().collect()
}

fn is_schema(root: &Node, path: &[usize]) -> bool {
    path.len() == 3 && pointer(root, path).starts_with("#/components/schemas/")
}

fn find<'n>(root: &'n mut Node, path: &[usize]) -> &'n mut Node {
    path.iter().fold(root, |node, at| match &mut node.value {
        Value::Sequence(items) => &mut items[*at],
        Value::Mapping(entries) => &mut entries[*at].value,
        _ => unreachable!("a path leads through lists and mappings"),
    })
}

fn parent(root: &mut Node, path: &[usize], mutation: impl FnOnce(&mut Node, usize)) {
    if let Some((last, above)) = path.split_last() {
        mutation(find(root, above), *last);
    }
}

/// Returns the `$ref` for the value at a path.
fn pointer(root: &Node, path: &[usize]) -> String {
    let mut here = root;
    let mut text = "#".to_owned();
    for at in path {
        (here, text) = match &here.value {
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
    Cut(Index),
    /// Duplicates a line.
    Repeat(Index),
    /// Indents a line.
    Indent(Index, usize),
    /// Inserts characters.
    Type(Index, &'static str),
    /// Truncates the text.
    End(Index),
    /// Converts all line endings to CRLF.
    Windows,
}

/// Generates one to three edits.
pub fn edits() -> impl Strategy<Value = Vec<TextEdit>> {
    let at = any::<Index>;
    let typed = vec![
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
        1 => at().prop_map(TextEdit::Cut),
        1 => at().prop_map(TextEdit::Repeat),
        1 => (at(), 1..5usize).prop_map(|(at, by)| TextEdit::Indent(at, by)),
        4 => (at(), select(typed)).prop_map(|(at, text)| TextEdit::Type(at, text)),
        1 => at().prop_map(TextEdit::End),
        1 => Just(TextEdit::Windows),
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
        let place = |at: &Index, text: &str| {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            *at.get(&places)
        };
        match edit {
            TextEdit::Cut(at) => drop(lines.remove(at.index(lines.len()))),
            TextEdit::Repeat(at) => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at].clone());
            }
            TextEdit::Indent(at, by) => {
                let at = at.index(lines.len());
                lines[at].insert_str(0, &" ".repeat(*by));
            }
            TextEdit::Type(at, typed) => {
                let at = place(at, &text);
                text.insert_str(at, typed);
                continue;
            }
            TextEdit::End(at) => {
                text.truncate(place(at, &text));
                continue;
            }
            TextEdit::Windows => {
                text = text.replace('\n', "\r\n");
                continue;
            }
        }
        text = lines.concat();
    }
    text
}
