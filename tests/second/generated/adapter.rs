// Generated from tests/second/contract.yaml (sha256 aa032c0ab21254017e0bc564370240675dd413c8491fee50aa92322661d895bd), do not edit. Run `cargo xtask codegen`.

//! The traits of all tags as one poem-openapi API.

use poem_openapi::OpenApi;
use super::operations;
use super::schemas;
use super::{things, r#type};
use api::call::Checked;
use api::error::answer;
use api::parameter::{Cookie, Header, Path, Query};
use api::payload::{Bytes, Json, Text};
use api::scalar::{Date, Timestamp};
use api::security::{Key, Scheme};

/// The tags of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, poem_openapi::Tags)]
pub enum Tag {
    /// What can be listed.
    #[oai(rename = "things")]
    Things,
    /// type
    #[oai(rename = "type")]
    Type,
}

/// The scopes of the contract.
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
    /// Every scope, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::ReadCourses, Self::WriteStudents];
    /// The scope as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadCourses => "read:courses",
            Self::WriteStudents => "write:students",
        }
    }
}

/// How callers send their keys: the security scheme `keyHeader`.
pub struct Keys;

impl Scheme for Keys {
    const NAME: &'static str = "keyHeader";
    const CREDENTIAL: api::contract::Credential = operations::CREDENTIAL;
}

/// The API over whoever implements the traits of its tags.
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
        _key: Key<Keys>,
        call: Checked<operations::ListThings>,
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
        answer(
            &call.0,
            self
                .0
                .list_things(
                    call.0.clone(),
                    things::ListThingsRequest {
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
                    },
                )
                .await,
        )
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
        _key: Key<Keys>,
        call: Checked<operations::CreateThing>,
        #[oai(name = "X-Trace", validator(max_length = 9))]
        x_trace: Header<Option<String>>,
        #[oai(name = "theme", validator(min_length = 1))]
        theme: Cookie<String>,
        body: Json<schemas::NewThing>,
    ) -> poem::Result<things::CreateThingResponse> {
        Ok(
            answer(
                &call.0,
                self
                    .0
                    .create_thing(
                        call.0.clone(),
                        things::CreateThingRequest {
                            x_trace: x_trace.0,
                            theme: theme.0,
                            body: value(body)?,
                        },
                    )
                    .await,
            ),
        )
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
        _key: Key<Keys>,
        call: Checked<operations::LabelThing>,
        #[oai(name = "kind")]
        kind: Path<schemas::Kind>,
        #[oai(name = "id", validator(minimum(value = "1")))]
        id: Path<i64>,
        body: Json<schemas::LabelThingBody>,
    ) -> poem::Result<things::LabelThingResponse> {
        Ok(
            answer(
                &call.0,
                self
                    .0
                    .label_thing(
                        call.0.clone(),
                        things::LabelThingRequest {
                            kind: kind.0,
                            id: id.0,
                            body: value(body)?,
                        },
                    )
                    .await,
            ),
        )
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
        _key: Key<Keys>,
        call: Checked<operations::ChangeThing>,
        #[oai(name = "kind")]
        kind: Path<schemas::Kind>,
        #[oai(name = "id", validator(minimum(value = "1")))]
        id: Path<i64>,
        body: Json<schemas::ThingPatch>,
    ) -> poem::Result<things::ChangeThingResponse> {
        Ok(
            answer(
                &call.0,
                self
                    .0
                    .change_thing(
                        call.0.clone(),
                        things::ChangeThingRequest {
                            kind: kind.0,
                            id: id.0,
                            body: value(body)?,
                        },
                    )
                    .await,
            ),
        )
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
        _key: Key<Keys>,
        call: Checked<operations::DeleteThing>,
        #[oai(name = "kind")]
        kind: Path<schemas::Kind>,
        #[oai(name = "id", validator(minimum(value = "1")))]
        id: Path<i64>,
    ) -> things::DeleteThingResponse {
        answer(
            &call.0,
            self
                .0
                .delete_thing(
                    call.0.clone(),
                    things::DeleteThingRequest {
                        kind: kind.0,
                        id: id.0,
                    },
                )
                .await,
        )
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
        _key: Key<Keys>,
        call: Checked<operations::Pay>,
        body: Json<schemas::Payment>,
    ) -> poem::Result<r#type::PayResponse> {
        Ok(
            answer(
                &call.0,
                self
                    .0
                    .pay(
                        call.0.clone(),
                        r#type::PayRequest {
                            body: value(body)?,
                        },
                    )
                    .await,
            ),
        )
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
        _key: Key<Keys>,
        call: Checked<operations::Note>,
        body: Text,
    ) -> poem::Result<r#type::NoteResponse> {
        Ok(
            answer(
                &call.0,
                self
                    .0
                    .note(
                        call.0.clone(),
                        r#type::NoteRequest {
                            body: body.0,
                        },
                    )
                    .await,
            ),
        )
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
        _key: Key<Keys>,
        call: Checked<operations::Upload>,
        body: Bytes,
    ) -> poem::Result<r#type::UploadResponse> {
        Ok(
            answer(
                &call.0,
                self
                    .0
                    .upload(
                        call.0.clone(),
                        r#type::UploadRequest {
                            body: body.0,
                        },
                    )
                    .await,
            ),
        )
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

/// The value of a body. The extractor hands over read values, so the second arm is for completeness.
fn value<T: serde::de::DeserializeOwned>(body: Json<T>) -> poem::Result<T> {
    match body {
        Json::Value(value) => Ok(value),
        Json::Ready(bytes) => {
            serde_json::from_slice(&bytes).map_err(poem::error::InternalServerError)
        }
    }
}
