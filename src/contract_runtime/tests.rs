//! Tests the router with a small service.
//!
//! The module `things` has the form of the code that `cargo xtask codegen` generates.

use std::sync::Arc;

use bytes::Bytes;
use poem::http::{Method, StatusCode};
use poem::{Request, Response};
use serde_json::{Value, json};

use super::call::Call;
use super::response::ResponseParts;
use super::router::{CallError, RouteMatch, Router};
use super::service::Service;
use things::{CONTRACT, MoveThingRequest, MoveThingResponse, Things, V1};

/// A contract with one operation, and its generated code.
mod things {
    use poem_openapi::OpenApi;

    use crate::call::Call;
    use crate::contract::{
        Body, Contract, Credential, JSON, ListStyle, Operation, Parameter, ParameterKind, ParameterLocation,
    };
    use crate::parameter::{Path, Query};
    use crate::payload::{Json, JsonBody};
    use crate::response::{OperationResponse, ResponseParts};
    use crate::service::{Service, respond};

    pub(super) static CONTRACT: Contract = Contract {
        name: "v1",
        title: "Things",
        yaml: "",
        json: r#"{ "paths": { "/boxes/{box}/things/{thing}": { "post": {} } }, "schemas": {
            "text": { "type": "string", "minLength": 1 },
            "count": { "type": "integer", "format": "int32", "maximum": 9 },
            "list": { "type": "array", "items": { "type": "integer", "format": "int32" } },
            "body": {
                "type": "object",
                "required": ["by"],
                "properties": {
                    "by": { "type": "integer", "format": "int32" },
                    "total": { "type": "integer" },
                    "level": { "type": ["integer", "null"], "enum": [1152921504606846976, null] }
                },
                "additionalProperties": false
            }
        } }"#,
        json_path: "",
        json_3_0: "",
        clients_json: "",
        clients_json_3_0: "",
        operations: &[&MOVE_THING],
        credential: Credential::Bearer,
    };

    static MOVE_THING: Operation = Operation {
        id: "moveThing",
        method: "POST",
        path: "/boxes/{box}/things/{thing}",
        tag: "things",
        scope: None,
        parameters: &[
            // Not in the order of the path.
            parameter("thing", ParameterLocation::Path, "/schemas/text", ParameterKind::String),
            parameter("box", ParameterLocation::Path, "/schemas/text", ParameterKind::String),
            parameter("limit", ParameterLocation::Query, "/schemas/count", ParameterKind::Integer),
            parameter(
                "marks",
                ParameterLocation::Query,
                "/schemas/list",
                ParameterKind::List(&ParameterKind::Integer, ListStyle::Commas),
            ),
        ],
        body: Some(Body { media_type: JSON, schema: "/schemas/body" }),
        statuses: &[200, 404, 500],
    };

    const fn parameter(
        name: &'static str,
        location: ParameterLocation,
        schema: &'static str,
        kind: ParameterKind,
    ) -> Parameter {
        Parameter { name, location, required: matches!(location, ParameterLocation::Path), schema, kind }
    }

    pub(super) trait Things: Service {
        fn move_thing(
            &self,
            call: Call<Self::Caller>,
            request: MoveThingRequest,
        ) -> impl Future<Output = Result<MoveThingResponse, Self::Error>> + Send;
    }

    #[derive(Debug, Clone, PartialEq)]
    pub(super) struct MoveThingRequest {
        pub(super) thing: String,
        pub(super) r#box: String,
        pub(super) limit: i32,
        pub(super) marks: Option<Vec<i32>>,
        pub(super) body: MovedThing,
    }

    #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, poem_openapi::Object)]
    pub(super) struct MovedThing {
        pub(super) by: i32,
        #[oai(skip_serializing_if_is_none)]
        pub(super) total: Option<i64>,
        #[oai(skip_serializing_if_is_none)]
        pub(super) level: Option<i64>,
    }

    #[derive(Debug, poem_openapi::ApiResponse)]
    pub(super) enum MoveThingResponse {
        #[oai(status = 200)]
        Ok(Json<MovedThing>),
        #[oai(status = 404)]
        NotFound(Json<MovedThing>),
        #[oai(status = 500)]
        InternalServerError(Json<MovedThing>),
    }

    impl OperationResponse for MoveThingResponse {
        fn from_parts(parts: ResponseParts) -> Option<Self> {
            match parts.status {
                200 => Some(Self::Ok(Json::Serialized(parts.body?))),
                404 => Some(Self::NotFound(Json::Serialized(parts.body?))),
                500 => Some(Self::InternalServerError(Json::Serialized(parts.body?))),
                _ => None,
            }
        }

        fn into_parts(self) -> ResponseParts {
            let (status, body) = match self {
                Self::Ok(body) => (200, body),
                Self::NotFound(body) => (404, body),
                Self::InternalServerError(body) => (500, body),
            };
            ResponseParts { status, headers: Vec::new(), body: Some(body.into_bytes()) }
        }
    }

    pub(super) struct V1<S>(pub(super) S);

    fn limit_default() -> i32 {
        5
    }

    #[OpenApi]
    impl<S: Things> V1<S> {
        #[oai(path = "/boxes/:box/things/:thing", method = "post", operation_id = "moveThing")]
        async fn move_thing(
            &self,
            call: Call<S::Caller>,
            #[oai(name = "thing")] thing: Path<String>,
            #[oai(name = "box")] r#box: Path<String>,
            #[oai(name = "limit", default = "limit_default")] limit: Query<i32>,
            #[oai(name = "marks", explode = false)] marks: Query<Option<Vec<i32>>>,
            body: JsonBody<MovedThing>,
        ) -> MoveThingResponse {
            let request = MoveThingRequest {
                thing: thing.0,
                r#box: r#box.0,
                limit: limit.0,
                marks: marks.0,
                body: body.0,
            };
            respond(&self.0, &call, self.0.move_thing(call.clone(), request).await)
        }
    }
}

