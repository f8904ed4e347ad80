//! What a workspace should look at: webhooks that fail, keys that end, quotas that run out.
//!
//! Only gathers what other nouns know; owns nothing but the thresholds.

use jiff::Timestamp;

use super::Result;
use super::keys::{self, KeyUsage};
use super::webhooks::{self, Counted, DeadFilter, Subscription, SubscriptionState};
use crate::app::App;
use foundation::id::WorkspaceId;

/// Milliseconds before its end from which a key is told of: 14 days.
const ENDS_SOON_MS: i64 = 14 * 86_400_000;
/// Percent of the day's quota from which a key is told of.
const NEARLY_USED: u64 = 80;

/// One thing to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attention {
    /// The subscription was disabled, since its endpoint failed for seven days.
    SubscriptionDisabled(Subscription),
    /// Every attempt of the subscription has failed since then.
    SubscriptionFailing(Subscription, Timestamp),
    /// So many deliveries were given up in the last 30 days and not sent again, of the newest that were given up.
    DeadLetters(Counted),
    /// The key has used 80 % of its day's quota or more.
    QuotaNearlyUsed(KeyUsage),
    /// The key ends then, within 14 days.
    KeyEnds(KeyUsage, Timestamp),
}

/// What the workspace should look at, the most urgent first.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<Attention>> {
    let now_ms = app.clock.now_ms();
    let subscriptions = webhooks::list(app, workspace).await?;
    let mut found: Vec<Attention> = subscriptions.iter().filter_map(disabled).collect();
    found.extend(subscriptions.iter().filter_map(failing));
    let dead = webhooks::count_some(app, workspace, &DeadFilter::default()).await?;
    found.extend((dead.found() > 0).then_some(Attention::DeadLetters(dead)));
    let live = |usage: &KeyUsage| {
        let ended = usage.key.expires_at.is_some_and(|end| end.as_millisecond() <= now_ms);
        usage.key.revoked_at.is_none() && !ended
    };
    let keys: Vec<KeyUsage> = keys::usage(app, workspace).await?.into_iter().filter(live).collect();
    found.extend(keys.iter().filter(|usage| nearly_used(usage)).cloned().map(Attention::QuotaNearlyUsed));
    found.extend(keys.into_iter().filter_map(|usage| ends(usage, now_ms)));
    Ok(found)
}

fn disabled(of: &Subscription) -> Option<Attention> {
    (of.state == SubscriptionState::Disabled).then(|| Attention::SubscriptionDisabled(of.clone()))
}

fn failing(of: &Subscription) -> Option<Attention> {
    let since = of.failing_since.filter(|_| of.state == SubscriptionState::Enabled)?;
    Some(Attention::SubscriptionFailing(of.clone(), since))
}

fn nearly_used(usage: &KeyUsage) -> bool {
    usage.calls_today * 100 >= u64::from(usage.quota.per_day.requests) * NEARLY_USED
}

fn ends(usage: KeyUsage, now_ms: i64) -> Option<Attention> {
    let end = usage.key.expires_at.filter(|end| end.as_millisecond() - now_ms <= ENDS_SOON_MS)?;
    Some(Attention::KeyEnds(usage, end))
}
