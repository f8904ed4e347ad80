//! The tree of the contract into its model.
//!
//! Owns what stands at the top of the document; the modules below read the rest. Whatever is not understood is reported and
//! left out; the caller goes on only without findings.

mod bounds;
mod composition;
mod header;
mod operation;
mod parameter;
mod response;
mod scalar;
mod schema;
mod security;
mod shared;
mod webhook;

use super::keywords;
use super::model::{Document, NamedSchema, Tag};
use super::reader::{At, Reader};
use crate::diagnostic::Code;

/// Reads the whole document.
pub(crate) fn document(reader: &mut Reader<'_>) -> Document {
    let top = reader.start();
    reader.object(&top, &keywords::DOCUMENT);
    let (title, version) = info(reader, &top);
    servers(reader, &top);
    let tags = tags(reader, &top);
    let (mut schemas, mut schemes) = (Vec::new(), Vec::new());
    if let Some(components) = reader.child(&top, "components") {
        reader.object(&components, &keywords::COMPONENTS);
        schemas = named_schemas(reader, &components);
        schemes = security::schemes(reader, &components);
        shared::check(reader, &components);
    }
    let operations = reader.needed(&top, "paths", "the document");
    let operations = operations.map(|paths| operation::paths(reader, &paths)).unwrap_or_default();
    let webhooks = reader.child(&top, "webhooks");
    let webhooks = webhooks.map(|webhooks| webhook::webhooks(reader, &webhooks)).unwrap_or_default();
    Document { title, version, tags, operations, webhooks, schemas, schemes }
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
        if reader.object(&server, &keywords::SERVER)
            && let Some(url) = reader.needed(&server, "url", "a server")
        {
            reader.text(&url);
        }
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

/// Checks `x-sunset`: the day on which a deprecated thing may end.
fn sunset<'n>(reader: &mut Reader<'n>, at: &At<'n>) {
    let Some(day) = reader.child(at, "x-sunset") else { return };
    let Some(text) = reader.text(&day) else { return };
    let digits =
        |part: &str, count: usize| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    if !matches!(parts[..], [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2)) {
        let message = "`x-sunset` is no day";
        reader.error(Code::UnsupportedKeyword, text.span, message, "write it as `2027-01-31`, in quotes");
    }
    if !reader.flag(at, "deprecated") {
        let message = "`x-sunset` stands beside nothing that is deprecated";
        reader.error(Code::UnsupportedKeyword, day.named, message, "add `deprecated: true`");
    }
}
