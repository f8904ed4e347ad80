//! Requests and responses as lines of text, and the difference between two of them.

use contract::node::{Node, Value};
use contract::plain_text::plain_text;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::compare::METHODS;
use crate::document::IndexedDocument;
use crate::schema::view::SchemaParts;

/// The number of unchanged lines before and after a change.
const CONTEXT: usize = 2;
/// The maximum number of removed lines, and of added ones.
const MAX_CHANGED: usize = 4;
/// The maximum number of characters of a line, and of a string in a body.
const MAX_CHARACTERS: usize = 100;
/// The characters that are escaped in a URL.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b':')
    .remove(b',')
    .remove(b'@');

/// An operation of a document.
#[derive(Clone, Copy)]
pub(super) struct Operation<'n> {
    /// The method, in lowercase.
    pub method: &'n str,
    /// The path, or the name of the webhook.
    pub path: &'n str,
    /// The `operationId`.
    pub id: Option<&'n str>,
    /// Whether the server sends the request.
    pub is_event: bool,
    item: &'n Node,
    node: &'n Node,
}

/// A part of a message: a body, a parameter or a header.
pub(super) struct Part<'n> {
    /// The schema.
    pub schema: SchemaParts<'n>,
    /// The example in the contract.
    pub example: Option<&'n Node>,
    /// The media type of a body.
    pub media_type: Option<&'n str>,
}

/// Returns the operations of a document in their order, and then those of the webhooks.
pub(super) fn operations<'n>(document: &IndexedDocument<'n>) -> Vec<Operation<'n>> {
    let mut operations = Vec::new();
    for (section, is_event) in [("paths", false), ("webhooks", true)] {
        for item in document.document.root.get(section).and_then(Node::entries).unwrap_or_default() {
            let node = document.follow(&item.value);
            let methods = node.entries().unwrap_or_default().iter();
            let methods = methods.filter(|entry| METHODS.contains(&entry.key.text.as_str()));
            operations.extend(methods.map(|entry| Operation {
                method: &entry.key.text,
                path: &item.key.text,
                id: entry.value.get("operationId").and_then(Node::as_str),
                is_event,
                item: node,
                node: &entry.value,
            }));
        }
    }
    operations
}

impl<'n> Operation<'n> {
    /// Returns the name in findings.
    pub(super) fn name(&self) -> String {
        let address = || format!("{} {}", self.method.to_uppercase(), self.path);
        plain_text(&self.id.map_or_else(address, str::to_owned))
    }

    /// Whether another operation has the same method and path, regardless of the names of parameters.
    pub(super) fn has_address_of(&self, other: &Operation<'_>) -> bool {
        let address = |path: &str| -> Vec<String> {
            let segments = path.split('/');
            segments.map(|segment| if segment.starts_with('{') { "{}" } else { segment }.to_owned()).collect()
        };
        (self.method, self.is_event) == (other.method, other.is_event)
            && address(self.path) == address(other.path)
    }

    /// Finds a part by its name in findings, such as `body`, `query limit`, `200` or `200 header Link`.
    pub(super) fn part(&self, document: &IndexedDocument<'n>, name: &str) -> Option<Part<'n>> {
        if ["body", "payload"].contains(&name) {
            return body(document, self.node.get("requestBody")?);
        }
        if let Some((status, header)) = name.split_once(" header ") {
            let headers = self.response(document, status)?.get("headers")?.entries()?.iter();
            let mut headers = headers.filter(|entry| entry.key.text.eq_ignore_ascii_case(header));
            return Some(value(document, &headers.next()?.value));
        }
        let Some((location, name)) = name.split_once(' ') else {
            return body(document, self.response(document, name)?);
        };
        let lists = [self.node, self.item].into_iter().filter_map(|node| node.get("parameters")?.items());
        let is_named = |parameter: &&'n Node| {
            let text = |key| document.follow(parameter).get(key).and_then(Node::as_str).unwrap_or_default();
            text("in") == location && text("name").eq_ignore_ascii_case(name)
        };
        Some(value(document, lists.flatten().find(is_named)?))
    }

    fn response(&self, document: &IndexedDocument<'n>, status: &str) -> Option<&'n Node> {
        Some(document.follow(self.node.get("responses")?.get(status)?))
    }

    /// Returns the statuses of a success.
    pub(super) fn success_status(&self) -> Option<&'n str> {
        let mut statuses = self.node.get("responses")?.entries()?.iter().map(|entry| entry.key.text.as_str());
        statuses.find(|status| status.starts_with('2'))
    }

    /// Returns the first lines of a request, with its credentials.
    pub(super) fn call(&self, document: &IndexedDocument<'n>) -> Vec<String> {
        let root = &document.document.root;
        let security = self.node.get("security").or_else(|| root.get("security"));
        let first = security.and_then(Node::items).and_then(<[Node]>::first).and_then(Node::entries);
        let schemes = first.unwrap_or_default().iter().filter_map(|requirement| {
            let scheme = document.follow(document.component("securitySchemes", &requirement.key.text)?);
            let text = |key| scheme.get(key).and_then(Node::as_str).unwrap_or_default();
            Some(match (text("type"), text("in")) {
                ("apiKey", "header") => format!("{}: <key>", text("name")),
                ("apiKey", location) => format!("({location} `{}`: <key>)", text("name")),
                ("http", _) if !text("scheme").eq_ignore_ascii_case("bearer") => {
                    format!("Authorization: {} <credentials>", text("scheme"))
                }
                ("mutualTLS", _) => "(client certificate)".to_owned(),
                _ => "Authorization: Bearer <token>".to_owned(),
            })
        });
        std::iter::once(self.first_line("", None)).chain(schemes).collect()
    }

