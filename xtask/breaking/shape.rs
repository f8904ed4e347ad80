//! That the parts of a document are what OpenAPI says they are: a list where a list stands, a type that is one.
//!
//! What has another shape would be read as absent, and a promise that is not read cannot be broken. Keywords that
//! [`keywords`] does not name are compared as they stand. What is shared is looked at where it is written; a reference is
//! followed only from a path, whose text counts beside it.

mod keywords;

use contract::diagnostic::{Code, Diagnostic};
use contract::node::{Entry, Node, Value};
use contract::source::Span;

use self::keywords::Part;
use self::keywords::Shape::{
    self, Flag, Limit, List, Named, NamedValues, NamedWords, Number, One, Statuses, Text, Texts, Type,
    Values, Words,
};
use super::references;
use super::schema::is_annotation;
use super::schema::types::Types;

/// Reports everything that is not what must stand at its place.
pub(crate) fn check(root: &Node, findings: &mut Vec<Diagnostic>) {
    let mut check = Check { root, findings };
    check.part(root, root.span, Part::Document);
    let top = Span { start: root.span.start, end: root.span.start };
    if !["paths", "webhooks", "components"].iter().any(|keyword| root.get(keyword).is_some()) {
        check.findings.push(Diagnostic::error(
            Code::MissingKeyword,
            top,
            "the document promises nothing: it has neither `paths` nor `webhooks` nor `components`",
            "name the whole contract; one without operations yet says `paths: {}`",
        ));
    }
}

struct Check<'a> {
    root: &'a Node,
    findings: &'a mut Vec<Diagnostic>,
}

impl Check<'_> {
    fn part(&mut self, node: &Node, at: Span, part: Part) {
        let Some(entries) = node.entries() else {
            if part != Part::Schema || !matches!(node.value, Value::Bool(_)) {
                let wanted = if part == Part::Schema { "a mapping or a boolean" } else { "a mapping" };
                self.wrong(node, at, wanted);
            }
            return;
        };
        if let Some(reference) = node.entry("$ref") {
            self.shape(reference, Text);
            if part == Part::Item {
                self.twice(node, entries);
            }
        } else {
            self.needed(node, at, part);
        }
        let keywords = part.keywords();
        for entry in entries {
            let key = entry.key.text.as_str();
            if key.starts_with("x-") || key == "$ref" {
                continue;
            }
            if part == Part::Paths && !key.starts_with('/') {
                self.findings.push(Diagnostic::error(
                    Code::UnknownKeyword,
                    entry.key.span,
                    format!("`{key}` is no path: a path begins with `/`"),
                    format!("write `/{key}`, or `x-{key}` when it is no path"),
                ));
            }
            let known = keywords.iter().find(|(keyword, _)| *keyword == key).map(|(_, shape)| *shape);
            if let Some(shape) = known.or(part.each()) {
                self.shape(entry, shape);
            }
        }
    }

    /// OpenAPI leaves open which of the two counts that a path says itself and takes from where its reference leads.
    fn twice(&mut self, node: &Node, entries: &[Entry]) {
        let taken = references::texts(self.root, node);
        let counts = |key: &str| key != "$ref" && !is_annotation(key);
        for Entry { key, .. } in entries.iter().filter(|entry| counts(&entry.key.text)) {
            if taken.iter().skip(1).any(|text| text.entry(key).is_some()) {
                self.findings.push(Diagnostic::error(
                    Code::DuplicateKey,
                    key.span,
                    format!(
                        "`{}` stands beside the reference and where it leads; which of them counts is open",
                        key.text
                    ),
                    "say it in one of the two places",
                ));
            }
        }
    }

    fn needed(&mut self, node: &Node, at: Span, part: Part) {
        for keyword in part.needed().iter().filter(|keyword| node.get(keyword).is_none()) {
            let what = format!("{part:?}").to_lowercase();
            self.findings.push(Diagnostic::error(
                Code::MissingKeyword,
                at,
                format!("a {what} without `{keyword}` cannot be told from others"),
                format!("add `{keyword}`"),
            ));
        }
    }

    fn shape(&mut self, entry: &Entry, shape: Shape) {
        let (node, at) = (&entry.value, entry.key.span);
        match shape {
            One(part) => self.part(node, at, part),
            List(part) => match node.items() {
                Some(items) => items.iter().for_each(|item| self.part(item, item.span, part)),
                None => self.wrong(node, at, "a list"),
            },
            // Only among responses an extension may stand; a header or a property may well be called so.
            Statuses => self.named(node, at, "a mapping", |check, entry| {
                if !entry.key.text.starts_with("x-") {
                    check.part(&entry.value, entry.key.span, Part::Response);
                }
            }),
            Named(part) => self.named(node, at, "a mapping", |check, entry| {
                check.part(&entry.value, entry.key.span, part);
            }),
            Texts => self.named(node, at, "a mapping of strings", |check, entry| check.shape(entry, Text)),
            NamedWords => self.named(node, at, "a mapping", |check, entry| check.shape(entry, Words)),
            NamedValues => self.named(node, at, "a mapping", |_, _| {}),
            Words => match node.items() {
                Some(items) => items.iter().filter(|item| item.as_str().is_none()).for_each(|item| {
                    self.wrong(item, item.span, "a string");
                }),
                None => self.wrong(node, at, "a list of strings"),
            },
            Type => match node.items() {
                Some(items) => items.iter().for_each(|item| self.word(item, item.span)),
                None => self.word(node, at),
            },
            Values | Text | Flag | Number | Limit => self.plain(node, at, shape),
        }
    }

    fn plain(&mut self, node: &Node, at: Span, shape: Shape) {
        let is_flag = matches!(node.value, Value::Bool(_));
        let is_number = matches!(node.value, Value::Integer(_) | Value::Float(_));
        match shape {
            Values if node.items().is_none() => self.wrong(node, at, "a list"),
            Text if node.as_str().is_none() => self.wrong(node, at, "a string"),
            Flag if !is_flag => self.wrong(node, at, "a boolean"),
            Number if !is_number => self.wrong(node, at, "a number"),
            Limit if !is_number && !is_flag => self.wrong(node, at, "a number or a boolean"),
            _ => {}
        }
    }

    fn named(&mut self, node: &Node, at: Span, wanted: &str, each: impl Fn(&mut Self, &Entry)) {
        match node.entries() {
            Some(entries) => entries.iter().for_each(|entry| each(self, entry)),
            None => self.wrong(node, at, wanted),
        }
    }

    fn word(&mut self, node: &Node, at: Span) {
        match node.as_str() {
            Some(word) if Types::is_word(word) => {}
            Some(word) => self.findings.push(Diagnostic::error(
                Code::WrongType,
                place(node, at),
                format!("`{word}` is no type"),
                "write string, number, integer, boolean, array, object or 'null'",
            )),
            None if matches!(node.value, Value::Null) => self.findings.push(Diagnostic::error(
                Code::WrongType,
                place(node, at),
                "the name of a type must stand here, this is null",
                "write 'null' in quotes when null is meant",
            )),
            None => self.wrong(node, at, "the name of a type"),
        }
    }

    fn wrong(&mut self, node: &Node, at: Span, wanted: &str) {
        self.findings.push(Diagnostic::error(
            Code::WrongType,
            place(node, at),
            format!("{wanted} must stand here, this is {}", node.value.kind()),
            "what has another shape would be read as absent, and its changes not be seen",
        ));
    }
}

/// Where a value stands; one that takes no room, where it is named.
fn place(node: &Node, at: Span) -> Span {
    if node.span.end > node.span.start { node.span } else { at }
}
