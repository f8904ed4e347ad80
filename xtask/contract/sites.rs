//! Where schemas stand that become types of Rust, and what those types are called.
//!
//! Owns the names, so that the rule against collisions and the generator agree.

use super::model::{Document, Method, Schema};
use super::rust_name;

/// Where a schema stands that is written out.
#[derive(Clone, Debug)]
pub struct Site {
    /// The name in Rust of a type for it.
    pub owner: String,
    /// The place in the contract, in words.
    pub origin: String,
    /// Whether it stands in a body of PATCH.
    pub patch: bool,
}

impl Site {
    /// The place of a schema of `components.schemas`.
    pub fn named(name: &str, patch: bool) -> Self {
        Self { owner: rust_name::upper(name), origin: name.to_owned(), patch }
    }

    /// The place of something that has a name in here.
    pub fn below(&self, name: &str, link: &str) -> Self {
        self.inside(&rust_name::upper(name), &format!("{link}{name}"))
    }

    /// The place of something that has no name in here.
    pub fn inside(&self, owner: &str, origin: &str) -> Self {
        let (owner, origin) = (self.owner.clone() + owner, self.origin.clone() + origin);
        Self { owner, origin, patch: self.patch }
    }
}

/// A schema that is written at an operation or a webhook.
pub struct Inline<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// Where it stands.
    pub site: Site,
    /// Whether that is at a webhook.
    pub sent: bool,
}

/// Every schema that is written at an operation or a webhook, in document order.
pub fn inline(document: &Document) -> Vec<Inline<'_>> {
    let mut found = Vec::new();
    for operation in &document.operations {
        let id = &operation.id;
        let mut add = |schema, name: &str, what: &str, patch| {
            let owner = rust_name::upper(id) + name;
            let site = Site { owner, origin: format!("{} {what}", id.text), patch };
            found.push(Inline { schema, site, sent: false });
        };
        for parameter in &operation.parameters {
            add(&parameter.schema, &rust_name::upper(&parameter.name), &parameter.name, false);
        }
        if let Some(body) = &operation.body {
            add(&body.content.schema, "Body", "body", operation.method == Method::Patch);
        }
        for response in &operation.responses {
            if let Some(content) = &response.content {
                let name = rust_name::status(response.status) + "Body";
                add(&content.schema, &name, &format!("{} body", response.status), false);
            }
        }
    }
    for webhook in &document.webhooks {
        let owner = rust_name::upper(&webhook.name) + "Body";
        let site = Site { owner, origin: format!("{} body", webhook.name.text), patch: false };
        found.push(Inline { schema: &webhook.content.schema, site, sent: true });
    }
    found
}
