// Generated from tests/second_version/contract.yaml (sha256 b7b39e6d9d1e2d70ee707eb0fb4e07ea3e9d5e9280ffc50d55b64c9d112e904d), do not edit. Run `cargo xtask codegen`.

//! Serves the traits of all tags as one poem-openapi API.

use poem_openapi::OpenApi;
use super::operations;
use super::schemas;
use super::{things, r#type};
use contract_runtime::call::Call;
use contract_runtime::parameter::{Cookie, Header, Path, Query};
use contract_runtime::payload::{Bytes, JsonBody, Lines, Text};
use contract_runtime::scalar::{Date, Timestamp};
use contract_runtime::security::{SecurityRequirement, SecurityScheme};
use contract_runtime::service::respond;

/// A tag of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, poem_openapi::Tags)]
pub enum Tag {
    /// What can be listed.
    #[oai(rename = "things")]
    Things,
    /// type
    #[oai(rename = "type")]
    Type,
}

/// A scope of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, poem_openapi::OAuthScopes)]
pub enum Scope {
    /// `read:courses`.
    #[oai(rename = "read:courses")]
    ReadCourses,
    /// `write:students`.
    #[oai(rename = "write:students")]
    WriteStudents,
}

impl Scope {
    /// All scopes, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::ReadCourses, Self::WriteStudents];
    /// Returns the scope as a string, such as `read:courses`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadCourses => "read:courses",
            Self::WriteStudents => "write:students",
        }
    }
}

/// The security scheme `keyHeader`: how clients send their API keys.
pub struct Keys;

impl SecurityScheme for Keys {
    const NAME: &'static str = "keyHeader";
    const CREDENTIAL: contract_runtime::contract::Credential = operations::CREDENTIAL;
}

/// Serves an implementation of the traits of all tags as a poem-openapi API.
pub struct V2<S>(pub S);

