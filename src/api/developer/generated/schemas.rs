// Generated from openapi/developer-v1.yaml (sha256 7a234c3704539de2890798470f33b22697c47b081d77810b568ab801726ecb71), do not edit. Run `cargo xtask codegen`.

//! The types of requests and responses.

use poem_openapi::types::MaybeUndefined;
use contract_runtime::scalar::Timestamp;

/// Pagination state of a list.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Pagination {
    /// Set `cursor` to this value to get the next page. Null on the last page.
    #[oai(nullable)]
    pub cursor: Option<String>,
    /// True if more items follow.
    pub has_more: bool,
}

/// The API key that a request was sent with.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct CurrentKey {
    /// Id of an API key, such as `key_01k0zszsg0e1c9z3pk6m5sbwnq`.
    #[oai(validator(pattern = "^key_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// The name.
    pub name: String,
    /// The first 12 characters of the current secret, also if the request was sent with the old one.
    pub prefix: String,
    /// The scopes of the key, in this API and in the Creator Platform API.
    pub scopes: Vec<String>,
    /// The rate limits of an API key.
    pub limits: KeyLimits,
    /// The workspace that an API key gives access to.
    pub workspace: KeyWorkspace,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key expires. Null if it does not.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
}

/// The rate limits of an API key.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct KeyLimits {
    /// Requests allowed per clock minute.
    #[oai(validator(minimum(value = "1")))]
    pub per_minute: i64,
    /// Requests allowed per UTC day.
    #[oai(validator(minimum(value = "1")))]
    pub per_day: i64,
}

/// The workspace that an API key gives access to.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct KeyWorkspace {
    /// Id of a workspace, such as `wks_01jndg9q00erza202v67ggafnx`.
    #[oai(validator(pattern = "^wks_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// The name of the workspace.
    pub name: String,
    /// `live`: the records are real. `test`: the workspace is a sandbox.
    pub mode: WorkspaceMode,
}

/// `live`: the records are real. `test`: the workspace is a sandbox.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum WorkspaceMode {
    /// `live`.
    #[oai(rename = "live")]
    #[serde(rename = "live")]
    Live,
    /// `test`.
    #[oai(rename = "test")]
    #[serde(rename = "test")]
    Test,
}

impl WorkspaceMode {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Live, Self::Test];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Test => "test",
        }
    }
}

/// State of a webhook. `enabled`: its deliveries are sent. `paused`: a user or a program paused it, and its deliveries are held. `disabled`: every attempt failed for seven days, and its deliveries are held.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum WebhookState {
    /// `enabled`.
    #[oai(rename = "enabled")]
    #[serde(rename = "enabled")]
    Enabled,
    /// `paused`.
    #[oai(rename = "paused")]
    #[serde(rename = "paused")]
    Paused,
    /// `disabled`.
    #[oai(rename = "disabled")]
    #[serde(rename = "disabled")]
    Disabled,
}

impl WebhookState {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Enabled, Self::Paused, Self::Disabled];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Paused => "paused",
            Self::Disabled => "disabled",
        }
    }
}

/// A request header of a webhook.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct WebhookHeader {
    /// The name, in lower case.
    pub name: String,
    /// Always `****`. The value is never shown.
    pub value: String,
}

