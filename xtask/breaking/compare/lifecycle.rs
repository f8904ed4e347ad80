//! Compares deprecation, sunset and stability, as oasdiff does.
//!
//! `x-sunset` is the date on which a deprecated object can be removed. `x-stability-level` (draft, alpha, beta, stable)
//! is the level of the compatibility promise.

use std::collections::BTreeSet;
use std::rc::Rc;

use contract::node::{Entry, Node};
use contract::source::Span;
use jiff::civil::Date;

use super::lifecycle_changes::{Lifecycle, LifecycleChange, lifecycle_changes};
use super::operations::{Method, PathItem};
use super::{Comparison, OperationPath};
use crate::rule::{Inverse, Rule, SchemaRule, SchemaSite, Topic, ValueEffect};
use crate::schema::SchemaPair;
use crate::schema::view::SchemaView;

const LIFECYCLE: Topic = Topic::Lifecycle;
const NO_INVERSE: &str = "the inverse change is not reported";

const fn harmless(suffix: &'static str, inverse: &'static str) -> SchemaRule {
    SchemaRule::new(LIFECYCLE, ValueEffect::Neutral, suffix, inverse)
}

const fn violation(suffix: &'static str) -> SchemaRule {
    SchemaRule::new(LIFECYCLE, ValueEffect::Alters, suffix, "").without_inverse(NO_INVERSE)
}

/// The rules about schemas.
pub(crate) const SCHEMA_RULES: &[SchemaRule] = &[
    harmless("deprecated", "reactivated"),
    harmless("deprecated-with-sunset", "reactivated"),
    SchemaRule::new(LIFECYCLE, ValueEffect::Alters, "deprecated-sunset-missing", "reactivated"),
    violation("deprecated-sunset-invalid"),
    harmless("reactivated", "deprecated-sunset-missing"),
    violation("sunset-date-too-small"),
    violation("sunset-deleted"),
    violation("sunset-date-changed-too-small"),
    SchemaRule::new(LIFECYCLE, ValueEffect::Alters, "stability-decreased", "stability-increased"),
    harmless("stability-increased", "stability-decreased"),
];

const SUNSET_TOO_SOON: &str = "Clients have too little time to migrate.";
const SET_LATER_SUNSET: &str = "Set `x-sunset` to a later date, which leaves clients time to migrate.";
const SUNSET_UNKNOWN: &str = "Clients know that support ends, but not when.";
const SET_SUNSET: &str = "Set `x-sunset` to a date (YYYY-MM-DD) that leaves clients time to migrate.";
const STABILITY_EXPECTED: &str = "Clients rely on the stability level that was promised.";
const KEEP_STABILITY_LEVEL: &str = "Keep the level, and add unstable features separately.";
const NOT_REPORTED: Inverse = Inverse::None(NO_INVERSE);

/// The rules about operations.
pub(crate) const RULES: &[Rule] = &[
    Rule::info("endpoint-deprecated", Inverse::Of("endpoint-reactivated")),
    Rule::info("endpoint-deprecated-with-sunset", Inverse::Of("endpoint-reactivated")),
    Rule::info("endpoint-reactivated", Inverse::Of("api-deprecated-sunset-missing")),
    Rule::error(
        "api-deprecated-sunset-missing",
        Inverse::Of("endpoint-reactivated"),
        SUNSET_UNKNOWN,
        SET_SUNSET,
    ),
    Rule::error("api-deprecated-sunset-parse", NOT_REPORTED, SUNSET_UNKNOWN, SET_SUNSET),
    Rule::error("api-sunset-date-too-small", NOT_REPORTED, SUNSET_TOO_SOON, SET_LATER_SUNSET),
    Rule::error("sunset-deleted", NOT_REPORTED, SUNSET_UNKNOWN, "Keep `x-sunset` while it is deprecated."),
    Rule::error("api-sunset-date-changed-too-small", NOT_REPORTED, SUNSET_TOO_SOON, SET_LATER_SUNSET),
    Rule::error(
        "api-stability-decreased",
        Inverse::Of("api-stability-increased"),
        STABILITY_EXPECTED,
        KEEP_STABILITY_LEVEL,
    ),
    Rule::info("api-stability-increased", Inverse::Of("api-stability-decreased")),
    Rule::error(
        "api-invalid-stability-level",
        Inverse::None("a valid level is not reported"),
        "The stability level is unknown.",
        "Use `draft`, `alpha`, `beta` or `stable`.",
    ),
];

