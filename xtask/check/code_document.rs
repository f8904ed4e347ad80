//! The OpenAPI 3.1 document of the code, as registered with poem-openapi.
//!
//! poem-openapi renders OpenAPI 3.0, so its registry is converted instead of its output. utoipa parses the result as an
//! independent validation, but does not write it: its output would lose `required` of headers.

use anyhow::Context;
use poem_openapi::OpenApi;
use poem_openapi::registry::{
    MetaDiscriminatorObject, MetaMediaType, MetaOperation, MetaOperationParam, MetaParamIn, MetaResponse,
    MetaSchema, MetaSchemaRef, Registry,
};
use serde_json::{Map, Value, json};

/// Returns the document of an API, with the names of its events.
///
/// # Errors
/// Returns an error when utoipa cannot parse the result, which is a bug of this conversion.
pub(crate) fn document<A: OpenApi>(title: &str, version: &str, events: &[&str]) -> anyhow::Result<Value> {
    let mut registry = Registry::new();
    A::register(&mut registry);
    let mut paths = Map::new();
    for path in A::meta().into_iter().flat_map(|api| api.paths) {
        let operations = path.operations.iter();
        let operations =
            operations.map(|meta| (meta.method.as_str().to_lowercase(), operation(meta))).collect();
        paths.insert(path.path, Value::Object(operations));
    }
    let schemas: Map<_, _> =
        registry.schemas.iter().map(|(name, meta)| (name.clone(), Value::Object(schema(meta)))).collect();
    let webhooks: Map<_, _> = events.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": title, "version": version },
        "paths": paths,
        "webhooks": webhooks,
        "components": { "schemas": schemas, "securitySchemes": security_schemes(&registry) },
    });
    let mut typed_document = document.clone();
    add_missing_types(&mut typed_document);
    let parsed: Result<utoipa::openapi::OpenApi, _> = serde_json::from_value(typed_document);
    parsed.context("utoipa cannot parse the OpenAPI document of the code")?;
    Ok(document)
}

/// Lists all types in every schema that allows any type, because utoipa requires a type.
fn add_missing_types(value: &mut Value) {
    const TYPING_KEYWORDS: [&str; 5] = ["type", "$ref", "oneOf", "anyOf", "allOf"];
    let is_untyped =
        |value: &Value| TYPING_KEYWORDS.iter().all(|key| value.get(key).is_none()) && value.is_object();
    let any = || json!({ "type": ["array", "boolean", "integer", "null", "number", "object", "string"] });
    match value {
        Value::Array(items) => items.iter_mut().for_each(add_missing_types),
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                let is_schema = ["schema", "items", "additionalProperties"].contains(&&**name);
                if is_schema && is_untyped(field) {
                    *field = any();
                }
                if let ("properties", Some(properties)) = (&**name, field.as_object_mut()) {
                    properties
                        .values_mut()
                        .filter(|property| is_untyped(property))
                        .for_each(|property| *property = any());
                }
                add_missing_types(field);
            }
        }
        _ => {}
    }
}

fn security_schemes(registry: &Registry) -> Value {
    registry.security_schemes.iter().map(|(name, scheme)| ((*name).to_owned(), json!(scheme))).collect()
}

fn operation(meta: &MetaOperation) -> Value {
    let security: Vec<_> = meta.security.iter().map(|requirement| json!(requirement)).collect();
    let mut value = json!({
        "tags": meta.tags,
        "operationId": meta.operation_id,
        "summary": meta.summary,
        "description": meta.description,
        "parameters": meta.params.iter().map(parameter).collect::<Vec<_>>(),
        "responses": meta.responses.responses.iter().map(response).collect::<Map<_, _>>(),
        "security": security,
    });
    if meta.deprecated {
        value["deprecated"] = json!(true);
    }
    if let Some(request) = &meta.request {
        value["requestBody"] = json!({ "required": request.required, "content": contents(&request.content) });
    }
    value
}

fn parameter(meta: &MetaOperationParam) -> Value {
    let location = match meta.in_type {
        MetaParamIn::Query => "query",
        MetaParamIn::Header => "header",
        MetaParamIn::Path => "path",
        MetaParamIn::Cookie | MetaParamIn::CookiePrivate | MetaParamIn::CookieSigned => "cookie",
    };
    let mut value = json!({
        "name": meta.name,
        "in": location,
        "required": meta.required,
        "schema": reference(&meta.schema),
    });
    if is_list(&meta.schema) {
        // The generator sets `explode` to false for each list that is separated by commas, as a list in a header always
        // is.
        value["explode"] = json!(meta.explode);
    }
    if meta.deprecated {
        value["deprecated"] = json!(true);
    }
    value
}

fn is_list(meta: &MetaSchemaRef) -> bool {
    matches!(meta, MetaSchemaRef::Inline(meta) if meta.ty == "array" || meta.all_of.iter().any(is_list))
}

