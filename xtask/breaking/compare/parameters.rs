//! Compares parameters: their presence, whether they are required, and their serialization.
//!
//! Header parameters are matched regardless of case, path parameters by their position in the path. Parameters of a
//! path item apply to each of its operations. Parameters of a webhook or callback are compared like response headers,
//! because the server sends them and a receiver reads them.

use std::rc::Rc;

use contract::node::{Node, Value};
use contract::source::Span;

use super::api::without_parameter_names;
use super::matching::match_by_key;
use super::operations::{OperationNode, compare_unknown_keywords, position_of};
use super::{Comparison, OperationPath, Origin, Positions, content, lifecycle, responses};
use crate::document::IndexedDocument;
use crate::rule::{Inverse, Level, Rule, SchemaSite};
use crate::schema::types::JsonTypes;
use crate::schema::view::{SchemaParts, SchemaView};

const MISSING_PARAMETER_REJECTED: &str =
    "Existing clients do not send the parameter, so their requests are rejected.";
const MAKE_PARAMETER_OPTIONAL: &str =
    "Make the parameter optional, with a default that preserves the old behavior.";
const PARAMETER_REJECTED_OR_IGNORED: &str =
    "Requests with the parameter are rejected, or the parameter is ignored.";
const DEPRECATE_PARAMETER: &str =
    "Keep the parameter, mark it `deprecated`, and set `x-sunset` to the date on which it ends.";
const PARAMETER_MISINTERPRETED: &str =
    "The server misinterprets the serialization that existing clients use.";
const ADD_ANOTHER_PARAMETER: &str =
    "Keep the serialization, and add a parameter with another name for the new one.";
const PARAMETER_ADDED: Inverse = Inverse::Of("new-optional-request-parameter");

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "new-required-request-parameter",
        Inverse::Of("request-parameter-removed"),
        MISSING_PARAMETER_REJECTED,
        MAKE_PARAMETER_OPTIONAL,
    ),
    Rule::info("new-optional-request-parameter", Inverse::Of("request-parameter-removed")),
    Rule::error(
        "new-required-request-default-parameter-to-existing-path",
        Inverse::Of("request-parameter-removed"),
        MISSING_PARAMETER_REJECTED,
        MAKE_PARAMETER_OPTIONAL,
    ),
    Rule::info(
        "new-optional-request-default-parameter-to-existing-path",
        Inverse::Of("request-parameter-removed"),
    ),
    Rule::error(
        "new-request-path-parameter",
        Inverse::Of("request-parameter-removed"),
        "Existing clients send requests to the old URL.",
        "Keep this path, and add a new one.",
    ),
    Rule::error(
        "request-parameter-removed",
        PARAMETER_ADDED,
        PARAMETER_REJECTED_OR_IGNORED,
        DEPRECATE_PARAMETER,
    ),
    Rule::info("request-parameter-removed-with-deprecation", PARAMETER_ADDED),
    Rule::error(
        "request-parameter-removed-before-sunset",
        PARAMETER_ADDED,
        PARAMETER_REJECTED_OR_IGNORED,
        "Keep it until the announced sunset date.",
    ),
    Rule::error(
        "request-parameter-sunset-parse",
        Inverse::None("a valid sunset is not reported"),
        "Clients know that support ends, but not when.",
        "Set `x-sunset` to a date (YYYY-MM-DD) at least 180 days in the future.",
    ),
    Rule::info("request-path-parameter-renamed", Inverse::Of("request-path-parameter-renamed")),
    Rule::error(
        "request-parameter-style-changed",
        Inverse::Of("request-parameter-style-changed"),
        PARAMETER_MISINTERPRETED,
        ADD_ANOTHER_PARAMETER,
    ),
    Rule::error(
        "request-parameter-explode-changed",
        Inverse::Of("request-parameter-explode-changed"),
        PARAMETER_MISINTERPRETED,
        ADD_ANOTHER_PARAMETER,
    ),
    Rule::error(
        "request-parameter-allow-reserved-changed",
        Inverse::Of("request-parameter-allow-reserved-changed"),
        PARAMETER_MISINTERPRETED,
        ADD_ANOTHER_PARAMETER,
    ),
    Rule::error(
        "request-parameter-empty-value-refused",
        Inverse::Of("request-parameter-empty-value-allowed"),
        "Requests with an empty value of the parameter are rejected.",
        "Keep accepting an empty value.",
    ),
    Rule::info("request-parameter-empty-value-allowed", Inverse::Of("request-parameter-empty-value-refused")),
    Rule::error(
        "request-parameter-serialization-changed",
        Inverse::Of("request-parameter-serialization-changed"),
        PARAMETER_MISINTERPRETED,
        ADD_ANOTHER_PARAMETER,
    ),
];

/// A parameter and the key by which it is matched.
struct OperationParameter<'n> {
    /// `path`, `query`, `header` or `cookie`.
    location: &'n str,
    name: &'n str,
    /// Identifies the parameter within an operation: its location, and its normalized name or its index in the path.
    key: String,
    node: &'n Node,
    /// The position of its use.
    use_span: Span,
    /// The position of its definition. It differs from `use_span` if the use is a reference.
    definition_span: Span,
    /// Whether it is a parameter of the path item.
    is_of_path_item: bool,
}

