//! Locations of schemas that become Rust types, and the names of those types.
//!
//! The rule about name collisions and the generator both use this module, so that they agree.

use super::model::{Document, Method, Schema};
use super::rust_name;

/// The location of a schema that becomes a Rust type.
#[derive(Clone, Debug)]
pub struct TypeLocation {
    /// The name of the Rust type.
    pub type_name: String,
    /// The location in the contract, for messages and doc comments.
    pub origin: String,
    /// Whether an absent property differs from null, as in the body of a PATCH request.
    pub keeps_absent: bool,
}

impl TypeLocation {
    /// Returns the location of a schema of `components.schemas`.
    pub fn of_schema(name: &str, keeps_absent: bool) -> Self {
        Self { type_name: rust_name::upper_camel_case(name), origin: name.to_owned(), keeps_absent }
    }

    /// Returns the location of a named child, such as a property. `separator` precedes the name in the origin.
    pub fn named_child(&self, name: &str, separator: &str) -> Self {
        self.unnamed_child(&rust_name::upper_camel_case(name), &format!("{separator}{name}"))
    }

    /// Returns the location of an unnamed child, such as the items of an array. Both arguments are appended.
    pub fn unnamed_child(&self, type_name: &str, origin: &str) -> Self {
        let (type_name, origin) = (self.type_name.clone() + type_name, self.origin.clone() + origin);
        Self { type_name, origin, keeps_absent: self.keeps_absent }
    }
}

/// The schema of a parameter or a body. If it is not a reference, it is written inline in the operation or the webhook.
pub struct InlineSchema<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// The location.
    pub location: TypeLocation,
    /// Whether it belongs to a webhook.
    pub in_webhook: bool,
}

/// Returns the schemas of all parameters, request bodies and response bodies, then those of all webhook bodies, each in
/// document order. Response headers are omitted: the generator declares no types for them.
pub fn inline_schemas(document: &Document) -> Vec<InlineSchema<'_>> {
    let mut schemas = Vec::new();
    for operation in &document.operations {
        let id = &operation.id;
        let mut add = |schema, name: &str, part: &str, keeps_absent| {
            let type_name = rust_name::upper_camel_case(id) + name;
            let location = TypeLocation { type_name, origin: format!("{} {part}", id.text), keeps_absent };
            schemas.push(InlineSchema { schema, location, in_webhook: false });
        };
        for parameter in &operation.parameters {
            add(&parameter.schema, &rust_name::upper_camel_case(&parameter.name), &parameter.name, false);
        }
        if let Some(body) = &operation.body {
            add(&body.content.schema, "Body", "body", operation.method == Method::Patch);
        }
        for response in &operation.responses {
            if let Some(content) = &response.content {
                let name = rust_name::status_variant(response.status) + "Body";
                add(&content.schema, &name, &format!("{} body", response.status), false);
            }
        }
    }
    for webhook in &document.webhooks {
        let type_name = rust_name::upper_camel_case(&webhook.name) + "Body";
        let location =
            TypeLocation { type_name, origin: format!("{} body", webhook.name.text), keeps_absent: false };
        schemas.push(InlineSchema { schema: &webhook.content.schema, location, in_webhook: true });
    }
    schemas
}
