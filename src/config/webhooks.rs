//! Where webhooks may go.

use super::concern::concern;
use super::network::Network;

concern! {
    /// What the worker may call beside public addresses.
    Webhooks, "Webhooks" {
        /// Addresses that are not public and may be called all the same, by `http` too.
        webhook_allow: Vec<Network> = None, "CREATOR_API_WEBHOOK_ALLOW", "CIDR,...";
    }
}
