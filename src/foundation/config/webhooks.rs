//! Where webhooks may go, and how many subscriptions there may be.

use std::num::NonZeroU32;

use super::concern::concern;
use super::network::Network;

concern! {
    /// What the worker may call beside public addresses, and the limit of subscriptions.
    Webhooks, "Webhooks" {
        /// Addresses that are not public and may be called all the same, by `http` too.
        webhook_allow: Vec<Network> = None, "CREATOR_API_WEBHOOK_ALLOW", "CIDR,...";
        /// Webhook subscriptions a workspace may have. One that has more already keeps them, but cannot add any.
        max_subscriptions_per_workspace: NonZeroU32 = Some("50"), "CREATOR_API_MAX_SUBSCRIPTIONS_PER_WORKSPACE", "SUBSCRIPTIONS";
    }
}
