// Generated from tests/open_profile/contract.yaml (sha256 e45e821c32f875d53d482be9d999431e885ca8dd36d2236214724844bae428ef), do not edit. Run `cargo xtask codegen`.

//! Serves the traits of all tags as one poem-openapi API.

use poem_openapi::OpenApi;
use super::schemas;
use super::{operations_api, orders, default};
use contract_runtime::call::Call;
use contract_runtime::parameter::{Path, Query};
use contract_runtime::payload::{Bytes, JsonBody, Lines, OptionalBody, Text};
use contract_runtime::service::{Responded, respond_or_error};

/// A tag of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, poem_openapi::Tags)]
pub enum Tag {
    /// The name of a generated module.
    #[oai(rename = "Operations API")]
    OperationsApi,
    /// Orders
    #[oai(rename = "Orders")]
    Orders,
    /// default
    #[oai(rename = "default")]
    Default,
}

/// Serves an implementation of the traits of all tags as a poem-openapi API.
pub struct Workshop<S>(pub S);

#[OpenApi]
impl<S: operations_api::OperationsApi + orders::Orders + default::Default> Workshop<S> {
    /// A public operation without a tag
    #[oai(
        path = "/status",
        method = "get",
        operation_id = "get-status",
        tag = "Tag::Default"
    )]
    async fn get_status(
        &self,
        call: Call<S::Caller>,
    ) -> Responded<default::GetStatusResponse> {
        let request = default::GetStatusRequest {};
        respond_or_error(&self.0, &call, self.0.get_status(call.clone(), request).await)
    }
    /// A list with the security of the document
    #[oai(
        path = "/Tools",
        method = "get",
        operation_id = "GetTools",
        tag = "Tag::OperationsApi"
    )]
    async fn get_tools(
        &self,
        call: Call<S::Caller>,
        #[oai(
            name = "pageSize",
            default = "get_tools_page_size_default",
            validator(minimum(value = "1"))
        )]
        page_size: Query<i64>,
        #[oai(name = "minRating", validator(minimum(value = "1")))]
        min_rating: Query<Option<i64>>,
        #[oai(name = "shade")]
        shade: Query<Option<schemas::GetToolsShade>>,
        #[oai(name = "makers")]
        makers: Query<Option<Vec<String>>>,
        #[oai(name = "colorCode")]
        color_code: Query<Option<String>>,
    ) -> Responded<operations_api::GetToolsResponse> {
        let request = operations_api::GetToolsRequest {
            page_size: page_size.0,
            min_rating: min_rating.0,
            shade: shade.0,
            makers: makers.0,
            color_code: color_code.0,
        };
        respond_or_error(&self.0, &call, self.0.get_tools(call.clone(), request).await)
    }
    /// createTool
    #[oai(
        path = "/Tools",
        method = "post",
        operation_id = "createTool",
        tag = "Tag::OperationsApi"
    )]
    async fn create_tool(
        &self,
        call: Call<S::Caller>,
        body: JsonBody<schemas::NewTool>,
    ) -> Responded<operations_api::CreateToolResponse> {
        let request = operations_api::CreateToolRequest {
            body: body.0,
        };
        respond_or_error(&self.0, &call, self.0.create_tool(call.clone(), request).await)
    }
    /// listToolNames
    #[oai(
        path = "/tool-names",
        method = "get",
        operation_id = "listToolNames",
        tag = "Tag::OperationsApi"
    )]
    async fn list_tool_names(
        &self,
        call: Call<S::Caller>,
    ) -> Responded<operations_api::ListToolNamesResponse> {
        let request = operations_api::ListToolNamesRequest {
        };
        respond_or_error(
            &self.0,
            &call,
            self.0.list_tool_names(call.clone(), request).await,
        )
    }
    /// importTools
    #[oai(
        path = "/tool-import",
        method = "post",
        operation_id = "importTools",
        tag = "Tag::OperationsApi"
    )]
    async fn import_tools(
        &self,
        call: Call<S::Caller>,
        body: Lines<schemas::NewTool>,
    ) -> Responded<operations_api::ImportToolsResponse> {
        let request = operations_api::ImportToolsRequest {
            body,
        };
        respond_or_error(
            &self.0,
            &call,
            self.0.import_tools(call.clone(), request).await,
        )
    }
    /// checkTools
    #[oai(
        path = "/tool-checks",
        method = "post",
        operation_id = "checkTools",
        tag = "Tag::OperationsApi"
    )]
    async fn check_tools(
        &self,
        call: Call<S::Caller>,
        body: Lines<schemas::NewTool>,
    ) -> Responded<operations_api::CheckToolsResponse> {
        let request = operations_api::CheckToolsRequest {
            body,
        };
        respond_or_error(&self.0, &call, self.0.check_tools(call.clone(), request).await)
    }
    /// addNote
    #[oai(
        path = "/Tools/:toolId/notes",
        method = "post",
        operation_id = "addNote",
        tag = "Tag::OperationsApi"
    )]
    async fn add_note(
        &self,
        call: Call<S::Caller>,
        #[oai(name = "toolId")]
        tool_id: Path<String>,
        body: OptionalBody<JsonBody<schemas::AddNoteBody>>,
    ) -> Responded<operations_api::AddNoteResponse> {
        let request = operations_api::AddNoteRequest {
            tool_id: tool_id.0,
            body: body.0.map(|body| body.0),
        };
        respond_or_error(&self.0, &call, self.0.add_note(call.clone(), request).await)
    }
    /// attach
    #[oai(
        path = "/Tools/:toolId/notes",
        method = "put",
        operation_id = "attach",
        tag = "Tag::OperationsApi"
    )]
    async fn attach(
        &self,
        call: Call<S::Caller>,
        #[oai(name = "toolId")]
        tool_id: Path<String>,
        body: OptionalBody<Bytes>,
    ) -> Responded<operations_api::AttachResponse> {
        let request = operations_api::AttachRequest {
            tool_id: tool_id.0,
            body: body.0.map(|body| body.0),
        };
        respond_or_error(&self.0, &call, self.0.attach(call.clone(), request).await)
    }
    /// listOrders
    #[oai(
        path = "/orders",
        method = "get",
        operation_id = "listOrders",
        tag = "Tag::Orders"
    )]
    async fn list_orders(
        &self,
        call: Call<S::Caller>,
        #[oai(name = "api_key", validator(min_length = 2))]
        api_key: Query<String>,
        #[oai(name = "client")]
        client: Query<Option<String>>,
    ) -> Responded<orders::ListOrdersResponse> {
        let request = orders::ListOrdersRequest {
            api_key: api_key.0,
            client: client.0,
        };
        respond_or_error(&self.0, &call, self.0.list_orders(call.clone(), request).await)
    }
    /// replaceOrder
    #[oai(
        path = "/orders",
        method = "put",
        operation_id = "replaceOrder",
        tag = "Tag::Orders"
    )]
    async fn replace_order(
        &self,
        call: Call<S::Caller>,
        body: JsonBody<schemas::Order>,
    ) -> Responded<orders::ReplaceOrderResponse> {
        let request = orders::ReplaceOrderRequest {
            body: body.0,
        };
        respond_or_error(
            &self.0,
            &call,
            self.0.replace_order(call.clone(), request).await,
        )
    }
    /// getJournal
    #[oai(
        path = "/journal",
        method = "get",
        operation_id = "getJournal",
        tag = "Tag::Orders"
    )]
    async fn get_journal(
        &self,
        call: Call<S::Caller>,
    ) -> Responded<orders::GetJournalResponse> {
        let request = orders::GetJournalRequest {};
        respond_or_error(&self.0, &call, self.0.get_journal(call.clone(), request).await)
    }
    /// deleteFromJournal
    #[oai(
        path = "/journal",
        method = "delete",
        operation_id = "deleteFromJournal",
        tag = "Tag::Orders"
    )]
    async fn delete_from_journal(
        &self,
        call: Call<S::Caller>,
        body: JsonBody<schemas::DeleteFromJournalBody>,
    ) -> Responded<orders::DeleteFromJournalResponse> {
        let request = orders::DeleteFromJournalRequest {
            body: body.0,
        };
        respond_or_error(
            &self.0,
            &call,
            self.0.delete_from_journal(call.clone(), request).await,
        )
    }
    /// writeJournal
    #[oai(
        path = "/journal",
        method = "put",
        operation_id = "writeJournal",
        tag = "Tag::Orders"
    )]
    async fn write_journal(
        &self,
        call: Call<S::Caller>,
        body: Text,
    ) -> Responded<orders::WriteJournalResponse> {
        let request = orders::WriteJournalRequest {
            body: body.0,
        };
        respond_or_error(
            &self.0,
            &call,
            self.0.write_journal(call.clone(), request).await,
        )
    }
    /// addToJournal
    #[oai(
        path = "/journal",
        method = "post",
        operation_id = "addToJournal",
        tag = "Tag::Orders"
    )]
    async fn add_to_journal(
        &self,
        call: Call<S::Caller>,
        body: JsonBody<schemas::AddToJournalBody>,
    ) -> Responded<orders::AddToJournalResponse> {
        let request = orders::AddToJournalRequest {
            body: body.0,
        };
        respond_or_error(
            &self.0,
            &call,
            self.0.add_to_journal(call.clone(), request).await,
        )
    }
    /// editJournal
    #[oai(
        path = "/journal",
        method = "patch",
        operation_id = "editJournal",
        tag = "Tag::Orders"
    )]
    async fn edit_journal(
        &self,
        call: Call<S::Caller>,
        body: JsonBody<serde_json::Value>,
    ) -> Responded<orders::EditJournalResponse> {
        let request = orders::EditJournalRequest {
            body: body.0,
        };
        respond_or_error(
            &self.0,
            &call,
            self.0.edit_journal(call.clone(), request).await,
        )
    }
}

fn get_tools_page_size_default() -> i64 {
    20
}
