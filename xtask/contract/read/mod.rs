//! Reads the tree of a contract into its model.
//!
//! This module reads the top level of the document; its submodules read the rest. An invalid part is reported and
//! omitted, so the model is complete only if there are no diagnostics.

mod bounds;
mod composition;
mod deprecation;
mod header;
mod operation;
mod parameter;
mod response;
pub(crate) mod scalar;
mod schema;
mod security;
mod shared;
mod webhook;

pub(crate) use header::is_header_name;
pub(crate) use parameter::is_ignored_header;
pub(crate) use scalar::regex_problem;

use super::keywords;
use super::model::{Document, NamedSchema, Tag};
use super::reader::{Cursor, NodeReader};

/// Reads the whole document.
pub(crate) fn document(reader: &mut NodeReader<'_>) -> Document {
    let top = reader.root_cursor();
    reader.check_keywords(&top, &keywords::DOCUMENT);
    let (title, version) = title_and_version(reader, &top);
    check_servers(reader, &top);
    check_external_docs(reader, &top);
    let tags = tags(reader, &top);
    let (mut schemas, mut security_schemes) = (Vec::new(), Vec::new());
    if let Some(components) = reader.child(&top, "components") {
        reader.check_keywords(&components, &keywords::COMPONENTS);
        schemas = named_schemas(reader, &components);
        security_schemes = security::schemes(reader, &components);
        shared::check(reader, &components);
    }
    let operations = reader.required_child(&top, "paths", "the document");
    let operations = operations.map(|paths| operation::paths(reader, &paths)).unwrap_or_default();
    let webhooks = reader.child(&top, "webhooks");
    let webhooks = webhooks.map(|webhooks| webhook::webhooks(reader, &webhooks)).unwrap_or_default();
    Document { title, version, tags, operations, webhooks, schemas, security_schemes }
}

/// Reads `info`.
fn title_and_version<'n>(reader: &mut NodeReader<'n>, top: &Cursor<'n>) -> (String, String) {
    let Some(info) = reader.required_child(top, "info", "the document") else { return Default::default() };
    reader.check_keywords(&info, &keywords::INFO);
    if let Some(contact) = reader.child(&info, "contact") {
        reader.check_keywords(&contact, &keywords::CONTACT);
    }
    if let Some(license) = reader.child(&info, "license") {
        reader.check_keywords(&license, &keywords::LICENSE);
    }
    let mut string = |key| {
        let value = reader.required_child(&info, key, "`info`")?;
        reader.string(&value).map(|text| text.text)
    };
    (string("title").unwrap_or_default(), string("version").unwrap_or_default())
}

fn check_servers<'n>(reader: &mut NodeReader<'n>, top: &Cursor<'n>) {
    let Some(servers) = reader.child(top, "servers") else { return };
    for server in reader.items(&servers) {
        if reader.check_keywords(&server, &keywords::SERVER)
            && let Some(url) = reader.required_child(&server, "url", "a server")
        {
            reader.string(&url);
        }
    }
}

fn tags<'n>(reader: &mut NodeReader<'n>, top: &Cursor<'n>) -> Vec<Tag> {
    let Some(tags) = reader.child(top, "tags") else { return Vec::new() };
    let mut parsed = Vec::new();
    for tag in reader.items(&tags) {
        reader.check_keywords(&tag, &keywords::TAG);
        check_external_docs(reader, &tag);
        let description = reader.string_child(&tag, "description").map(|text| text.text);
        if let Some(name) = reader.required_child(&tag, "name", "a tag").and_then(|name| reader.string(&name))
        {
            parsed.push(Tag { name, description });
        }
    }
    parsed
}

/// Checks `externalDocs`, if present.
fn check_external_docs<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) {
    if let Some(docs) = reader.child(cursor, "externalDocs") {
        reader.check_keywords(&docs, &keywords::EXTERNAL_DOCS);
    }
}

fn named_schemas<'n>(reader: &mut NodeReader<'n>, components: &Cursor<'n>) -> Vec<NamedSchema> {
    let Some(schemas) = reader.child(components, "schemas") else { return Vec::new() };
    let mut parsed = Vec::new();
    for (name, schema) in reader.children(&schemas) {
        if let Some(schema) = schema::read(reader, &schema) {
            parsed.push(NamedSchema { name: name.clone(), schema });
        }
    }
    parsed
}
