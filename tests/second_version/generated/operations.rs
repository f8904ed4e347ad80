// Generated from tests/second_version/contract.yaml (sha256 b7b39e6d9d1e2d70ee707eb0fb4e07ea3e9d5e9280ffc50d55b64c9d112e904d), do not edit. Run `cargo xtask codegen`.

//! Static descriptions of the operations.

use super::document;
use contract_runtime::contract::{
    Body, Contract, Credential, ListStyle, Operation, Parameter, ParameterKind,
    ParameterLocation,
};

/// All operations, in the order of the contract.
pub static OPERATIONS: &[&Operation] = &[
    &LIST_THINGS,
    &CREATE_THING,
    &LABEL_THING,
    &CHANGE_THING,
    &DELETE_THING,
    &PAY,
    &NOTE,
    &IMPORT_NOTES,
    &UPLOAD,
];

/// The contract and its operations.
pub static CONTRACT: Contract = Contract {
    name: "v2",
    title: document::TITLE,
    yaml: document::YAML,
    json: document::JSON,
    json_path: "/openapi/v2.json",
    json_3_0: document::OPENAPI_3_0_JSON,
    clients_json: document::CLIENTS_JSON,
    clients_json_3_0: document::CLIENTS_OPENAPI_3_0_JSON,
    operations: OPERATIONS,
    credential: CREDENTIAL,
};

/// Where clients send their API keys.
pub const CREDENTIAL: Credential = Credential::Header("X-Api-Key");

/// List things
pub static LIST_THINGS: Operation = Operation {
    id: "listThings",
    method: "GET",
    path: "/api/v2/things",
    tag: "things",
    scope: Some("read:courses"),
    parameters: &[
        Parameter {
            name: "X-Trace",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/Trace/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "theme",
            location: ParameterLocation::Cookie,
            required: false,
            schema: "/paths/~1api~1v2~1things/parameters/1/schema",
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
            name: "ratio",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/1/schema",
            kind: ParameterKind::Number,
        },
        Parameter {
            name: "exact",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/2/schema",
            kind: ParameterKind::Number,
        },
        Parameter {
            name: "only_open",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/3/schema",
            kind: ParameterKind::Boolean,
        },
        Parameter {
            name: "label",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/4/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "sort",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/5/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "since",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/6/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "day",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/7/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "level",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/8/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "tag",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/9/schema",
            kind: ParameterKind::List(&ParameterKind::String, ListStyle::Repeated),
        },
        Parameter {
            name: "ids",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/10/schema",
            kind: ParameterKind::List(&ParameterKind::Integer, ListStyle::Commas),
        },
        Parameter {
            name: "kinds",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/11/schema",
            kind: ParameterKind::List(&ParameterKind::String, ListStyle::Commas),
        },
        Parameter {
            name: "X-Marks",
            location: ParameterLocation::Header,
            required: false,
            schema: "/paths/~1api~1v2~1things/get/parameters/12/schema",
            kind: ParameterKind::List(&ParameterKind::Integer, ListStyle::Commas),
        },
    ],
    body: None,
    statuses: &[200, 401, 403, 410, 422, 429, 500],
};

/// Make a thing
pub static CREATE_THING: Operation = Operation {
    id: "createThing",
    method: "POST",
    path: "/api/v2/things",
    tag: "things",
    scope: Some("write:students"),
    parameters: &[
        Parameter {
            name: "X-Trace",
            location: ParameterLocation::Header,
            required: false,
            schema: "/components/parameters/Trace/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "theme",
            location: ParameterLocation::Cookie,
            required: true,
            schema: "/paths/~1api~1v2~1things/post/parameters/0/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/components/requestBodies/NewThing/content/application~1json/schema",
    }),
    statuses: &[201, 401, 403, 413, 415, 422, 429, 500],
};

/// labelThing
pub static LABEL_THING: Operation = Operation {
    id: "labelThing",
    method: "PUT",
    path: "/api/v2/things/{kind}/{id}",
    tag: "things",
    scope: Some("write:students"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1api~1v2~1things~1{kind}~1{id}/parameters/0/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "kind",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1api~1v2~1things~1{kind}~1{id}/parameters/1/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1api~1v2~1things~1{kind}~1{id}/put/requestBody/content/application~1json/schema",
    }),
    statuses: &[204, 401, 403, 404, 413, 415, 422, 429, 500],
};

/// Change what is sent and leave the rest alone
pub static CHANGE_THING: Operation = Operation {
    id: "changeThing",
    method: "PATCH",
    path: "/api/v2/things/{kind}/{id}",
    tag: "things",
    scope: Some("write:students"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1api~1v2~1things~1{kind}~1{id}/parameters/0/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "kind",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1api~1v2~1things~1{kind}~1{id}/parameters/1/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1api~1v2~1things~1{kind}~1{id}/patch/requestBody/content/application~1json/schema",
    }),
    statuses: &[200, 401, 403, 413, 415, 422, 429, 500],
};

/// deleteThing
pub static DELETE_THING: Operation = Operation {
    id: "deleteThing",
    method: "DELETE",
    path: "/api/v2/things/{kind}/{id}",
    tag: "things",
    scope: Some("write:students"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1api~1v2~1things~1{kind}~1{id}/parameters/0/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "kind",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1api~1v2~1things~1{kind}~1{id}/parameters/1/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[202, 401, 403, 422, 429, 500],
};

/// pay
pub static PAY: Operation = Operation {
    id: "pay",
    method: "POST",
    path: "/api/v2/payments",
    tag: "type",
    scope: Some("write:students"),
    parameters: &[],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1api~1v2~1payments/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[200, 401, 403, 413, 415, 422, 429, 500],
};

/// note
pub static NOTE: Operation = Operation {
    id: "note",
    method: "POST",
    path: "/api/v2/notes",
    tag: "type",
    scope: Some("write:students"),
    parameters: &[],
    body: Some(Body {
        media_type: "text/plain",
        schema: "/paths/~1api~1v2~1notes/post/requestBody/content/text~1plain/schema",
    }),
    statuses: &[200, 401, 403, 413, 415, 422, 429, 500],
};

/// importNotes
pub static IMPORT_NOTES: Operation = Operation {
    id: "importNotes",
    method: "POST",
    path: "/api/v2/imports",
    tag: "type",
    scope: Some("write:students"),
    parameters: &[],
    body: Some(Body {
        media_type: "application/x-ndjson",
        schema: "/paths/~1api~1v2~1imports/post/requestBody/content/application~1x-ndjson/schema",
    }),
    statuses: &[200, 401, 403, 415, 422, 429, 500],
};

/// upload
pub static UPLOAD: Operation = Operation {
    id: "upload",
    method: "PUT",
    path: "/api/v2/files",
    tag: "type",
    scope: Some("write:students"),
    parameters: &[],
    body: Some(Body {
        media_type: "application/octet-stream",
        schema: "/paths/~1api~1v2~1files/put/requestBody/content/application~1octet-stream/schema",
    }),
    statuses: &[200, 401, 403, 413, 415, 422, 429, 500],
};
