//! The service that implements the contract, with problem documents as error bodies.

use std::sync::Arc;

use contract_runtime::call::Call;
use contract_runtime::endpoint::{ContractEndpoint, Host, Rejection};
use contract_runtime::payload::{Bytes, Json, LineError, LineStream, NoBody, Text, TypedBytes};
use contract_runtime::response::{ResponseParts, StatusCode};
use contract_runtime::router::{CallError, Router};
use contract_runtime::security::{Denial, PresentedCredential, RequiredScheme, RequiredSchemes};
use contract_runtime::service::Service;
use futures_util::stream;
use poem::{Request, Response};
use serde_json::json;

use super::generated::adapter::Workshop;
use super::generated::default::{Default as DefaultTag, GetStatusRequest, GetStatusResponse};
use super::generated::operations::CONTRACT;
use super::generated::operations_api::{
    AddNoteRequest, AddNoteResponse, AttachRequest, AttachResponse, CheckToolsRequest, CheckToolsResponse,
    CreateToolRequest, CreateToolResponse, GetToolsRequest, GetToolsResponse, ImportToolsRequest,
    ImportToolsResponse, ListToolNamesRequest, ListToolNamesResponse, OperationsApi,
};
use super::generated::orders::{
    AddToJournalRequest, AddToJournalResponse, DeleteFromJournalRequest, DeleteFromJournalResponse,
    EditJournalRequest, EditJournalResponse, GetJournalRequest, GetJournalResponse, ListOrdersRequest,
    ListOrdersResponse, Orders, ReplaceOrderRequest, ReplaceOrderResponse, WriteJournalRequest,
    WriteJournalResponse,
};
use super::generated::schemas::{GetToolsShade, ImportToolsOkBody, Order, Problem, Tool};

/// Responds with what it received.
#[derive(Clone, Copy)]
pub struct EchoService;

/// An error with this status.
pub struct EchoError(u16);

/// Returns the endpoint of the contract.
pub fn endpoint() -> ContractEndpoint<EchoService> {
    let router = Router::new(&CONTRACT, Workshop(EchoService), |_| None).expect("the files match");
    ContractEndpoint::new(router, Arc::new(EchoService))
}

/// Returns a tool with an id.
pub fn tool(id: &str) -> Tool {
    Tool { id: id.to_owned(), details: None, links: None, bought: None, parts: None, x_extra: None }
}

fn problem(status: u16, title: &str) -> ResponseParts {
    let content_type = "application/problem+json".to_owned();
    let body = json!({ "title": title }).to_string();
    ResponseParts { status, headers: vec![("Content-Type", content_type)], body: Some(body.into()) }
}

impl Service for EchoService {
    type Caller = Vec<String>;
    type Error = EchoError;

    fn error_parts(&self, _: &Call<Vec<String>>, error: EchoError) -> ResponseParts {
        problem(error.0, "failed")
    }

    fn undocumented(&self, _: &Call<Vec<String>>, _: u16) -> EchoError {
        EchoError(500)
    }
}

impl Host for EchoService {
    /// A credential is the list of its scopes. Keys without scopes can be any text.
    async fn authenticate(
        &self,
        _: &Request,
        credentials: &[PresentedCredential<'_>],
    ) -> Result<Vec<String>, Denial> {
        if credentials.iter().any(|credential| credential.value == "revoked") {
            return Err(Denial::Unauthenticated);
        }
        let has_scopes = |credential: &PresentedCredential<'_>| {
            let granted: Vec<&str> = credential.value.split(' ').collect();
            credential.scheme.scopes.iter().all(|scope| granted.contains(&&**scope))
        };
        if !credentials.iter().all(has_scopes) {
            return Err(Denial::Forbidden);
        }
        Ok(credentials.iter().map(|credential| credential.value.clone().into_owned()).collect())
    }

