//! The outermost layer around the endpoint of a listener, which every request passes through.

use std::sync::Arc;

use bytes::Bytes;
use poem::error::ReadBodyError;
use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Body, Endpoint, IntoResponse, Request, Response};

use foundation::config::Network;
use foundation::telemetry::activity::Activity;
use foundation::telemetry::traces::Span;

use super::compress::{Coding, Compressible};
use super::panics::catch_panic;
use super::request_context::RequestContext;
use super::request_metrics::RequestMetrics;
use super::request_outcome::RequestOutcome;
use super::streamed_request::StreamedRequest;
use super::{client, request_id, request_span};

/// Generates the id of a request without a valid `X-Request-Id`.
pub type RequestIdGenerator = Box<dyn Fn() -> String + Send + Sync>;

/// Sets the request id and the client address of each request, catches panics, and compresses and logs each response.
pub struct RequestLayer<E> {
    new_request_id: RequestIdGenerator,
    trusted_proxies: Vec<Network>,
    metrics: Arc<RequestMetrics>,
    inner: E,
}

impl<E> RequestLayer<E> {
    /// Wraps an endpoint. Install the recorder of metrics before. `X-Forwarded-For` is used only if `trusted_proxies` contains the peer's address.
    pub fn new(new_request_id: RequestIdGenerator, trusted_proxies: Vec<Network>, inner: E) -> Self {
        Self { new_request_id, trusted_proxies, metrics: Arc::new(RequestMetrics::new()), inner }
    }
}

/// A request in progress. Records its metrics and writes its access log line, if it has one, on drop. It is also dropped when the
/// client disconnects and the request is canceled.
struct ActiveRequest<'a> {
    metrics: &'a Arc<RequestMetrics>,
    context: Arc<RequestContext>,
    outcome: RequestOutcome,
    /// Whether a [`StreamedRequest`] ends the request.
    is_streamed: bool,
    /// The span of the request. `None` if it is not recorded.
    span: Option<Span>,
}

impl<'a> ActiveRequest<'a> {
    fn start(metrics: &'a Arc<RequestMetrics>, context: Arc<RequestContext>, span: Option<Span>) -> Self {
        metrics.active.increment(1);
        Self { metrics, context, outcome: RequestOutcome::Canceled(None), is_streamed: false, span }
    }

    fn activity(&self) -> Activity {
        Activity::new(Some(self.context.request_id.clone()), self.span.as_ref())
    }

    /// Continues the request until the end of its response, which is a stream with this status.
    fn into_streamed(mut self, status: StatusCode) -> StreamedRequest {
        self.is_streamed = true;
        StreamedRequest::new(Arc::clone(self.metrics), Arc::clone(&self.context), status, self.span.take())
    }
}

impl Drop for ActiveRequest<'_> {
    fn drop(&mut self) {
        if !self.is_streamed {
            self.metrics.active.decrement(1);
            self.context.end(self.metrics, self.outcome, self.span.take());
        }
    }
}

impl<E: Endpoint> Endpoint for RequestLayer<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let is_head = request.method() == Method::HEAD;
        let coding = Coding::negotiate(request.headers());
        let id = request_id::from_request(&request).unwrap_or_else(&self.new_request_id);
        let context =
            Arc::new(RequestContext::new(&request, id, client::address(&request, &self.trusted_proxies)));
        request.extensions_mut().insert(Arc::clone(&context));
        let span = request_span::start(&request, &self.trusted_proxies);
        let mut active = ActiveRequest::start(&self.metrics, context, span);
        let outcome = active.activity().run(catch_panic(async {
            let response = match self.inner.call(request).await {
                Ok(response) => response.into_response(),
                Err(error) => error.into_response(),
            };
            let compressible = active.context.compressible();
            encode_body(response, compressible, coding, is_head).await.map_err(|error| error.to_string())
        }));
        let mut response = outcome.await.flatten().unwrap_or_else(|error| {
            tracing::error!(request.id = active.context.request_id, error, "the request failed");
            internal_server_error()
        });
        request_id::set_header(&mut response, &active.context.request_id);
        if response.extensions().get::<Unbuffered>().is_some() && !is_head {
            let request = active.into_streamed(response.status());
            let body = response.take_body();
            response.set_body(request.observe(body));
        } else {
            active.outcome = RequestOutcome::Complete(response.status());
        }
        Ok(response)
    }
}

/// Returns the 500 response for a panic or a body that cannot be read.
fn internal_server_error() -> Response {
    Response::builder()
        .status(StatusCode::INTERNAL_SERVER_ERROR)
        .content_type("text/plain; charset=utf-8")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body("The server failed. Try again in a moment.\n")
}

/// The extension of responses whose body is a stream. The layer does not read such a body before it is sent, and ends
/// the request at the end of the body.
#[derive(Debug, Clone, Copy)]
pub struct Unbuffered;