/// A URL to which events are sent.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Webhook {
    /// Id of a webhook, such as `whs_01khx04p31ffm9gr1qg7c2h0ek`.
    #[oai(validator(pattern = "^whs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// The URL that receives the events, in normalized form.
    pub url: String,
    /// What its endpoint is for. Null if there is no description.
    #[oai(nullable)]
    pub description: Option<String>,
    /// The types of the events that it receives.
    pub event_types: Vec<EventType>,
    /// State of a webhook. `enabled`: its deliveries are sent. `paused`: a user or a program paused it, and its deliveries are held. `disabled`: every attempt failed for seven days, and its deliveries are held.
    pub state: WebhookState,
    /// The time since which every attempt has failed. Null if the most recent attempt succeeded, or if there was none since the webhook was created or enabled or its URL changed.
    #[oai(nullable)]
    pub failing_since: Option<Timestamp>,
    /// When it was disabled. Null unless it is disabled.
    #[oai(nullable)]
    pub disabled_at: Option<Timestamp>,
    /// The conditions that events must meet. Without conditions, all events of its types are sent.
    pub filter: Vec<String>,
    /// The request headers, sorted by name.
    pub headers: Vec<WebhookHeader>,
    /// Maximum number of deliveries per second. Null if it has no maximum.
    #[oai(nullable, validator(minimum(value = "1")))]
    pub rate: Option<i32>,
    /// Whether its requests also have an Ed25519 signature.
    pub ed25519: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A page of webhooks.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct WebhookList {
    /// The webhooks on this page.
    pub data: Vec<Webhook>,
    /// Pagination state of a list.
    pub pagination: Pagination,
}

/// A new webhook with its signing secret.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct WebhookWithSecret {
    /// Id of a webhook, such as `whs_01khx04p31ffm9gr1qg7c2h0ek`.
    #[oai(validator(pattern = "^whs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// The URL that receives the events, in normalized form.
    pub url: String,
    /// What its endpoint is for. Null if there is no description.
    #[oai(nullable)]
    pub description: Option<String>,
    /// The types of the events that it receives.
    pub event_types: Vec<EventType>,
    /// State of a webhook. `enabled`: its deliveries are sent. `paused`: a user or a program paused it, and its deliveries are held. `disabled`: every attempt failed for seven days, and its deliveries are held.
    pub state: WebhookState,
    /// The time since which every attempt has failed. Null if the most recent attempt succeeded, or if there was none since the webhook was created or enabled or its URL changed.
    #[oai(nullable)]
    pub failing_since: Option<Timestamp>,
    /// When it was disabled. Null unless it is disabled.
    #[oai(nullable)]
    pub disabled_at: Option<Timestamp>,
    /// The conditions that events must meet. Without conditions, all events of its types are sent.
    pub filter: Vec<String>,
    /// The request headers, sorted by name.
    pub headers: Vec<WebhookHeader>,
    /// Maximum number of deliveries per second. Null if it has no maximum.
    #[oai(nullable, validator(minimum(value = "1")))]
    pub rate: Option<i32>,
    /// Whether its requests also have an Ed25519 signature.
    pub ed25519: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The signing secret, `whsec_` and base64. It is not shown again.
    pub secret: String,
}

/// A request header to send with each delivery to a webhook.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct NewWebhookHeader {
    /// The name. Names that the server or the connection sets are not allowed.
    #[oai(validator(min_length = 1, max_length = 100, pattern = "^[!-9;-~]+$"))]
    pub name: String,
    /// The value. `****` keeps the stored value of the header with this name.
    #[oai(validator(min_length = 1, max_length = 4096))]
    pub value: String,
}

/// A webhook to create.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct NewWebhook {
    /// The URL that receives the events. It must use `https`, must not contain a user, a password or a fragment, and its address must be public, unless the operator of this server allows others. The addresses of a host name are checked at each delivery.
    #[oai(validator(min_length = 1, max_length = 2048))]
    pub url: String,
    /// What its endpoint is for, in one line.
    #[oai(
        nullable,
        skip_serializing_if_is_none,
        validator(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f]*$")
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The types of the events to receive.
    #[oai(validator(min_items = 1, unique_items))]
    pub event_types: Vec<EventType>,
    /// Conditions that events must meet, such as `order.paid /total_amount gte 10000`; the guide at `/docs/webhooks` describes them. At most 10 conditions for one event type.
    #[oai(
        skip_serializing_if_is_none,
        validator(min_length = 1, pattern = "^[^\\x00-\\x1f\\x7f]*$", max_items = 130)
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Vec<String>>,
    /// Request headers to send with each delivery.
    #[oai(skip_serializing_if_is_none, validator(max_items = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<NewWebhookHeader>>,
    /// Maximum number of deliveries per second. Null or omitted for no maximum.
    #[oai(
        nullable,
        skip_serializing_if_is_none,
        validator(minimum(value = "1"), maximum(value = "1000"))
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<i32>,
    /// Whether its requests also have an Ed25519 signature.
    #[oai(default = "new_webhook_ed25519_default")]
    #[serde(default = "new_webhook_ed25519_default")]
    pub ed25519: bool,
}

