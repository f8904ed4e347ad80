//! Lists what needs attention in a workspace: failing webhooks, expiring keys, nearly used quotas, deprecated
//! parts of the API.
//!
//! The data comes from other modules; this module defines the thresholds.

use jiff::Timestamp;

use super::Result;
use super::deprecations::{self, UsedDeprecation};
use super::keys::{self, KeyUsage};
use super::webhooks::{self, CappedCount, DeadFilter, Subscription, SubscriptionState, replays};
use crate::app::App;
use foundation::id::WorkspaceId;

/// A key is listed when it expires within this time, in milliseconds: 14 days.
const EXPIRES_SOON_MS: i64 = 14 * 86_400_000;
/// A key is listed when it has used at least this percentage of its daily quota.
const NEARLY_USED_PERCENT: u64 = 80;

/// An item that needs attention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attention {
    /// The subscription was disabled because every attempt failed for seven days.
    SubscriptionDisabled(Subscription),
    /// The subscription is enabled, and every attempt has failed since this time.
    SubscriptionFailing(Subscription, Timestamp),
    /// The number of deliveries that were dead-lettered in the last 30 days and not replayed. Only the newest dead
    /// letters are examined.
    DeadLetters(CappedCount),
    /// The key has used at least 80% of its daily quota.
    QuotaNearlyUsed(KeyUsage),
    /// The key expires at this time, within 14 days.
    KeyExpires(KeyUsage, Timestamp),
    /// Keys used something deprecated in the last 30 days.
    Deprecated(UsedDeprecation),
}

/// Returns what needs attention in a workspace, in the order of the variants of [`Attention`]. Omits revoked and
/// expired keys.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<Attention>> {
    let now = app.clock.now();
    let subscriptions = webhooks::list(app, workspace).await?;
    let mut items: Vec<Attention> = subscriptions.iter().filter_map(disabled).collect();
    items.extend(subscriptions.iter().filter_map(failing));
    let dead_letters = replays::count_newest(app, workspace, &DeadFilter::default()).await?;
    items.extend((dead_letters.counted() > 0).then_some(Attention::DeadLetters(dead_letters)));
    let keys = keys::list_usage(app, workspace).await?.into_iter();
    let keys: Vec<KeyUsage> = keys.filter(|usage| usage.key.is_valid(now)).collect();
    items.extend(keys.iter().filter(|usage| is_nearly_used(usage)).cloned().map(Attention::QuotaNearlyUsed));
    items.extend(keys.into_iter().filter_map(|usage| expires_soon(usage, now.as_millisecond())));
    items.extend(deprecations::recent(app, Some(workspace)).await?.into_iter().map(Attention::Deprecated));
    Ok(items)
}

fn disabled(subscription: &Subscription) -> Option<Attention> {
    (subscription.state == SubscriptionState::Disabled)
        .then(|| Attention::SubscriptionDisabled(subscription.clone()))
}

fn failing(subscription: &Subscription) -> Option<Attention> {
    let since = subscription.failing_since.filter(|_| subscription.state == SubscriptionState::Enabled)?;
    Some(Attention::SubscriptionFailing(subscription.clone(), since))
}

fn is_nearly_used(usage: &KeyUsage) -> bool {
    usage.calls_today * 100 >= u64::from(usage.quota.per_day.requests) * NEARLY_USED_PERCENT
}

fn expires_soon(usage: KeyUsage, now_ms: i64) -> Option<Attention> {
    let end = usage.key.expires_at.filter(|end| end.as_millisecond() - now_ms <= EXPIRES_SOON_MS)?;
    Some(Attention::KeyExpires(usage, end))
}
