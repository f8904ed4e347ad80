//! Paths and operations.

use super::super::keywords;
use super::super::model::{Method, Operation};
use super::super::node::{Entry, Text};
use super::super::reader::{At, Reader};
use super::super::source::Span;
use super::{external_docs, parameter, response, security, sunset};
use crate::diagnostic::Code;

/// Reads `paths`.
pub(super) fn paths<'n>(reader: &mut Reader<'n>, paths: &At<'n>) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in reader.children(paths) {
        if !reader.object(&item, &keywords::PATH_ITEM) {
            continue;
        }
        // Judged here once, even when no operation takes them.
        parameter::list(reader, &item);
        for (key, at) in reader.children(&item) {
            let Some(method) = Method::from_key(&key.text) else { continue };
            operations.extend(operation(reader, &item, path, (method, key.span), &at));
        }
    }
    refuse_none(reader, paths);
    operations
}

/// Whoever answers no request needs no server, and some of what is generated would be empty in a way that is no Rust.
fn refuse_none(reader: &mut Reader<'_>, paths: &At<'_>) {
    let method = |entry: &Entry| Method::from_key(&entry.key).is_some();
    let operation = |path: &Entry| path.value.entries().unwrap_or_default().iter().any(method);
    if paths.node.entries().is_some_and(|paths| !paths.iter().any(operation)) {
        let help = "describe one: what is generated answers the requests of operations";
        reader.error(Code::MissingKeyword, paths.named, "no path has an operation", help);
    }
}

fn operation<'n>(
    reader: &mut Reader<'n>,
    item: &At<'n>,
    path: &Text,
    (method, span): (Method, Span),
    at: &At<'n>,
) -> Option<Operation> {
    if !reader.object(at, &keywords::OPERATION) {
        return None;
    }
    external_docs(reader, at);
    sunset(reader, at);
    let id = reader.text_of(at, "operationId");
    if id.is_none() {
        reader.error(
            Code::MissingOperationId,
            span,
            format!("{} {} has no `operationId`", method.key().to_uppercase(), path.text),
            "add one in camelCase, such as `listCourses`: methods and types are named after it",
        );
    }
    let tag = tag(reader, at, span);
    let scope = security::scope(reader, at, span);
    let parameters = parameter::of_operation(reader, item, at);
    let body = response::body(reader, at, method);
    let responses = response::responses(reader, at);
    let (scheme, scope) = scope?;
    Some(Operation {
        id: id?,
        method,
        path: path.clone(),
        tag: tag?,
        summary: reader.text_of(at, "summary").map(|text| text.text),
        description: reader.text_of(at, "description").map(|text| text.text),
        deprecated: reader.flag(at, "deprecated"),
        scheme,
        scope,
        parameters,
        body,
        responses,
        span,
    })
}

fn tag<'n>(reader: &mut Reader<'n>, at: &At<'n>, span: Span) -> Option<Text> {
    let tags = reader.child(at, "tags").map(|tags| reader.items(&tags)).unwrap_or_default();
    match &tags[..] {
        [tag] => reader.text(tag),
        [] => {
            let help = "name one tag: it says which trait and which file the operation belongs to";
            reader.error(Code::MissingKeyword, span, "the operation has no tag", help);
            None
        }
        [_, second, ..] => {
            let help = "keep one tag: it says which trait and which file the operation belongs to";
            reader.error(Code::UnsupportedKeyword, second.node.span, "the operation has several tags", help);
            None
        }
    }
}
