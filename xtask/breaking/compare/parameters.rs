//! Compares parameters: their presence, whether they are required, and their serialization.
//!
//! Header parameters match regardless of case, path parameters by their position in the path. Parameters of a path item apply
//! to each of its operations. Parameters of a webhook are headers that the server sends and a receiver reads.

use std::rc::Rc;

use contract::node::{Node, Value};
use contract::source::Span;

use super::api::template;
use super::matching::by_key;
use super::operations::{OperationNode, compare_unknown_keywords, position_of};
use super::{Comparison, OperationPath, Origin, Positions, content, lifecycle, responses};
use crate::document::IndexedDocument;
use crate::rule::{Inverse, Level, Rule, SchemaSite};
use crate::schema::types::JsonTypes;
use crate::schema::view::{SchemaParts, SchemaView};

const REFUSED: &str = "Requests without the parameter, which existing clients do not send, are rejected.";
const OPTIONAL: &str = "Make the parameter optional, with a default that preserves the old behavior.";
const UNHEEDED: &str = "Requests with the parameter are rejected, or the parameter is ignored.";
const DEPRECATE: &str =
    "Keep the parameter, mark it `deprecated`, and set `x-sunset` to the date on which it ends.";
const REWRITE: &str = "The server misinterprets the parameter as existing clients serialize it.";
const BESIDE: &str = "Keep the serialization, and add a parameter with another name for the new one.";
const ADDED: Inverse = Inverse::Of("new-optional-request-parameter");

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "new-required-request-parameter",
        Inverse::Of("request-parameter-removed"),
        REFUSED,
        OPTIONAL,
    ),
    Rule::info("new-optional-request-parameter", Inverse::Of("request-parameter-removed")),
    Rule::error(
        "new-required-request-default-parameter-to-existing-path",
        Inverse::Of("request-parameter-removed"),
        REFUSED,
        OPTIONAL,
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
    Rule::error("request-parameter-removed", ADDED, UNHEEDED, DEPRECATE),
    Rule::info("request-parameter-removed-with-deprecation", ADDED),
    Rule::error(
        "request-parameter-removed-before-sunset",
        ADDED,
        UNHEEDED,
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
        REWRITE,
        BESIDE,
    ),
    Rule::error(
        "request-parameter-explode-changed",
        Inverse::Of("request-parameter-explode-changed"),
        REWRITE,
        BESIDE,
    ),
    Rule::error(
        "request-parameter-allow-reserved-changed",
        Inverse::Of("request-parameter-allow-reserved-changed"),
        REWRITE,
        BESIDE,
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
        REWRITE,
        BESIDE,
    ),
];

/// A parameter and the key by which it is matched.
struct OperationParameter<'n> {
    /// `path`, `query`, `header` or `cookie`.
    location: &'n str,
    name: &'n str,
    key: String,
    node: &'n Node,
    /// The position of its use.
    used_at: Span,
    /// The position of its definition.
    at: Span,
    /// Whether it is a parameter of the path item.
    of_path_item: bool,
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
const IGNORED: [&str; 3] = ["Accept", "Content-Type", "Authorization"];

/// Returns the parameters of an operation: its own, and those of its path item that it does not override.
fn all<'n>(side: &IndexedDocument<'n>, operation: OperationNode<'_, 'n>) -> Vec<OperationParameter<'n>> {
    let mut parameters: Vec<OperationParameter<'n>> = Vec::new();
    let lists = [(operation.node.entry("parameters"), false), (operation.item.entry("parameters"), true)];
    for (list, of_path_item) in lists {
        for item in list.and_then(|list| list.value.items()).unwrap_or_default() {
            let (node, at) = side.follow_from(item, item.span);
            let text = |key| node.get(key).and_then(Node::as_str);
            let (Some(location), Some(name)) = (text("in"), text("name")) else { continue };
            if location == "header" && IGNORED.iter().any(|ignored| name.eq_ignore_ascii_case(ignored)) {
                continue;
            }
            let key = match location {
                "header" => format!("header {}", name.to_ascii_lowercase()),
                "path" => format!("path {}", path_index(operation.item.name, name)),
                _ => format!("{location} {name}"),
            };
            if !parameters.iter().any(|known| known.key == key) {
                parameters.push(OperationParameter {
                    location,
                    name,
                    key,
                    node,
                    used_at: item.span,
                    at,
                    of_path_item,
                });
            }
        }
    }
    parameters
}

/// Returns the index of a parameter in a path, or its name if the path does not contain it.
fn path_index(path: &str, name: &str) -> String {
    let names = path.split('{').skip(1).filter_map(|part| part.split('}').next());
    names
        .enumerate()
        .find(|(_, other)| *other == name)
        .map_or_else(|| name.to_owned(), |(at, _)| at.to_string())
}