/// Compares the lifecycle of an operation.
pub(super) fn compare_operation(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    base: (&Node, Span),
    revision: (&Node, Span),
) {
    let (base, revision) = (Lifecycle::of_node(base.0, base.1), Lifecycle::of_node(revision.0, revision.1));
    for change in lifecycle_changes(&base, &revision, comparison.today, comparison.grace_periods) {
        let id = match change.kind {
            "reactivated" => "endpoint-reactivated",
            "deprecated" => "endpoint-deprecated",
            "with-sunset" => "endpoint-deprecated-with-sunset",
            "sunset-missing" => "api-deprecated-sunset-missing",
            "sunset-invalid" => "api-deprecated-sunset-parse",
            "sunset-too-small" => "api-sunset-date-too-small",
            "sunset-changed-too-small" => "api-sunset-date-changed-too-small",
            "stability-decreased" => "api-stability-decreased",
            "stability-increased" => "api-stability-increased",
            "stability-invalid" => "api-invalid-stability-level",
            kind => kind,
        };
        comparison.report(id, operation_path, change.positions, &change.details, change.message);
    }
}

/// Returns the suffix of the schema rule for a change of a parameter, a header or a schema. For an invalid sunset of a
/// parameter, returns `sunset-parse`, which is not a schema rule.
fn rule_suffix(change: &LifecycleChange, is_parameter: bool) -> &'static str {
    match change.kind {
        "with-sunset" => "deprecated-with-sunset",
        "sunset-missing" => "deprecated-sunset-missing",
        "sunset-invalid" if is_parameter => "sunset-parse",
        "sunset-invalid" => "deprecated-sunset-invalid",
        "sunset-too-small" => "sunset-date-too-small",
        "sunset-changed-too-small" => "sunset-date-changed-too-small",
        "stability-invalid" => "stability-decreased",
        _ => change.kind,
    }
}

/// Compares the lifecycle of a parameter.
pub(super) fn compare_parameter(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    base: (&Node, Span),
    revision: (&Node, Span),
) {
    let (base, revision) = (Lifecycle::of_node(base.0, base.1), Lifecycle::of_node(revision.0, revision.1));
    for change in lifecycle_changes(&base, &revision, comparison.today, comparison.grace_periods) {
        let suffix = rule_suffix(&change, true);
        if suffix == "sunset-parse" {
            comparison.report(
                "request-parameter-sunset-parse",
                operation_path,
                change.positions,
                &change.details,
                change.message,
            );
        } else {
            comparison.report_by_schema_rule(
                SchemaSite::Parameter,
                suffix,
                operation_path,
                change.positions,
                &change.details,
                change.message,
            );
        }
    }
}

/// Compares the lifecycle of a header that the server sends.
pub(super) fn compare_response_header(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    base: (&Node, Span),
    revision: (&Node, Span),
) {
    let (base, revision) = (Lifecycle::of_node(base.0, base.1), Lifecycle::of_node(revision.0, revision.1));
    for change in lifecycle_changes(&base, &revision, comparison.today, comparison.grace_periods) {
        let suffix = rule_suffix(&change, false);
        comparison.report_by_schema_rule(
            SchemaSite::ResponseHeader,
            suffix,
            operation_path,
            change.positions,
            &change.details,
            change.message,
        );
    }
}

