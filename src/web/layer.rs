//! The outermost part of everything that a listener serves.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Body, Endpoint, IntoResponse, Request, Response};

use foundation::config::Network;

use super::access::Access;
use super::compress::{Coding, Packable};
use super::{client, request_id};

/// Makes the id of a request that has none of its own.
pub type NewRequestId = Box<dyn Fn() -> String + Send + Sync>;

/// Gives each request its id and its client address, and each response its final form.
pub struct Layer<E> {
    new_request_id: NewRequestId,
    proxies: Vec<Network>,
    inner: E,
}

/// Marks a response that may be compressed, as data of the response.
#[derive(Debug, Clone)]
pub enum Compressible {
    /// This one time.
    Once,
    /// This body, which is sent again and again.
    Kept(Arc<Packable>),
}

impl<E> Layer<E> {
    /// Wraps an endpoint. `proxies` are trusted in `X-Forwarded-For`.
    pub fn new(new_request_id: NewRequestId, proxies: Vec<Network>, inner: E) -> Self {
        Self { new_request_id, proxies, inner }
    }
}

/// Logs a request when it ends, also when its client disconnects and the request is dropped.
struct Line {
    access: Arc<Access>,
    status: Option<StatusCode>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.access.log(self.status);
    }
}

impl<E: Endpoint> Endpoint for Layer<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let is_head = request.method() == Method::HEAD;
        let coding = Coding::wanted(request.headers());
        let id = request_id::of(&request).unwrap_or_else(&self.new_request_id);
        let access = Arc::new(Access::new(&request, id, client::address(&request, &self.proxies)));
        request.extensions_mut().insert(Arc::clone(&access));
        let mut line = Line { access, status: None };
        let outcome = catch(self.inner.call(request)).await;
        let mut response = match outcome {
            Ok(Ok(response)) => response.into_response(),
            Ok(Err(error)) => error.into_response(),
            Err(panic) => {
                tracing::error!(request.id = line.access.request_id, panic, "the request failed");
                StatusCode::INTERNAL_SERVER_ERROR.into()
            }
        };
        request_id::stamp(&mut response, &line.access.request_id);
        let response = finished(response, coding, is_head).await;
        line.status = Some(response.status());
        Ok(response)
    }
}

/// Compresses a response that may be, and takes the body off that `HEAD` does not get.
async fn finished(response: Response, coding: Option<Coding>, is_head: bool) -> Response {
    let compressible = response.data::<Compressible>().cloned();
    if compressible.is_none() && !is_head {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(mut body) = body.into_bytes().await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into();
    };
    if let Some(compressible) = compressible {
        parts.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(coding) = coding.filter(|_| !body.is_empty()) {
            let packed = match compressible {
                Compressible::Once => coding.apply(&body).await,
                Compressible::Kept(kept) => kept.packed(coding).await,
            };
            if let Some(packed) = packed {
                parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
                body = packed;
            }
        }
    }
    if is_head {
        if parts.status != StatusCode::NOT_MODIFIED {
            parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
        }
        body = Bytes::new();
    }
    Response::from_parts(parts, Body::from_bytes(body))
}

/// Runs a part of a request. A panic becomes its message.
///
/// What the part borrows is only read afterwards.
///
/// # Errors
/// When it panics.
pub async fn catch<T>(part: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(part).catch_unwind().await.map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use poem::endpoint::make_sync;

    use super::*;

    async fn answered(method: Method, inner: fn(Request) -> Response) -> Response {
        let layer = Layer::new(Box::new(|| "made".to_owned()), Vec::new(), make_sync(inner));
        layer.get_response(Request::builder().method(method).finish()).await
    }

    #[tokio::test]
    async fn a_panic_is_a_500_with_the_id_of_the_request() {
        let response = answered(Method::GET, |_| panic!("a secret")).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()["x-request-id"], "made");
        assert_eq!(response.into_body().into_string().await.unwrap(), "");
    }

    #[tokio::test]
    async fn head_gets_the_headers_alone() {
        let response = answered(Method::HEAD, |_| Response::builder().body("12345")).await;
        assert_eq!(response.headers()["content-length"], "5");
        assert_eq!(response.into_body().into_string().await.unwrap(), "");
    }
}