fn new_webhook_ed25519_default() -> bool {
    false
}

/// A change of a webhook. Fields that are absent do not change.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct WebhookUpdate {
    /// As in `NewWebhook`.
    #[oai(skip_serializing_if_is_none, validator(min_length = 1, max_length = 2048))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What its endpoint is for, in one line. Null or an empty string removes it.
    #[oai(
        nullable,
        skip_serializing_if = "MaybeUndefined::is_undefined",
        validator(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f]*$")
    )]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub description: MaybeUndefined<String>,
    /// The types of the events to receive.
    #[oai(skip_serializing_if_is_none, validator(min_items = 1, unique_items))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_types: Option<Vec<EventType>>,
    /// `paused` to hold its deliveries, `enabled` to send them, including those that were held.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<WebhookUpdateState>,
    /// The new conditions, as in `NewWebhook`. An empty list removes all.
    #[oai(
        skip_serializing_if_is_none,
        validator(min_length = 1, pattern = "^[^\\x00-\\x1f\\x7f]*$", max_items = 130)
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Vec<String>>,
    /// All request headers. An empty list removes all. The value `****` keeps the stored one.
    #[oai(skip_serializing_if_is_none, validator(max_items = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<NewWebhookHeader>>,
    /// Maximum number of deliveries per second. Null removes it.
    #[oai(
        nullable,
        skip_serializing_if = "MaybeUndefined::is_undefined",
        validator(minimum(value = "1"), maximum(value = "1000"))
    )]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub rate: MaybeUndefined<i32>,
    /// Whether its requests also have an Ed25519 signature.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ed25519: Option<bool>,
}

/// `paused` to hold its deliveries, `enabled` to send them, including those that were held.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum WebhookUpdateState {
    /// `enabled`.
    #[oai(rename = "enabled")]
    #[serde(rename = "enabled")]
    Enabled,
    /// `paused`.
    #[oai(rename = "paused")]
    #[serde(rename = "paused")]
    Paused,
}

impl WebhookUpdateState {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Enabled, Self::Paused];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Paused => "paused",
        }
    }
}

/// The options of a rotation.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct SecretRotation {
    /// For how long the older secrets continue to sign, in seconds; at most 7 days. With 0, they stop immediately.
    #[oai(
        default = "secret_rotation_overlap_seconds_default",
        validator(minimum(value = "0"), maximum(value = "604800"))
    )]
    #[serde(default = "secret_rotation_overlap_seconds_default")]
    pub overlap_seconds: i32,
}

fn secret_rotation_overlap_seconds_default() -> i32 {
    86400
}

/// The result of a rotation.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct RotatedSecret {
    /// Id of a webhook, such as `whs_01khx04p31ffm9gr1qg7c2h0ek`.
    #[oai(validator(pattern = "^whs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub webhook_id: String,
    /// The new signing secret, `whsec_` and base64. It is not shown again.
    pub secret: String,
    /// When the older secrets stop signing at the latest. Null if they stopped immediately.
    #[oai(nullable)]
    pub older_secrets_expire_at: Option<Timestamp>,
}

/// The options of the rotation of an API key.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct KeyRotation {
    /// For how long the old secret stays valid, in seconds; at most 7 days. With 0, it ends immediately.
    #[oai(
        default = "key_rotation_overlap_seconds_default",
        validator(minimum(value = "0"), maximum(value = "604800"))
    )]
    #[serde(default = "key_rotation_overlap_seconds_default")]
    pub overlap_seconds: i32,
}

fn key_rotation_overlap_seconds_default() -> i32 {
    86400
}

