//! Delivery controls of a subscription: the filter, custom request headers, the rate, and Ed25519 signatures.
//!
//! Everything that changes them uses this module, so that there is one validation. Test events, replays and resends
//! ignore the filter.

use std::collections::HashMap;

use entity::rollups::DAY_MS;
use entity::webhook_subscriptions::{self, ActiveModel};
use entity::{Set, events, webhook_deliveries, webhook_rates};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::field_errors::FieldErrors;
use super::super::records::id;
use super::super::{Result, WriteOutcome};
use super::row::{lock, subscription};
use super::{Subscription, get, headers, signing_keys};
use crate::app::App;
use crate::master_key;
use crate::outbox::RETENTION_DAYS;
use crate::outbox::filters::{self, Condition};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{EventId, SubscriptionId, WorkspaceId, min_uuid_at};
use foundation::secret::Seal;

/// The rates that a subscription can have, in deliveries per second.
const RATES: std::ops::RangeInclusive<i32> = 1..=1_000;
/// Maximum number of events that a dry run reads, of all types.
const MAX_READ: usize = 10_000;
/// Number of events that a dry run reads at a time.
const PAGE: u64 = 500;
/// Maximum number of examples of a dry run.
const MAX_EXAMPLES: usize = 5;

/// A change of the delivery controls. Fields that are `None` remain unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ControlsChange {
    /// Conditions, one per line; see [`filters`]. Empty for no filter.
    pub filter: Option<String>,
    /// Headers `Name: value`; see [`headers`]. Empty for none.
    pub headers: Option<Vec<String>>,
    /// The number of deliveries per second. Empty for no rate.
    pub rate: Option<String>,
    /// Whether requests also have an Ed25519 signature.
    pub ed25519: Option<bool>,
}

/// Changes the delivery controls of a subscription when the write commits. A new filter concerns later events; a new rate
/// also concerns deliveries that wait.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) for a missing subscription,
/// [`Error::Invalid`](crate::Error::Invalid) with the index of each invalid line, and
/// [`Error::Internal`](crate::Error::Internal) when a query fails, or when the master key of the seal has been replaced.
pub async fn change(
    app: &App,
    write: &mut Write,
    seal: &Seal,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    change: ControlsChange,
) -> Result<WriteOutcome<Subscription>> {
    let mut row = lock(write, workspace, subscription_id).await?;
    let (before, mut errors) = (row.clone(), FieldErrors::default());
    if let Some(text) = &change.filter {
        let filter = normalize(text, &row.event_types.0, &mut errors);
        row.filters = (!filter.is_empty()).then_some(filter);
    }
    if let Some(text) = change.rate.as_deref().map(str::trim) {
        row.rate = text.parse().ok().filter(|rate| RATES.contains(rate));
        if row.rate.is_none() && !text.is_empty() {
            errors.add("rate", "must be a number from 1 to 1000, or empty for no limit");
        }
    }
    if let Some(lines) = &change.headers {
        match headers::encrypt(seal, row.id, lines, row.headers.as_ref())? {
            Ok(headers) => row.headers = (!headers.0.is_empty()).then_some(headers),
            Err(invalid) => add_lines(&mut errors, "headers", invalid),
        }
    }
    errors.into_result()?;
    row.ed25519 = change.ed25519.unwrap_or(row.ed25519);
    if row == before {
        return Ok(WriteOutcome::unchanged(subscription(row)));
    }
    if row.headers.is_some() && row.headers != before.headers {
        master_key::check_seal(write, seal).await?;
    }
    if row.ed25519 && !before.ed25519 {
        signing_keys::ensure(app, write, seal, workspace).await?;
    }
    match row.rate {
        rate if rate == before.rate => {}
        Some(rate) => {
            webhook_rates::put(write.conn(), webhook_rates::Model::new(row.id, rate.into())).await?
        }
        None => webhook_rates::delete(write.conn(), row.id).await?,
    }
    row.updated_at = write.recorded_ms();
    let changes = ActiveModel {
        filters: Set(row.filters.clone()),
        headers: Set(row.headers.clone()),
        rate: Set(row.rate),
        ed25519: Set(row.ed25519),
        updated_at: Set(row.updated_at),
        ..Default::default()
    };
    webhook_subscriptions::in_workspace(workspace.uuid()).update(write.conn(), row.id, changes).await?;
    let app = app.clone();
    write.after_commit(move || app.fast_path().wake_signal().wake());
    Ok(WriteOutcome::changed(subscription(row)))
}

/// Describes a change of the delivery controls for the audit log, without the values of headers.
pub fn describe(subscription: &Subscription) -> String {
    let conditions = count_conditions(subscription.filter.lines().count());
    let headers = subscription.header_names.join(" ");
    let rate = subscription.rate.map_or_else(|| "none".to_owned(), |rate| format!("{rate}/s"));
    let ed25519 = if subscription.ed25519 { "yes" } else { "no" };
    format!("{conditions}, headers: {headers}, rate: {rate}, Ed25519: {ed25519}, {}", subscription.url)
}

