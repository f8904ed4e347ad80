//! Reads paths and operations.

use super::super::keywords;
use super::super::model::{Method, Operation};
use super::super::node::{Entry, SpannedString};
use super::super::reader::{Cursor, NodeReader};
use super::super::source::Span;
use super::{check_external_docs, deprecation, parameter, response, security};
use crate::Profile;
use crate::diagnostic::Code;

/// Reads `paths`.
pub(super) fn paths<'n>(reader: &mut NodeReader<'n>, paths: &Cursor<'n>) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in reader.children(paths) {
        if !reader.check_keywords(&item, &keywords::PATH_ITEM) {
            continue;
        }
        // Report errors in the parameters of the path item once, even if no operation uses them.
        parameter::list(reader, &item);
        for (key, cursor) in reader.children(&item) {
            let Some(method) = Method::from_key(&key.text) else { continue };
            operations.extend(operation(reader, &item, path, (method, key.span), &cursor));
        }
    }
    require_operation(reader, paths);
    operations
}

/// Reports a contract without operations: the generated code would not compile.
fn require_operation(reader: &mut NodeReader<'_>, paths: &Cursor<'_>) {
    let is_method = |entry: &Entry| Method::from_key(&entry.key).is_some();
    let has_operation = |path: &Entry| path.value.entries().unwrap_or_default().iter().any(is_method);
    if paths.node.entries().is_some_and(|paths| !paths.iter().any(has_operation)) {
        let help = "add an operation: the generated code handles the requests of operations";
        reader.error(Code::MissingKeyword, paths.name_span, "`paths` contains no operations", help);
    }
}

fn operation<'n>(
    reader: &mut NodeReader<'n>,
    item: &Cursor<'n>,
    path: &SpannedString,
    (method, span): (Method, Span),
    cursor: &Cursor<'n>,
) -> Option<Operation> {
    if !reader.check_keywords(cursor, &keywords::OPERATION) {
        return None;
    }
    check_external_docs(reader, cursor);
    deprecation::check(reader, cursor);
    deprecation::check_removal(reader, cursor);
    let id = reader.string_child(cursor, "operationId");
    if id.is_none() {
        reader.error(
            Code::MissingOperationId,
            span,
            format!("{} {} has no `operationId`", method.key().to_uppercase(), path.text),
            "add one in camelCase, such as `listCourses`: it names the generated methods and types",
        );
    }
    let tag = tag(reader, cursor, span);
    // The open profile leaves `security` to the server, which reads it at run time.
    let access = match reader.profile {
        Profile::Server => security::access(reader, cursor, span).map(Some),
        Profile::Open => Some(None),
    };
    let parameters = parameter::of_operation(reader, item, cursor);
    let body = response::body(reader, cursor, method);
    let responses = response::responses(reader, cursor);
    Some(Operation {
        id: id?,
        method,
        path: path.clone(),
        tag: tag?,
        summary: reader.string_child(cursor, "summary").map(|text| text.text),
        description: reader.string_child(cursor, "description").map(|text| text.text),
        deprecated: reader.flag(cursor, "deprecated"),
        access: access?,
        parameters,
        body,
        responses,
        span,
    })
}

fn tag<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, span: Span) -> Option<SpannedString> {
    let tags = reader.child(cursor, "tags").map(|tags| reader.items(&tags)).unwrap_or_default();
    match &tags[..] {
        [tag] => reader.string(tag),
        [] => {
            let help = "add one tag: it determines the trait and the file of the operation";
            reader.error(Code::MissingKeyword, span, "the operation has no tag", help);
            None
        }
        [_, second, ..] => {
            let help = "keep one tag: it determines the trait and the file of the operation";
            reader.error(
                Code::UnsupportedKeyword,
                second.node.span,
                "the operation has more than one tag",
                help,
            );
            None
        }
    }
}