/// The result of the rotation of an API key.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct RotatedKey {
    /// Id of an API key, such as `key_01k0zszsg0e1c9z3pk6m5sbwnq`.
    #[oai(validator(pattern = "^key_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub key_id: String,
    /// The new secret. It is not shown again.
    pub secret: String,
    /// When the old secret expires. Null if it ended immediately.
    #[oai(nullable)]
    pub old_secret_expires_at: Option<Timestamp>,
}

/// A test event to send.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct TestEvent {
    /// Type of an event. The contract of the Creator Platform API describes the events.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_type: Option<EventType>,
}

/// A filter to preview.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct FilterPreviewRequest {
    /// The conditions, as in `NewWebhook`.
    #[oai(
        validator(min_length = 1, pattern = "^[^\\x00-\\x1f\\x7f]*$", max_items = 130)
    )]
    pub filter: Vec<String>,
}

/// The events of one type.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct FilterPreviewCount {
    /// Type of an event. The contract of the Creator Platform API describes the events.
    pub event_type: EventType,
    /// The number of events that were examined.
    #[oai(validator(minimum(value = "0")))]
    pub examined: i64,
    /// The number of these events that match.
    #[oai(validator(minimum(value = "0")))]
    pub matched: i64,
}

/// An event that matches.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct FilterPreviewExample {
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    #[oai(validator(pattern = "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub event_id: String,
    /// Type of an event. The contract of the Creator Platform API describes the events.
    pub event_type: EventType,
    /// When the event happened.
    pub created_at: Timestamp,
}

/// What a filter would have matched.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct FilterPreview {
    /// The number of events that were examined.
    #[oai(validator(minimum(value = "0")))]
    pub examined: i64,
    /// The number of these events that match.
    #[oai(validator(minimum(value = "0")))]
    pub matched: i64,
    /// True if all events of the last 30 days were read. False if only the newest 10,000 were, of all types.
    pub is_complete: bool,
    /// The counts of each event type of the webhook.
    pub event_types: Vec<FilterPreviewCount>,
    /// The newest events that match, at most five.
    pub examples: Vec<FilterPreviewExample>,
}

/// State of a delivery. `pending`: it is to be sent, or is being sent. `delivered`: it succeeded. `dead`: it failed permanently. `held`: its webhook is paused or disabled.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum DeliveryState {
    /// `pending`.
    #[oai(rename = "pending")]
    #[serde(rename = "pending")]
    Pending,
    /// `delivered`.
    #[oai(rename = "delivered")]
    #[serde(rename = "delivered")]
    Delivered,
    /// `dead`.
    #[oai(rename = "dead")]
    #[serde(rename = "dead")]
    Dead,
    /// `held`.
    #[oai(rename = "held")]
    #[serde(rename = "held")]
    Held,
}

impl DeliveryState {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Pending,
        Self::Delivered,
        Self::Dead,
        Self::Held,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
            Self::Held => "held",
        }
    }
}

/// Why a delivery was created. `event`: an event happened. `replay`: to send a dead letter again. `resend`: to send a delivery again that succeeded. `test`: to test the webhook.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum DeliveryOrigin {
    /// `event`.
    #[oai(rename = "event")]
    #[serde(rename = "event")]
    Event,
    /// `replay`.
    #[oai(rename = "replay")]
    #[serde(rename = "replay")]
    Replay,
    /// `resend`.
    #[oai(rename = "resend")]
    #[serde(rename = "resend")]
    Resend,
    /// `test`.
    #[oai(rename = "test")]
    #[serde(rename = "test")]
    Test,
}

impl DeliveryOrigin {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Event,
        Self::Replay,
        Self::Resend,
        Self::Test,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Replay => "replay",
            Self::Resend => "resend",
            Self::Test => "test",
        }
    }
}

