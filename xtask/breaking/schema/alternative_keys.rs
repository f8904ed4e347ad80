//! The keys by which alternatives are matched: names, titles, constants, and their properties.

use std::collections::BTreeMap;

use contract::node::Node;

use super::value::is_equal;
use super::view::{Alternatives, SchemaParts, SchemaView};
use crate::document::{IndexedDocument, component_of};

/// Whether two schemas are similar: they have the same types, and a common property unless both declare no properties.
pub(super) fn are_similar(left: &SchemaView<'_>, right: &SchemaView<'_>) -> bool {
    if left.types != right.types {
        return false;
    }
    let (left, right) = (left.properties(), right.properties());
    left.is_empty() && right.is_empty() || left.keys().any(|name| right.contains_key(name))
}

/// Returns the name of the schema component to which a schema refers directly.
pub(super) fn component_name(schema: &Node) -> Option<&str> {
    match component_of(schema.get("$ref")?.as_str()?)? {
        ("schemas", name) => Some(name),
        _ => None,
    }
}

/// Returns the label of an alternative in a path: the last segment of its `$ref`, its title or its type, in
/// parentheses.
pub(crate) fn label(member: &Node) -> String {
    let text = |key| member.get(key).and_then(Node::as_str);
    let name = text("$ref").and_then(|target| target.rsplit('/').next());
    let name = name.or_else(|| text("title")).or_else(|| text("type"));
    format!("({})", name.unwrap_or("alternative"))
}

/// An alternative and the keys by which it is matched.
pub(super) struct MatchableAlternative<'n> {
    /// The alternative.
    pub node: &'n Node,
    /// The name of the component to which the alternative refers.
    pub name: Option<&'n str>,
    /// The title.
    pub title: Option<&'n str>,
    /// The constant of the discriminator property.
    pub discriminator_value: Option<String>,
    /// The constants of the properties, by name.
    pub constants: BTreeMap<&'n str, &'n Node>,
    /// The effective schema.
    pub view: SchemaView<'n>,
}

impl<'n> MatchableAlternative<'n> {
    /// Creates the matchable alternatives. `owner` is the schema that contains them.
    pub(super) fn all(
        side: &IndexedDocument<'n>,
        alternatives: &Alternatives<'n>,
        owner: &SchemaView<'n>,
    ) -> Vec<Self> {
        let property =
            owner.entry("discriminator").and_then(|entry| entry.value.get("propertyName")?.as_str());
        let matchable = |node: &&'n Node| {
            let view = SchemaView::of(side, &SchemaParts::of_node(node, node.span));
            let discriminator_value =
                property.and_then(|property| discriminator_value(side, &view, property));
            let title = view.entry("title").and_then(|entry| entry.value.as_str());
            let constants = property_constants(side, &view);
            MatchableAlternative {
                node,
                name: component_name(node),
                title,
                discriminator_value,
                constants,
                view,
            }
        };
        alternatives.members.iter().map(matchable).collect()
    }

    /// Whether a property has the same constant in both alternatives, and none has different ones.
    pub(super) fn has_same_constants(&self, other: &MatchableAlternative<'_>) -> bool {
        let common =
            self.constants.iter().filter_map(|(name, value)| Some((value, other.constants.get(name)?)));
        let mut are_equal = common.map(|(left, right)| is_equal(left, right)).peekable();
        are_equal.peek().is_some() && are_equal.all(|is_equal| is_equal)
    }
}

/// Returns the properties of a schema that have only one value.
fn property_constants<'n>(side: &IndexedDocument<'n>, view: &SchemaView<'n>) -> BTreeMap<&'n str, &'n Node> {
    let constant = |parts: &SchemaParts<'n>| {
        let property = SchemaView::of(side, parts);
        let listed = || property.entry("enum").and_then(|entry| entry.value.items());
        let only_listed = || listed().and_then(|items| if let [only] = items { Some(only) } else { None });
        property.entry("const").map(|entry| &entry.value).or_else(only_listed)
    };
    view.properties().into_iter().filter_map(|(name, parts)| Some((name, constant(&parts)?))).collect()
}

/// Returns the discriminator value that a schema declares by `const` or by the first value of `enum`. Returns `None` if
/// it declares none, or if the value is not a string.
pub(super) fn discriminator_value<'n>(
    side: &IndexedDocument<'n>,
    view: &SchemaView<'n>,
    property: &str,
) -> Option<String> {
    let value = SchemaView::of(side, view.properties().get(property)?);
    let first_listed = value.entry("enum").and_then(|entry| entry.value.items()?.first());
    let constant = value.entry("const").map(|entry| &entry.value).or(first_listed)?;
    constant.as_str().map(str::to_owned)
}
