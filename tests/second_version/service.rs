//! The service that implements the second version. It records requests, and responds with values from them.

use std::sync::{Arc, Mutex};

use api::call::{Call, Caller};
use api::error::{ApiError, Reply};
use contract_runtime::payload::{Bytes, Json, LineStream, Text};
use contract_runtime::response::ResponseParts;
use contract_runtime::service::Service;
use futures_util::stream;
use poem_openapi::types::MaybeUndefined;

use super::generated::schemas::{
    ChangeThingOkBody, ImportNotesOkBody, Kind, LargeThing, Level, PayOkBody, Payment, Place, Reference,
    Thing, ThingBox,
};
use super::generated::things::{
    ChangeThingRequest, ChangeThingResponse, CreateThingRequest, CreateThingResponse, DeleteThingRequest,
    DeleteThingResponse, LabelThingRequest, LabelThingResponse, ListThingsRequest, ListThingsResponse,
    Things,
};
use super::generated::r#type::{
    ImportNotesRequest, ImportNotesResponse, NoteRequest, NoteResponse, PayRequest, PayResponse, Type,
    UploadRequest, UploadResponse,
};

/// Records the requests of two operations.
#[derive(Clone, Default)]
pub struct RecordingService {
    list_requests: Arc<Mutex<Vec<ListThingsRequest>>>,
    create_requests: Arc<Mutex<Vec<CreateThingRequest>>>,
}

impl RecordingService {
    /// Returns the most recent request to `listThings`.
    pub fn last_list_request(&self) -> ListThingsRequest {
        self.list_requests
            .lock()
            .expect("the lock is not poisoned")
            .last()
            .cloned()
            .expect("the operation was called")
    }

    /// Returns the most recent request to `createThing`.
    pub fn last_create_request(&self) -> CreateThingRequest {
        self.create_requests
            .lock()
            .expect("the lock is not poisoned")
            .last()
            .cloned()
            .expect("the operation was called")
    }
}

/// Parses a value from a JSON string.
fn parse<T: serde::de::DeserializeOwned>(text: &str) -> T {
    serde_json::from_value(text.into()).expect("a valid value")
}

/// Returns a thing with a value for most fields.
fn example_thing() -> Thing {
    Thing {
        id: 1,
        kind: Kind::Big,
        level: Level::Value3,
        other_ids: vec!["abc".to_owned()],
        size: None,
        place: Some(Place { name: "here".to_owned() }),
        at: parse("2026-02-14T09:12:45.5Z"),
        day: parse("2026-02-14"),
        key: parse("0198c2d4-6c1f-7a10-9d3b-5b1e6f0a2c44"),
        seal: parse("AP8="),
        self_: "https://example.com/1".to_owned(),
        labels: [("a".to_owned(), "b".to_owned())].into(),
        r#box: ThingBox { depth: 2, color: None },
        grid: vec![vec![1, 2], vec![]],
        anything: [("deep".to_owned(), serde_json::json!({ "er": [1, null] }))].into(),
        parts: None,
        old: None,
    }
}

impl Service for RecordingService {
    type Caller = Caller;
    type Error = ApiError;

    fn error_parts(&self, call: &Call, error: ApiError) -> ResponseParts {
        error.into_parts(call)
    }

    fn undocumented(&self, call: &Call, status: u16) -> ApiError {
        ApiError::undocumented(call.operation, status)
    }
}

impl Things for RecordingService {
    async fn list_things(&self, _: Call, request: ListThingsRequest) -> Reply<ListThingsResponse> {
        let (link, old) = (request.label.clone(), "a".to_owned());
        self.list_requests.lock().expect("the lock is not poisoned").push(request);
        Ok(ListThingsResponse::Ok(Json::Value(vec![example_thing()]), Some(link), 1, old))
    }

    async fn create_thing(&self, _: Call, request: CreateThingRequest) -> Reply<CreateThingResponse> {
        let thing = LargeThing {
            id: 7,
            name: request.body.name.clone().unwrap_or_default(),
            weight: request.body.count.into(),
            theme: Some(request.theme.clone()),
        };
        self.create_requests.lock().expect("the lock is not poisoned").push(request);
        Ok(CreateThingResponse::Created(Json::Value(thing), "/api/v2/things/big/7".to_owned()))
    }

    async fn label_thing(&self, _: Call, request: LabelThingRequest) -> Reply<LabelThingResponse> {
        if request.id == 404 {
            return Err(ApiError::unknown_path());
        }
        let labels: Vec<String> = request.body.labels.into_values().collect();
        Ok(LabelThingResponse::NoContent(format!(
            "{}/{}/{}",
            request.kind.as_str(),
            request.id,
            labels.join("-")
        )))
    }

    async fn change_thing(&self, _: Call, request: ChangeThingRequest) -> Reply<ChangeThingResponse> {
        let mut change = ChangeThingOkBody { set: Vec::new(), cleared: Vec::new() };
        let mut record = |name: &str, state: MaybeUndefined<String>| match state {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => change.cleared.push(name.to_owned()),
            MaybeUndefined::Value(value) => change.set.push(format!("{name}={value}")),
        };
        record("name", request.body.name);
        record("place", request.body.place.map_value(|place| place.name));
        record(
            "count",
            request
                .body
                .count
                .map_or(MaybeUndefined::Undefined, |count| MaybeUndefined::Value(count.to_string())),
        );
        Ok(ChangeThingResponse::Ok(Json::Value(change)))
    }

    async fn delete_thing(&self, _: Call, _: DeleteThingRequest) -> Reply<DeleteThingResponse> {
        Ok(DeleteThingResponse::Accepted)
    }
}

impl Type for RecordingService {
    async fn pay(&self, _: Call, request: PayRequest) -> Reply<PayResponse> {
        let r#for = match &request.body {
            Payment::Card(card) => card.reference.clone().unwrap_or(Reference::String(card.number.clone())),
            Payment::Cash(cash) => Reference::Integer(cash.amount),
        };
        Ok(PayResponse::Ok(Json::Value(PayOkBody { payment: request.body, r#for })))
    }

    async fn note(&self, _: Call, request: NoteRequest) -> Reply<NoteResponse> {
        Ok(NoteResponse::Ok(Text(request.body.to_uppercase())))
    }

    /// The response fails at the first line that is not valid, and panics at the text `panic`.
    async fn import_notes(&self, _: Call, request: ImportNotesRequest) -> Reply<ImportNotesResponse> {
        let results = stream::unfold((request.body, 1), async |(mut notes, line)| {
            let result = match notes.next().await? {
                Ok(note) if note.text == "panic" => panic!("line {line} panics"),
                Ok(note) => Ok(ImportNotesOkBody { line, text: note.text.to_uppercase() }),
                Err(error) => Err(std::io::Error::other(format!("line {} is not valid", error.line))),
            };
            Some((result, (notes, line + 1)))
        });
        Ok(ImportNotesResponse::Ok(LineStream::try_new(results)))
    }

    async fn upload(&self, _: Call, request: UploadRequest) -> Reply<UploadResponse> {
        Ok(UploadResponse::Ok(Bytes(request.body.iter().rev().copied().collect())))
    }
}
