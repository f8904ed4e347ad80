// Generated from openapi/v1.yaml (sha256 0407f22c6e2ca5b84a29df515d420ce1a2966477b20c965b8a31e89c6023a115), do not edit. Run `cargo xtask codegen`.

//! Static descriptions of the operations.

use super::document;
use contract_runtime::contract::{
    Body, Contract, Credential, Operation, Parameter, ParameterKind, ParameterLocation,
};

/// All operations, in the order of the contract.
pub static OPERATIONS: &[&Operation] = &[
    &LIST_COURSES,
    &GET_COURSE,
    &LIST_STUDENTS,
    &CREATE_STUDENT,
    &GET_STUDENT,
    &LIST_ORDERS,
    &GET_ORDER,
    &CREATE_ENROLLMENT,
    &GET_ANALYTICS_SUMMARY,
];

/// The contract and its operations.
pub static CONTRACT: Contract = Contract {
    name: "v1",
    title: document::TITLE,
    yaml: document::YAML,
    json: document::JSON,
    json_path: "/openapi/v1.json",
    json_3_0: document::OPENAPI_3_0_JSON,
    clients_json: document::CLIENTS_JSON,
    clients_json_3_0: document::CLIENTS_OPENAPI_3_0_JSON,
    operations: OPERATIONS,
    credential: CREDENTIAL,
};

/// Where clients send their API keys.
pub const CREDENTIAL: Credential = Credential::Bearer;

/// List published courses
pub static LIST_COURSES: Operation = Operation {
    id: "listCourses",
    method: "GET",
    path: "/api/v1/courses",
    tag: "courses",
    scope: Some("read:courses"),
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
            name: "sort",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1courses/get/parameters/2/schema",
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
            name: "updated_after",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/UpdatedAfter/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "updated_before",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/UpdatedBefore/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "slug",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1courses/get/parameters/7/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "language",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1courses/get/parameters/8/schema",
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
    statuses: &[200, 304, 401, 403, 422, 429, 500],
};

/// Retrieve a course
pub static GET_COURSE: Operation = Operation {
    id: "getCourse",
    method: "GET",
    path: "/api/v1/courses/{id}",
    tag: "courses",
    scope: Some("read:courses"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1api~1v1~1courses~1{id}/get/parameters/0/schema",
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

/// List students with progress and enrollment history
pub static LIST_STUDENTS: Operation = Operation {
    id: "listStudents",
    method: "GET",
    path: "/api/v1/students",
    tag: "students",
    scope: Some("read:students"),
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
            name: "sort",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1students/get/parameters/2/schema",
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
            name: "updated_after",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/UpdatedAfter/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "updated_before",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/UpdatedBefore/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "email",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1students/get/parameters/7/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "external_id",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1students/get/parameters/8/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "courseId",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1students/get/parameters/9/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "enrollment_status",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1students/get/parameters/10/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "tag",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1students/get/parameters/11/schema",
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
    statuses: &[200, 304, 401, 403, 422, 429, 500],
};

/// Create a student
pub static CREATE_STUDENT: Operation = Operation {
    id: "createStudent",
    method: "POST",
    path: "/api/v1/students",
    tag: "students",
    scope: Some("write:students"),
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
        schema: "/paths/~1api~1v1~1students/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[201, 401, 403, 409, 413, 415, 422, 429, 500],
};

/// Retrieve a student
pub static GET_STUDENT: Operation = Operation {
    id: "getStudent",
    method: "GET",
    path: "/api/v1/students/{id}",
    tag: "students",
    scope: Some("read:students"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1api~1v1~1students~1{id}/get/parameters/0/schema",
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

/// List orders with receipts and entitlement history
pub static LIST_ORDERS: Operation = Operation {
    id: "listOrders",
    method: "GET",
    path: "/api/v1/orders",
    tag: "orders",
    scope: Some("read:orders"),
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
            name: "sort",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1orders/get/parameters/2/schema",
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
            name: "updated_after",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/UpdatedAfter/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "updated_before",
            location: ParameterLocation::Query,
            required: false,
            schema: "/components/parameters/UpdatedBefore/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "studentId",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1orders/get/parameters/7/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "courseId",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1orders/get/parameters/8/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "status",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1orders/get/parameters/9/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "currency",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1orders/get/parameters/10/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "number",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1orders/get/parameters/11/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "paid_after",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1orders/get/parameters/12/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "paid_before",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1orders/get/parameters/13/schema",
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
    statuses: &[200, 304, 401, 403, 422, 429, 500],
};

/// Retrieve an order
pub static GET_ORDER: Operation = Operation {
    id: "getOrder",
    method: "GET",
    path: "/api/v1/orders/{id}",
    tag: "orders",
    scope: Some("read:orders"),
    parameters: &[
        Parameter {
            name: "id",
            location: ParameterLocation::Path,
            required: true,
            schema: "/paths/~1api~1v1~1orders~1{id}/get/parameters/0/schema",
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

/// Enroll a student in a course
pub static CREATE_ENROLLMENT: Operation = Operation {
    id: "createEnrollment",
    method: "POST",
    path: "/api/v1/enrollments",
    tag: "enrollments",
    scope: Some("write:enrollments"),
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
        schema: "/paths/~1api~1v1~1enrollments/post/requestBody/content/application~1json/schema",
    }),
    statuses: &[200, 201, 401, 403, 404, 409, 413, 415, 422, 429, 500],
};

/// Retrieve aggregate revenue and completion metrics
pub static GET_ANALYTICS_SUMMARY: Operation = Operation {
    id: "getAnalyticsSummary",
    method: "GET",
    path: "/api/v1/analytics/summary",
    tag: "analytics",
    scope: Some("read:analytics"),
    parameters: &[
        Parameter {
            name: "from",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1analytics~1summary/get/parameters/0/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "to",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1analytics~1summary/get/parameters/1/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "timezone",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1analytics~1summary/get/parameters/2/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "courseId",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1analytics~1summary/get/parameters/3/schema",
            kind: ParameterKind::String,
        },
        Parameter {
            name: "interval",
            location: ParameterLocation::Query,
            required: false,
            schema: "/paths/~1api~1v1~1analytics~1summary/get/parameters/4/schema",
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
    statuses: &[200, 304, 401, 403, 422, 429, 500],
};
