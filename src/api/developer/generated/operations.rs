// Generated from openapi/developer-v1.yaml (sha256 7a234c3704539de2890798470f33b22697c47b081d77810b568ab801726ecb71), do not edit. Run `cargo xtask codegen`.

//! Static descriptions of the operations.

use super::document;
use contract_runtime::contract::{
    Body, Contract, Credential, Operation, Parameter, ParameterKind, ParameterLocation,
};

/// All operations, in the order of the contract.
pub static OPERATIONS: &[&Operation] = &[
    &GET_CURRENT_KEY,
    &ROTATE_CURRENT_KEY,
    &LIST_WEBHOOKS,
    &CREATE_WEBHOOK,
    &GET_WEBHOOK,
    &UPDATE_WEBHOOK,
    &DELETE_WEBHOOK,
    &ROTATE_WEBHOOK_SECRET,
    &TEST_WEBHOOK,
    &PREVIEW_FILTER,
    &LIST_DELIVERIES,
    &GET_DELIVERY,
    &LIST_DELIVERY_ATTEMPTS,
    &REPLAY_DELIVERY,
    &LIST_EVENTS,
    &STREAM_EVENTS,
    &CREATE_SANDBOX_EVENT,
    &ADVANCE_SANDBOX_CLOCK,
];

/// The contract and its operations.
pub static CONTRACT: Contract = Contract {
    name: "developer-v1",
    title: document::TITLE,
    yaml: document::YAML,
    json: document::JSON,
    json_path: "/openapi/developer-v1.json",
    json_3_0: document::OPENAPI_3_0_JSON,
    clients_json: document::CLIENTS_JSON,
    clients_json_3_0: document::CLIENTS_OPENAPI_3_0_JSON,
    operations: OPERATIONS,
    credential: CREDENTIAL,
};

/// Where clients send their API keys.
pub const CREDENTIAL: Credential = Credential::Bearer;

