//! Compares a parameter that base and revision have in common: whether it is required, its serialization and its schema.

use std::rc::Rc;

use contract::node::Node;
use contract::version::Version;

use super::operations::{compare_unknown_keywords, position_of};
use super::parameter_list::OperationParameter;
use super::serialization::is_true;
use super::{Comparison, OperationPath, Origin, PairContext, Positions, content, lifecycle};
use crate::document::IndexedDocument;
use crate::rule::{Level, SchemaSite};
use crate::schema::types::JsonTypes;
use crate::schema::value::{display_value, is_equal, is_same_text, number, text};
use crate::schema::view::{SchemaParts, SchemaView};

/// Keywords of a parameter that are compared elsewhere.
const KNOWN_KEYWORDS: [&str; 11] = [
    "name",
    "in",
    "required",
    "schema",
    "content",
    "style",
    "explode",
    "allowReserved",
    "allowEmptyValue",
    "deprecated",
    "x-sunset",
];

pub(super) fn compare_both<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: &OperationParameter<'n>,
    after: &OperationParameter<'n>,
) {
    if comparison.unchanged().are_nodes_unchanged(before.node, after.node) && before.name == after.name {
        return;
    }
    let operation_path = &operation_path.step(&format!("{} {}", after.location, after.name));
    let positions = Positions::new(
        position_of(before.node, "required", before.definition_span),
        position_of(after.node, "required", after.definition_span),
    );
    match (before.is_required(), after.is_required()) {
        (false, true) => {
            let message = format!("the {} became required", after.display_name());
            comparison.report_by_schema_rule(
                SchemaSite::Parameter,
                "became-required",
                operation_path,
                positions,
                "",
                message,
            );
        }
        (true, false) => {
            let message = format!("the {} became optional", after.display_name());
            comparison.report_by_schema_rule(
                SchemaSite::Parameter,
                "became-optional",
                operation_path,
                positions,
                "",
                message,
            );
        }
        _ => {}
    }
    if before.location == "path" && before.name != after.name {
        let positions = Positions::new(
            position_of(before.node, "name", before.definition_span),
            position_of(after.node, "name", after.definition_span),
        );
        let details = format!("{} to {}", before.name, after.name);
        let message = format!("the path parameter `{}` was renamed to `{}`", before.name, after.name);
        comparison.report("request-path-parameter-renamed", operation_path, positions, &details, message);
    }
    compare_serialization(comparison, operation_path, before, after);
    lifecycle::compare_parameter(
        comparison,
        operation_path,
        (before.node, before.definition_span),
        (after.node, after.definition_span),
    );
    compare_schemas(comparison, operation_path, before, after);
    compare_unknown_keywords(
        comparison,
        operation_path,
        before.node,
        after.node,
        (before.definition_span, after.definition_span),
        |key| KNOWN_KEYWORDS.contains(&key),
    );
}

/// Compares the serialization of a parameter.
fn compare_serialization(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    before: &OperationParameter<'_>,
    after: &OperationParameter<'_>,
) {
    let positions_of = |keyword| {
        Positions::new(
            position_of(before.node, keyword, before.definition_span),
            position_of(after.node, keyword, after.definition_span),
        )
    };
    let (old, new) = (before.serialization(), after.serialization());
    if old.style != new.style {
        let details = format!("`{}` to `{}`", old.style, new.style);
        let message = format!("`style` changed from {details}");
        comparison.report(
            "request-parameter-style-changed",
            operation_path,
            positions_of("style"),
            &details,
            message,
        );
    }
    // `explode` affects only arrays and objects. Single values that become others are sent as before.
    if old.is_exploded != new.is_exploded
        && old.style == new.style
        && !has_only_plain_types(&comparison.base, before)
    {
        let message = format!("`explode` changed from {} to {}", old.is_exploded, new.is_exploded);
        comparison.report(
            "request-parameter-explode-changed",
            operation_path,
            positions_of("explode"),
            &new.is_exploded.to_string(),
            message,
        );
    }
    // Encoded characters stay valid when reserved ones are allowed. Before OpenAPI 3.2, only the query has such characters.
    let is_encoded = match comparison.revision.document.version {
        Version::V32 => before.location != "header",
        _ => before.location == "query",
    };
    if old.allows_reserved != new.allows_reserved && is_encoded {
        let message =
            format!("`allowReserved` changed from {} to {}", old.allows_reserved, new.allows_reserved);
        comparison.report_with_level(
            if new.allows_reserved { Level::Info } else { Level::Error },
            "request-parameter-allow-reserved-changed",
            operation_path,
            positions_of("allowReserved"),
            "",
            message,
        );
    }
    let allows_empty_value = |parameter: &OperationParameter<'_>| is_true(parameter.node, "allowEmptyValue");
    match (allows_empty_value(before), allows_empty_value(after)) {
        (true, false) => {
            let message = "an empty value is no longer accepted".to_owned();
            comparison.report(
                "request-parameter-empty-value-refused",
                operation_path,
                positions_of("allowEmptyValue"),
                "",
                message,
            );
        }
        (false, true) => {
            let message = "an empty value is accepted".to_owned();
            comparison.report(
                "request-parameter-empty-value-allowed",
                operation_path,
                positions_of("allowEmptyValue"),
                "",
                message,
            );
        }
        _ => {}
    }
}