    fn reject(&self, rejection: Rejection) -> Response {
        let parts = match rejection {
            Rejection::Invalid(CallError::MediaType { expected, .. }) => problem(415, expected),
            Rejection::Invalid(CallError::Invalid(violations)) => {
                let texts =
                    violations.iter().map(|violation| format!("{} {}", violation.field, violation.message));
                problem(400, &texts.collect::<Vec<_>>().join("; "))
            }
            Rejection::NotFound => problem(404, "unknown path"),
            Rejection::Unauthenticated(security) => problem(401, &names(&security)),
            Rejection::Forbidden(security) => problem(403, &names(&security)),
            Rejection::MethodNotAllowed(_) => problem(405, "unknown method"),
            Rejection::BodyTooLarge(_) => problem(413, "the body is too large"),
            Rejection::IncompleteBody => problem(400, "the body is incomplete"),
            Rejection::Internal(error) => problem(500, &error.to_string()),
        };
        parts.into_response()
    }
}

/// Returns the schemes of all alternatives, with their scopes.
fn names(security: &RequiredSchemes) -> String {
    let name = |scheme: &RequiredScheme| format!("{} [{}]", scheme.name, scheme.scopes.join(", "));
    let alternative = |schemes: &Vec<_>| schemes.iter().map(name).collect::<Vec<_>>().join(" and ");
    security.alternatives().iter().map(alternative).collect::<Vec<_>>().join(" or ")
}

fn rejected(error: &LineError) -> ImportToolsOkBody {
    let texts = error.violations.iter().map(|violation| format!("{} {}", violation.field, violation.message));
    let text = texts.collect::<Vec<_>>().join("; ");
    let line = i64::try_from(error.line).expect("a small number");
    ImportToolsOkBody { line, name: None, error: Some(text) }
}

impl DefaultTag for EchoService {
    async fn get_status(
        &self,
        _: Call<Vec<String>>,
        _: GetStatusRequest,
    ) -> Result<GetStatusResponse, EchoError> {
        Ok(GetStatusResponse::Ok(Bytes("state\nopen\n".into())))
    }
}

impl OperationsApi for EchoService {
    async fn get_tools(
        &self,
        _: Call<Vec<String>>,
        request: GetToolsRequest,
    ) -> Result<GetToolsResponse, EchoError> {
        match request.page_size {
            409 => Err(EchoError(409)),
            418 => {
                let body = Problem { title: None, status: Some(418) };
                Ok(GetToolsResponse::Status4xx(StatusCode::IM_A_TEAPOT, Json::Value(body)))
            }
            503 => Ok(GetToolsResponse::Default(StatusCode::SERVICE_UNAVAILABLE, NoBody)),
            count => {
                let mut tool = tool(&request.color_code.unwrap_or_default());
                if let Some(rating) = request.min_rating {
                    let shade = request.shade.map(GetToolsShade::as_str);
                    let details = json!({ "rating": rating, "shade": shade, "makers": request.makers });
                    tool.details = serde_json::from_value(details).ok();
                }
                tool.links = Some(vec!["https://a.example".to_owned()]);
                tool.bought = serde_json::from_value(json!("2026-02-14")).ok();
                tool.parts = Some(vec![json!({ "id": "p" })]);
                tool.x_extra = Some(true);
                Ok(GetToolsResponse::Ok(Json::Value(vec![tool]), count))
            }
        }
    }

    async fn create_tool(
        &self,
        call: Call<Vec<String>>,
        request: CreateToolRequest,
    ) -> Result<CreateToolResponse, EchoError> {
        assert_eq!(call.caller().len(), 2, "the caller has both credentials");
        if request.body.name == "missing" {
            return Err(EchoError(404));
        }
        let mut tool = tool(&request.body.name);
        tool.details = serde_json::from_value(request.body.shape).ok();
        Ok(CreateToolResponse::Created(Json::Value(tool)))
    }

    async fn list_tool_names(
        &self,
        _: Call<Vec<String>>,
        _: ListToolNamesRequest,
    ) -> Result<ListToolNamesResponse, EchoError> {
        let names = stream::iter(["saw", "axe"].map(str::to_owned));
        Ok(ListToolNamesResponse::Ok(LineStream::new(names)))
    }

