//! The outermost part of everything that a listener serves.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use poem::error::ReadBodyError;
use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Body, Endpoint, IntoResponse, Request, Response};

use foundation::config::Network;

use super::access::Access;
use super::compress::{Coding, Compressible};
use super::{client, request_id};

/// Makes the id of a request that has none of its own.
pub type NewRequestId = Box<dyn Fn() -> String + Send + Sync>;

/// Gives each request its id and its client address, and each response its final form.
pub struct Layer<E> {
    new_request_id: NewRequestId,
    proxies: Vec<Network>,
    inner: E,
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
        let outcome = catch(async {
            let response = match self.inner.call(request).await {
                Ok(response) => response.into_response(),
                Err(error) => error.into_response(),
            };
            let compressible = line.access.compressible();
            finish(response, compressible, coding, is_head).await.map_err(|error| error.to_string())
        });
        let mut response = outcome.await.flatten().unwrap_or_else(|error| {
            tracing::error!(request.id = line.access.request_id, error, "the request failed");
            failed()
        });
        request_id::stamp(&mut response, &line.access.request_id);
        line.status = Some(response.status());
        Ok(response)
    }
}

/// The response in place of one that could not be made.
fn failed() -> Response {
    Response::builder()
        .status(StatusCode::INTERNAL_SERVER_ERROR)
        .content_type("text/plain; charset=utf-8")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body("The server failed. Try again in a moment.\n")
}

/// Compresses a response that may be, and removes the body for `HEAD`.
///
/// # Errors
/// When the body cannot be read.
async fn finish(
    response: Response,
    compressible: Option<&Compressible>,
    coding: Option<Coding>,
    is_head: bool,
) -> Result<Response, ReadBodyError> {
    if compressible.is_none() && !is_head {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    let mut body = body.into_bytes().await?;
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
    Ok(Response::from_parts(parts, Body::from_bytes(body)))
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
    use crate::access;
    use crate::compress::Packable;

    async fn respond(method: Method, headers: &[(&str, &str)], inner: fn(Request) -> Response) -> Response {
        let layer = Layer::new(Box::new(|| "made".to_owned()), Vec::new(), make_sync(inner));
        let request = Request::builder().method(method);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        layer.get_response(request.finish()).await
    }

    fn large(request: &Request, compressible: Compressible) -> Response {
        access::of(request).allow_compression(compressible);
        Response::builder().body("a".repeat(4096))
    }

    async fn body(response: Response) -> Vec<u8> {
        response.into_body().into_vec().await.unwrap()
    }

    #[tokio::test]
    async fn a_panic_is_a_500_with_the_id_of_the_request() {
        let response = respond(Method::GET, &[], |_| panic!("a secret")).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()["x-request-id"], "made");
        assert_eq!(body(response).await, b"The server failed. Try again in a moment.\n");
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_a_500_with_the_id_of_the_request() {
        let response = respond(Method::GET, &[("x-request-id", "mine")], |request| {
            access::of(&request).allow_compression(Compressible::Once);
            let broken = futures_util::stream::iter([Err::<Bytes, _>(std::io::Error::other("broken"))]);
            Response::builder().body(Body::from_bytes_stream(broken))
        });
        let response = response.await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()["x-request-id"], "mine");
    }

    #[tokio::test]
    async fn only_a_compressible_response_varies_and_is_compressed() {
        let wants = [("accept-encoding", "gzip")];
        let plain = respond(Method::GET, &wants, |_| Response::builder().body("a".repeat(4096))).await;
        assert!(!plain.headers().contains_key("vary") && !plain.headers().contains_key("content-encoding"));
        let unasked = respond(Method::GET, &[], |request| large(&request, Compressible::Once)).await;
        assert_eq!(unasked.headers()["vary"], "accept-encoding");
        assert!(!unasked.headers().contains_key("content-encoding"));
        let packed = respond(Method::GET, &wants, |request| large(&request, Compressible::Once)).await;
        assert_eq!(packed.headers()["content-encoding"], "gzip");
        assert!(body(packed).await.len() < 100);
        let kept = respond(Method::GET, &wants, |request| {
            let kept = Arc::new(Packable::new("b".repeat(4096).into()));
            large(&request, Compressible::Kept(kept))
        });
        let kept = kept.await;
        assert_eq!(kept.headers()["content-encoding"], "gzip");
    }

    #[tokio::test]
    async fn head_gets_the_headers_of_get_alone() {
        let plain = respond(Method::HEAD, &[], |_| Response::builder().body("12345")).await;
        assert_eq!(plain.headers()["content-length"], "5");
        assert_eq!(body(plain).await, b"");
        let wants = [("accept-encoding", "gzip")];
        let packed = body(respond(Method::GET, &wants, |request| large(&request, Compressible::Once)).await)
            .await
            .len();
        let head = respond(Method::HEAD, &wants, |request| large(&request, Compressible::Once)).await;
        assert_eq!(head.headers()["content-length"], packed.to_string());
        let unchanged = respond(Method::HEAD, &[], |_| StatusCode::NOT_MODIFIED.into()).await;
        assert!(!unchanged.headers().contains_key("content-length"));
    }
}