/// The delivery of an event to a webhook.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Delivery {
    /// Id of a delivery, such as `dlv_01khx04p3afx28x09cxt9qyanb`.
    #[oai(validator(pattern = "^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub id: String,
    /// Id of a webhook, such as `whs_01khx04p31ffm9gr1qg7c2h0ek`.
    #[oai(validator(pattern = "^whs_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub webhook_id: String,
    /// Id of an event, such as `evt_01kdvdna00evqvqnxgeqgkd28a`.
    #[oai(validator(pattern = "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub event_id: String,
    /// Type of an event. The contract of the Creator Platform API describes the events.
    pub event_type: EventType,
    /// Why a delivery was created. `event`: an event happened. `replay`: to send a dead letter again. `resend`: to send a delivery again that succeeded. `test`: to test the webhook.
    pub origin: DeliveryOrigin,
    /// The delivery that this one sends again. Null if it sends none again. That delivery may have been deleted since.
    #[oai(nullable, validator(pattern = "^dlv_[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub replay_of: Option<String>,
    /// State of a delivery. `pending`: it is to be sent, or is being sent. `delivered`: it succeeded. `dead`: it failed permanently. `held`: its webhook is paused or disabled.
    pub state: DeliveryState,
    /// The number of attempts of the last 30 days.
    #[oai(validator(minimum(value = "0")))]
    pub attempts: i32,
    /// The status of the response to the most recent attempt. Null without a response or an attempt.
    #[oai(nullable)]
    pub last_status: Option<i32>,
    /// The code of the failure if the most recent attempt received no response, such as `timeout` or `dns`. Null otherwise.
    #[oai(nullable)]
    pub last_error: Option<String>,
    /// When the next attempt is due. Null unless the delivery is pending.
    #[oai(nullable)]
    pub next_attempt_at: Option<Timestamp>,
    /// When the delivery was created.
    pub created_at: Timestamp,
    /// When it was delivered or became a dead letter. Null before that.
    #[oai(nullable)]
    pub settled_at: Option<Timestamp>,
}

/// A page of deliveries.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct DeliveryList {
    /// The deliveries on this page.
    pub data: Vec<Delivery>,
    /// Pagination state of a list.
    pub pagination: Pagination,
}

/// One attempt at a delivery.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct DeliveryAttempt {
    /// The number of the attempt; the first is 1.
    #[oai(validator(minimum(value = "1")))]
    pub number: i32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// The status of the response. Null without a response.
    #[oai(nullable)]
    pub status: Option<i32>,
    /// The code of the failure if there was no response, such as `timeout`. Null otherwise.
    #[oai(nullable)]
    pub error: Option<String>,
    /// The headers of the response, with names in lower case. Null without a response.
    #[oai(nullable)]
    pub response_headers: Option<std::collections::BTreeMap<String, String>>,
}

/// The attempts of a delivery.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct DeliveryAttemptList {
    /// The attempts, oldest first.
    pub data: Vec<DeliveryAttempt>,
}

/// A page of events.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct EventPage {
    /// The events in their order. There can be fewer than `limit` even if `has_more` is true.
    pub data: Vec<SequencedEvent>,
    /// The position after a page of events.
    pub pagination: EventPagination,
}

/// The position after a page of events.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct EventPagination {
    /// The cursor of the next request. It is never null, even if there are no events.
    pub cursor: String,
    /// Whether there may be more events now. If false, wait before the next request, or use `wait`.
    pub has_more: bool,
}

/// An event with its position.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct SequencedEvent {
    /// The position of an event among those of its workspace: 26 characters, the same as in `X-SVC-Sequence`. Positions compare as text in the order of the events. There can be gaps.
    #[oai(validator(pattern = "^[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub sequence: String,
    /// The event, exactly as webhooks receive it. Its `type` determines the form of `data`, see the webhooks of the Creator Platform API.
    pub event: std::collections::BTreeMap<String, serde_json::Value>,
}

/// A line of a stream of events.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct EventLine {
    /// The cursor with which the stream continues after this line.
    pub cursor: String,
    /// The position of the event. Null in a heartbeat.
    #[oai(nullable, validator(pattern = "^[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub sequence: Option<String>,
    /// The event, exactly as webhooks receive it. It is always the last field of the line. Null in a heartbeat.
    #[oai(nullable)]
    pub event: Option<std::collections::BTreeMap<String, serde_json::Value>>,
}