/// Responds with its input. A negative `by` is an error with that status: -404 is a 404.
struct Mover;

impl Service for Mover {
    type Caller = &'static str;
    type Error = u16;

    fn error_parts(&self, call: &Call<&'static str>, error: u16) -> ResponseParts {
        let body = json!({ "error": error, "caller": *call.caller() });
        ResponseParts { status: error, headers: Vec::new(), body: Some(body.to_string().into()) }
    }

    fn undocumented(&self, _: &Call<&'static str>, _: u16) -> u16 {
        500
    }
}

impl Things for Mover {
    async fn move_thing(
        &self,
        call: Call<&'static str>,
        request: MoveThingRequest,
    ) -> Result<MoveThingResponse, u16> {
        if request.body.by < 0 {
            return Err(request.body.by.unsigned_abs() as u16);
        }
        let MoveThingRequest { thing, r#box, limit, marks, body } = request;
        let actual = json!([call.caller(), r#box, thing, limit, marks, body.by, call.query().len()]);
        Ok(MoveThingResponse::Ok(super::payload::Json::Serialized(actual.to_string().into())))
    }
}

/// Sends a request with this body. Returns the status and the body of the response, or the error of the validation.
async fn send(path: &str, body: &str) -> Result<(StatusCode, Value), CallError> {
    let router = Router::new(&CONTRACT, V1(Mover), |_| None).unwrap();
    let request = Request::builder().method(Method::POST).content_type("application/json").uri_str(path);
    let request = request.finish();
    let RouteMatch::Operation(route, path_parameters) = router.find("POST", request.uri().path()) else {
        panic!("{path} matches no operation");
    };
    let input = route.validate(&request, path_parameters, Bytes::from(body.to_owned()))?;
    let response: Response = route.call(Arc::new("ada"), input, request).await.unwrap();
    let status = response.status();
    let body = response.into_body().into_json().await.unwrap();
    Ok((status, body))
}

#[tokio::test]
async fn an_operation_is_called_with_the_validated_input() {
    let (status, actual) = send("/boxes/a%20b/things/t?limit=7&marks=1,2", "{\"by\": 3.0}").await.unwrap();
    assert_eq!((status, actual), (StatusCode::OK, json!(["ada", "a b", "t", 7, [1, 2], 3, 2])));
    let (_, actual) = send("/boxes/b/things/t", "{\"by\": 1}").await.unwrap();
    assert_eq!(actual, json!(["ada", "b", "t", 5, null, 1, 0]));
}

#[tokio::test]
async fn an_error_becomes_a_documented_response() {
    let (status, body) = send("/boxes/b/things/t", "{\"by\": -404}").await.unwrap();
    assert_eq!((status, body), (StatusCode::NOT_FOUND, json!({ "error": 404, "caller": "ada" })));
    let (status, body) = send("/boxes/b/things/t", "{\"by\": -409}").await.unwrap();
    assert_eq!((status, body["error"].as_u64()), (StatusCode::INTERNAL_SERVER_ERROR, Some(500)));
}

#[tokio::test]
async fn all_violations_of_a_request_are_reported_together() {
    let Err(CallError::Invalid(violations)) = send("/boxes/b/things/t?limit=10&x=1", "{\"to\": 1}").await
    else {
        panic!("the request must be rejected");
    };
    let actual: Vec<String> = violations
        .iter()
        .map(|violation| format!("{:?} {}: {}", violation.part, violation.field, violation.message))
        .collect();
    assert_eq!(
        actual,
        [
            "Query limit: must be at most 9",
            "Query x: is not a parameter of this operation",
            "Body /to: is not a field of this body; did you mean `total`?",
            "Body /by: is required",
        ]
    );
}

#[tokio::test]
async fn an_integer_that_a_float_cannot_represent_exactly_is_a_violation() {
    let (status, _) = send("/boxes/b/things/t", "{\"by\": 1, \"total\": 9007199254740992.0}").await.unwrap();
    assert_eq!(status, StatusCode::OK);
    let (status, _) = send("/boxes/b/things/t", "{\"by\": 1, \"total\": 9223372036854775807}").await.unwrap();
    assert_eq!(status, StatusCode::OK);
    for (field, number) in
        [("total", "9007199254740994.0"), ("total", "-1e18"), ("level", "1152921504606846976.0")]
    {
        let body = format!("{{\"by\": 1, \"{field}\": {number}}}");
        let Err(CallError::Invalid(violations)) = send("/boxes/b/things/t", &body).await else {
            panic!("{body} must be rejected");
        };
        let messages: Vec<&str> = violations.iter().map(|violation| &*violation.message).collect();
        assert_eq!(messages, ["must be written without a fraction and an exponent"], "{body}");
    }
}
