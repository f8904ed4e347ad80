// Generated from openapi/developer-v1.yaml (sha256 7a234c3704539de2890798470f33b22697c47b081d77810b568ab801726ecb71), do not edit. Run `cargo xtask codegen`.

//! Serves the traits of all tags as one poem-openapi API.

use poem_openapi::OpenApi;
use super::operations;
use super::schemas;
use super::{key, webhooks, deliveries, event_feed, sandbox};
use contract_runtime::call::Call;
use contract_runtime::parameter::{Header, Path, Query};
use contract_runtime::payload::JsonBody;
use contract_runtime::scalar::Timestamp;
use contract_runtime::security::{SecurityRequirement, SecurityScheme};
use contract_runtime::service::respond;

/// A tag of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, poem_openapi::Tags)]
pub enum Tag {
    /// The API key of the request, and its secret.
    #[oai(rename = "key")]
    Key,
    /// URLs to which events are sent, with their delivery controls.
    #[oai(rename = "webhooks")]
    Webhooks,
    /// Deliveries of events to webhooks, with their attempts.
    #[oai(rename = "deliveries")]
    Deliveries,
    /// The events of the workspace, in one order.
    #[oai(rename = "event_feed")]
    EventFeed,
    /// Events and time for tests, in workspaces with test data.
    #[oai(rename = "sandbox")]
    Sandbox,
}

/// A scope of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, poem_openapi::OAuthScopes)]
pub enum Scope {
    /// `write:keys`.
    #[oai(rename = "write:keys")]
    WriteKeys,
    /// `read:webhooks`.
    #[oai(rename = "read:webhooks")]
    ReadWebhooks,
    /// `write:webhooks`.
    #[oai(rename = "write:webhooks")]
    WriteWebhooks,
    /// `read:events`.
    #[oai(rename = "read:events")]
    ReadEvents,
}

impl Scope {
    /// All scopes, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::WriteKeys,
        Self::ReadWebhooks,
        Self::WriteWebhooks,
        Self::ReadEvents,
    ];
    /// Returns the scope as a string, such as `read:courses`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WriteKeys => "write:keys",
            Self::ReadWebhooks => "read:webhooks",
            Self::WriteWebhooks => "write:webhooks",
            Self::ReadEvents => "read:events",
        }
    }
}

/// The security scheme `apiKey`: how clients send their API keys.
pub struct Keys;

impl SecurityScheme for Keys {
    const NAME: &'static str = "apiKey";
    const CREDENTIAL: contract_runtime::contract::Credential = operations::CREDENTIAL;
}

/// Serves an implementation of the traits of all tags as a poem-openapi API.
pub struct DeveloperV1<S>(pub S);

#[OpenApi]
impl<
    S: key::Key + webhooks::Webhooks + deliveries::Deliveries + event_feed::EventFeed
        + sandbox::Sandbox,
