// Generated from openapi/developer-v1.yaml (sha256 7a234c3704539de2890798470f33b22697c47b081d77810b568ab801726ecb71), do not edit. Run `cargo xtask codegen`.

//! Developer API: names that the contract defines.

/// A scope of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Required by `rotateCurrentKey`.
    WriteKeys,
    /// Required by `listWebhooks` and `getWebhook` and `listDeliveries` and `getDelivery` and `listDeliveryAttempts`.
    ReadWebhooks,
    /// Required by `createWebhook` and `updateWebhook` and `deleteWebhook` and `rotateWebhookSecret` and `testWebhook` and `previewFilter` and `replayDelivery` and `createSandboxEvent` and `advanceSandboxClock`.
    WriteWebhooks,
    /// Required by `listEvents` and `streamEvents`.
    ReadEvents,
}

impl Scope {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::WriteKeys,
        Self::ReadWebhooks,
        Self::WriteWebhooks,
        Self::ReadEvents,
    ];
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &[
        "write:keys",
        "read:webhooks",
        "write:webhooks",
        "read:events",
    ];
    /// Returns the name of the value in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WriteKeys => "write:keys",
            Self::ReadWebhooks => "read:webhooks",
            Self::WriteWebhooks => "write:webhooks",
            Self::ReadEvents => "read:events",
        }
    }
}