fn response(meta: &MetaResponse) -> (String, Value) {
    let status = meta.status.map(|status| status.to_string()).or_else(|| meta.status_range.clone());
    let headers = meta.headers.iter().map(|header| {
        let mut value = json!({ "required": header.required, "schema": reference(&header.schema) });
        if header.deprecated {
            value["deprecated"] = json!(true);
        }
        (header.name.clone(), value)
    });
    let value = json!({
        "description": meta.description,
        "headers": headers.collect::<Map<_, _>>(),
        "content": contents(&meta.content),
    });
    (status.unwrap_or_else(|| "default".into()), value)
}

fn contents(content: &[MetaMediaType]) -> Value {
    let entry = |media: &MetaMediaType| {
        (media.content_type.to_owned(), json!({ "schema": reference(&media.schema) }))
    };
    Value::Object(content.iter().map(entry).collect())
}

fn reference(meta: &MetaSchemaRef) -> Value {
    match meta {
        MetaSchemaRef::Reference(name) => json!({ "$ref": format!("#/components/schemas/{name}") }),
        MetaSchemaRef::Inline(meta) => match &meta.all_of[..] {
            // poem-openapi represents a reference with sibling keywords this way.
            [target @ MetaSchemaRef::Reference(_), MetaSchemaRef::Inline(siblings)] => {
                reference_with_siblings(target, siblings)
            }
            _ => Value::Object(schema(meta)),
        },
    }
}

/// Converts a reference with the sibling keywords that poem-openapi supports: nullability, default and deprecation.
fn reference_with_siblings(target: &MetaSchemaRef, siblings: &MetaSchema) -> Value {
    let mut value = reference(target);
    if siblings.nullable {
        value = json!({ "oneOf": [value, { "type": "null" }] });
    }
    if let Some(default) = &siblings.default {
        value["default"] = default.clone();
    }
    if siblings.deprecated {
        value["deprecated"] = json!(true);
    }
    value
}

fn schema(meta: &MetaSchema) -> Map<String, Value> {
    let mut map = Map::new();
    if !meta.ty.is_empty() {
        let json_type = if meta.nullable { json!([meta.ty, "null"]) } else { json!(meta.ty) };
        map.insert("type".into(), json_type);
    }
    let mut insert = |key: &str, value: Option<Value>| map.extend(value.map(|value| (key.to_owned(), value)));
    insert("format", meta.format.map(Value::from));
    insert("description", meta.description.map(Value::from));
    insert("pattern", meta.pattern.clone().map(Value::from));
    insert("default", meta.default.clone());
    insert("enum", (!meta.enum_items.is_empty()).then(|| json!(meta.enum_items)));
    insert("deprecated", meta.deprecated.then_some(Value::Bool(true)));
    insert("minLength", meta.min_length.map(Value::from));
    insert("maxLength", meta.max_length.map(Value::from));
    insert("minItems", meta.min_items.map(Value::from));
    insert("maxItems", meta.max_items.map(Value::from));
    insert("uniqueItems", meta.unique_items.map(Value::from));
    insert("minProperties", meta.min_properties.map(Value::from));
    insert("maxProperties", meta.max_properties.map(Value::from));
    insert("multipleOf", meta.multiple_of.map(Value::from));
    // In OpenAPI 3.0 exclusiveness is a flag next to the bound; in 3.1 it is a separate bound.
    let exclusive = |flag: Option<bool>| flag == Some(true);
    let (minimum, maximum) = (meta.minimum.map(Value::from), meta.maximum.map(Value::from));
    insert(if exclusive(meta.exclusive_minimum) { "exclusiveMinimum" } else { "minimum" }, minimum);
    insert(if exclusive(meta.exclusive_maximum) { "exclusiveMaximum" } else { "maximum" }, maximum);
    insert("required", (!meta.required.is_empty()).then(|| json!(meta.required)));
    let properties = meta.properties.iter().map(|(name, meta)| ((*name).to_owned(), reference(meta)));
    insert("properties", (!meta.properties.is_empty()).then(|| Value::Object(properties.collect())));
    insert("items", meta.items.as_deref().map(reference));
    insert("additionalProperties", meta.additional_properties.as_deref().map(reference));
    insert("discriminator", meta.discriminator.as_ref().map(discriminator));
    for (key, parts) in [("allOf", &meta.all_of), ("oneOf", &meta.one_of), ("anyOf", &meta.any_of)] {
        insert(key, (!parts.is_empty()).then(|| parts.iter().map(reference).collect()));
    }
    map
}

fn discriminator(meta: &MetaDiscriminatorObject) -> Value {
    let mapping: Map<_, _> =
        meta.mapping.iter().map(|(value, target)| (value.clone(), json!(target))).collect();
    json!({ "propertyName": meta.property_name, "mapping": mapping })
}
