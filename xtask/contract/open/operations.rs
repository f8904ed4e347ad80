//! Copies paths, operations and webhooks, with the names that the generated code needs.

use std::collections::BTreeMap;

use super::components::string_entry;
use super::lower::Lowering;
use super::{any, entry, map_entries, map_items, mapping};
use crate::model::{MediaType, Method};
use crate::node::{Entry, Node, Value};
use crate::read::is_ignored_header;
use crate::rules::names::{IMPORTS, MODULES};
use crate::rust_name;
use crate::source::Span;

/// The tag of operations without a tag.
const DEFAULT_TAG: &str = "default";

/// The names of tags in the copy, by their names in the document.
pub(super) type Tags = BTreeMap<String, String>;

/// Returns the tags of all operations. A tag whose Rust name the generated code uses itself gets the suffix `API`.
pub(super) fn tags(lowering: &Lowering<'_>) -> Tags {
    let sections =
        ["paths", "webhooks"].into_iter().filter_map(|key| lowering.root.get(key)?.entries()).flatten();
    let operations = sections.flat_map(|item| item.value.entries().unwrap_or_default());
    let operations = operations.filter(|item| Method::from_key(&item.key).is_some());
    operations
        .map(|item| tag(&item.value).map_or(DEFAULT_TAG, |(name, _)| name))
        .map(|name| {
            let is_reserved = MODULES.contains(&&*rust_name::snake_case(name))
                || IMPORTS.contains(&&*rust_name::upper_camel_case(name));
            (name.to_owned(), if is_reserved { format!("{name} API") } else { name.to_owned() })
        })
        .collect()
}

/// Returns the declarations of all tags, with the descriptions of those that the document declares.
pub(super) fn declarations(root: &Node, tags: &Tags) -> Node {
    let declared = root.get("tags").and_then(Node::items).unwrap_or_default();
    let declared_name = |node: &Node| node.get("name").and_then(Node::as_str).map(str::to_owned);
    let order = |name: &str| {
        declared
            .iter()
            .position(|node| declared_name(node).as_deref() == Some(name))
            .unwrap_or(declared.len())
    };
    let mut names: Vec<(&String, &String)> = tags.iter().collect();
    names.sort_by_key(|(name, _)| order(name));
    let nodes = names.into_iter().map(|(name, renamed)| {
        let source = declared.get(order(name));
        let node = source.unwrap_or(root);
        let mut entries = vec![string_entry("name", node, renamed)];
        entries.extend(source.and_then(|node| node.entry("description")).cloned());
        mapping(node.span, entries)
    });
    Node { span: root.span, value: Value::Sequence(nodes.collect()) }
}

/// Returns the first tag of an operation.
fn tag(operation: &Node) -> Option<(&str, Span)> {
    let first = operation.get("tags")?.items()?.first()?;
    Some((first.as_str()?, first.span))
}

/// Copies `paths`.
pub(super) fn paths(lowering: &mut Lowering<'_>, paths: &Node, tags: &Tags) -> Node {
    map_entries(paths, |path| {
        if lowering.is_extension(path) {
            return None;
        }
        let item = lowering.without(&path.value, &["head", "options", "trace", "servers"], &[]);
        Some(map_entries(&item, |item| {
            Some(match &*item.key {
                "parameters" => map_items(&item.value, |node| parameter(lowering, node)),
                key if Method::from_key(key).is_some() => {
                    let name = format!("{key} {}", path.key.text);
                    operation(lowering, item, &name, tags)
                }
                _ => item.value.clone(),
            })
        }))
    })
}

/// Copies an operation. `name` is its name if it has no `operationId`.
fn operation(lowering: &mut Lowering<'_>, item: &Entry, name: &str, tags: &Tags) -> Node {
    let span = item.key.span;
    let node =
        lowering.without(&item.value, &["callbacks", "servers"], &["security", "tags", "externalDocs"]);
    let mut copied = map_entries(&node, |item| {
        Some(match &*item.key {
            "parameters" => map_items(&item.value, |node| parameter(lowering, node)),
            "requestBody" => request_body(lowering, &item.value),
            "responses" => map_entries(&item.value, |item| {
                (!lowering.is_extension(item)).then(|| response_of(lowering, item))
            }),
            _ => item.value.clone(),
        })
    });
    let (tag, tag_span) = tag(&item.value).unwrap_or((DEFAULT_TAG, span));
    if item.value.get("tags").and_then(Node::items).is_some_and(|tags| tags.len() > 1) {
        let message = format!("an operation with several tags belongs to the first one, `{tag}`");
        lowering.notes.add(tag_span, message, "the tag determines the trait of the operation");
    }
    let tag = tags.get(tag).map_or(tag, String::as_str);
    let tags = vec![Node { span: tag_span, ..Node::string(tag) }];
    let has_id = copied.get("operationId").is_some();
    if let Value::Mapping(entries) = &mut copied.value {
        entries.push(entry("tags", tag_span, Value::Sequence(tags)));
        if !has_id {
            let id = rust_name::upper_camel_case(name);
            lowering.notes.add(span, format!("an operation without `operationId` has the name `{id}`"), "");
            entries.push(entry("operationId", span, Value::String(id)));
        }
    }
    copied
}