    /// Returns the lines of a request or a response that contains a value in the named part.
    pub(super) fn message(&self, name: &str, part: Option<&Part<'n>>, value: Option<&Node>) -> Vec<String> {
        let mut lines = vec![self.first_line(name, value)];
        let header =
            name.rsplit_once("header ").filter(|(status, _)| status.is_empty() || status.ends_with(' '));
        match (header, value) {
            (Some((_, header)), Some(value)) => lines.push(format!("{header}: {}", text(value))),
            (None, Some(value)) if !name.contains(' ') => {
                lines.extend(
                    part.and_then(|part| part.media_type)
                        .map(|media_type| format!("Content-Type: {media_type}")),
                );
                lines.push(String::new());
                let json = serde_json::to_string_pretty(&shortened(value)).unwrap_or_default();
                lines.extend(json.lines().map(str::to_owned));
            }
            (None, Some(value)) if name.starts_with("cookie ") => {
                lines.push(format!("Cookie: {}={}", name.trim_start_matches("cookie "), text(value)));
            }
            _ => {}
        }
        lines
    }

    fn first_line(&self, name: &str, value: Option<&Node>) -> String {
        let status = name.split(' ').next().unwrap_or_default();
        if !["", "body", "payload", "query", "path", "header", "cookie"].contains(&status) {
            return format!("HTTP/1.1 {status}");
        }
        let value = value.map(|value| utf8_percent_encode(&text(value), ESCAPED).to_string());
        let path = match (name.split_once(' '), value) {
            (Some(("query", name)), Some(value)) => format!("{}?{name}={value}", self.path),
            (Some(("path", name)), Some(value)) => self.path.replace(&format!("{{{name}}}"), &value),
            _ => self.path.to_owned(),
        };
        if self.is_event { format!("event {path}") } else { format!("{} {path}", self.method.to_uppercase()) }
    }
}

/// Returns the body with the media type JSON, or else with the first one.
fn body<'n>(document: &IndexedDocument<'n>, node: &'n Node) -> Option<Part<'n>> {
    let node = document.follow(node);
    let media_types = node.get("content")?.entries()?;
    let json = media_types.iter().find(|entry| entry.key.text.contains("json"));
    let entry = json.or(media_types.first())?;
    Some(Part { media_type: Some(&entry.key.text), ..value(document, &entry.value) })
}

/// Returns the schema and the example of a media type, a parameter or a header.
fn value<'n>(document: &IndexedDocument<'n>, node: &'n Node) -> Part<'n> {
    let node = document.follow(node);
    let content = || node.get("content").and_then(Node::entries)?.first()?.value.entry("schema");
    let schema = node.entry("schema").or_else(content);
    let schema = schema.map_or_else(|| SchemaParts::any(node.span), SchemaParts::of_entry);
    let examples = || document.follow(&node.get("examples")?.entries()?.first()?.value).get("value");
    Part { schema, example: node.get("example").or_else(examples), media_type: None }
}

/// Returns a value in a URL or a header.
fn text(value: &Node) -> String {
    match &value.value {
        Value::String(text) => text.clone(),
        Value::Sequence(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        _ => serde_json::to_string(value).unwrap_or_default(),
    }
}

/// Shortens the long strings of a value.
fn shortened(value: &Node) -> Node {
    let mut value = value.clone();
    match &mut value.value {
        Value::String(text) => *text = shorten(text),
        Value::Sequence(items) => items.iter_mut().for_each(|item| *item = shortened(item)),
        Value::Mapping(entries) => entries.iter_mut().for_each(|entry| entry.value = shortened(&entry.value)),
        _ => {}
    }
    value
}

fn shorten(text: &str) -> String {
    let count = text.chars().count();
    if count <= MAX_CHARACTERS {
        return text.to_owned();
    }
    format!("{}… ({count} characters)", text.chars().take(MAX_CHARACTERS / 2).collect::<String>())
}

/// Renders the difference between two texts as a code block in Markdown. Returns `None` if there is none. A comma at the end of a line is not a
/// difference.
pub(super) fn diff(before: &[String], after: &[String]) -> Option<String> {
    let is_same =
        |(left, right): &(&String, &String)| left.trim_end_matches(',') == right.trim_end_matches(',');
    let start = before.iter().zip(after).take_while(is_same).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(is_same).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    if old.is_empty() && new.is_empty() {
        return None;
    }
    let marked = |mark: &str, lines: &[String]| -> Vec<String> {
        let shown = if lines.len() > MAX_CHANGED { MAX_CHANGED - 1 } else { lines.len() };
        let line = |text: &String| format!("{mark} {}", plain_text(&shorten(text))).trim_end().to_owned();
        let rest = (shown < lines.len()).then(|| format!("{mark} …"));
        lines[..shown].iter().map(line).chain(rest).collect()
    };
    // A gap would take as much space as the lines that it stands for.
    let first = if start <= 2 * CONTEXT { 0 } else { start - CONTEXT };
    let last = start + new.len() + end.min(CONTEXT);
    // The line before a removed one had a comma.
    let preceding = if new.is_empty() { before } else { after };
    let head = if first > 0 { &preceding[..1] } else { &[] };
    let gap = |is_gap: bool| if is_gap { vec!["  …".to_owned()] } else { Vec::new() };
    let lines = [
        marked(" ", head),
        gap(first > 0),
        marked(" ", &preceding[first..start]),
        marked("-", old),
        marked("+", new),
        marked(" ", &after[start + new.len()..last]),
        gap(last < after.len()),
    ]
    .concat();
    let text = lines.join("\n");
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    Some(format!("{fence}diff\n{text}\n{fence}\n"))
}
