//! The cap on request bodies, declared or chunked.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use poem::Request;
use poem::http::{HeaderMap, header};

use crate::api::error::ApiError;
use crate::api::validate::{Fault, Part};

/// Bytes of a body at most.
pub const CAP: usize = 256 * 1024;
/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much of a body that is too large is still read, so that its sender gets to read the answer.
const COURTESY: usize = 1024 * 1024;
/// How long that may take.
const COURTESY_PATIENCE: Duration = Duration::from_secs(2);

/// Takes the whole body out of a request.
///
/// # Errors
/// 413 for a body over the cap, 408 for one that is too slow, 422 for one that breaks off.
pub(super) async fn take(request: &mut Request) -> Result<Bytes, ApiError> {
    let body = request.take_body();
    if body.is_empty() {
        return Ok(Bytes::new());
    }
    let declared = declared_length(request.headers());
    let waits = request.headers().contains_key(header::EXPECT);
    let mut stream = body.into_bytes_stream();
    if declared.is_some_and(|length| length > CAP as u64) && waits {
        return Err(ApiError::too_large(CAP));
    }
    let read = async {
        let mut whole = BytesMut::with_capacity(declared.map_or(0, |length| (length as usize).min(CAP)));
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|_| broken())?;
            if whole.len() + chunk.len() > CAP {
                return Ok(None);
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(Some(whole.freeze()))
    };
    match tokio::time::timeout(PATIENCE, read).await {
        Ok(Ok(Some(whole))) => Ok(whole),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(ApiError::too_slow()),
        Ok(Ok(None)) => {
            let rest = async {
                let mut left = COURTESY;
                while let Some(Ok(chunk)) = stream.next().await {
                    left = left.saturating_sub(chunk.len());
                    if left == 0 {
                        break;
                    }
                }
            };
            let _ = tokio::time::timeout(COURTESY_PATIENCE, rest).await;
            Err(ApiError::too_large(CAP))
        }
    }
}

fn broken() -> ApiError {
    ApiError::invalid(vec![Fault {
        place: Part::Body,
        field: String::new(),
        message: "could not be read to its end".to_owned(),
    }])
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