/// Copies a parameter.
pub(super) fn parameter(lowering: &mut Lowering<'_>, node: &Node) -> Node {
    let mut silent = vec!["example", "examples"];
    let resolved = node.get("schema").map(|schema| lowering.resolve(schema));
    let is_list = resolved.and_then(|schema| schema.get("type")).and_then(Node::as_str) == Some("array");
    if !is_list {
        silent.push("explode");
    }
    for key in ["allowEmptyValue", "allowReserved"] {
        if matches!(node.get(key).map(|flag| &flag.value), Some(Value::Bool(false))) {
            silent.push(key);
        }
    }
    if let (Some("header"), Some(name)) = (node.get("in").and_then(Node::as_str), node.get("name"))
        && let Some(ignored) = name.as_str().filter(|name| is_ignored_header(name))
    {
        let message = format!("OpenAPI ignores the header parameter `{ignored}`");
        let help = "`content` declares media types, and `security` declares credentials";
        lowering.notes.add(name.span, message, help);
    }
    let is_required = matches!(node.get("required").map(|flag| &flag.value), Some(Value::Bool(true)));
    let node = lowering.without(node, &[], &silent);
    with_schema(lowering, &node, is_required)
}

/// Copies a response header.
pub(super) fn header(lowering: &mut Lowering<'_>, node: &Node) -> Node {
    let node = lowering.without(node, &[], &["example", "examples", "style", "explode"]);
    with_schema(lowering, &node, false)
}

/// Copies a node and its `schema`. A required parameter has no default. The value is sent as text, which is never null.
fn with_schema(lowering: &mut Lowering<'_>, node: &Node, without_default: bool) -> Node {
    map_entries(node, |item| {
        if item.key.text != "schema" {
            return Some(item.value.clone());
        }
        let schema = without_null(&lowering.schema(&item.value));
        let default = schema.entry("default").filter(|_| without_default);
        let Some(default) = default else { return Some(schema) };
        let help = "requests always contain the parameter";
        lowering.notes.add(default.key.span, "the default of a required parameter is ignored", help);
        Some(map_entries(&schema, |item| (item.key.text != "default").then(|| item.value.clone())))
    })
}

/// Removes null from the types and values of a schema, and of the items of a list.
fn without_null(schema: &Node) -> Node {
    let is_null = |node: &Node| {
        matches!(node.value, Value::Null) || node.get("type").and_then(Node::as_str) == Some("null")
    };
    map_entries(schema, |item| {
        let values = item.value.items().unwrap_or_default();
        Some(match &*item.key {
            "type" => {
                let mut names = values.iter().filter(|name| name.as_str() != Some("null"));
                match (names.next(), names.next()) {
                    (Some(only), None) => only.clone(),
                    _ => item.value.clone(),
                }
            }
            "enum" | "anyOf" | "oneOf" => {
                let values = values.iter().filter(|value| !is_null(value)).cloned();
                Node { span: item.value.span, value: Value::Sequence(values.collect()) }
            }
            "items" => without_null(&item.value),
            _ => item.value.clone(),
        })
    })
}

/// Copies a request body.
pub(super) fn request_body(lowering: &mut Lowering<'_>, node: &Node) -> Node {
    if node.get("$ref").is_some() {
        return only_reference(node);
    }
    let node = lowering.without(node, &[], &[]);
    with_content(lowering, &node, true)
}

/// Copies a response of an operation. A response with a status that has no body in HTTP loses its body.
fn response_of(lowering: &mut Lowering<'_>, item: &Entry) -> Node {
    if !["204", "205", "304"].contains(&&*item.key) {
        return response(lowering, &item.value);
    }
    let shared = lowering.resolve(&item.value).clone();
    let without_body =
        map_entries(&shared, |entry| (entry.key.text != "content").then(|| entry.value.clone()));
    if shared.get("content").is_some() {
        let message = format!("the body of responses with status {} is ignored", item.key.text);
        lowering.notes.add(item.key.span, message, "HTTP does not allow it");
    }
    response(lowering, &without_body)
}

/// Copies a response.
pub(super) fn response(lowering: &mut Lowering<'_>, node: &Node) -> Node {
    if node.get("$ref").is_some() {
        return only_reference(node);
    }
    let node = lowering.without(node, &["links"], &[]);
    let headers = map_entries(&node, |item| {
        Some(match &*item.key {
            // OpenAPI ignores this header.
            "headers" => map_entries(&item.value, |item| {
                let is_content_type = item.key.eq_ignore_ascii_case("content-type");
                (!is_content_type).then(|| header(lowering, &item.value))
            }),
            _ => item.value.clone(),
        })
    });
    with_content(lowering, &headers, false)
}