impl OperationParameter<'_> {
    fn is_required(&self) -> bool {
        self.location == "path" || is_true(self.node, "required")
    }

    fn display_name(&self) -> String {
        format!("{} parameter `{}`", self.location, self.name)
    }
}

fn is_true(node: &Node, keyword: &str) -> bool {
    matches!(node.get(keyword).map(|flag| &flag.value), Some(Value::Bool(true)))
}

/// Headers that OpenAPI describes elsewhere and ignores as parameters.
const IGNORED_HEADERS: [&str; 3] = ["Accept", "Content-Type", "Authorization"];

/// Returns the parameters of an operation: those that it declares, and those of its path item that it does not
/// override.
fn all_parameters<'n>(
    side: &IndexedDocument<'n>,
    operation: OperationNode<'_, 'n>,
) -> Vec<OperationParameter<'n>> {
    let mut parameters: Vec<OperationParameter<'n>> = Vec::new();
    let lists = [(operation.node.entry("parameters"), false), (operation.item.entry("parameters"), true)];
    for (list, is_of_path_item) in lists {
        for item in list.and_then(|list| list.value.items()).unwrap_or_default() {
            let (node, definition_span) = side.follow_with_position(item, item.span);
            let text = |key| node.get(key).and_then(Node::as_str);
            let (Some(location), Some(name)) = (text("in"), text("name")) else { continue };
            if location == "header" && IGNORED_HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header))
            {
                continue;
            }
            let key = match location {
                "header" => format!("header {}", name.to_ascii_lowercase()),
                "path" => format!("path {}", path_key(operation.item.name, name)),
                _ => format!("{location} {name}"),
            };
            if !parameters.iter().any(|parameter| parameter.key == key) {
                parameters.push(OperationParameter {
                    location,
                    name,
                    key,
                    node,
                    use_span: item.span,
                    definition_span,
                    is_of_path_item,
                });
            }
        }
    }
    parameters
}

/// Returns the key of a path parameter: its index in the path, or its name if the path does not contain it.
fn path_key(path: &str, name: &str) -> String {
    let parameter_names = path.split('{').skip(1).filter_map(|part| part.split('}').next());
    parameter_names
        .enumerate()
        .find(|(_, parameter_name)| *parameter_name == name)
        .map_or_else(|| name.to_owned(), |(index, _)| index.to_string())
}

/// Compares the parameters of an operation.
pub(super) fn compare<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: OperationNode<'_, 'n>,
    after: OperationNode<'_, 'n>,
) {
    let base = all_parameters(&comparison.base, before);
    let revision = all_parameters(&comparison.revision, after);
    let parent_positions = Positions::new(
        position_of(before.node, "parameters", before.span),
        position_of(after.node, "parameters", after.span),
    );
    let parameters = match_by_key(&base, &revision, |parameter| &parameter.key);
    for (before, after) in parameters.common {
        if operation_path.is_outgoing {
            compare_as_response_header(
                comparison,
                operation_path,
                Some(before),
                Some(after),
                parent_positions,
            );
        } else {
            compare_both(comparison, operation_path, before, after);
        }
    }
    for parameter in parameters.removed {
        if operation_path.is_outgoing {
            compare_as_response_header(comparison, operation_path, Some(parameter), None, parent_positions);
        } else {
            report_removed(comparison, operation_path, parameter, parent_positions);
        }
    }
    let is_same_path = without_parameter_names(before.item.name) == without_parameter_names(after.item.name);
    for parameter in parameters.added {
        if operation_path.is_outgoing {
            compare_as_response_header(comparison, operation_path, None, Some(parameter), parent_positions);
        } else {
            report_added(comparison, operation_path, parameter, parent_positions, is_same_path);
        }
    }
}

/// Compares a parameter of a webhook as a header that the server sends.
fn compare_as_response_header<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: Option<&OperationParameter<'n>>,
    after: Option<&OperationParameter<'n>>,
    parent_positions: Positions,
) {
    let header = |parameter: &OperationParameter<'n>| responses::HeaderUse {
        node: parameter.node,
        use_span: parameter.use_span,
        definition_span: parameter.definition_span,
    };
    let name = before.or(after).map_or("", |parameter| parameter.name);
    responses::compare_header(
        comparison,
        operation_path,
        name,
        before.map(header),
        after.map(header),
        parent_positions,
    );
}

/// Compares a response header of a webhook as a header parameter, because the receiver sends it.
pub(super) fn compare_as_request_header<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    name: &'n str,
    before: Option<responses::HeaderUse<'n>>,
    after: Option<responses::HeaderUse<'n>>,
    parent_positions: Positions,
) {
    let parameter = |header: responses::HeaderUse<'n>| OperationParameter {
        location: "header",
        name,
        key: format!("header {}", name.to_ascii_lowercase()),
        node: header.node,
        use_span: header.use_span,
        definition_span: header.definition_span,
        is_of_path_item: false,
    };
    match (before.map(parameter), after.map(parameter)) {
        (None, None) => {}
        (None, Some(after)) => report_added(comparison, operation_path, &after, parent_positions, true),
        (Some(before), None) => {
            report_removed_request_header(comparison, operation_path, &before, parent_positions)
        }
        (Some(before), Some(after)) => compare_both(comparison, operation_path, &before, &after),
    }
}

