// Generated from tests/open_profile/contract.yaml (sha256 e45e821c32f875d53d482be9d999431e885ca8dd36d2236214724844bae428ef), do not edit. Run `cargo xtask codegen`.

//! Static descriptions of the operations.

use super::document;
use contract_runtime::contract::{
    Body, Contract, Credential, ListStyle, Operation, Parameter, ParameterKind,
    ParameterLocation,
};

/// All operations, in the order of the contract.
pub static OPERATIONS: &[&Operation] = &[
    &GET_STATUS,
    &GET_TOOLS,
    &CREATE_TOOL,
    &LIST_TOOL_NAMES,
    &IMPORT_TOOLS,
    &CHECK_TOOLS,
    &ADD_NOTE,
    &ATTACH,
    &LIST_ORDERS,
    &REPLACE_ORDER,
    &GET_JOURNAL,
    &DELETE_FROM_JOURNAL,
    &WRITE_JOURNAL,
    &ADD_TO_JOURNAL,
    &EDIT_JOURNAL,
];

/// The contract and its operations.
pub static CONTRACT: Contract = Contract {
    name: "workshop",
    title: document::TITLE,
    yaml: document::YAML,
    json: document::JSON,
    json_path: "/openapi/workshop.json",
    json_3_0: document::OPENAPI_3_0_JSON,
    clients_json: document::CLIENTS_JSON,
    clients_json_3_0: document::CLIENTS_OPENAPI_3_0_JSON,
    operations: OPERATIONS,
    credential: CREDENTIAL,
};

/// Where clients send their API keys.
pub const CREDENTIAL: Credential = Credential::None;

/// A public operation without a tag
pub static GET_STATUS: Operation = Operation {
    id: "get-status",
    method: "GET",
    path: "/status",
    tag: "default",
    scope: None,
    parameters: &[],
    body: None,
    statuses: &[200],
};

/// A list with the security of the document
pub static GET_TOOLS: Operation = Operation {
    id: "GetTools",
    method: "GET",
    path: "/Tools",
    tag: "Operations API",
    scope: None,
    parameters: &[
        Parameter {
            name: "pageSize",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1Tools/get/parameters/0/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "minRating",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1Tools/get/parameters/3/schema",
            kind: ParameterKind::Integer,
        },
        Parameter {
            name: "shade",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1Tools/get/parameters/4/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "makers",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1Tools/get/parameters/5/schema",
            kind: ParameterKind::List(&ParameterKind::String, ListStyle::Repeated),
        },
        Parameter {
            name: "colorCode",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1Tools/get/parameters/6/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200],
};

/// createTool
pub static CREATE_TOOL: Operation = Operation {
    id: "createTool",
    method: "POST",
    path: "/Tools",
    tag: "Operations API",
    scope: None,
    parameters: &[],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1Tools/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[201, 409],
};

/// listToolNames
pub static LIST_TOOL_NAMES: Operation = Operation {
    id: "listToolNames",
    method: "GET",
    path: "/tool-names",
    tag: "Operations API",
    scope: None,
    parameters: &[],
    body: None,
    statuses: &[200],
};

/// importTools
pub static IMPORT_TOOLS: Operation = Operation {
    id: "importTools",
    method: "POST",
    path: "/tool-import",
    tag: "Operations API",
    scope: None,
    parameters: &[],
    body: Some(Body {
        media_type: "application/x-ndjson",
        schema: "/paths/~1tool-import/post/requestBody/content/application~1x-ndjson/schema",
    }),
    statuses: &[200],
};

/// checkTools
pub static CHECK_TOOLS: Operation = Operation {
    id: "checkTools",
    method: "POST",
    path: "/tool-checks",
    tag: "Operations API",
    scope: None,
    parameters: &[],
    body: Some(Body {
        media_type: "application/x-ndjson",
        schema: "/paths/~1tool-checks/post/requestBody/content/application~1x-ndjson/schema",
    }),
    statuses: &[200],
};

/// addNote
pub static ADD_NOTE: Operation = Operation {
    id: "addNote",
    method: "POST",
    path: "/Tools/{toolId}/notes",
    tag: "Operations API",
    scope: None,
    parameters: &[
        Parameter {
            name: "toolId",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1Tools~1{toolId}~1notes/parameters/0/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1Tools~1{toolId}~1notes/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[200],
};

/// attach
pub static ATTACH: Operation = Operation {
    id: "attach",
    method: "PUT",
    path: "/Tools/{toolId}/notes",
    tag: "Operations API",
    scope: None,
    parameters: &[
        Parameter {
            name: "toolId",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1Tools~1{toolId}~1notes/parameters/0/schema",
            kind: ParameterKind::String,
        },
    ],
    body: Some(Body {
        media_type: "image/*",
        schema: "/paths/~1Tools~1{toolId}~1notes/put/requestBody/content/image~1*/schema",
    }),
    statuses: &[200, 204],
};

/// listOrders
pub static LIST_ORDERS: Operation = Operation {
    id: "listOrders",
    method: "GET",
    path: "/orders",
    tag: "Orders",
    scope: None,
    parameters: &[
        Parameter {
            name: "api_key",
            location: ParameterLocation::Query,
            required: true,
            schema: "/paths/~1orders/get/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "client",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1orders/get/parameters/1/schema",
            kind: ParameterKind::String,
        },
    ],
    body: None,
    statuses: &[200],
};

/// replaceOrder
pub static REPLACE_ORDER: Operation = Operation {
    id: "replaceOrder",
    method: "PUT",
    path: "/orders",
    tag: "Orders",
    scope: None,
    parameters: &[],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1orders/put/requestBody/content/application~1json/schema",
    }),
    statuses: &[200],
};

/// getJournal
pub static GET_JOURNAL: Operation = Operation {
    id: "getJournal",
    method: "GET",
    path: "/journal",
    tag: "Orders",
    scope: None,
    parameters: &[],
    body: None,
    statuses: &[200],
};

/// deleteFromJournal
pub static DELETE_FROM_JOURNAL: Operation = Operation {
    id: "deleteFromJournal",
    method: "DELETE",
    path: "/journal",
    tag: "Orders",
    scope: None,
    parameters: &[],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1journal/delete/requestBody/content/application~1json/schema",
    }),
    statuses: &[200],
};

/// writeJournal
pub static WRITE_JOURNAL: Operation = Operation {
    id: "writeJournal",
    method: "PUT",
    path: "/journal",
    tag: "Orders",
    scope: None,
    parameters: &[],
    body: Some(Body {
        media_type: "text/plain; charset=utf-8",
        schema: "/paths/~1journal/put/requestBody/content/text~1plain; charset=utf-8/schema",
    }),
    statuses: &[200],
};

/// addToJournal
pub static ADD_TO_JOURNAL: Operation = Operation {
    id: "addToJournal",
    method: "POST",
    path: "/journal",
    tag: "Orders",
    scope: None,
    parameters: &[],
    body: Some(Body {
        media_type: "Application/JSON; charset=utf-8",
        schema: "/paths/~1journal/post/requestBody/content/Application~1JSON; charset=utf-8/schema",
    }),
    statuses: &[200],
};

/// editJournal
pub static EDIT_JOURNAL: Operation = Operation {
    id: "editJournal",
    method: "PATCH",
    path: "/journal",
    tag: "Orders",
    scope: None,
    parameters: &[],
    body: Some(Body {
        media_type: "application/json",
        schema: "/paths/~1journal/patch/requestBody/content/application~1json/schema",
    }),
    statuses: &[200],
};
