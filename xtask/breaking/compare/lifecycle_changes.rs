//! The lifecycle of an object (deprecation, sunset and stability), and its changes.

use contract::node::{Entry, Node, Value};
use contract::source::Span;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use super::Positions;
use crate::schema::value;

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

/// The lifecycle keywords of an object.
pub(super) struct Lifecycle {
    /// Whether it is deprecated.
    pub deprecated: bool,
    /// The date of `x-sunset`, or its text if it is not a date.
    pub sunset: Option<Result<Date, String>>,
    /// The index in [`STABILITY_LEVELS`], or the unknown level.
    pub stability: Option<Result<u8, String>>,
    /// The position of `deprecated`, or that of the object if it lacks the keyword.
    pub span: Span,
    /// The position of `x-sunset`, or `span` if the object lacks the keyword.
    pub sunset_span: Span,
}

/// The stability levels, from the lowest to the highest.
const STABILITY_LEVELS: [&str; 4] = ["draft", "alpha", "beta", "stable"];

impl Lifecycle {
    pub(super) fn of<'n>(entry: impl Fn(&str) -> Option<&'n Entry>, span: Span) -> Self {
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
            sunset: sunset.map(|entry| match entry.value.as_str() {
                Some(text) => parse_date(text),
                None => Err(value::display_value(&entry.value)),
            }),
            stability,
            span: position_of(deprecated).unwrap_or(span),
            sunset_span: position_of(sunset).or_else(|| position_of(deprecated)).unwrap_or(span),
        }
    }

    pub(super) fn of_node(node: &Node, span: Span) -> Self {
        Self::of(|key| node.entry(key), span)
    }

    /// Returns the lifecycle of a value of an enum. `entry` is its entry in `x-deprecated-values`, and `span` the position of the enum.
    pub(super) fn of_value(entry: Option<&Entry>, span: Span) -> Self {
        match entry {
            Some(entry) => Self { deprecated: true, ..Self::of_node(&entry.value, entry.key.span) },
            None => Self::of(|_| None, span),
        }
    }

    /// Returns the minimum number of days between today and the sunset.
    pub(super) fn grace_days(&self, periods: GracePeriods) -> i32 {
        match self.stability {
            Some(Ok(0 | 1)) => 0,
            Some(Ok(2)) => periods.beta_days,
            _ => periods.days,
        }
    }

    /// Returns the index of the stability level; without a valid level, that of `stable`.
    pub(super) fn stability_level(&self) -> u8 {
        self.stability.as_ref().and_then(|level| level.as_ref().ok().copied()).unwrap_or(3)
    }
}

/// Parses the date of an RFC 3339 date or timestamp. Returns the text itself if it is neither, or does not exist.
fn parse_date(text: &str) -> Result<Date, String> {
    let is_timestamp = text.get(10..).is_some_and(|time| time.starts_with(['T', 't', ' ']));
    let date = match text.get(..10) {
        Some(date) if is_timestamp => is_timestamp_valid(text).then(|| date.parse().ok()).flatten(),
        Some(date) if date == text => date.parse().ok(),
        _ => None,
    };
    date.ok_or_else(|| text.to_owned())
}

/// Whether a text is a timestamp, with or without an offset from UTC.
fn is_timestamp_valid(text: &str) -> bool {
    text.parse::<Timestamp>().is_ok() || text.parse::<DateTime>().is_ok()
}

/// A change of the lifecycle. The rule depends on `kind` and on the object: see `compare_operation` and `rule_suffix` in
/// `lifecycle.rs`.
pub(super) struct LifecycleChange {
    /// The kind of change, such as `sunset-missing`.
    pub kind: &'static str,
    /// The positions in both documents.
    pub positions: Positions,
    /// What distinguishes this change from others of the same rule and path in the finding's fingerprint, such as the dates.
    pub details: String,
    /// What changed.
    pub message: String,
}

pub(super) fn lifecycle_changes(
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
                let message = format!("deprecated without `x-sunset`, which {}", required_days(grace_days));
                add("sunset-missing", positions, String::new(), message);
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
                "the sunset changed from {before} to {after}, which {}; it {}",
                relative_days(days_between(today, *after)),
                required_days(grace_days)
            );
            add("sunset-changed-too-small", sunset_positions, format!("{before} to {after}"), message);
        }
        (Some(Ok(before)), Some(Ok(after))) if after != before => {
            let direction = if after < before { "earlier" } else { "later" };
            let message = format!("the sunset is now {after}, {direction} than {before}");
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
    let relative = relative_days(days);
    format!("the sunset on {date} {relative}; it {}", required_days(grace_days))
}

/// Describes the earliest date of a sunset.
fn required_days(grace_days: i32) -> String {
    match grace_days {
        ..=0 => "must not be in the past".to_owned(),
        1 => "must be at least 1 day away".to_owned(),
        _ => format!("must be at least {grace_days} days away"),
    }
}

/// Describes a date relative to today.
fn relative_days(days: i32) -> String {
    match days {
        0 => "is today".to_owned(),
        1 => "is tomorrow".to_owned(),
        -1 => "was yesterday".to_owned(),
        ..0 => format!("was {} days ago", -days),
        _ => format!("is in {days} days"),
    }
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
