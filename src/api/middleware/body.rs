//! Reads request bodies with a size limit and a timeout, and streams with a timeout only.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use poem::http::{HeaderMap, HeaderValue, header};
use poem::{Body, Request};

use crate::error::ApiError;
use contract_runtime::validate::{RequestPart, Violation};

/// Maximum size of a request body, in bytes.
pub const MAX_BYTES: usize = 256 * 1024;
/// Maximum time until a body has arrived completely.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The body of a request.
pub(super) enum RequestBody {
    /// The whole body.
    Whole(Bytes),
    /// A body that the operation reads line by line.
    Stream(Body),
}

/// Takes the body of a request without reading it. Reading fails if the next part does not arrive within
/// [`READ_TIMEOUT`]; its size is not limited.
pub(super) fn stream(request: &mut Request) -> Body {
    let body = request.take_body();
    if body.is_empty() {
        return body;
    }
    let parts = stream::unfold(body.into_bytes_stream(), async |mut parts| {
        let next = tokio::time::timeout(READ_TIMEOUT, parts.next()).await;
        let part = next.unwrap_or_else(|elapsed| Some(Err(elapsed.into())))?;
        Some((part, parts))
    });
    Body::from_bytes_stream(parts)
}

/// Reads the whole body of a request. A body that is too large is rejected without reading the rest; the connection
/// discards what the client still sends for a short time, and is then closed.
///
/// # Errors
/// Returns 413 for a body over the limit, 408 for one that does not arrive in time, and 422 for one that ends early or
/// is malformed.
pub(crate) async fn read(request: &mut Request) -> Result<Bytes, ApiError> {
    let body = request.take_body();
    if body.is_empty() {
        return Ok(Bytes::new());
    }
    let declared = declared_length(request.headers());
    if declared.is_some_and(|length| length > MAX_BYTES as u64) {
        return Err(ApiError::body_too_large(MAX_BYTES));
    }
    let mut stream = body.into_bytes_stream();
    let reading = async {
        let mut received =
            BytesMut::with_capacity(declared.map_or(0, |length| (length as usize).min(MAX_BYTES)));
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|_| incomplete_body())?;
            if received.len() + chunk.len() > MAX_BYTES {
                return Err(ApiError::body_too_large(MAX_BYTES));
            }
            received.extend_from_slice(&chunk);
        }
        Ok(received.freeze())
    };
    tokio::time::timeout(READ_TIMEOUT, reading).await.unwrap_or_else(|_| Err(ApiError::body_timeout()))
}

/// Creates the error for a body that ends early or is malformed. The start of the next request is unknown, so the
/// connection is closed.
fn incomplete_body() -> ApiError {
    let message = "ended early or is malformed".to_owned();
    let mut error =
        ApiError::invalid(vec![Violation { part: RequestPart::Body, field: String::new(), message }]);
    error.header = Some((header::CONNECTION, HeaderValue::from_static("close")));
    error
}

/// Returns the length in `Content-Length`, or `None` if the header is missing or not a number.
fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