fn only_reference(node: &Node) -> Node {
    map_entries(node, |item| (item.key.text == "$ref").then(|| item.value.clone()))
}

/// Copies a node, and keeps one media type of its `content`: the first JSON type, or else the first type.
fn with_content(lowering: &mut Lowering<'_>, node: &Node, is_request: bool) -> Node {
    map_entries(node, |item| {
        if item.key.text != "content" {
            return Some(item.value.clone());
        }
        let types = item.value.entries().unwrap_or_default();
        let is_json = |item: &&Entry| MediaType::of_any(&item.key) == MediaType::Json;
        let kept = types.iter().find(is_json).or(types.first())?;
        for other in types.iter().filter(|other| other.key.text != kept.key.text) {
            let message = format!("the media type `{}` is ignored", other.key.text);
            let help = format!("the server uses only `{}`", kept.key.text);
            lowering.notes.add(other.key.span, message, &help);
        }
        if kept.key.contains('*') {
            let message = format!("the range of media types `{}` is bytes", kept.key.text);
            let help =
                "`Call::content_type` returns the type of a request; the service chooses that of a response";
            lowering.notes.add(kept.key.span, message, help);
        }
        let value = media_type(lowering, kept, is_request);
        Some(mapping(item.value.span, vec![Entry { key: kept.key.clone(), value }]))
    })
}

fn media_type(lowering: &mut Lowering<'_>, item: &Entry, is_request: bool) -> Node {
    let node = lowering.without(&item.value, &["encoding"], &["example", "examples"]);
    map_entries(&node, |entry| {
        let span = entry.value.span;
        Some(match (&*entry.key, MediaType::of_any(&item.key)) {
            ("schema", MediaType::Json | MediaType::Lines) => lowering.schema(&entry.value),
            ("schema", MediaType::Bytes) => any(span),
            ("schema", MediaType::Text) if allows_text(lowering.resolve(&entry.value)) => text_schema(span),
            // The reader rejects the schema: no text is valid.
            ("schema", MediaType::Text) if is_request => lowering.schema(&entry.value),
            ("schema", MediaType::Text) => {
                let message = format!("the schema of a `{}` response is not a string", item.key.text);
                lowering.notes.add(entry.key.span, message, "the service responds with any text");
                text_schema(span)
            }
            _ => entry.value.clone(),
        })
    })
}

/// Returns whether a schema declares the type of strings, or no type.
fn allows_text(schema: &Node) -> bool {
    let Some(declared) = schema.get("type") else { return true };
    let names = declared.items().into_iter().flatten().chain([declared]);
    names.into_iter().any(|name| name.as_str() == Some("string"))
}

fn text_schema(span: Span) -> Node {
    mapping(span, vec![entry("type", span, Value::String("string".to_owned()))])
}

/// Copies `webhooks`. A webhook that is not a POST request with a JSON body is left out.
pub(super) fn webhooks(lowering: &mut Lowering<'_>, webhooks: &Node, tags: &Tags) -> Node {
    map_entries(webhooks, |webhook| {
        let post = webhook.value.entry("post");
        let body = post.and_then(|post| post.value.get("requestBody")).map(|body| lowering.resolve(body));
        let content = body.and_then(|body| body.get("content")?.entries()).unwrap_or_default();
        if !content
            .iter()
            .any(|item| MediaType::of_any(&item.key) == MediaType::Json && item.value.get("schema").is_some())
        {
            let message = format!("the webhook `{}` is ignored", webhook.key.text);
            lowering.notes.add(webhook.key.span, message, "events are POST requests with a JSON body");
            return None;
        }
        let post = post?;
        let copied = operation(lowering, post, &format!("on {}", webhook.key.text), tags);
        let copied = map_entries(&copied, |item| {
            Some(match &*item.key {
                "requestBody" => {
                    // The copy of an inline body is complete.
                    let body = match item.value.get("$ref") {
                        None => item.value.clone(),
                        Some(_) => {
                            let shared = lowering.resolve(&item.value).clone();
                            with_content(lowering, &shared, false)
                        }
                    };
                    required(&body)
                }
                _ => item.value.clone(),
            })
        });
        Some(mapping(webhook.value.span, vec![Entry { key: post.key.clone(), value: copied }]))
    })
}

/// Copies the content of a body and makes the body required: an event always has one.
fn required(body: &Node) -> Node {
    let mut entries: Vec<Entry> = body.entry("content").cloned().into_iter().collect();
    entries.push(entry("required", body.span, Value::Bool(true)));
    mapping(body.span, entries)
}
