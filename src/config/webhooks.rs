//! Where webhooks may go.

use super::concern::concern;
use super::network::Network;

concern! {
    /// The targets that webhooks may have beside public ones.
    Webhooks, "Webhooks" {
        /// Private addresses that webhooks may be sent to, also over plain http.
        webhook_allow: Vec<Network> = None, "CREATOR_API_WEBHOOK_ALLOW", "CIDR,...";
    }
}