/// Retrieve the key of the request
pub static GET_CURRENT_KEY: Operation = Operation {
    id: "getCurrentKey",
    method: "GET",
    path: "/developer/v1/me",
    tag: "key",
    scope: None,
    parameters: &[
        Parameter {
            name: "If-None-Match",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IfNoneMatch/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200, 304, 401, 403, 422, 429, 500],
};

/// Rotate the secret of the key
pub static ROTATE_CURRENT_KEY: Operation = Operation {
    id: "rotateCurrentKey",
    method: "POST",
    path: "/developer/v1/keys/rotate",
    tag: "key",
    scope: Some("write:keys"),
    parameters: &[
        Parameter {
            name: "Idempotency-Key",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IdempotencyKey/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1developer~1v1~1keys~1rotate/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[200, 401, 403, 409, 413, 415, 422, 429, 500],
};

/// List webhooks
pub static LIST_WEBHOOKS: Operation = Operation {
    id: "listWebhooks",
    method: "GET",
    path: "/developer/v1/webhooks",
    tag: "webhooks",
    scope: Some("read:webhooks"),
    parameters: &[
        Parameter {
            name: "cursor",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/Cursor/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "limit",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/Limit/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "If-None-Match",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IfNoneMatch/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200, 304, 401, 403, 422, 429, 500],
};

/// Create a webhook
pub static CREATE_WEBHOOK: Operation = Operation {
    id: "createWebhook",
    method: "POST",
    path: "/developer/v1/webhooks",
    tag: "webhooks",
    scope: Some("write:webhooks"),
    parameters: &[
        Parameter {
            name: "Idempotency-Key",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IdempotencyKey/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1developer~1v1~1webhooks/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[201, 401, 403, 409, 413, 415, 422, 429, 500],
};

/// Retrieve a webhook
pub static GET_WEBHOOK: Operation = Operation {
    id: "getWebhook",
    method: "GET",
    path: "/developer/v1/webhooks/{id}",
    tag: "webhooks",
    scope: Some("read:webhooks"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1developer~1v1~1webhooks~1{id}/get/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "If-None-Match",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IfNoneMatch/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200, 304, 401, 403, 404, 422, 429, 500],
};

/// Update a webhook
pub static UPDATE_WEBHOOK: Operation = Operation {
    id: "updateWebhook",
    method: "PATCH",
    path: "/developer/v1/webhooks/{id}",
    tag: "webhooks",
    scope: Some("write:webhooks"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1developer~1v1~1webhooks~1{id}/patch/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "Idempotency-Key",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IdempotencyKey/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1developer~1v1~1webhooks~1{id}/patch/requestBody/content/application~1json/schema",
    }),
    statuses: &[200, 401, 403, 404, 409, 413, 415, 422, 429, 500],
};

/// Delete a webhook
pub static DELETE_WEBHOOK: Operation = Operation {
    id: "deleteWebhook",
    method: "DELETE",
    path: "/developer/v1/webhooks/{id}",
    tag: "webhooks",
    scope: Some("write:webhooks"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1developer~1v1~1webhooks~1{id}/delete/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "Idempotency-Key",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IdempotencyKey/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[204, 401, 403, 404, 409, 422, 429, 500],
};

/// Rotate the secret of a webhook
pub static ROTATE_WEBHOOK_SECRET: Operation = Operation {
    id: "rotateWebhookSecret",
    method: "POST",
    path: "/developer/v1/webhooks/{id}/rotate-secret",
    tag: "webhooks",
    scope: Some("write:webhooks"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1developer~1v1~1webhooks~1{id}~1rotate-secret/post/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "Idempotency-Key",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IdempotencyKey/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1developer~1v1~1webhooks~1{id}~1rotate-secret/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[200, 401, 403, 404, 409, 413, 415, 422, 429, 500],
};

/// Send a test event
pub static TEST_WEBHOOK: Operation = Operation {
    id: "testWebhook",
    method: "POST",
    path: "/developer/v1/webhooks/{id}/test",
    tag: "webhooks",
    scope: Some("write:webhooks"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1developer~1v1~1webhooks~1{id}~1test/post/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "Idempotency-Key",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IdempotencyKey/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1developer~1v1~1webhooks~1{id}~1test/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[201, 401, 403, 404, 409, 413, 415, 422, 429, 500],
};

/// Preview a filter
pub static PREVIEW_FILTER: Operation = Operation {
    id: "previewFilter",
    method: "POST",
    path: "/developer/v1/webhooks/{id}/preview-filter",
    tag: "webhooks",
    scope: Some("write:webhooks"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1developer~1v1~1webhooks~1{id}~1preview-filter/post/parameters/0/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1developer~1v1~1webhooks~1{id}~1preview-filter/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[200, 401, 403, 404, 413, 415, 422, 429, 500],
};

/// List deliveries
pub static LIST_DELIVERIES: Operation = Operation {
    id: "listDeliveries",
    method: "GET",
    path: "/developer/v1/deliveries",
    tag: "deliveries",
    scope: Some("read:webhooks"),
    parameters: &[
        Parameter {
            name: "cursor",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/Cursor/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "limit",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/Limit/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "webhook_id",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1developer~1v1~1deliveries/get/parameters/2/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "state",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1developer~1v1~1deliveries/get/parameters/3/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "event_type",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1developer~1v1~1deliveries/get/parameters/4/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "created_after",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/CreatedAfter/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "created_before",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/CreatedBefore/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "If-None-Match",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IfNoneMatch/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200, 304, 401, 403, 404, 422, 429, 500],
};

/// Retrieve a delivery
pub static GET_DELIVERY: Operation = Operation {
    id: "getDelivery",
    method: "GET",
    path: "/developer/v1/deliveries/{id}",
    tag: "deliveries",
    scope: Some("read:webhooks"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1developer~1v1~1deliveries~1{id}/get/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "If-None-Match",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IfNoneMatch/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200, 304, 401, 403, 404, 422, 429, 500],
};

/// List the attempts of a delivery
pub static LIST_DELIVERY_ATTEMPTS: Operation = Operation {
    id: "listDeliveryAttempts",
    method: "GET",
    path: "/developer/v1/deliveries/{id}/attempts",
    tag: "deliveries",
    scope: Some("read:webhooks"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1developer~1v1~1deliveries~1{id}~1attempts/get/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "If-None-Match",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IfNoneMatch/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200, 304, 401, 403, 404, 422, 429, 500],
};

/// Send a delivery again
pub static REPLAY_DELIVERY: Operation = Operation {
    id: "replayDelivery",
    method: "POST",
    path: "/developer/v1/deliveries/{id}/replay",
    tag: "deliveries",
    scope: Some("write:webhooks"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1developer~1v1~1deliveries~1{id}~1replay/post/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "Idempotency-Key",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IdempotencyKey/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[201, 401, 403, 404, 409, 422, 429, 500],
};

/// List events
pub static LIST_EVENTS: Operation = Operation {
    id: "listEvents",
    method: "GET",
    path: "/developer/v1/events",
    tag: "event_feed",
    scope: Some("read:events"),
    parameters: &[
        Parameter {
            name: "cursor",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/EventCursor/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "limit",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1developer~1v1~1events/get/parameters/1/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "wait",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1developer~1v1~1events/get/parameters/2/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "type",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1developer~1v1~1events/get/parameters/3/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "after",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1developer~1v1~1events/get/parameters/4/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "undelivered_to",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1developer~1v1~1events/get/parameters/5/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "If-None-Match",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IfNoneMatch/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200, 304, 401, 403, 404, 410, 422, 429, 500],
};

/// Stream events
pub static STREAM_EVENTS: Operation = Operation {
    id: "streamEvents",
    method: "GET",
    path: "/developer/v1/events/stream",
    tag: "event_feed",
    scope: Some("read:events"),
    parameters: &[
        Parameter {
            name: "cursor",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/EventCursor/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "since",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1developer~1v1~1events~1stream/get/parameters/1/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "type",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1developer~1v1~1events~1stream/get/parameters/2/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200, 401, 403, 410, 422, 429, 500],
};

/// Make an event happen in the sandbox
pub static CREATE_SANDBOX_EVENT: Operation = Operation {
    id: "createSandboxEvent",
    method: "POST",
    path: "/developer/v1/sandbox/events",
    tag: "sandbox",
    scope: Some("write:webhooks"),
    parameters: &[
        Parameter {
            name: "Idempotency-Key",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IdempotencyKey/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1developer~1v1~1sandbox~1events/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[201, 401, 403, 409, 413, 415, 422, 429, 500],
};

/// Advance the clock of an ephemeral server
pub static ADVANCE_SANDBOX_CLOCK: Operation = Operation {
    id: "advanceSandboxClock",
    method: "POST",
    path: "/developer/v1/sandbox/clock",
    tag: "sandbox",
    scope: Some("write:webhooks"),
    parameters: &[
        Parameter {
            name: "Idempotency-Key",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/IdempotencyKey/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1developer~1v1~1sandbox~1clock/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[200, 401, 403, 409, 413, 415, 422, 429, 500],
};
