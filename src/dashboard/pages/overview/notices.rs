//! What needs attention, as a sentence with the place where one does something about it.

use crate::dashboard::ui::{self, Badge, Tone};
use crate::domain::attention::Attention;

/// What a receiver has to do; subscriptions are kept by commands.
const WEBHOOKS: &str = "/docs/webhooks";

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
                    "{} failed for seven days. Its deliveries are held back until `webhooks enable {}`.",
                    subscription.url, subscription.id
                ),
                WEBHOOKS.to_owned(),
                "What a receiver must do",
            ),
            Attention::SubscriptionFailing(subscription, since) => (
                Tone::Warn,
                "failing",
                format!(
                    "Every delivery to {} has failed since {}.",
                    subscription.url,
                    since.strftime("%b %-d, %H:%M UTC")
                ),
                WEBHOOKS.to_owned(),
                "What a receiver must do",
            ),
            Attention::DeadLetters(count) => (
                Tone::Warn,
                "dead letters",
                format!(
                    "{} given up in the last 30 days. `webhooks replay --all` sends them again.",
                    deliveries(*count)
                ),
                WEBHOOKS.to_owned(),
                "What a receiver must do",
            ),
            Attention::QuotaNearlyUsed(usage) => (
                Tone::Warn,
                "quota",
                format!(
                    "The key {} has made {} of its {} calls of today.",
                    usage.key.name,
                    ui::number(usage.calls_today),
                    ui::number(usage.per_day)
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

fn deliveries(count: u64) -> String {
    if count == 1 { "One delivery was".to_owned() } else { format!("{} deliveries were", ui::number(count)) }
}