/// Compares the lifecycle of a schema and of the values of its enum.
pub(crate) fn compare_schema_lifecycle<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let lifecycle = |view: &SchemaView<'n>| Lifecycle::of(|key| view.entry(key), view.span);
    let (base, revision) = (lifecycle(&pair.base), lifecycle(&pair.revision));
    for change in lifecycle_changes(&base, &revision, comparison.today, comparison.grace_periods) {
        pair.report(
            comparison,
            rule_suffix(&change, false),
            change.positions,
            &change.details,
            change.message,
        );
    }
    let values =
        |view: &SchemaView<'n>| view.entry("x-deprecated-values").and_then(|entry| entry.value.entries());
    let deprecated = [values(&pair.base), values(&pair.revision)].map(Option::unwrap_or_default);
    let names: BTreeSet<&str> =
        deprecated.into_iter().flatten().map(|entry| entry.key.text.as_str()).collect();
    // No client uses a value that is new, or that was removed.
    let is_kept = |name: &&str| lists_value(&pair.base, name) && lists_value(&pair.revision, name);
    for name in names.into_iter().filter(is_kept) {
        compare_value_lifecycle(comparison, pair, name, deprecated);
    }
}

/// Returns whether a schema lists a text in its enum.
fn lists_value(view: &SchemaView<'_>, name: &str) -> bool {
    let listed = view.entry("enum").and_then(|entry| entry.value.items()).unwrap_or_default();
    listed.iter().any(|value| value.as_str() == Some(name))
}

/// Compares the lifecycle of a value of an enum. `deprecated` are the entries of `x-deprecated-values`.
fn compare_value_lifecycle<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    name: &str,
    [base, revision]: [&'n [Entry]; 2],
) {
    let entry = |entries: &'n [Entry]| entries.iter().find(|entry| entry.key.text == name);
    let base = Lifecycle::of_value(entry(base), pair.base.span);
    let revision = Lifecycle::of_value(entry(revision), pair.revision.span);
    for change in lifecycle_changes(&base, &revision, comparison.today, comparison.grace_periods) {
        let details = format!("{name} {}", change.details);
        let message = format!("the value `{name}`: {}", change.message);
        pair.report(comparison, rule_suffix(&change, false), change.positions, details.trim_end(), message);
    }
}

/// Whether an object can be removed.
pub(crate) enum RemovalStatus {
    /// It is not deprecated in the base.
    NotDeprecated,
    /// Its sunset is not a date.
    InvalidSunset(String),
    /// Its sunset is in the future.
    BeforeSunset(Date),
    /// Its removal was announced, or its stability level (draft or alpha) requires no announcement.
    Announced,
}

/// Whether the removal of all operations of path items was announced, so that they can be removed on the date `today`.
pub(super) fn is_removal_announced<'n>(items: impl IntoIterator<Item = PathItem<'n>>, today: Date) -> bool {
    let is_announced = |(_, operation): (Method<'_>, &Entry)| {
        matches!(removal_status(&operation.value, today), RemovalStatus::Announced)
    };
    items.into_iter().all(|item| item.operations().all(is_announced))
}

/// Returns whether an object can be removed on the date `today`.
pub(super) fn removal_status(node: &Node, today: Date) -> RemovalStatus {
    status(Lifecycle::of_node(node, node.span), today)
}

/// Returns whether a property with this schema can be removed on the date `today`.
pub(crate) fn property_removal_status(view: &SchemaView<'_>, today: Date) -> RemovalStatus {
    status(Lifecycle::of(|key| view.entry(key), view.span), today)
}

fn status(lifecycle: Lifecycle, today: Date) -> RemovalStatus {
    if matches!(lifecycle.stability, Some(Ok(0 | 1))) {
        return RemovalStatus::Announced;
    }
    match (lifecycle.deprecated, lifecycle.sunset) {
        (false, _) => RemovalStatus::NotDeprecated,
        (true, Some(Err(text))) => RemovalStatus::InvalidSunset(text),
        (true, Some(Ok(date))) if today < date => RemovalStatus::BeforeSunset(date),
        (true, _) => RemovalStatus::Announced,
    }
}
