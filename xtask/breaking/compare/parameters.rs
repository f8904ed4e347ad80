//! Compares parameters: which ones were added and removed. `common_parameters` compares those of both documents.
//!
//! Header parameters are matched regardless of case, path parameters by their position in the path. Parameters of a
//! path item apply to each of its operations. Parameters of a webhook or callback are compared like response headers,
//! because the server sends them and a receiver reads them.

use std::rc::Rc;

use super::matching::match_by_key;
use super::operations::{OperationNode, position_of};
use super::parameter_list::{OperationParameter, all_parameters, is_placeholder};
use super::response_headers::HeaderUse;
use super::{
    Comparison, OperationPath, Origin, Positions, common_parameters, content, lifecycle, response_headers,
};
use crate::rule::{Inverse, Level, Rule, SchemaSite};
use crate::schema::view::SchemaParts;

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
    Rule::info("request-path-parameter-declared", Inverse::Of("request-path-parameter-undeclared")),
    Rule::info("request-path-parameter-undeclared", Inverse::Of("request-path-parameter-declared")),
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
        "Set `x-sunset` to a date (YYYY-MM-DD) that leaves clients time to migrate.",
    ),
    Rule::info(
        "request-parameter-became-list",
        Inverse::None("a list that becomes a single value is a change of type"),
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
            common_parameters::compare_both(comparison, operation_path, before, after);
        }
    }
    for parameter in parameters.removed {
        if is_placeholder(parameter, before.item.name) && !operation_path.is_outgoing {
            compare_placeholder(comparison, operation_path, Some(parameter), None, parent_positions);
        } else if operation_path.is_outgoing {
            compare_as_response_header(comparison, operation_path, Some(parameter), None, parent_positions);
        } else {
            report_removed(comparison, operation_path, parameter, parent_positions);
        }
    }
    for parameter in parameters.added {
        if is_placeholder(parameter, after.item.name) && !operation_path.is_outgoing {
            compare_placeholder(comparison, operation_path, None, Some(parameter), parent_positions);
        } else if operation_path.is_outgoing {
            compare_as_response_header(comparison, operation_path, None, Some(parameter), parent_positions);
        } else {
            report_added(comparison, operation_path, parameter, parent_positions);
        }
    }
}

/// Compares a placeholder of the path that only one of the documents declares. The other one accepts every text.
fn compare_placeholder<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: Option<&OperationParameter<'n>>,
    after: Option<&OperationParameter<'n>>,
    positions: Positions,
) {
    let Some(declared) = before.or(after) else { return };
    let span = |parameter: Option<&OperationParameter<'n>>, fallback| {
        parameter.map_or(fallback, |parameter| parameter.definition_span)
    };
    let positions = Positions::new(span(before, positions.base), span(after, positions.revision));
    let (id, change) = match after {
        Some(_) => ("request-path-parameter-declared", "is now declared"),
        None => ("request-path-parameter-undeclared", "is no longer declared"),
    };
    let message = format!("the {} {change}", declared.display_name());
    comparison.report(id, operation_path, positions, &declared.key, message);
    let schema = |parameter: Option<&OperationParameter<'n>>, span| {
        parameter.map_or_else(
            || SchemaParts::any(span),
            |parameter| content::schema((parameter.node, parameter.definition_span)),
        )
    };
    comparison.queue(
        schema(before, positions.base),
        schema(after, positions.revision),
        if content::has_media_type(declared.node) {
            SchemaSite::ParameterContent
        } else {
            SchemaSite::Parameter
        },
        Origin::Operation(operation_path.step(&format!("path {}", declared.name))),
    );
}

/// Compares a parameter of a webhook as a header that the server sends.
fn compare_as_response_header<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: Option<&OperationParameter<'n>>,
    after: Option<&OperationParameter<'n>>,
    parent_positions: Positions,
) {
    let header = |parameter: &OperationParameter<'n>| HeaderUse {
        node: parameter.node,
        use_span: parameter.use_span,
        definition_span: parameter.definition_span,
    };
    let name = before.or(after).map_or("", |parameter| parameter.name);
    response_headers::compare_header(
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
    before: Option<HeaderUse<'n>>,
    after: Option<HeaderUse<'n>>,
    parent_positions: Positions,
) {
    let parameter = |header: HeaderUse<'n>| OperationParameter {
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
        (None, Some(after)) => report_added(comparison, operation_path, &after, parent_positions),
        (Some(before), None) => {
            report_removed_request_header(comparison, operation_path, &before, parent_positions)
        }
        (Some(before), Some(after)) => {
            common_parameters::compare_both(comparison, operation_path, &before, &after)
        }
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
) {
    let is_required = parameter.is_required();
    let id = match (parameter.location, parameter.is_of_path_item, is_required) {
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