/// Reports a header that the server no longer reads from the responses of receivers. The finding is at most a warning,
/// because a response that still has the header is not rejected.
fn report_removed_request_header(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    parameter: &OperationParameter<'_>,
    parent_positions: Positions,
) {
    let level = match lifecycle::removal_status(parameter.node, comparison.today) {
        lifecycle::RemovalStatus::Announced => Level::Info,
        _ => Level::Warning,
    };
    let positions = Positions::new(parameter.use_span, parent_positions.revision);
    let message = format!("the {} was removed", parameter.display_name());
    comparison.report_with_level(
        level,
        "request-parameter-removed",
        operation_path,
        positions,
        &parameter.key,
        message,
    );
}

fn report_removed(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    parameter: &OperationParameter<'_>,
    parent_positions: Positions,
) {
    let (id, reason) = match lifecycle::removal_status(parameter.node, comparison.today) {
        lifecycle::RemovalStatus::NotDeprecated => ("request-parameter-removed", String::new()),
        lifecycle::RemovalStatus::Announced => ("request-parameter-removed-with-deprecation", String::new()),
        lifecycle::RemovalStatus::BeforeSunset(date) => {
            ("request-parameter-removed-before-sunset", format!(" before its sunset on {date}"))
        }
        lifecycle::RemovalStatus::InvalidSunset(text) => {
            ("request-parameter-sunset-parse", format!("; its sunset `{text}` is not a date"))
        }
    };
    let positions = Positions::new(parameter.use_span, parent_positions.revision);
    comparison.report(
        id,
        operation_path,
        positions,
        &parameter.key,
        format!("the {} was removed{reason}", parameter.display_name()),
    );
}

fn report_added(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    parameter: &OperationParameter<'_>,
    parent_positions: Positions,
    is_same_path: bool,
) {
    let is_required = parameter.is_required();
    let id = match (parameter.location, parameter.is_of_path_item, is_required) {
        // The URL stays the same, because the path already contained the parameter.
        ("path", _, _) if is_same_path => "new-optional-request-parameter",
        ("path", ..) => "new-request-path-parameter",
        (_, true, true) => "new-required-request-default-parameter-to-existing-path",
        (_, true, false) => "new-optional-request-default-parameter-to-existing-path",
        (_, false, true) => "new-required-request-parameter",
        (_, false, false) => "new-optional-request-parameter",
    };
    let kind = if is_required { "required" } else { "optional" };
    let positions = Positions::new(parent_positions.base, parameter.use_span);
    comparison.report(
        id,
        operation_path,
        positions,
        &parameter.key,
        format!("the {kind} {} was added", parameter.display_name()),
    );
}

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

fn compare_both<'n>(
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
    let style = |parameter: &OperationParameter<'_>| {
        let default_style = if matches!(parameter.location, "query" | "cookie") { "form" } else { "simple" };
        parameter.node.get("style").and_then(Node::as_str).unwrap_or(default_style).to_owned()
    };
    let explode =
        |parameter: &OperationParameter<'_>| match parameter.node.get("explode").map(|flag| &flag.value) {
            Some(Value::Bool(explode)) => *explode,
            _ => style(parameter) == "form",
        };
    let positions_of = |keyword| {
        Positions::new(
            position_of(before.node, keyword, before.definition_span),
            position_of(after.node, keyword, after.definition_span),
        )
    };
    let (old_style, new_style) = (style(before), style(after));
    if old_style != new_style {
        let details = format!("`{old_style}` to `{new_style}`");
        let message = format!("`style` changed from {details}");
        comparison.report(
            "request-parameter-style-changed",
            operation_path,
            positions_of("style"),
            &details,
            message,
        );
    }
    // `explode` affects only arrays and objects.
    if explode(before) != explode(after)
        && old_style == new_style
        && !(has_only_plain_types(&comparison.base, before)
            && has_only_plain_types(&comparison.revision, after))
    {
        let message = format!("`explode` changed from {} to {}", explode(before), explode(after));
        comparison.report(
            "request-parameter-explode-changed",
            operation_path,
            positions_of("explode"),
            &explode(after).to_string(),
            message,
        );
    }
    let allows_reserved = |parameter: &OperationParameter<'_>| is_true(parameter.node, "allowReserved");
    if allows_reserved(before) != allows_reserved(after) {
        let message =
            format!("`allowReserved` changed from {} to {}", allows_reserved(before), allows_reserved(after));
        comparison.report(
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
    comparison.queue(
        content::schema(base),
        content::schema(revision),
        site,
        Origin::Operation(Rc::clone(operation_path)),
    );
}
