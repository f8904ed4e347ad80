//! Notices about what needs attention, each with a link to the page that resolves it.

use jiff::Timestamp;
use jiff::civil::Date;

use super::super::webhooks;
use crate::ui::{self, Badge, PageZone, Tone};
use domain::attention::Attention;
use domain::deprecations::UsedDeprecation;

/// A notice on the overview.
pub(super) struct AttentionNotice {
    tone: Tone,
    /// The text of the badge.
    state: &'static str,
    pub(super) text: String,
    /// URL and label of the link.
    pub(super) href: String,
    pub(super) link: &'static str,
}

impl AttentionNotice {
    /// Creates the notice on this UTC day. Daily quotas reset at `quota_resets_at`.
    pub(super) fn new(
        attention: &Attention,
        zone: &PageZone,
        today: Date,
        quota_resets_at: Timestamp,
    ) -> Self {
        let (tone, state, text, href, link) = match attention {
            Attention::SubscriptionDisabled(subscription) => (
                Tone::Bad,
                "disabled",
                format!(
                    "Every attempt to deliver to {} failed for seven days. Deliveries are held until you enable the \
                     webhook.",
                    subscription.url
                ),
                webhooks::path(&subscription.id),
                "View failures and enable",
            ),
            Attention::SubscriptionFailing(subscription, since) => (
                Tone::Warn,
                "failing",
                format!(
                    "Every attempt to deliver to {} has failed since {}.",
                    subscription.url,
                    zone.text(since)
                ),
                webhooks::path(&subscription.id),
                "View deliveries",
            ),
            Attention::DeadLetters(count) => (
                Tone::Warn,
                "dead letters",
                format!("{} failed permanently in the last 30 days.", webhooks::delivery_count(count)),
                webhooks::DEAD_LETTERS.to_owned(),
                "View and replay dead letters",
            ),
            Attention::QuotaNearlyUsed(usage) => (
                Tone::Warn,
                "quota",
                format!(
                    "Key {} has used {} of its {} requests per day. The quota resets at {}.",
                    usage.key.name,
                    ui::number(usage.calls_today),
                    ui::number(usage.quota.per_day.requests),
                    zone.text(&quota_resets_at)
                ),
                format!("/dashboard/developer/logs?key={}", usage.key.id),
                "View requests",
            ),
            Attention::KeyExpires(usage, expires_at) => (
                Tone::Warn,
                "expires soon",
                format!(
                    "Key {} expires at {}. Create a replacement before then.",
                    usage.key.name,
                    zone.text(expires_at)
                ),
                "/dashboard/developer".to_owned(),
                "View API keys",
            ),
            Attention::Deprecated(UsedDeprecation { part, announcement, keys }) => {
                let names: Vec<&str> = keys.iter().map(|uses| &*uses.key_name).collect();
                let last = keys.first().map(|uses| zone.text(&uses.last_at)).unwrap_or_default();
                let (what, until) = (part.describe(), announcement.describe(today));
                let text = format!("{what} {until} Used by key {}, last at {last}.", names.join(", "));
                let request = keys.first().and_then(|uses| uses.request_id.as_deref());
                let (href, link) = match request {
                    Some(id) => (format!("/dashboard/developer/logs?request={id}"), "View the last request"),
                    None => ("/docs/changelog".to_owned(), "View the changelog"),
                };
                (Tone::Warn, "deprecated", text, href, link)
            }
        };
        Self { tone, state, text, href, link }
    }

    /// Renders the badge.
    pub(super) fn badge(&self) -> Badge<'static> {
        ui::badge(self.tone, self.state)
    }
}