> DeveloperV1<S> {
    /// Retrieve the key of the request
    #[oai(
        path = "/developer/v1/me",
        method = "get",
        operation_id = "getCurrentKey",
        tag = "Tag::Key"
    )]
    async fn get_current_key(
        &self,
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> key::GetCurrentKeyResponse {
        let request = key::GetCurrentKeyRequest {
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.get_current_key(call.clone(), request).await)
    }
    /// Rotate the secret of the key
    #[oai(
        path = "/developer/v1/keys/rotate",
        method = "post",
        operation_id = "rotateCurrentKey",
        tag = "Tag::Key"
    )]
    async fn rotate_current_key(
        &self,
        #[oai(scope = "Scope::WriteKeys")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
        body: JsonBody<schemas::KeyRotation>,
    ) -> key::RotateCurrentKeyResponse {
        let request = key::RotateCurrentKeyRequest {
            idempotency_key: idempotency_key.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.rotate_current_key(call.clone(), request).await)
    }
    /// List webhooks
    #[oai(
        path = "/developer/v1/webhooks",
        method = "get",
        operation_id = "listWebhooks",
        tag = "Tag::Webhooks"
    )]
    async fn list_webhooks(
        &self,
        #[oai(scope = "Scope::ReadWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "cursor",
            validator(min_length = 1, max_length = 1024, pattern = "^[!-~]+$")
        )]
        cursor: Query<Option<String>>,
        #[oai(
            name = "limit",
            default = "list_webhooks_limit_default",
            validator(minimum(value = "1"), maximum(value = "100"))
        )]
        limit: Query<i32>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> webhooks::ListWebhooksResponse {
        let request = webhooks::ListWebhooksRequest {
            cursor: cursor.0,
            limit: limit.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.list_webhooks(call.clone(), request).await)
    }
    /// Create a webhook
    #[oai(
        path = "/developer/v1/webhooks",
        method = "post",
        operation_id = "createWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn create_webhook(
        &self,
        #[oai(scope = "Scope::WriteWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
        body: JsonBody<schemas::NewWebhook>,
    ) -> webhooks::CreateWebhookResponse {
        let request = webhooks::CreateWebhookRequest {
            idempotency_key: idempotency_key.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.create_webhook(call.clone(), request).await)
    }
    /// Retrieve a webhook
    #[oai(
        path = "/developer/v1/webhooks/:id",
        method = "get",
        operation_id = "getWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn get_webhook(
        &self,
        #[oai(scope = "Scope::ReadWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> webhooks::GetWebhookResponse {
        let request = webhooks::GetWebhookRequest {
            id: id.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.get_webhook(call.clone(), request).await)
    }
    /// Update a webhook
    #[oai(
        path = "/developer/v1/webhooks/:id",
        method = "patch",
        operation_id = "updateWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn update_webhook(
        &self,
        #[oai(scope = "Scope::WriteWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
        body: JsonBody<schemas::WebhookUpdate>,
    ) -> webhooks::UpdateWebhookResponse {
        let request = webhooks::UpdateWebhookRequest {
            id: id.0,
            idempotency_key: idempotency_key.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.update_webhook(call.clone(), request).await)
    }
    /// Delete a webhook
    #[oai(
        path = "/developer/v1/webhooks/:id",
        method = "delete",
        operation_id = "deleteWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn delete_webhook(
        &self,
        #[oai(scope = "Scope::WriteWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
    ) -> webhooks::DeleteWebhookResponse {
        let request = webhooks::DeleteWebhookRequest {
            id: id.0,
            idempotency_key: idempotency_key.0,
        };
        respond(&self.0, &call, self.0.delete_webhook(call.clone(), request).await)
    }
    /// Rotate the secret of a webhook
    #[oai(
        path = "/developer/v1/webhooks/:id/rotate-secret",
        method = "post",
        operation_id = "rotateWebhookSecret",
        tag = "Tag::Webhooks"
    )]
    async fn rotate_webhook_secret(
        &self,
        #[oai(scope = "Scope::WriteWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
        body: JsonBody<schemas::SecretRotation>,
    ) -> webhooks::RotateWebhookSecretResponse {
        let request = webhooks::RotateWebhookSecretRequest {
            id: id.0,
            idempotency_key: idempotency_key.0,
            body: body.0,
        };
        respond(
            &self.0,
            &call,
            self.0.rotate_webhook_secret(call.clone(), request).await,
        )
    }
    /// Send a test event
    #[oai(
        path = "/developer/v1/webhooks/:id/test",
        method = "post",
        operation_id = "testWebhook",
        tag = "Tag::Webhooks"
    )]
    async fn test_webhook(
        &self,
        #[oai(scope = "Scope::WriteWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
        body: JsonBody<schemas::TestEvent>,
    ) -> webhooks::TestWebhookResponse {
        let request = webhooks::TestWebhookRequest {
            id: id.0,
            idempotency_key: idempotency_key.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.test_webhook(call.clone(), request).await)
    }
    /// Preview a filter
    #[oai(
        path = "/developer/v1/webhooks/:id/preview-filter",
        method = "post",
        operation_id = "previewFilter",
        tag = "Tag::Webhooks"
    )]
    async fn preview_filter(
        &self,
        #[oai(scope = "Scope::WriteWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        body: JsonBody<schemas::FilterPreviewRequest>,
    ) -> webhooks::PreviewFilterResponse {
        let request = webhooks::PreviewFilterRequest {
            id: id.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.preview_filter(call.clone(), request).await)
    }
    /// List deliveries
    #[oai(
        path = "/developer/v1/deliveries",
        method = "get",
        operation_id = "listDeliveries",
        tag = "Tag::Deliveries"
    )]
    async fn list_deliveries(
        &self,
        #[oai(scope = "Scope::ReadWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "cursor",
            validator(min_length = 1, max_length = 1024, pattern = "^[!-~]+$")
        )]
        cursor: Query<Option<String>>,
        #[oai(
            name = "limit",
            default = "list_deliveries_limit_default",
            validator(minimum(value = "1"), maximum(value = "100"))
        )]
        limit: Query<i32>,
        #[oai(
            name = "webhook_id",
            validator(pattern = "^whs_[0-7][0-9a-hjkmnp-tv-z]{25}$")
        )]
        webhook_id: Query<Option<String>>,
        #[oai(name = "state")]
        state: Query<Option<schemas::DeliveryState>>,
        #[oai(name = "event_type")]
        event_type: Query<Option<schemas::EventType>>,
        #[oai(name = "created_after")]
        created_after: Query<Option<Timestamp>>,
        #[oai(name = "created_before")]
        created_before: Query<Option<Timestamp>>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> deliveries::ListDeliveriesResponse {
        let request = deliveries::ListDeliveriesRequest {
            cursor: cursor.0,
            limit: limit.0,
            webhook_id: webhook_id.0,
            state: state.0,
            event_type: event_type.0,
            created_after: created_after.0,
            created_before: created_before.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.list_deliveries(call.clone(), request).await)
    }
    /// Retrieve a delivery
    #[oai(
        path = "/developer/v1/deliveries/:id",
        method = "get",
        operation_id = "getDelivery",
        tag = "Tag::Deliveries"
    )]
    async fn get_delivery(
        &self,
        #[oai(scope = "Scope::ReadWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> deliveries::GetDeliveryResponse {
        let request = deliveries::GetDeliveryRequest {
            id: id.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.get_delivery(call.clone(), request).await)
    }
    /// List the attempts of a delivery
    #[oai(
        path = "/developer/v1/deliveries/:id/attempts",
        method = "get",
        operation_id = "listDeliveryAttempts",
        tag = "Tag::Deliveries"
    )]
    async fn list_delivery_attempts(
        &self,
        #[oai(scope = "Scope::ReadWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> deliveries::ListDeliveryAttemptsResponse {
        let request = deliveries::ListDeliveryAttemptsRequest {
            id: id.0,
            if_none_match: if_none_match.0,
        };
        respond(
            &self.0,
            &call,
            self.0.list_delivery_attempts(call.clone(), request).await,
        )
    }
    /// Send a delivery again
    #[oai(
        path = "/developer/v1/deliveries/:id/replay",
        method = "post",
        operation_id = "replayDelivery",
        tag = "Tag::Deliveries"
    )]
    async fn replay_delivery(
        &self,
        #[oai(scope = "Scope::WriteWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
    ) -> deliveries::ReplayDeliveryResponse {
        let request = deliveries::ReplayDeliveryRequest {
            id: id.0,
            idempotency_key: idempotency_key.0,
        };
        respond(&self.0, &call, self.0.replay_delivery(call.clone(), request).await)
    }
    /// List events
    #[oai(
        path = "/developer/v1/events",
        method = "get",
        operation_id = "listEvents",
        tag = "Tag::EventFeed"
    )]
    async fn list_events(
        &self,
        #[oai(scope = "Scope::ReadEvents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "cursor",
            validator(min_length = 1, max_length = 1024, pattern = "^[!-~]+$")
        )]
        cursor: Query<Option<String>>,
        #[oai(
            name = "limit",
            default = "list_events_limit_default",
            validator(minimum(value = "1"), maximum(value = "1000"))
        )]
        limit: Query<i32>,
        #[oai(
            name = "wait",
            default = "list_events_wait_default",
            validator(minimum(value = "0"), maximum(value = "30"))
        )]
        wait: Query<i32>,
        #[oai(name = "type")]
        r#type: Query<Option<schemas::EventType>>,
        #[oai(name = "after")]
        after: Query<Option<Timestamp>>,
        #[oai(
            name = "undelivered_to",
            validator(pattern = "^whs_[0-7][0-9a-hjkmnp-tv-z]{25}$")
        )]
        undelivered_to: Query<Option<String>>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> event_feed::ListEventsResponse {
        let request = event_feed::ListEventsRequest {
            cursor: cursor.0,
            limit: limit.0,
            wait: wait.0,
            r#type: r#type.0,
            after: after.0,
            undelivered_to: undelivered_to.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.list_events(call.clone(), request).await)
    }
    /// Stream events
    #[oai(
        path = "/developer/v1/events/stream",
        method = "get",
        operation_id = "streamEvents",
        tag = "Tag::EventFeed"
    )]
    async fn stream_events(
        &self,
        #[oai(scope = "Scope::ReadEvents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "cursor",
            validator(min_length = 1, max_length = 1024, pattern = "^[!-~]+$")
        )]
        cursor: Query<Option<String>>,
        #[oai(
            name = "since",
            default = "stream_events_since_default",
            validator(minimum(value = "0"), maximum(value = "2592000"))
        )]
        since: Query<i32>,
        #[oai(name = "type")]
        r#type: Query<Option<schemas::EventType>>,
    ) -> event_feed::StreamEventsResponse {
        let request = event_feed::StreamEventsRequest {
            cursor: cursor.0,
            since: since.0,
            r#type: r#type.0,
        };
        respond(&self.0, &call, self.0.stream_events(call.clone(), request).await)
    }
    /// Make an event happen in the sandbox
    #[oai(
        path = "/developer/v1/sandbox/events",
        method = "post",
        operation_id = "createSandboxEvent",
        tag = "Tag::Sandbox"
    )]
    async fn create_sandbox_event(
        &self,
        #[oai(scope = "Scope::WriteWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
        body: JsonBody<schemas::NewSandboxEvent>,
    ) -> sandbox::CreateSandboxEventResponse {
        let request = sandbox::CreateSandboxEventRequest {
            idempotency_key: idempotency_key.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.create_sandbox_event(call.clone(), request).await)
    }
    /// Advance the clock of an ephemeral server
    #[oai(
        path = "/developer/v1/sandbox/clock",
        method = "post",
        operation_id = "advanceSandboxClock",
        tag = "Tag::Sandbox"
    )]
    async fn advance_sandbox_clock(
        &self,
        #[oai(scope = "Scope::WriteWebhooks")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
        body: JsonBody<schemas::ClockAdvance>,
    ) -> sandbox::AdvanceSandboxClockResponse {
        let request = sandbox::AdvanceSandboxClockRequest {
            idempotency_key: idempotency_key.0,
            body: body.0,
        };
        respond(
            &self.0,
            &call,
            self.0.advance_sandbox_clock(call.clone(), request).await,
        )
    }
}

fn list_webhooks_limit_default() -> i32 {
    25
}

fn list_deliveries_limit_default() -> i32 {
    25
}

fn list_events_limit_default() -> i32 {
    100
}

fn list_events_wait_default() -> i32 {
    0
}

fn stream_events_since_default() -> i32 {
    0
}