#[OpenApi]
impl<S: things::Things + r#type::Type> V2<S> {
    /// List things
    #[oai(
        path = "/api/v2/things",
        method = "get",
        operation_id = "listThings",
        tag = "Tag::Things",
        deprecated
    )]
    async fn list_things(
        &self,
        #[oai(scope = "Scope::ReadCourses")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "X-Trace", validator(max_length = 9))]
        x_trace: Header<Option<String>>,
        #[oai(name = "theme")]
        theme: Cookie<Option<schemas::ListThingsTheme>>,
        #[oai(
            name = "limit",
            default = "list_things_limit_default",
            validator(minimum(value = "1"), maximum(value = "100"), multiple_of = "5")
        )]
        limit: Query<i32>,
        #[oai(
            name = "ratio",
            validator(minimum(value = "0"), maximum(value = "1.5", exclusive))
        )]
        ratio: Query<Option<f64>>,
        #[oai(name = "exact", default = "list_things_exact_default")]
        exact: Query<f32>,
        #[oai(name = "only_open", default = "list_things_only_open_default")]
        only_open: Query<bool>,
        #[oai(name = "label", default = "list_things_label_default", deprecated)]
        label: Query<String>,
        #[oai(name = "sort", default = "list_things_sort_default")]
        sort: Query<schemas::ListThingsSort>,
        #[oai(name = "since")]
        since: Query<Option<Timestamp>>,
        #[oai(name = "day")]
        day: Query<Option<Date>>,
        #[oai(name = "level")]
        level: Query<Option<schemas::Level>>,
        #[oai(name = "tag", validator(max_items = 3))]
        tag: Query<Option<Vec<String>>>,
        #[oai(name = "ids", validator(unique_items), explode = false)]
        ids: Query<Option<Vec<i32>>>,
        #[oai(name = "kinds", default = "list_things_kinds_default", explode = false)]
        kinds: Query<Vec<schemas::Kind>>,
        #[oai(name = "X-Marks", explode = false)]
        x_marks: Header<Option<Vec<i64>>>,
    ) -> things::ListThingsResponse {
        let request = things::ListThingsRequest {
            x_trace: x_trace.0,
            theme: theme.0,
            limit: limit.0,
            ratio: ratio.0,
            exact: exact.0,
            only_open: only_open.0,
            label: label.0,
            sort: sort.0,
            since: since.0,
            day: day.0,
            level: level.0,
            tag: tag.0,
            ids: ids.0,
            kinds: kinds.0,
            x_marks: x_marks.0,
        };
        respond(&self.0, &call, self.0.list_things(call.clone(), request).await)
    }
    /// Make a thing
    #[oai(
        path = "/api/v2/things",
        method = "post",
        operation_id = "createThing",
        tag = "Tag::Things"
    )]
    async fn create_thing(
        &self,
        #[oai(scope = "Scope::WriteStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "X-Trace", validator(max_length = 9))]
        x_trace: Header<Option<String>>,
        #[oai(name = "theme", validator(min_length = 1))]
        theme: Cookie<String>,
        body: JsonBody<schemas::NewThing>,
    ) -> things::CreateThingResponse {
        let request = things::CreateThingRequest {
            x_trace: x_trace.0,
            theme: theme.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.create_thing(call.clone(), request).await)
    }
    /// labelThing
    #[oai(
        path = "/api/v2/things/:kind/:id",
        method = "put",
        operation_id = "labelThing",
        tag = "Tag::Things"
    )]
    async fn label_thing(
        &self,
        #[oai(scope = "Scope::WriteStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(minimum(value = "1")))]
        id: Path<i64>,
        #[oai(name = "kind")]
        kind: Path<schemas::Kind>,
        body: JsonBody<schemas::LabelThingBody>,
    ) -> things::LabelThingResponse {
        let request = things::LabelThingRequest {
            id: id.0,
            kind: kind.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.label_thing(call.clone(), request).await)
    }
    /// Change what is sent and leave the rest alone
    #[oai(
        path = "/api/v2/things/:kind/:id",
        method = "patch",
        operation_id = "changeThing",
        tag = "Tag::Things"
    )]
    async fn change_thing(
        &self,
        #[oai(scope = "Scope::WriteStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(minimum(value = "1")))]
        id: Path<i64>,
        #[oai(name = "kind")]
        kind: Path<schemas::Kind>,
        body: JsonBody<schemas::ThingPatch>,
    ) -> things::ChangeThingResponse {
        let request = things::ChangeThingRequest {
            id: id.0,
            kind: kind.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.change_thing(call.clone(), request).await)
    }
    /// deleteThing
    #[oai(
        path = "/api/v2/things/:kind/:id",
        method = "delete",
        operation_id = "deleteThing",
        tag = "Tag::Things"
    )]
    async fn delete_thing(
        &self,
        #[oai(scope = "Scope::WriteStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(minimum(value = "1")))]
        id: Path<i64>,
        #[oai(name = "kind")]
        kind: Path<schemas::Kind>,
    ) -> things::DeleteThingResponse {
        let request = things::DeleteThingRequest {
            id: id.0,
            kind: kind.0,
        };
        respond(&self.0, &call, self.0.delete_thing(call.clone(), request).await)
    }
    /// pay
    #[oai(
        path = "/api/v2/payments",
        method = "post",
        operation_id = "pay",
        tag = "Tag::Type"
    )]
    async fn pay(
        &self,
        #[oai(scope = "Scope::WriteStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        body: JsonBody<schemas::Payment>,
    ) -> r#type::PayResponse {
        let request = r#type::PayRequest { body: body.0 };
        respond(&self.0, &call, self.0.pay(call.clone(), request).await)
    }
    /// note
    #[oai(
        path = "/api/v2/notes",
        method = "post",
        operation_id = "note",
        tag = "Tag::Type"
    )]
    async fn note(
        &self,
        #[oai(scope = "Scope::WriteStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        body: Text,
    ) -> r#type::NoteResponse {
        let request = r#type::NoteRequest {
            body: body.0,
        };
        respond(&self.0, &call, self.0.note(call.clone(), request).await)
    }
    /// importNotes
    #[oai(
        path = "/api/v2/imports",
        method = "post",
        operation_id = "importNotes",
        tag = "Tag::Type"
    )]
    async fn import_notes(
        &self,
        #[oai(scope = "Scope::WriteStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        body: Lines<schemas::ImportNotesBody>,
    ) -> r#type::ImportNotesResponse {
        let request = r#type::ImportNotesRequest { body };
        respond(&self.0, &call, self.0.import_notes(call.clone(), request).await)
    }
    /// upload
    #[oai(
        path = "/api/v2/files",
        method = "put",
        operation_id = "upload",
        tag = "Tag::Type"
    )]
    async fn upload(
        &self,
        #[oai(scope = "Scope::WriteStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        body: Bytes,
    ) -> r#type::UploadResponse {
        let request = r#type::UploadRequest {
            body: body.0,
        };
        respond(&self.0, &call, self.0.upload(call.clone(), request).await)
    }
}

fn list_things_limit_default() -> i32 {
    25
}

fn list_things_exact_default() -> f32 {
    1.0
}

fn list_things_only_open_default() -> bool {
    false
}

fn list_things_label_default() -> String {
    "none".to_owned()
}

fn list_things_sort_default() -> schemas::ListThingsSort {
    schemas::ListThingsSort::SizeDescending
}

fn list_things_kinds_default() -> Vec<schemas::Kind> {
    Vec::new()
}
