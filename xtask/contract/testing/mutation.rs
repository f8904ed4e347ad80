//! Sound documents, broken at random places: what the tests of the tools read.
//!
//! Owns the changes. Each is a few numbers that fit any document, so that a failing case can be made smaller.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::node::{Entry, Node, Text, Value, pointer_step};
use crate::source::{Source, Span};
use crate::yaml;

/// How many cases a test tries; `MUTATION_CASES` tries more than the suite does.
pub fn cases() -> u32 {
    let stated = std::env::var("MUTATION_CASES").ok().and_then(|count| count.parse().ok());
    stated.unwrap_or(256)
}

/// One change of a tree.
#[derive(Clone, Debug)]
pub enum Change {
    /// A value is left out.
    Delete(Index),
    /// A value becomes another one.
    Replace(Index, Value),
    /// Two values change places.
    Swap(Index, Index),
    /// A key is called otherwise.
    Rename(Index, &'static str),
    /// A `$ref` leads to the place of another value, or to this text.
    Redirect(Index, Index, Option<&'static str>),
    /// A value becomes a reference to a shared one.
    Refer(Index, Index),
    /// A keyword is written in front of others.
    Insert(Index, &'static str, Value),
    /// A keyword is written in front of others, with a value from elsewhere.
    Graft(Index, &'static str, Index),
    /// An entry or an item stands twice.
    Double(Index),
    /// A value is put into many others of one kind.
    Bury(Index, &'static str, usize),
}

/// Names and keywords that mean something somewhere, and some that mean nothing anywhere.
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
        Value::Sequence(vec![Node::made(Value::Null), Node::string("null")]),
        Value::Mapping(Vec::new()),
        Value::Mapping(vec![entry("type", Node::string("object"))]),
    ])
}

/// A few changes.
pub fn changes() -> impl Strategy<Value = Vec<Change>> {
    let at = any::<Index>;
    let key = || select(KEYS.split(' ').chain([""]).collect::<Vec<_>>());
    let target = prop_oneof![2 => Just(None), 1 => select(TARGETS.to_vec()).prop_map(Some)];
    let around = select(vec!["", "allOf", "oneOf", "items", "properties", "additionalProperties", "schema"]);
    let change = prop_oneof![
        at().prop_map(Change::Delete),
        (at(), value()).prop_map(|(at, value)| Change::Replace(at, value)),
        (at(), at()).prop_map(|(one, other)| Change::Swap(one, other)),
        (at(), key()).prop_map(|(at, key)| Change::Rename(at, key)),
        (at(), at(), target).prop_map(|(at, other, text)| Change::Redirect(at, other, text)),
        (at(), at()).prop_map(|(at, other)| Change::Refer(at, other)),
        (at(), key(), value()).prop_map(|(at, key, value)| Change::Insert(at, key, value)),
        (at(), key(), at()).prop_map(|(at, key, other)| Change::Graft(at, key, other)),
        at().prop_map(Change::Double),
        // Three times the most is what the tests themselves can carry on their stack.
        (at(), around, prop_oneof![1..4usize, 20..100usize])
            .prop_map(|(at, around, deep)| Change::Bury(at, around, deep)),
    ];
    prop::collection::vec(change, 1..4)
}

/// The tree of a sound text.
pub fn tree(name: &str, text: &str) -> Node {
    yaml::read(&Source::new(name, text), &mut Vec::new()).expect("the document is sound")
}

/// The text of a document after these changes: JSON, one value a line.
pub fn changed(sound: &Node, changes: &[Change]) -> String {
    let mut root = sound.clone();
    changes.iter().for_each(|change| apply(&mut root, change));
    serde_json::to_string_pretty(&root).expect("a tree of plain values becomes JSON")
}

fn apply(root: &mut Node, change: &Change) {
    let ways = ways(root);
    let way = |at: &Index| at.get(&ways).clone();
    match change {
        Change::Delete(at) => parent(root, &way(at), |parent, last| match &mut parent.value {
            Value::Sequence(items) => drop(items.remove(last)),
            Value::Mapping(entries) => drop(entries.remove(last)),
            _ => {}
        }),
        Change::Replace(at, value) => find(root, &way(at)).value = value.clone(),
        Change::Swap(one, other) => {
            let (one, other) = (way(one), way(other));
            // A value inside the other one would lose itself.
            if !one.starts_with(&other) && !other.starts_with(&one) {
                let (left, right) = (find(root, &one).clone(), find(root, &other).clone());
                *find(root, &one) = right;
                *find(root, &other) = left;
            }
        }
        Change::Rename(at, key) => parent(root, &way(at), |parent, last| {
            if let Value::Mapping(entries) = &mut parent.value {
                entries[last].key.text = (*key).to_owned();
            }
        }),
        Change::Redirect(at, other, text) => {
            let target = text.map_or_else(|| pointer(root, &way(other)), str::to_owned);
            let references = references(root, &ways);
            if !references.is_empty() {
                find(root, at.get::<Vec<usize>>(&references)).value = Value::String(target);
            }
        }
        Change::Refer(at, other) => {
            let shared: Vec<_> = ways.iter().filter(|way| is_schema(root, way)).cloned().collect();
            if !shared.is_empty() {
                let target = Node::string(pointer(root, other.get::<Vec<usize>>(&shared)));
                find(root, &way(at)).value = Value::Mapping(vec![entry("$ref", target)]);
            }
        }
        Change::Insert(at, key, value) => insert(find(root, &way(at)), key, Node::made(value.clone())),
        Change::Graft(at, key, other) => {
            let value = find(root, &way(other)).clone();
            insert(find(root, &way(at)), key, value);
        }
        Change::Double(at) => parent(root, &way(at), |parent, last| match &mut parent.value {
            Value::Sequence(items) => items.insert(last, items[last].clone()),
            Value::Mapping(entries) => entries.insert(last, entries[last].clone()),
            _ => {}
        }),
        Change::Bury(at, around, deep) => bury(find(root, &way(at)), around, *deep),
    }
}

fn insert(node: &mut Node, key: &str, value: Node) {
    if let Value::Mapping(entries) = &mut node.value {
        entries.insert(0, entry(key, value));
    }
}

fn bury(node: &mut Node, around: &str, deep: usize) {
    for _ in 0..deep {
        let inner = std::mem::replace(node, Node::made(Value::Null));
        let list = |inner| Node::made(Value::Sequence(vec![inner]));
        let mapping = |key: &str, inner| Node::made(Value::Mapping(vec![entry(key, inner)]));
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
    Entry { key: Text { text: key.to_owned(), span: Span::default() }, value }
}

/// The way to every value, as its number in each value around it.
fn ways(root: &Node) -> Vec<Vec<usize>> {
    fn walk(node: &Node, way: &mut Vec<usize>, ways: &mut Vec<Vec<usize>>) {
        ways.push(way.clone());
        let children: Vec<&Node> = match &node.value {
            Value::Sequence(items) => items.iter().collect(),
            Value::Mapping(entries) => entries.iter().map(|entry| &entry.value).collect(),
            _ => Vec::new(),
        };
        for (at, child) in children.into_iter().enumerate() {
            way.push(at);
            walk(child, way, ways);
            way.pop();
        }
    }
    let mut all = Vec::new();
    walk(root, &mut Vec::new(), &mut all);
    all
}

fn references(root: &Node, ways: &[Vec<usize>]) -> Vec<Vec<usize>> {
    ways.iter().filter(|way| pointer(root, way).ends_with("/$ref")).cloned().collect()
}

fn is_schema(root: &Node, way: &[usize]) -> bool {
    way.len() == 3 && pointer(root, way).starts_with("#/components/schemas/")
}

fn find<'n>(root: &'n mut Node, way: &[usize]) -> &'n mut Node {
    way.iter().fold(root, |node, at| match &mut node.value {
        Value::Sequence(items) => &mut items[*at],
        Value::Mapping(entries) => &mut entries[*at].value,
        _ => unreachable!("a way leads through lists and mappings"),
    })
}

fn parent(root: &mut Node, way: &[usize], change: impl FnOnce(&mut Node, usize)) {
    if let Some((last, above)) = way.split_last() {
        change(find(root, above), *last);
    }
}

/// The reference to the value at the end of a way.
fn pointer(root: &Node, way: &[usize]) -> String {
    let mut here = root;
    let mut text = "#".to_owned();
    for at in way {
        (here, text) = match &here.value {
            Value::Sequence(items) => (&items[*at], format!("{text}/{at}")),
            Value::Mapping(entries) => {
                let entry = &entries[*at];
                (&entry.value, format!("{text}/{}", pointer_step(&entry.key)))
            }
            _ => break,
        };
    }
    text
}

/// One change of a text, at a line that a number chooses.
#[derive(Clone, Debug)]
pub enum Edit {
    /// The line is left out.
    Cut(Index),
    /// The line stands twice.
    Repeat(Index),
    /// The line begins further right.
    Indent(Index, usize),
    /// Characters stand in front of one of the text.
    Type(Index, &'static str),
    /// The text ends before a character.
    End(Index),
    /// Every line ends as on Windows.
    Windows,
}

/// A few edits.
pub fn edits() -> impl Strategy<Value = Vec<Edit>> {
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
        1 => at().prop_map(Edit::Cut),
        1 => at().prop_map(Edit::Repeat),
        1 => (at(), 1..5usize).prop_map(|(at, by)| Edit::Indent(at, by)),
        4 => (at(), select(typed)).prop_map(|(at, text)| Edit::Type(at, text)),
        1 => at().prop_map(Edit::End),
        1 => Just(Edit::Windows),
    ];
    prop::collection::vec(edit, 1..4)
}

/// A text after these edits.
pub fn edited(sound: &str, edits: &[Edit]) -> String {
    let mut text = sound.to_owned();
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
            Edit::Cut(at) => drop(lines.remove(at.index(lines.len()))),
            Edit::Repeat(at) => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at].clone());
            }
            Edit::Indent(at, by) => {
                let at = at.index(lines.len());
                lines[at].insert_str(0, &" ".repeat(*by));
            }
            Edit::Type(at, typed) => {
                let at = place(at, &text);
                text.insert_str(at, typed);
                continue;
            }
            Edit::End(at) => {
                text.truncate(place(at, &text));
                continue;
            }
            Edit::Windows => {
                text = text.replace('\n', "\r\n");
                continue;
            }
        }
        text = lines.concat();
    }
    text
}
