//! Sends the requests of `openidconnect` with the client that obeys the outbound address policy.

use std::pin::Pin;

use foundation::outbound::{OutboundClient, OutboundError};
use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use reqwest::{Body, StatusCode};
use url::Url;

/// Maximum size of a response. Metadata, keys and tokens are much smaller.
const MAX_RESPONSE_BYTES: usize = 512 * 1024;

/// Sends requests to the provider.
#[derive(Debug)]
pub(crate) struct HttpClient(pub(crate) OutboundClient);

/// Why the provider did not respond.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("the URL is malformed: {0}")]
    Url(#[from] url::ParseError),
    #[error(transparent)]
    Outbound(#[from] OutboundError),
    #[error("{}", innermost(.0))]
    Exchange(reqwest::Error),
    /// The provider, or a proxy before it, cannot respond now. This is no answer about the person.
    #[error("the status is {0}")]
    Status(StatusCode),
    #[error("the response is larger than {MAX_RESPONSE_BYTES} bytes")]
    TooLarge,
    #[error("the response is malformed: {0}")]
    Malformed(#[from] openidconnect::http::Error),
}

/// Returns the text of the first cause, such as "Connection refused". The outer ones contain the URL, whose query may be secret.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        Self::Exchange(error.without_url())
    }
}

impl<'c> AsyncHttpClient<'c> for HttpClient {
    type Error = HttpError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}

impl HttpClient {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let url = Url::parse(&head.uri.to_string())?;
        let request = self.0.request(head.method, url)?.headers(head.headers);
        let mut response = request.body(Body::from(body)).send().await?;
        if response.status().is_server_error() {
            return Err(HttpError::Status(response.status()));
        }
        let mut builder = openidconnect::http::Response::builder().status(response.status());
        if let Some(headers) = builder.headers_mut() {
            headers.clone_from(response.headers());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
                return Err(HttpError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(builder.body(body)?)
    }
}