/// Compares the parameters of an operation.
pub(super) fn compare<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    before: OperationNode<'_, 'n>,
    after: OperationNode<'_, 'n>,
) {
    let base = all(&comparison.base, before);
    let revision = all(&comparison.revision, after);
    let parents = Positions::new(
        position_of(before.node, "parameters", before.at),
        position_of(after.node, "parameters", after.at),
    );
    let parameters = by_key(&base, &revision, |parameter| &parameter.key);
    for (parameter, other) in parameters.common {
        if at.is_outgoing {
            compare_as_response_header(comparison, at, Some(parameter), Some(other), parents);
        } else {
            compare_both(comparison, at, parameter, other);
        }
    }
    for parameter in parameters.removed {
        if at.is_outgoing {
            compare_as_response_header(comparison, at, Some(parameter), None, parents);
        } else {
            report_removed(comparison, at, parameter, parents);
        }
    }
    let is_same_path = template(before.item.name) == template(after.item.name);
    for parameter in parameters.added {
        if at.is_outgoing {
            compare_as_response_header(comparison, at, None, Some(parameter), parents);
        } else {
            report_added(comparison, at, parameter, parents, is_same_path);
        }
    }
}

/// Compares a parameter of a webhook as a header that the server sends.
fn compare_as_response_header<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    before: Option<&OperationParameter<'n>>,
    after: Option<&OperationParameter<'n>>,
    parents: Positions,
) {
    let header = |parameter: &OperationParameter<'n>| responses::HeaderUse {
        node: parameter.node,
        used_at: parameter.used_at,
        defined_at: parameter.at,
    };
    let name = before.or(after).map_or("", |parameter| parameter.name);
    responses::header(comparison, at, name, before.map(header), after.map(header), parents);
}

/// Compares a response header of a webhook as a header parameter, because the receiver sends it.
pub(super) fn compare_as_request_header<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    name: &'n str,
    before: Option<responses::HeaderUse<'n>>,
    after: Option<responses::HeaderUse<'n>>,
    parents: Positions,
) {
    let parameter = |header: responses::HeaderUse<'n>| OperationParameter {
        location: "header",
        name,
        key: format!("header {}", name.to_ascii_lowercase()),
        node: header.node,
        used_at: header.used_at,
        at: header.defined_at,
        of_path_item: false,
    };
    match (before.map(parameter), after.map(parameter)) {
        (None, None) => {}
        (None, Some(after)) => report_added(comparison, at, &after, parents, true),
        (Some(before), None) => report_ignored(comparison, at, &before, parents),
        (Some(before), Some(after)) => compare_both(comparison, at, &before, &after),
    }
}

/// Reports a header that the server no longer reads: receivers that still send it are not rejected.
fn report_ignored(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    parameter: &OperationParameter<'_>,
    parents: Positions,
) {
    let level = match lifecycle::removal_status(parameter.node, comparison.today) {
        lifecycle::RemovalStatus::Announced => Level::Info,
        _ => Level::Warning,
    };
    let positions = Positions::new(parameter.used_at, parents.revision);
    let message = format!("the {} was removed", parameter.display_name());
    comparison.report_with_level(level, "request-parameter-removed", at, positions, &parameter.key, message);
}

fn report_removed(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    parameter: &OperationParameter<'_>,
    parents: Positions,
) {
    let (id, why) = match lifecycle::removal_status(parameter.node, comparison.today) {
        lifecycle::RemovalStatus::NotDeprecated => ("request-parameter-removed", String::new()),
        lifecycle::RemovalStatus::Announced => ("request-parameter-removed-with-deprecation", String::new()),
        lifecycle::RemovalStatus::BeforeSunset(date) => {
            ("request-parameter-removed-before-sunset", format!(" before its sunset on {date}"))
        }
        lifecycle::RemovalStatus::InvalidSunset(text) => {
            ("request-parameter-sunset-parse", format!("; its sunset `{text}` is not a date"))
        }
    };
    let positions = Positions::new(parameter.used_at, parents.revision);
    comparison.report(
        id,
        at,
        positions,
        &parameter.key,
        format!("the {} was removed{why}", parameter.display_name()),
    );
}

fn report_added(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    parameter: &OperationParameter<'_>,
    parents: Positions,
    is_same_path: bool,
) {
    let required = parameter.is_required();
    let id = match (parameter.location, parameter.of_path_item, required) {
        // The URL stays the same, because the path already contained the parameter.
        ("path", _, _) if is_same_path => "new-optional-request-parameter",
        ("path", ..) => "new-request-path-parameter",
        (_, true, true) => "new-required-request-default-parameter-to-existing-path",
        (_, true, false) => "new-optional-request-default-parameter-to-existing-path",
        (_, false, true) => "new-required-request-parameter",
        (_, false, false) => "new-optional-request-parameter",
    };
    let kind = if required { "required" } else { "optional" };
    let positions = Positions::new(parents.base, parameter.used_at);
    comparison.report(
        id,
        at,
        positions,
        &parameter.key,
        format!("the {kind} {} was added", parameter.display_name()),
    );
}

