//! What needs attention, as a sentence with the place where one does something about it.

use super::super::webhooks;
use crate::ui::{self, Badge, Tone};
use domain::attention::Attention;

/// One thing to look at.
pub(super) struct Notice {
    tone: Tone,
    state: &'static str,
    pub(super) text: String,
    pub(super) href: String,
    pub(super) link: &'static str,
}

impl Notice {
    /// The sentence for it.
    pub(super) fn of(attention: &Attention) -> Self {
        let (tone, state, text, href, link) = match attention {
            Attention::SubscriptionDisabled(subscription) => (
                Tone::Bad,
                "disabled",
                format!(
                    "{} failed for seven days. Its deliveries are held back until it is enabled.",
                    subscription.url
                ),
                webhooks::path(&subscription.id),
                "See what failed, and enable it",
            ),
            Attention::SubscriptionFailing(subscription, since) => (
                Tone::Warn,
                "failing",
                format!(
                    "Every delivery to {} has failed since {}.",
                    subscription.url,
                    since.strftime("%b %-d, %H:%M UTC")
                ),
                webhooks::path(&subscription.id),
                "See its deliveries",
            ),
            Attention::DeadLetters(count) => (
                Tone::Warn,
                "dead letters",
                format!(
                    "{} {verb} given up in the last 30 days.",
                    webhooks::counted(count),
                    verb = if count.is_one() { "was" } else { "were" }
                ),
                webhooks::DEAD_LETTERS.to_owned(),
                "See them, and send them again",
            ),
            Attention::QuotaNearlyUsed(usage) => (
                Tone::Warn,
                "quota",
                format!(
                    "The key {} has made {} of its {} calls of today.",
                    usage.key.name,
                    ui::number(usage.calls_today),
                    ui::number(usage.quota.per_day.requests)
                ),
                format!("/dashboard/developer/logs?key={}", usage.key.id),
                "See its requests",
            ),
            Attention::KeyEnds(usage, end) => (
                Tone::Warn,
                "ends soon",
                format!(
                    "The key {} is refused from {} on. Make another before.",
                    usage.key.name,
                    end.strftime("%b %-d, %H:%M UTC")
                ),
                "/dashboard/developer/keys/new".to_owned(),
                "New API key",
            ),
        };
        Self { tone, state, text, href, link }
    }

    /// The state in a word or two.
    pub(super) fn badge(&self) -> Badge<'static> {
        ui::badge(self.tone, self.state)
    }
}
