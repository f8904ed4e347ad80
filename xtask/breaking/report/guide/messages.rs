//! Requests and responses as lines of text.

use std::collections::HashSet;

use contract::node::{Node, Value};
use contract::plain_text::plain_text;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::diff::json_lines;
use crate::compare::{Method, operations_in};
use crate::document::IndexedDocument;
use crate::schema::view::SchemaParts;

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
    /// The method.
    pub method: Method<'n>,
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
            let entries = node.entries().unwrap_or_default().iter();
            let methods = operations_in(entries, document.document.version);
            operations.extend(methods.map(|(method, entry)| Operation {
                method,
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
        plain_text(&self.id.map_or_else(|| self.address(), str::to_owned))
    }

    /// Returns the method and the path.
    pub(super) fn address(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Returns the name by which clients know the operation: that of an event is the name of the webhook.
    pub(super) fn label(&self) -> String {
        if self.is_event { plain_text(self.path) } else { self.name() }
    }

    /// Identifies the operation by its method and path, regardless of the names of parameters.
    pub(super) fn key(&self) -> String {
        let segments = self.path.split('/');
        let segments: Vec<&str> =
            segments.map(|segment| if segment.starts_with('{') { "{}" } else { segment }).collect();
        format!("{} {} {}", self.is_event, self.method, segments.join("/"))
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
        let mut parameters = self.parameters(document, location).into_iter();
        Some(value(document, parameters.find(|(other, _)| other.eq_ignore_ascii_case(name))?.1))
    }

    /// Returns the parameters in a location, such as `query`: their names and nodes.
    pub(super) fn parameters(
        &self,
        document: &IndexedDocument<'n>,
        location: &str,
    ) -> Vec<(&'n str, &'n Node)> {
        let lists = [self.node, self.item].into_iter().filter_map(|node| node.get("parameters")?.items());
        let parameters = lists.flatten().map(|parameter| document.follow(parameter));
        let text = |node: &'n Node, key| node.get(key).and_then(Node::as_str).unwrap_or_default();
        let parameters = parameters.filter(|node| text(node, "in") == location);
        let mut parameters: Vec<_> = parameters.map(|node| (text(node, "name"), node)).collect();
        let mut seen = HashSet::new();
        parameters.retain(|(name, _)| seen.insert(*name));
        parameters
    }

    fn response(&self, document: &IndexedDocument<'n>, status: &str) -> Option<&'n Node> {
        Some(document.follow(self.node.get("responses")?.get(status)?))
    }

    /// Returns the statuses.
    pub(super) fn statuses(&self) -> impl Iterator<Item = &'n str> + use<'n> {
        let responses = self.node.get("responses").and_then(Node::entries).unwrap_or_default();
        responses.iter().map(|entry| entry.key.text.as_str())
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
        self.request("", &[]).into_iter().chain(schemes).collect()
    }

    /// Returns the lines of a request or a response that contains a value in the named part.
    pub(super) fn message(&self, name: &str, part: Option<&Part<'n>>, value: Option<&Node>) -> Vec<String> {
        if let Some((location @ ("query" | "path" | "header" | "cookie"), parameter)) = name.split_once(' ') {
            return self
                .request(location, &value.map(|value| (parameter, value)).into_iter().collect::<Vec<_>>());
        }
        let mut lines = match name {
            "" | "body" | "payload" => self.request("", &[]),
            _ => vec![format!("HTTP/1.1 {}", name.split(' ').next().unwrap_or_default())],
        };
        let Some(value) = value else { return lines };
        if let Some((_, header)) = name.split_once(" header ") {
            lines.push(format!("{header}: {}", text(value)));
        } else {
            lines.extend(
                part.and_then(|part| part.media_type).map(|media_type| format!("Content-Type: {media_type}")),
            );
            lines.push(String::new());
            lines.extend(json_lines(value));
        }
        lines
    }

    /// Returns the lines of a request with parameters in a location.
    pub(super) fn request(&self, location: &str, parameters: &[(&str, &Node)]) -> Vec<String> {
        let escaped = |value: &Node| utf8_percent_encode(&text(value), ESCAPED).to_string();
        let mut path = self.path.to_owned();
        let mut lines = Vec::new();
        for (index, (name, value)) in parameters.iter().enumerate() {
            match location {
                "query" => {
                    path += &format!("{}{name}={}", if index == 0 { "?" } else { "&" }, escaped(value));
                }
                "path" => path = path.replace(&format!("{{{name}}}"), &escaped(value)),
                "cookie" => lines.push(format!("Cookie: {name}={}", text(value))),
                _ => lines.push(format!("{name}: {}", text(value))),
            }
        }
        let first = if self.is_event { "event".to_owned() } else { self.method.to_string() };
        lines.insert(0, format!("{first} {path}"));
        lines
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
pub(super) fn value<'n>(document: &IndexedDocument<'n>, node: &'n Node) -> Part<'n> {
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