const KNOWN: [&str; 11] = [
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
    at: &Rc<OperationPath>,
    before: &OperationParameter<'n>,
    after: &OperationParameter<'n>,
) {
    if comparison.unchanged().nodes(before.node, after.node) && before.name == after.name {
        return;
    }
    let at = &at.step(&format!("{} {}", after.location, after.name));
    let positions = Positions::new(
        position_of(before.node, "required", before.at),
        position_of(after.node, "required", after.at),
    );
    match (before.is_required(), after.is_required()) {
        (false, true) => {
            let message = format!("the {} became required", after.display_name());
            comparison.report_schema_change_at(
                SchemaSite::Parameter,
                "became-required",
                at,
                positions,
                "",
                message,
            );
        }
        (true, false) => {
            let message = format!("the {} became optional", after.display_name());
            comparison.report_schema_change_at(
                SchemaSite::Parameter,
                "became-optional",
                at,
                positions,
                "",
                message,
            );
        }
        _ => {}
    }
    if before.location == "path" && before.name != after.name {
        let positions = Positions::new(
            position_of(before.node, "name", before.at),
            position_of(after.node, "name", after.at),
        );
        let details = format!("{} to {}", before.name, after.name);
        let message = format!("the path parameter `{}` was renamed to `{}`", before.name, after.name);
        comparison.report("request-path-parameter-renamed", at, positions, &details, message);
    }
    compare_serialization(comparison, at, before, after);
    lifecycle::compare_parameter(comparison, at, (before.node, before.at), (after.node, after.at));
    schemas(comparison, at, before, after);
    compare_unknown_keywords(comparison, at, before.node, after.node, (before.at, after.at), |key| {
        KNOWN.contains(&key)
    });
}

/// Compares the serialization of a parameter.
fn compare_serialization(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
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
            position_of(before.node, keyword, before.at),
            position_of(after.node, keyword, after.at),
        )
    };
    let (old, new) = (style(before), style(after));
    if old != new {
        let details = format!("`{old}` to `{new}`");
        let message = format!("`style` changed from {details}");
        comparison.report("request-parameter-style-changed", at, positions_of("style"), &details, message);
    }
    // `explode` affects only arrays and objects.
    if explode(before) != explode(after)
        && old == new
        && !(is_plain(&comparison.base, before) && is_plain(&comparison.revision, after))
    {
        let message = format!("`explode` changed from {} to {}", explode(before), explode(after));
        comparison.report(
            "request-parameter-explode-changed",
            at,
            positions_of("explode"),
            &explode(after).to_string(),
            message,
        );
    }
    let reserved = |parameter: &OperationParameter<'_>| is_true(parameter.node, "allowReserved");
    if reserved(before) != reserved(after) {
        let message = format!("`allowReserved` changed from {} to {}", reserved(before), reserved(after));
        comparison.report(
            "request-parameter-allow-reserved-changed",
            at,
            positions_of("allowReserved"),
            "",
            message,
        );
    }
    let empty = |parameter: &OperationParameter<'_>| is_true(parameter.node, "allowEmptyValue");
    match (empty(before), empty(after)) {
        (true, false) => {
            let message = "an empty value is no longer accepted".to_owned();
            comparison.report(
                "request-parameter-empty-value-refused",
                at,
                positions_of("allowEmptyValue"),
                "",
                message,
            );
        }
        (false, true) => {
            let message = "an empty value is accepted".to_owned();
            comparison.report(
                "request-parameter-empty-value-allowed",
                at,
                positions_of("allowEmptyValue"),
                "",
                message,
            );
        }
        _ => {}
    }
}

fn is_plain<'n>(side: &IndexedDocument<'n>, parameter: &OperationParameter<'n>) -> bool {
    parameter.node.entry("schema").is_some_and(|entry| {
        let types = SchemaView::of(side, &SchemaParts::under(entry)).types;
        JsonTypes::PLAIN.contains(types)
    })
}

/// Compares the schemas of a parameter and the media types of its content.
fn schemas<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    before: &OperationParameter<'n>,
    after: &OperationParameter<'n>,
) {
    let (base, revision) = ((before.node, before.at), (after.node, after.at));
    if let Some((details, positions)) = content::serialization(base, revision) {
        let message = format!("the serialization changed from {details}");
        comparison.report("request-parameter-serialization-changed", at, positions, &details, message);
    }
    let is_text = !content::is_named(before.node) && !content::is_named(after.node);
    let site = match (before.location, is_text) {
        ("header", true) => SchemaSite::HeaderParameter,
        ("header", false) => SchemaSite::HeaderContent,
        (_, true) => SchemaSite::Parameter,
        (_, false) => SchemaSite::ParameterContent,
    };
    comparison.queue(
        content::schema(base),
        content::schema(revision),
        site,
        Origin::Operation(Rc::clone(at)),
    );
}