/// Validates a filter of a subscription to these event types, and returns its stored form.
fn normalize(text: &str, event_types: &[String], errors: &mut FieldErrors) -> String {
    let filter = match filters::normalize(text) {
        Ok(filter) => filter,
        Err(invalid) => {
            add_lines(errors, "filter", invalid);
            return String::new();
        }
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (index, condition) in lines.filter_map(|(index, line)| Some((index, Condition::parse(line).ok()?))) {
        let event_type = condition.event_type.as_str();
        if event_types.iter().all(|known| known != event_type) {
            let message = format!("`{event_type}` is not one of the event types; add it to them first");
            add_lines(errors, "filter", vec![(index, message)]);
        }
    }
    filter
}

/// Removes the conditions on other event types than these from a stored filter.
pub(super) fn retain_event_types(filter: &str, event_types: &[String]) -> String {
    let is_kept = |line: &&str| {
        let condition = Condition::parse(line);
        condition.is_ok_and(|condition| event_types.iter().any(|name| name == condition.event_type.as_str()))
    };
    filter.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

/// Describes a change of the URL, the event types or the description for the audit log. `before` is the subscription before it.
pub fn describe_edit(before: &Subscription, edited: &Subscription) -> String {
    let mut detail = edited.url.clone();
    if before.description != edited.description {
        detail.push_str(", changed the description");
    }
    let removed = before.filter.lines().count().saturating_sub(edited.filter.lines().count());
    if removed > 0 {
        detail += &format!(", removed {} on removed event types", count_conditions(removed));
    }
    detail
}

fn count_conditions(count: usize) -> String {
    format!("{count} condition{}", if count == 1 { "" } else { "s" })
}

fn add_lines(errors: &mut FieldErrors, field: &str, invalid: Vec<(usize, String)>) {
    for (index, message) in invalid {
        errors.add(format!("{field}/{index}"), format!("line {}: {message}", index + 1));
    }
}

/// What a filter would have matched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DryRun {
    /// The number of events that were examined, and the number of those that match, by event type.
    pub counts: Vec<(String, u64, u64)>,
    /// Whether all events of the last 30 days were read. Otherwise only the newest 10,000 were, of all types.
    pub is_complete: bool,
    /// The newest events that match.
    pub examples: Vec<DryRunExample>,
}

/// An event that matches a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DryRunExample {
    /// The event.
    pub event: EventId,
    /// Its type.
    pub event_type: String,
    /// When it happened.
    pub created_at: Timestamp,
}

impl DryRun {
    /// Returns the number of events that match.
    pub fn matched(&self) -> u64 {
        self.counts.iter().map(|(_, _, matched)| matched).sum()
    }

    /// Returns the number of events that were examined.
    pub fn examined(&self) -> u64 {
        self.counts.iter().map(|(_, examined, _)| examined).sum()
    }

    /// Counts an examined event, and adds it to the examples if it is one of the first that match.
    fn count(&mut self, row: &events::Model, is_match: bool) {
        let count = self.counts.iter_mut().find(|(name, _, _)| *name == row.event_type);
        count.into_iter().for_each(|(_, examined, matched)| {
            *examined += 1;
            *matched += u64::from(is_match);
        });
        if is_match && self.examples.len() < MAX_EXAMPLES {
            let (event, event_type) = (id(row.id), row.event_type.clone());
            self.examples.push(DryRunExample { event, event_type, created_at: from_ms(row.created_at) });
        }
    }
}

/// Evaluates a filter for the events of the last 30 days that the subscription's event types include. Reads the newest
/// 10,000 events of the workspace, so that an event type that is rare does not make it slow.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) for a missing subscription, and
/// [`Error::Invalid`](crate::Error::Invalid) for an invalid filter.
pub async fn dry_run(
    app: &App,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    filter: &str,
) -> Result<DryRun> {
    let event_types = get(app, workspace, subscription_id).await?.event_types;
    let mut errors = FieldErrors::default();
    let filter = normalize(filter, &event_types, &mut errors);
    errors.into_result()?;
    let conditions: HashMap<&str, Vec<Condition>> =
        event_types.iter().map(|name| (name.as_str(), filters::conditions(&filter, name))).collect();
    let counts = event_types.iter().map(|name| (name.clone(), 0, 0)).collect();
    let mut dry_run = DryRun { counts, ..DryRun::default() };
    let since = app.clock.now_ms() - RETENTION_DAYS * DAY_MS;
    let (from, mut before, mut read) = (min_uuid_at(since), Uuid::max(), 0);
    while read < MAX_READ {
        let rows = events::in_workspace(workspace.uuid()).newest(app.db.read(), (from, before), PAGE).await?;
        before = rows.last().map_or(before, |row| row.id);
        read += rows.len();
        // An import records events long after they happened.
        for row in rows.iter().filter(|row| !row.is_test && row.created_at >= since) {
            let Some(conditions) = conditions.get(&*row.event_type) else { continue };
            let lists = std::slice::from_ref(conditions);
            let is_match = filters::evaluate(app, &row.body, lists).into_iter().all(|holds| holds);
            dry_run.count(row, is_match);
        }
        if u64::try_from(rows.len()).is_ok_and(|count| count < PAGE) {
            dry_run.is_complete = true;
            break;
        }
    }
    Ok(dry_run)
}

/// Returns whether a subscription has a filter that no event met in the last 30 days. False for a subscription that was
/// changed within this time.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn matched_nothing(app: &App, subscription: &Subscription) -> Result<bool> {
    let since = app.clock.now_ms() - RETENTION_DAYS * DAY_MS;
    let is_filtered = !subscription.filter.is_empty() && subscription.updated_at.as_millisecond() <= since;
    let id = subscription.id.uuid();
    Ok(is_filtered && !webhook_deliveries::has_event_since(app.db.read(), id, since).await?)
}