    async fn import_tools(
        &self,
        _: Call<Vec<String>>,
        request: ImportToolsRequest,
    ) -> Result<ImportToolsResponse, EchoError> {
        let results = stream::unfold((request.body, 0), async |(mut tools, line)| {
            let result = match tools.next().await? {
                Ok(tool) => ImportToolsOkBody { line: line + 1, name: Some(tool.name), error: None },
                Err(error) => rejected(&error),
            };
            let line = result.line;
            Some((result, (tools, line)))
        });
        Ok(ImportToolsResponse::Ok(LineStream::new(results)))
    }

    async fn check_tools(
        &self,
        _: Call<Vec<String>>,
        request: CheckToolsRequest,
    ) -> Result<CheckToolsResponse, EchoError> {
        let names = stream::unfold(request.body, async |mut tools| {
            let name = tools.next().await?.map(|tool| tool.name);
            let invalid = |error: LineError| std::io::Error::other(format!("line {} is invalid", error.line));
            Some((name.map_err(invalid), tools))
        });
        Ok(CheckToolsResponse::Ok(LineStream::try_new(names)))
    }

    async fn add_note(
        &self,
        _: Call<Vec<String>>,
        request: AddNoteRequest,
    ) -> Result<AddNoteResponse, EchoError> {
        let text = request.body.map(|body| body.text);
        Ok(AddNoteResponse::Ok(Json::Value([(request.tool_id, json!(text))].into())))
    }

    async fn attach(
        &self,
        call: Call<Vec<String>>,
        request: AttachRequest,
    ) -> Result<AttachResponse, EchoError> {
        Ok(match request.body {
            Some(image) => AttachResponse::Ok(TypedBytes {
                media_type: call.content_type().unwrap_or_default().to_owned(),
                bytes: image.iter().rev().copied().collect(),
            }),
            None => AttachResponse::NoContent,
        })
    }
}

impl Orders for EchoService {
    async fn list_orders(
        &self,
        _: Call<Vec<String>>,
        request: ListOrdersRequest,
    ) -> Result<ListOrdersResponse, EchoError> {
        let parameters = [Some(request.api_key), request.client].into_iter().flatten();
        Ok(ListOrdersResponse::Ok(Json::Value(parameters.collect())))
    }

    async fn replace_order(
        &self,
        _: Call<Vec<String>>,
        request: ReplaceOrderRequest,
    ) -> Result<ReplaceOrderResponse, EchoError> {
        let id = request.body.id.or(request.body.secret);
        let order = Order { id, secret: None, ..request.body };
        Ok(ReplaceOrderResponse::Ok(Json::Value(order)))
    }

    async fn get_journal(
        &self,
        call: Call<Vec<String>>,
        _: GetJournalRequest,
    ) -> Result<GetJournalResponse, EchoError> {
        Ok(GetJournalResponse::Ok(Text(call.caller().concat())))
    }

    async fn delete_from_journal(
        &self,
        _: Call<Vec<String>>,
        request: DeleteFromJournalRequest,
    ) -> Result<DeleteFromJournalResponse, EchoError> {
        Ok(DeleteFromJournalResponse::Ok(Json::Value(request.body.page)))
    }

    async fn write_journal(
        &self,
        _: Call<Vec<String>>,
        request: WriteJournalRequest,
    ) -> Result<WriteJournalResponse, EchoError> {
        Ok(WriteJournalResponse::Ok(Text(request.body)))
    }

    async fn add_to_journal(
        &self,
        _: Call<Vec<String>>,
        request: AddToJournalRequest,
    ) -> Result<AddToJournalResponse, EchoError> {
        Ok(AddToJournalResponse::Ok(Json::Value(request.body.page)))
    }

    async fn edit_journal(
        &self,
        _: Call<Vec<String>>,
        request: EditJournalRequest,
    ) -> Result<EditJournalResponse, EchoError> {
        Ok(EditJournalResponse::Ok(Json::Value(request.body)))
    }
}
