// Generated from openapi/developer-v1.yaml (sha256 6bab3bb65406e1091350d874e9acef0a03eeadf26ef85fcdb005f7a3f7884b7b), do not edit. Run `cargo xtask codegen`.

//! Developer API: names that the contract defines.

/// A scope of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Required by `listWebhooks` and `getWebhook` and `listDeliveries` and `getDelivery` and `listDeliveryAttempts`.
    ReadWebhooks,
    /// Required by `createWebhook` and `updateWebhook` and `deleteWebhook` and `rotateWebhookSecret` and `testWebhook` and `previewFilter` and `replayDelivery`.
    WriteWebhooks,
}

impl Scope {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::ReadWebhooks, Self::WriteWebhooks];
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &["read:webhooks", "write:webhooks"];
    /// Returns the name of the value in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadWebhooks => "read:webhooks",
            Self::WriteWebhooks => "write:webhooks",
        }
    }
}