/// Whether the schema of a parameter accepts neither arrays nor objects. Returns false if the parameter has no schema.
fn has_only_plain_types<'n>(side: &IndexedDocument<'n>, parameter: &OperationParameter<'n>) -> bool {
    parameter.node.entry("schema").is_some_and(|entry| {
        let types = SchemaView::of(side, &SchemaParts::of_entry(entry)).types;
        JsonTypes::PLAIN.contains(types)
    })
}

/// Compares the schemas of a parameter and the media types of its content.
fn compare_schemas<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: &OperationParameter<'n>,
    after: &OperationParameter<'n>,
) {
    let (base, revision) = ((before.node, before.definition_span), (after.node, after.definition_span));
    if let Some((details, positions)) = content::serialization_change(base, revision) {
        let message = format!("the serialization changed from {details}");
        comparison.report(
            "request-parameter-serialization-changed",
            operation_path,
            positions,
            &details,
            message,
        );
    }
    let is_plain_text = !content::has_media_type(before.node) && !content::has_media_type(after.node);
    let site = match (before.location, is_plain_text) {
        ("header", true) => SchemaSite::HeaderParameter,
        ("header", false) => SchemaSite::HeaderContent,
        (_, true) => SchemaSite::Parameter,
        (_, false) => SchemaSite::ParameterContent,
    };
    let (base_schema, mut revision_schema) = (content::schema(base), content::schema(revision));
    let items = items_of_widened_list(comparison, before, after).filter(|_| is_plain_text);
    let became_list = items.is_some();
    if let Some(items) = items {
        let positions = Positions::new(base_schema.span, revision_schema.span);
        let message = format!("the {} accepts several values", after.display_name());
        comparison.report("request-parameter-became-list", operation_path, positions, "", message);
        if !before.is_required() {
            compare_default_of_list(comparison, operation_path, site, &base_schema, &revision_schema);
        }
        revision_schema = items;
    }
    let context = PairContext {
        is_default_unused: became_list || before.is_required(),
        is_xml: [before, after].into_iter().any(|parameter| content::is_xml(parameter.node)),
        ..PairContext::from(site)
    };
    let origin = Origin::Operation(Rc::clone(operation_path));
    comparison.queue(base_schema, revision_schema, context, origin);
}

/// Compares the default of a single value with that of a list: a list of one value is sent like the value itself.
fn compare_default_of_list<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    site: SchemaSite,
    value: &SchemaParts<'n>,
    list: &SchemaParts<'n>,
) {
    let (value, list) = (SchemaView::of(&comparison.base, value), SchemaView::of(&comparison.revision, list));
    let (before, after) = (value.entry("default"), list.entry("default"));
    let (suffix, details, message) = match (before, after) {
        (None, None) => return,
        (Some(before), Some(after)) => {
            if let Some([only]) = after.value.items()
                && (is_equal(&before.value, only) || is_same_text(&before.value, only))
            {
                return;
            }
            let change = |format: fn(&Node) -> String| {
                format!("{} to {}", format(&before.value), format(&after.value))
            };
            let message = format!("the default changed from {}", change(display_value));
            ("default-value-changed", change(text), message)
        }
        (None, Some(after)) => {
            let message = format!("the default {} was added", display_value(&after.value));
            ("default-value-added", text(&after.value), message)
        }
        (Some(before), None) => {
            let message = format!("the default {} was removed", display_value(&before.value));
            ("default-value-removed", text(&before.value), message)
        }
    };
    let positions = Positions::new(value.position("default"), list.position("default"));
    comparison.report_by_schema_rule(site, suffix, operation_path, positions, &details, message);
}

/// Returns the schema of the items if a query parameter with a single value became a list that also accepts one value:
/// in the style `form` with `explode`, a list of one value is sent like the value itself.
fn items_of_widened_list<'n>(
    comparison: &Comparison<'n>,
    before: &OperationParameter<'n>,
    after: &OperationParameter<'n>,
) -> Option<SchemaParts<'n>> {
    let serialization = after.serialization();
    let is_exploded_form =
        after.location == "query" && serialization.style == "form" && serialization.is_exploded;
    if !is_exploded_form || !has_only_plain_types(&comparison.base, before) {
        return None;
    }
    let view = SchemaView::of(&comparison.revision, &SchemaParts::of_entry(after.node.entry("schema")?));
    let allows_one = |keyword, is_allowed: fn(f64) -> bool| {
        view.entries(keyword).filter_map(|entry| number(&entry.value)).all(is_allowed)
    };
    let other_keywords = ["prefixItems", "contains", "unevaluatedItems", "enum", "const", "not", "if"];
    let accepts_one_value = view.types == JsonTypes::ARRAY
        && allows_one("minItems", |minimum| minimum <= 1.0)
        && allows_one("maxItems", |maximum| maximum >= 1.0)
        && !view.has_alternatives()
        && other_keywords.iter().all(|keyword| view.entry(keyword).is_none());
    accepts_one_value.then(|| view.parts("items").unwrap_or_else(|| SchemaParts::any(view.span)))
}
