// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! Static descriptions of the operations.

use super::document;
use contract_runtime::contract::{
    Body, Contract, Credential, Operation, Parameter, ParameterKind, ParameterLocation,
};

/// All operations, in the order of the contract.
pub static OPERATIONS: &[&Operation] = &[
    &IMPORT_CHANGES,
    &LIST_EVENTS,
    &CREATE_DASHBOARD_LINK,
];

/// The contract and its operations.
pub static CONTRACT: Contract = Contract {
    name: "platform-v1",
    title: document::TITLE,
    yaml: document::YAML,
    json: document::JSON,
    json_path: "/openapi/platform-v1.json",
    json_3_0: document::OPENAPI_3_0_JSON,
    clients_json: document::CLIENTS_JSON,
    clients_json_3_0: document::CLIENTS_OPENAPI_3_0_JSON,
    operations: OPERATIONS,
    credential: CREDENTIAL,
};

/// Where clients send their API keys.
pub const CREDENTIAL: Credential = Credential::Bearer;

/// Import changes
pub static IMPORT_CHANGES: Operation = Operation {
    id: "importChanges",
    method: "POST",
    path: "/platform/v1/changes",
    tag: "changes",
    scope: Some("write:changes"),
    parameters: &[
        Parameter {
            name: "dry_run",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1platform~1v1~1changes/post/parameters/0/schema",
            kind: ParameterKind::Boolean,
        },
        Parameter {
            name: "mode",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1platform~1v1~1changes/post/parameters/1/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/x-ndjson",
        schema: "/paths/~1platform~1v1~1changes/post/requestBody/content/application~1x-ndjson/schema",
    }),
    statuses: &[200, 401, 403, 415, 422, 500, 503],
};

/// List events
pub static LIST_EVENTS: Operation = Operation {
    id: "listEvents",
    method: "GET",
    path: "/platform/v1/events",
    tag: "event_feed",
    scope: Some("read:events"),
    parameters: &[
        Parameter {
            name: "cursor",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1platform~1v1~1events/get/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "limit",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1platform~1v1~1events/get/parameters/1/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "wait",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1platform~1v1~1events/get/parameters/2/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "type",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1platform~1v1~1events/get/parameters/3/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "workspace_id",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1platform~1v1~1events/get/parameters/4/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "mode",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1platform~1v1~1events/get/parameters/5/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "after",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1platform~1v1~1events/get/parameters/6/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200, 401, 403, 410, 422, 500, 503],
};

/// Create a sign-in link to the dashboard
pub static CREATE_DASHBOARD_LINK: Operation = Operation {
    id: "createDashboardLink",
    method: "POST",
    path: "/platform/v1/dashboard-links",
    tag: "dashboard_links",
    scope: Some("write:dashboard_links"),
    parameters: &[],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1platform~1v1~1dashboard-links/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[201, 401, 403, 404, 413, 415, 422, 500],
};
