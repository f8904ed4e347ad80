//! Compares deprecation, sunset and stability, as oasdiff does.
//!
//! `x-sunset` is the date on which a deprecated object can be removed. `x-stability-level` (draft, alpha, beta, stable)
//! is the level of the compatibility promise.

use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;
use jiff::civil::Date;

use super::{Comparison, OperationPath, Positions};
use crate::rule::{Inverse, Rule, SchemaRule, SchemaSite, Topic, ValueEffect};
use crate::schema::SchemaPair;
use crate::schema::view::SchemaView;

/// The minimum number of days between today and the sunset of a deprecated object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GracePeriods {
    /// At stability level stable, and without a level.
    pub days: i32,
    /// At stability level beta.
    pub beta_days: i32,
}

impl GracePeriods {
    /// The periods of this project.
    pub(crate) const PROJECT: Self = Self { days: 180, beta_days: 31 };
    /// No minimum.
    pub(crate) const NONE: Self = Self { days: 0, beta_days: 0 };
}

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
const SET_LATER_SUNSET: &str =
    "Set `x-sunset` to a date at least 180 days in the future (31 days at stability level beta).";
const SUNSET_UNKNOWN: &str = "Clients know that support ends, but not when.";
const SET_SUNSET: &str = "Set `x-sunset` to a date (YYYY-MM-DD) at least 180 days in the future.";
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

/// The lifecycle keywords of an object.
struct Lifecycle {
    deprecated: bool,
    /// The date of `x-sunset`, or its text if it is not a date.
    sunset: Option<Result<Date, String>>,
    /// The index in [`STABILITY_LEVELS`], or the unknown level.
    stability: Option<Result<u8, String>>,
    /// The position of `deprecated`, or that of the object if it lacks the keyword.
    span: Span,
    /// The position of `x-sunset`, or `span` if the object lacks the keyword.
    sunset_span: Span,
}

/// The stability levels, from the lowest to the highest.
const STABILITY_LEVELS: [&str; 4] = ["draft", "alpha", "beta", "stable"];

impl Lifecycle {
    fn of<'n>(entry: impl Fn(&str) -> Option<&'n Entry>, span: Span) -> Self {
        let deprecated = entry("deprecated");
        let sunset = entry("x-sunset");
        let stability = entry("x-stability-level").map(|entry| {
            let level = entry.value.as_str().unwrap_or_default();
            let index = STABILITY_LEVELS.iter().position(|name| *name == level);
            index.map(|index| u8::try_from(index).unwrap_or(u8::MAX)).ok_or_else(|| level.to_owned())
        });
        let position_of = |entry: Option<&Entry>| entry.map(|entry| entry.key.span);
        Self {
            deprecated: deprecated.is_some_and(|entry| matches!(entry.value.value, Value::Bool(true))),
            sunset: sunset.map(|entry| parse_date(entry.value.as_str().unwrap_or_default())),
            stability,
            span: position_of(deprecated).unwrap_or(span),
            sunset_span: position_of(sunset).or_else(|| position_of(deprecated)).unwrap_or(span),
        }
    }

    fn of_node(node: &Node, span: Span) -> Self {
        Self::of(|key| node.entry(key), span)
    }

    /// Returns the minimum number of days between today and the sunset.
    fn grace_days(&self, periods: GracePeriods) -> i32 {
        match self.stability {
            Some(Ok(0 | 1)) => 0,
            Some(Ok(2)) => periods.beta_days,
            _ => periods.days,
        }
    }

    /// Returns the index of the stability level; without a valid level, that of `stable`.
    fn stability_level(&self) -> u8 {
        self.stability.as_ref().and_then(|level| level.as_ref().ok().copied()).unwrap_or(3)
    }
}

/// Parses the date of an RFC 3339 date or timestamp. Returns the text itself if it is neither.
fn parse_date(text: &str) -> Result<Date, String> {
    let date = text.get(..10).unwrap_or(text);
    let time = text.get(10..).unwrap_or_default();
    let is_valid = time.is_empty() || time.starts_with(['T', 't', ' ']);
    if is_valid { date.parse().map_err(|_| text.to_owned()) } else { Err(text.to_owned()) }
}

/// A change of the lifecycle. The rule depends on `kind` and on the object: see [`compare_operation`] and
/// [`rule_suffix`].
struct LifecycleChange {
    kind: &'static str,
    positions: Positions,
    details: String,
    message: String,
}

