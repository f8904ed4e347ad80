//! The cap on request bodies, declared or chunked.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use poem::Request;
use poem::http::{HeaderMap, HeaderValue, header};

use crate::error::ApiError;
use contract_runtime::validate::{Fault, Part};

/// Bytes of a body at most.
pub const CAP: usize = 256 * 1024;
/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// Takes the whole body out of a request. One that is too large is refused without reading on; the connection discards
/// what its client still sends.
///
/// # Errors
/// 413 for a body over the cap, 408 for one that is too slow, 422 for one that breaks off.
pub(super) async fn take(request: &mut Request) -> Result<Bytes, ApiError> {
    let body = request.take_body();
    if body.is_empty() {
        return Ok(Bytes::new());
    }
    let declared = declared_length(request.headers());
    if declared.is_some_and(|length| length > CAP as u64) {
        return Err(ApiError::too_large(CAP));
    }
    let mut stream = body.into_bytes_stream();
    let read = async {
        let mut whole = BytesMut::with_capacity(declared.map_or(0, |length| (length as usize).min(CAP)));
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|_| broken())?;
            if whole.len() + chunk.len() > CAP {
                return Err(ApiError::too_large(CAP));
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    };
    tokio::time::timeout(PATIENCE, read).await.unwrap_or_else(|_| Err(ApiError::too_slow()))
}

/// The error of a body that breaks off or is malformed. Where the next request begins is unknown, so the connection is
/// closed.
fn broken() -> ApiError {
    let message = "could not be read to its end".to_owned();
    let mut error = ApiError::invalid(vec![Fault { place: Part::Body, field: String::new(), message }]);
    error.header = Some((header::CONNECTION, HeaderValue::from_static("close")));
    error
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