/// An event to make happen in the sandbox.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct NewSandboxEvent {
    /// Type of an event. The contract of the Creator Platform API describes the events.
    pub r#type: EventType,
}

/// The events of a change in the sandbox.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct SandboxEvent {
    /// The position of an event among those of its workspace: 26 characters, the same as in `X-SVC-Sequence`. Positions compare as text in the order of the events. There can be gaps.
    #[oai(validator(pattern = "^[0-7][0-9a-hjkmnp-tv-z]{25}$"))]
    pub sequence: String,
    /// The event of the requested type, exactly as webhooks receive it.
    pub event: std::collections::BTreeMap<String, serde_json::Value>,
    /// The other events that the change caused, in their order.
    pub other_events: Vec<SequencedEvent>,
}

/// How far to advance the clock.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct ClockAdvance {
    /// The number of seconds, at most 90 days.
    #[oai(validator(minimum(value = "1"), maximum(value = "7776000")))]
    pub advance_seconds: i32,
}

/// The clock of an ephemeral server.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct SandboxClock {
    /// The time of the server.
    pub now: Timestamp,
    /// How far the clock was advanced in total, in seconds, since the server was started.
    #[oai(validator(minimum(value = "1"), maximum(value = "31622400")))]
    pub advanced_seconds: i32,
}

/// Type of the error.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum ErrorCode {
    /// `unauthorized`.
    #[oai(rename = "unauthorized")]
    #[serde(rename = "unauthorized")]
    Unauthorized,
    /// `forbidden`.
    #[oai(rename = "forbidden")]
    #[serde(rename = "forbidden")]
    Forbidden,
    /// `not_found`.
    #[oai(rename = "not_found")]
    #[serde(rename = "not_found")]
    NotFound,
    /// `rate_limited`.
    #[oai(rename = "rate_limited")]
    #[serde(rename = "rate_limited")]
    RateLimited,
    /// `invalid_request`.
    #[oai(rename = "invalid_request")]
    #[serde(rename = "invalid_request")]
    InvalidRequest,
    /// `internal_error`.
    #[oai(rename = "internal_error")]
    #[serde(rename = "internal_error")]
    InternalError,
    /// `cursor_expired`.
    #[oai(rename = "cursor_expired")]
    #[serde(rename = "cursor_expired")]
    CursorExpired,
}

impl ErrorCode {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::RateLimited,
        Self::InvalidRequest,
        Self::InternalError,
        Self::CursorExpired,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::RateLimited => "rate_limited",
            Self::InvalidRequest => "invalid_request",
            Self::InternalError => "internal_error",
            Self::CursorExpired => "cursor_expired",
        }
    }
}

/// The part of the request that is invalid.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum ErrorLocation {
    /// `body`.
    #[oai(rename = "body")]
    #[serde(rename = "body")]
    Body,
    /// `query`.
    #[oai(rename = "query")]
    #[serde(rename = "query")]
    Query,
    /// `path`.
    #[oai(rename = "path")]
    #[serde(rename = "path")]
    Path,
    /// `header`.
    #[oai(rename = "header")]
    #[serde(rename = "header")]
    Header,
}

impl ErrorLocation {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Body,
        Self::Query,
        Self::Path,
        Self::Header,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Query => "query",
            Self::Path => "path",
            Self::Header => "header",
        }
    }
}

/// A single error in the request.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ErrorDetail {
    /// The part of the request that is invalid.
    pub r#in: ErrorLocation,
    /// Name of the parameter or header, or a JSON pointer into the body (empty for the whole body).
    pub field: String,
    /// Human-readable description of the error.
    pub message: String,
}

