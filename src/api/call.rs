//! An admitted request: who calls, under which key, which operation.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use poem::http::{HeaderMap, HeaderValue, header};
use poem::{FromRequest, Request, RequestBody};

use super::contract::{Describes, Operation};
use super::error::ApiError;
use super::front::Front;
use super::middleware::etag;
use super::routes::Captured;
use super::validate::Faults;
use super::validate::query::{self, Pair};
use domain::app::App;
use foundation::id::{KeyId, WorkspaceId};

/// What the middleware found out about a request before the framework saw it.
pub struct Admission {
    /// The API that admitted it.
    pub front: Arc<Front>,
    /// The workspace of the key.
    pub workspace: WorkspaceId,
    /// The key.
    pub key: KeyId,
    /// The request's id.
    pub request_id: String,
    /// The operation that its method and path name.
    pub operation: &'static Operation,
    /// The path's parameters.
    pub captured: Captured,
    /// The body, whole; empty for operations that take none.
    pub body: Bytes,
    /// Set when the answer is a kept one.
    pub replayed: AtomicBool,
    /// The answer's `ETag`, where it is not that of its whole body.
    pub tag: OnceLock<HeaderValue>,
}

/// Who calls, and what.
#[derive(Clone)]
pub struct Call {
    /// The workspace of the key.
    pub workspace: WorkspaceId,
    /// The key.
    pub key: KeyId,
    /// The request's id, as the response carries it.
    pub request_id: String,
    /// The operation called.
    pub operation: &'static Operation,
    /// The query's parameters, decoded.
    pub query: Arc<[Pair]>,
    /// The request's `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    admission: Arc<Admission>,
}

impl Call {
    /// The shared parts of the process.
    pub fn app(&self) -> &App {
        &self.admission.front.app
    }

    /// What all calls of the API share.
    pub fn front(&self) -> &Front {
        &self.admission.front
    }

    /// The address by which clients reach this server, without a slash at its end.
    pub fn public_url(&self) -> &str {
        &self.admission.front.settings.public_url
    }

    /// The body as it was sent.
    pub fn body(&self) -> &Bytes {
        &self.admission.body
    }

    /// Has the response say that it repeats a kept answer.
    pub fn mark_replayed(&self) {
        self.admission.replayed.store(true, Ordering::Relaxed);
    }

    /// Gives the response the tag of these bytes, not of its body, for a body that also tells when it was asked for: that
    /// goes on while nothing has changed.
    pub fn tag_by(&self, bytes: &[u8]) {
        self.admission.tag.get_or_init(|| etag::of(bytes));
    }
}

/// A request of operation `O` that passed scope, media type and validation: parameters and body are what the
/// contract says.
#[derive(Clone)]
pub struct Checked<O>(pub Call, PhantomData<O>);

impl<'a, O: Describes + Send> FromRequest<'a> for Checked<O> {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let Some(admission) = request.data::<Arc<Admission>>() else {
            return Err(poem::error::InternalServerError(std::io::Error::other("no key was checked")));
        };
        match check::<O>(admission, request) {
            Ok(call) => Ok(Self(call, PhantomData)),
            Err(error) => Err(poem::Error::from_response(
                error.into_response(&admission.request_id, &admission.front.settings.public_url),
            )),
        }
    }
}

fn check<O: Describes>(admission: &Arc<Admission>, request: &Request) -> Result<Call, ApiError> {
    let operation = O::OPERATION;
    if !std::ptr::eq(operation, admission.operation) {
        let cause = format!("a call of {} was admitted as {}", operation.id, admission.operation.id);
        return Err(ApiError::internal(anyhow::Error::msg(cause)));
    }
    if let Some(body) = &operation.body {
        check_media(request.headers(), body.media_type)?;
    }
    let schemas = &admission.front.schemas;
    let mut faults = Faults::new();
    schemas.check_path(operation, &admission.captured, &mut faults);
    let mut query_faults = Faults::new();
    let text = request.original_uri().query().unwrap_or_default();
    let pairs = query::read(text, |name| operation.is_repeated(name), &mut query_faults);
    schemas.check_query(operation, &pairs, &mut query_faults);
    faults.append(&mut query_faults);
    schemas.check_headers(operation, request.headers(), &mut faults);
    schemas.check_cookies(operation, request.headers(), &mut faults);
    if operation.body.is_some() {
        schemas.check_body(operation, &admission.body, &mut faults);
    }
    if !faults.is_empty() {
        return Err(ApiError::invalid(faults));
    }
    Ok(Call {
        workspace: admission.workspace,
        key: admission.key,
        request_id: admission.request_id.clone(),
        operation,
        query: pairs.into(),
        idempotency_key: request.header("idempotency-key").map(str::to_owned),
        admission: Arc::clone(admission),
    })
}

/// The body must be declared as of its media type, in UTF-8, and not encoded.
fn check_media(headers: &HeaderMap, media_type: &'static str) -> Result<(), ApiError> {
    let encoded = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if encoded {
        let must = "must be absent: an encoded body is not taken";
        return Err(ApiError::wrong_media(media_type, "Content-Encoding", must.to_owned()));
    }
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let fits = match (types.next().map(|value| value.to_str()), types.next()) {
        (Some(Ok(value)), None) => is_of(value, media_type),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    Err(ApiError::wrong_media(media_type, "Content-Type", format!("must be {media_type}")))
}

/// Whether a media type is the one wanted, in UTF-8 where it names a character set.
fn is_of(media_type: &str, wanted: &str) -> bool {
    let mut parts = media_type.split(';').map(str::trim);
    let same = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case(wanted));
    same && parts.filter(|part| !part.is_empty()).all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
            value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        Some(_) => true,
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::is_of;
    use crate::payload::JSON;

    #[test]
    fn json_may_name_its_character_set() {
        for taken in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
        {
            assert!(is_of(taken, JSON), "{taken}");
        }
        for refused in [
            "",
            "text/json",
            "application/jsonx",
            "application/vnd.api+json",
            "application/json; charset=latin1",
            "application/json; charset",
            "application/x-www-form-urlencoded",
        ] {
            assert!(!is_of(refused, JSON), "{refused}");
        }
    }
}
