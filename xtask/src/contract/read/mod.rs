//! The tree of the contract into its model.
//!
//! Owns what stands at the top of the document; [`operation`] and [`schema`] read the rest. Whatever is not understood is
//! reported and left out; the caller goes on only without findings.

mod operation;
mod schema;

use super::keywords;
use super::model::{Document, NamedSchema, Tag};
use super::reader::{At, Reader};
use crate::diagnostic::Code;

/// Reads the whole document.
pub fn document(reader: &mut Reader<'_>) -> Document {
    let top = reader.start();
    reader.object(&top, &keywords::DOCUMENT);
    version(reader, &top);
    let (title, version) = info(reader, &top);
    servers(reader, &top);
    let tags = tags(reader, &top);
    let mut schemas = Vec::new();
    if let Some(components) = reader.child(&top, "components") {
        reader.object(&components, &keywords::COMPONENTS);
        schemas = named_schemas(reader, &components);
        schemes(reader, &components);
        operation::shared(reader, &components);
    }
    let operations = reader.needed(&top, "paths", "the document");
    let operations = operations.map(|paths| operation::paths(reader, &paths)).unwrap_or_default();
    let webhooks = reader.child(&top, "webhooks");
    let webhooks = webhooks.map(|webhooks| operation::webhooks(reader, &webhooks)).unwrap_or_default();
    Document { title, version, tags, operations, webhooks, schemas }
}

fn version(reader: &mut Reader<'_>, top: &At<'_>) {
    let Some(stated) = top.node.get("openapi") else {
        reader.error(
            Code::MissingKeyword,
            top.named,
            "the document needs `openapi`",
            "begin with `openapi: 3.1.0`",
        );
        return;
    };
    if !stated.as_str().is_some_and(|version| version.starts_with("3.1.")) {
        reader.error(
            Code::UnsupportedKeyword,
            stated.span,
            "the contract is read as OpenAPI 3.1",
            "write `openapi: 3.1.0`; a 3.0 twin is derived from it",
        );
    }
}

fn info<'n>(reader: &mut Reader<'n>, top: &At<'n>) -> (String, String) {
    let Some(info) = reader.needed(top, "info", "the document") else { return Default::default() };
    reader.object(&info, &keywords::INFO);
    if let Some(contact) = reader.child(&info, "contact") {
        reader.object(&contact, &keywords::CONTACT);
    }
    if let Some(license) = reader.child(&info, "license") {
        reader.object(&license, &keywords::LICENSE);
    }
    let mut word = |key| {
        let value = reader.needed(&info, key, "`info`")?;
        reader.text(&value).map(|text| text.text)
    };
    (word("title").unwrap_or_default(), word("version").unwrap_or_default())
}

fn servers<'n>(reader: &mut Reader<'n>, top: &At<'n>) {
    let Some(servers) = reader.child(top, "servers") else { return };
    for server in reader.items(&servers) {
        reader.object(&server, &keywords::SERVER);
    }
}

fn tags<'n>(reader: &mut Reader<'n>, top: &At<'n>) -> Vec<Tag> {
    external_docs(reader, top);
    let Some(tags) = reader.child(top, "tags") else { return Vec::new() };
    let mut read = Vec::new();
    for tag in reader.items(&tags) {
        reader.object(&tag, &keywords::TAG);
        external_docs(reader, &tag);
        let description = reader.text_of(&tag, "description").map(|text| text.text);
        if let Some(name) = reader.needed(&tag, "name", "a tag").and_then(|name| reader.text(&name)) {
            read.push(Tag { name, description });
        }
    }
    read
}

/// Checks the link to a document elsewhere, where there is one.
fn external_docs<'n>(reader: &mut Reader<'n>, at: &At<'n>) {
    if let Some(docs) = reader.child(at, "externalDocs") {
        reader.object(&docs, &keywords::EXTERNAL_DOCS);
    }
}

fn named_schemas<'n>(reader: &mut Reader<'n>, components: &At<'n>) -> Vec<NamedSchema> {
    let Some(schemas) = reader.child(components, "schemas") else { return Vec::new() };
    let mut read = Vec::new();
    for (name, schema) in reader.children(&schemas) {
        if let Some(schema) = schema::read(reader, &schema) {
            read.push(NamedSchema { name: name.clone(), schema });
        }
    }
    read
}

/// Checks that every scheme is one that keys are sent with.
fn schemes<'n>(reader: &mut Reader<'n>, components: &At<'n>) {
    let Some(schemes) = reader.child(components, "securitySchemes") else { return };
    for (name, scheme) in reader.children(&schemes) {
        if !reader.object(&scheme, &keywords::SECURITY_SCHEME) {
            continue;
        }
        let is = |key, value| scheme.node.get(key).and_then(super::node::Node::as_str) == Some(value);
        if !is("type", "http") || !is("scheme", "bearer") {
            reader.error(
                Code::UnsupportedKeyword,
                name.span,
                format!("the security scheme `{}` is not HTTP bearer", name.text),
                "write `type: http` and `scheme: bearer`",
            );
        }
    }
}