/// Compresses the body of a response if allowed, and removes it for `HEAD`. The length of a stream is not known.
///
/// # Errors
/// Returns an error when the body cannot be read.
async fn encode_body(
    mut response: Response,
    compressible: Option<&Compressible>,
    coding: Option<Coding>,
    is_head: bool,
) -> Result<Response, ReadBodyError> {
    if response.extensions().get::<Unbuffered>().is_some() {
        if is_head {
            response.set_body(Body::empty());
        }
        return Ok(response);
    }
    if compressible.is_none() && !is_head {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    let mut body = body.into_bytes().await?;
    if let Some(compressible) = compressible {
        parts.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(coding) = coding.filter(|_| !body.is_empty()) {
            let compressed = match compressible {
                Compressible::Once => coding.compress(&body).await,
                Compressible::Cached(cached) => cached.compressed(coding).await,
            };
            if let Some(compressed) = compressed {
                parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
                body = compressed;
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

#[cfg(test)]
mod tests {
    use poem::endpoint::make_sync;

    use super::*;
    use crate::compress::CachedBody;
    use crate::request_context;

    async fn respond(method: Method, headers: &[(&str, &str)], inner: fn(Request) -> Response) -> Response {
        let layer = RequestLayer::new(Box::new(|| "generated".to_owned()), Vec::new(), make_sync(inner));
        let request = Request::builder().method(method);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        layer.get_response(request.finish()).await
    }

    /// Returns a response with a body of 4 KiB that can be compressed.
    fn compressible_response(request: &Request, compressible: Compressible) -> Response {
        request_context::of(request).allow_compression(compressible);
        Response::builder().body("a".repeat(4096))
    }

    async fn body(response: Response) -> Vec<u8> {
        response.into_body().into_vec().await.unwrap()
    }

    #[tokio::test]
    async fn a_panic_returns_500_with_the_request_id() {
        let response = respond(Method::GET, &[], |_| panic!("a secret")).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()["x-request-id"], "generated");
        assert_eq!(body(response).await, b"The server failed. Try again in a moment.\n");
    }

    #[tokio::test]
    async fn a_body_that_cannot_be_read_returns_500_with_the_request_id() {
        let response = respond(Method::GET, &[("x-request-id", "from-client")], |request| {
            request_context::of(&request).allow_compression(Compressible::Once);
            let broken = futures_util::stream::iter([Err::<Bytes, _>(std::io::Error::other("broken"))]);
            Response::builder().body(Body::from_bytes_stream(broken))
        });
        let response = response.await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()["x-request-id"], "from-client");
    }

    #[tokio::test]
    async fn only_a_compressible_response_varies_and_is_compressed() {
        let accept_gzip = [("accept-encoding", "gzip")];
        let plain = respond(Method::GET, &accept_gzip, |_| Response::builder().body("a".repeat(4096))).await;
        assert!(!plain.headers().contains_key("vary") && !plain.headers().contains_key("content-encoding"));
        let not_requested =
            respond(Method::GET, &[], |request| compressible_response(&request, Compressible::Once)).await;
        assert_eq!(not_requested.headers()["vary"], "accept-encoding");
        assert!(!not_requested.headers().contains_key("content-encoding"));
        let compressed =
            respond(Method::GET, &accept_gzip, |request| compressible_response(&request, Compressible::Once))
                .await;
        assert_eq!(compressed.headers()["content-encoding"], "gzip");
        assert!(body(compressed).await.len() < 100);
        let cached = respond(Method::GET, &accept_gzip, |request| {
            let cached = Arc::new(CachedBody::new("b".repeat(4096).into()));
            compressible_response(&request, Compressible::Cached(cached))
        });
        let cached = cached.await;
        assert_eq!(cached.headers()["content-encoding"], "gzip");
    }

    #[tokio::test]
    async fn head_returns_the_headers_of_get_without_the_body() {
        let plain = respond(Method::HEAD, &[], |_| Response::builder().body("12345")).await;
        assert_eq!(plain.headers()["content-length"], "5");
        assert_eq!(body(plain).await, b"");
        let accept_gzip = [("accept-encoding", "gzip")];
        let get =
            respond(Method::GET, &accept_gzip, |request| compressible_response(&request, Compressible::Once))
                .await;
        let compressed_length = body(get).await.len();
        let head = respond(Method::HEAD, &accept_gzip, |request| {
            compressible_response(&request, Compressible::Once)
        })
        .await;
        assert_eq!(head.headers()["content-length"], compressed_length.to_string());
        let not_modified = respond(Method::HEAD, &[], |_| StatusCode::NOT_MODIFIED.into()).await;
        assert!(!not_modified.headers().contains_key("content-length"));
    }

    #[tokio::test]
    async fn a_stream_is_not_read() {
        let endless = |request: Request| {
            request_context::of(&request).allow_compression(Compressible::Once);
            let chunks = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from("line\n")));
            Response::builder().extension(Unbuffered).body(Body::from_bytes_stream(chunks))
        };
        let get = respond(Method::GET, &[("accept-encoding", "gzip")], endless).await;
        assert!(!get.headers().contains_key("content-encoding"));
        let head = respond(Method::HEAD, &[], endless).await;
        assert!(!head.headers().contains_key("content-length"));
        assert_eq!(body(head).await, b"");
    }
}