fn lifecycle_changes(
    base: &Lifecycle,
    revision: &Lifecycle,
    today: Date,
    periods: GracePeriods,
) -> Vec<LifecycleChange> {
    let mut changes = Vec::new();
    let mut add = |kind, positions, details: String, message: String| {
        changes.push(LifecycleChange { kind, positions, details, message })
    };
    let positions = Positions::new(base.span, revision.span);
    let sunset_positions = Positions::new(base.sunset_span, revision.sunset_span);
    let grace_days = revision.grace_days(periods);
    match (base.deprecated, revision.deprecated) {
        (true, false) => {
            add("reactivated", positions, String::new(), "the deprecation was withdrawn".to_owned())
        }
        (false, true) => match &revision.sunset {
            None if grace_days > 0 => {
                add("sunset-missing", positions, String::new(), "deprecated without `x-sunset`".to_owned());
            }
            None => add("deprecated", positions, String::new(), "deprecated".to_owned()),
            Some(Err(text)) => {
                add(
                    "sunset-invalid",
                    sunset_positions,
                    text.clone(),
                    format!("the sunset `{text}` is not a date"),
                );
            }
            Some(Ok(date)) if days_between(today, *date) < grace_days => {
                add(
                    "sunset-too-small",
                    sunset_positions,
                    date.to_string(),
                    too_soon_message(*date, days_between(today, *date), grace_days),
                );
            }
            Some(Ok(date)) => {
                add("with-sunset", positions, date.to_string(), format!("deprecated with sunset on {date}"));
            }
        },
        (true, true) => add_sunset_change(base, revision, (today, grace_days), &mut add),
        (false, false) => {}
    }
    add_stability_change(base, revision, &mut add);
    changes
}

/// Adds the change of the sunset of an object that is deprecated in both documents.
fn add_sunset_change(
    base: &Lifecycle,
    revision: &Lifecycle,
    (today, grace_days): (Date, i32),
    add: &mut impl FnMut(&'static str, Positions, String, String),
) {
    let sunset_positions = Positions::new(base.sunset_span, revision.sunset_span);
    match (&base.sunset, &revision.sunset) {
        (Some(_), None) => {
            add("sunset-deleted", sunset_positions, String::new(), "`x-sunset` was removed".to_owned())
        }
        (_, Some(Err(text))) if base.sunset != revision.sunset => {
            add(
                "sunset-invalid",
                sunset_positions,
                text.clone(),
                format!("the sunset `{text}` is not a date"),
            );
        }
        (Some(Ok(before)), Some(Ok(after))) if after < before && days_between(today, *after) < grace_days => {
            let message = format!(
                "the sunset changed from {before} to {after}, which is in {} days; at least {grace_days} are required",
                days_between(today, *after)
            );
            add("sunset-changed-too-small", sunset_positions, format!("{before} to {after}"), message);
        }
        (Some(Ok(before)), Some(Ok(after))) if after != before => {
            let message = format!("the sunset changed from {before} to {after}");
            add("with-sunset", sunset_positions, format!("{before} to {after}"), message);
        }
        // The base had no valid sunset.
        (None | Some(Err(_)), Some(Ok(after))) if days_between(today, *after) < grace_days => {
            add(
                "sunset-too-small",
                sunset_positions,
                after.to_string(),
                too_soon_message(*after, days_between(today, *after), grace_days),
            );
        }
        (None | Some(Err(_)), Some(Ok(after))) => {
            add("with-sunset", sunset_positions, after.to_string(), format!("the sunset was set to {after}"));
        }
        _ => {}
    }
}

fn days_between(today: Date, date: Date) -> i32 {
    date.since(today).map_or(0, |span| span.get_days())
}

fn too_soon_message(date: Date, days: i32, grace_days: i32) -> String {
    format!("the sunset on {date} is in {days} days; at least {grace_days} are required")
}

fn add_stability_change(
    base: &Lifecycle,
    revision: &Lifecycle,
    add: &mut impl FnMut(&'static str, Positions, String, String),
) {
    let positions = Positions::new(base.span, revision.span);
    if let Some(Err(level)) = &revision.stability {
        if base.stability != revision.stability {
            let message = format!("`{level}` is not a stability level");
            add("stability-invalid", positions, level.clone(), message);
        }
        return;
    }
    let (before, after) = (base.stability_level(), revision.stability_level());
    let name = |level: u8| STABILITY_LEVELS[usize::from(level).min(3)];
    let details = format!("{} to {}", name(before), name(after));
    let message = format!("the stability level changed from {details}");
    match before.cmp(&after) {
        std::cmp::Ordering::Greater => add("stability-decreased", positions, details, message),
        std::cmp::Ordering::Less => add("stability-increased", positions, details, message),
        std::cmp::Ordering::Equal => {}
    }
}

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

/// Compares the lifecycle of a schema.
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
}

/// Whether an object can be removed.
pub(super) enum RemovalStatus {
    /// It is not deprecated in the base.
    NotDeprecated,
    /// Its sunset is not a date.
    InvalidSunset(String),
    /// Its sunset is in the future.
    BeforeSunset(Date),
    /// Its removal was announced, or its stability level (draft or alpha) requires no announcement.
    Announced,
}

/// Returns whether an object can be removed on the date `today`.
pub(super) fn removal_status(node: &Node, today: Date) -> RemovalStatus {
    let lifecycle = Lifecycle::of_node(node, node.span);
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