/// Describes an error. Unlike in other objects, two fields can be absent: `retryAfterSeconds` is present only on 429, and `details` only if individual errors can be named.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Error {
    /// Type of the error.
    pub code: ErrorCode,
    /// Human-readable message. It can change.
    pub message: String,
    /// Seconds to wait before the next request, the same value as in `Retry-After`. Present only on 429.
    #[oai(
        rename = "retryAfterSeconds",
        skip_serializing_if_is_none,
        validator(minimum(value = "1"))
    )]
    #[serde(rename = "retryAfterSeconds", skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<i32>,
    /// The `X-Request-Id` of the request that failed.
    pub request_id: String,
    /// URL of the documentation of the code on this server.
    pub doc_url: String,
    /// The individual errors in the request.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<ErrorDetail>>,
}

/// The body of every error response.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ErrorEnvelope {
    /// Describes an error. Unlike in other objects, two fields can be absent: `retryAfterSeconds` is present only on 429, and `details` only if individual errors can be named.
    pub error: Error,
}

/// Type of an event. The contract of the Creator Platform API describes the events.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum EventType {
    /// `student.created`.
    #[oai(rename = "student.created")]
    #[serde(rename = "student.created")]
    StudentCreated,
    /// `student.updated`.
    #[oai(rename = "student.updated")]
    #[serde(rename = "student.updated")]
    StudentUpdated,
    /// `student.deleted`.
    #[oai(rename = "student.deleted")]
    #[serde(rename = "student.deleted")]
    StudentDeleted,
    /// `enrollment.created`.
    #[oai(rename = "enrollment.created")]
    #[serde(rename = "enrollment.created")]
    EnrollmentCreated,
    /// `enrollment.revoked`.
    #[oai(rename = "enrollment.revoked")]
    #[serde(rename = "enrollment.revoked")]
    EnrollmentRevoked,
    /// `order.paid`.
    #[oai(rename = "order.paid")]
    #[serde(rename = "order.paid")]
    OrderPaid,
    /// `order.refunded`.
    #[oai(rename = "order.refunded")]
    #[serde(rename = "order.refunded")]
    OrderRefunded,
    /// `course.published`.
    #[oai(rename = "course.published")]
    #[serde(rename = "course.published")]
    CoursePublished,
    /// `course.archived`.
    #[oai(rename = "course.archived")]
    #[serde(rename = "course.archived")]
    CourseArchived,
    /// `live_session.started`.
    #[oai(rename = "live_session.started")]
    #[serde(rename = "live_session.started")]
    LiveSessionStarted,
    /// `live_session.ended`.
    #[oai(rename = "live_session.ended")]
    #[serde(rename = "live_session.ended")]
    LiveSessionEnded,
    /// `recording.ready`.
    #[oai(rename = "recording.ready")]
    #[serde(rename = "recording.ready")]
    RecordingReady,
    /// `certificate.issued`.
    #[oai(rename = "certificate.issued")]
    #[serde(rename = "certificate.issued")]
    CertificateIssued,
}

impl EventType {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::StudentCreated,
        Self::StudentUpdated,
        Self::StudentDeleted,
        Self::EnrollmentCreated,
        Self::EnrollmentRevoked,
        Self::OrderPaid,
        Self::OrderRefunded,
        Self::CoursePublished,
        Self::CourseArchived,
        Self::LiveSessionStarted,
        Self::LiveSessionEnded,
        Self::RecordingReady,
        Self::CertificateIssued,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StudentCreated => "student.created",
            Self::StudentUpdated => "student.updated",
            Self::StudentDeleted => "student.deleted",
            Self::EnrollmentCreated => "enrollment.created",
            Self::EnrollmentRevoked => "enrollment.revoked",
            Self::OrderPaid => "order.paid",
            Self::OrderRefunded => "order.refunded",
            Self::CoursePublished => "course.published",
            Self::CourseArchived => "course.archived",
            Self::LiveSessionStarted => "live_session.started",
            Self::LiveSessionEnded => "live_session.ended",
            Self::RecordingReady => "recording.ready",
            Self::CertificateIssued => "certificate.issued",
        }
    }
}
