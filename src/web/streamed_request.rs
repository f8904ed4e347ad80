//! Observes a response body that is a stream until it ends, so that metrics and the access log contain its outcome.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use poem::Body;
use poem::http::StatusCode;

use foundation::telemetry::activity::Activity;
use foundation::telemetry::traces::Span;

use super::panics::panic_message;
use super::request_context::RequestContext;
use super::request_metrics::RequestMetrics;
use super::request_outcome::RequestOutcome;

/// A request whose response is a stream. Ends the request on drop.
pub(crate) struct StreamedRequest {
    metrics: Arc<RequestMetrics>,
    context: Arc<RequestContext>,
    outcome: RequestOutcome,
    /// The span of the request. `None` if it is not recorded.
    span: Option<Span>,
    /// The request, which the stream is a part of.
    activity: Activity,
}

impl StreamedRequest {
    /// Continues a request whose response has this status.
    pub(crate) fn new(
        metrics: Arc<RequestMetrics>,
        context: Arc<RequestContext>,
        status: StatusCode,
        span: Option<Span>,
    ) -> Self {
        let activity = Activity::new(Some(context.request_id.clone()), span.as_ref());
        Self { metrics, context, outcome: RequestOutcome::Canceled(Some(status)), span, activity }
    }

    /// Returns a body with the same content that ends the request at its end. A panic becomes an error of the body.
    pub(crate) fn observe(self, body: Body) -> Body {
        Body::from_bytes_stream(ObservedStream {
            content: Some(Box::pin(body.into_bytes_stream())),
            request: self,
        })
    }

    fn complete(&mut self) {
        self.end(RequestOutcome::Complete);
    }

    /// Ends the request because of an error of the content. An error of the kind `ConnectionAborted` means that the server did not
    /// fail; the response is incomplete nevertheless.
    fn fail(&mut self, error: &io::Error) {
        let id = &self.context.request_id;
        if error.kind() == io::ErrorKind::ConnectionAborted {
            self.activity
                .enter(|| tracing::info!(request.id = id, reason = %error, "ended the response early"));
            self.end(RequestOutcome::Ended);
        } else {
            self.activity.enter(|| tracing::warn!(request.id = id, %error, "the response body failed"));
            self.end(RequestOutcome::Failed);
        }
    }

    fn end(&mut self, outcome: impl FnOnce(StatusCode) -> RequestOutcome) {
        if let RequestOutcome::Canceled(Some(status)) = self.outcome {
            self.outcome = outcome(status);
        }
    }
}

impl Drop for StreamedRequest {
    fn drop(&mut self) {
        self.metrics.active.decrement(1);
        self.context.end(&self.metrics, self.outcome, self.span.take());
    }
}

/// The content of a body, with its request.
struct ObservedStream {
    /// `None` after the end.
    content: Option<Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>>,
    request: StreamedRequest,
}

impl Stream for ObservedStream {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(content) = &mut this.content else { return Poll::Ready(None) };
        // After a panic, the content is not used again.
        let activity = &this.request.activity;
        let polled = catch_unwind(AssertUnwindSafe(|| activity.enter(|| content.as_mut().poll_next(cx))));
        let polled = polled.unwrap_or_else(|panic| {
            let message = format!("panicked: {}", panic_message(&*panic));
            Poll::Ready(Some(Err(io::Error::other(message))))
        });
        match &polled {
            Poll::Pending | Poll::Ready(Some(Ok(_))) => return polled,
            Poll::Ready(Some(Err(error))) => this.request.fail(error),
            Poll::Ready(None) => this.request.complete(),
        }
        this.content = None;
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Mutex;

    use foundation::telemetry::metrics::{ProcessKind, install, render};
    use futures_util::stream::{self, StreamExt};
    use poem::http::Method;
    use poem::{Endpoint, Request, Response};

    use super::*;
    use crate::layer::{RequestLayer, Unbuffered};
    use crate::request_context::{self, LogSubject};

    /// The lines that were logged.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Calls an operation with this id whose response is a stream of these parts. Reads this number of parts, and then drops the
    /// response. Returns the parts and the log lines.
    async fn read(
        operation: &'static str,
        method: Method,
        parts: usize,
        content: impl Iterator<Item = io::Result<Bytes>> + Clone + Send + Sync + 'static,
    ) -> (Vec<Result<Bytes, String>>, String) {
        install(ProcessKind::Server);
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .finish();
        let _guard = tracing::subscriber::set_default(subscriber);
        let inner = poem::endpoint::make_sync(move |request: Request| {
            let subject = LogSubject::Call { operation: Some(operation), caller: None };
            request_context::of(&request).set_log_subject(subject);
            Response::builder()
                .extension(Unbuffered)
                .body(Body::from_bytes_stream(stream::iter(content.clone())))
        });
        let layer = RequestLayer::new(Box::new(|| "r-1".to_owned()), Vec::new(), inner);
        let response = layer.get_response(Request::builder().method(method).finish()).await;
        assert_eq!(response.status(), StatusCode::OK);
        if parts > 0 {
            assert_eq!(log.0.lock().unwrap().len(), 0, "the request has not ended");
        }
        let body = response.into_body().into_bytes_stream().take(parts);
        let parts = body.map(|part| part.map_err(|error| error.to_string())).collect().await;
        let lines = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        (parts, lines)
    }

    /// Returns whether the metrics contain one request of this operation with this status.
    fn is_counted(operation: &str, status: &str) -> bool {
        let line = format!(
            "http_server_request_duration_seconds_count{{operation=\"{operation}\",status=\"{status}\"}} 1"
        );
        render().lines().any(|rendered| rendered == line)
    }

    #[tokio::test]
    async fn a_stream_is_logged_at_its_end() {
        let content = ["a", "b"].into_iter().map(|part| Ok(Bytes::from(part)));
        let (parts, log) = read("complete", Method::GET, 3, content).await;
        assert_eq!(parts, [Ok("a".into()), Ok("b".into())]);
        assert!(log.contains("status=200") && log.lines().count() == 1, "{log}");
        assert!(!log.contains("gone") && !log.contains("failed"), "{log}");
        assert!(is_counted("complete", "2xx"));
    }

    #[tokio::test]
    async fn a_stream_that_fails_or_panics_is_logged_with_the_request_id() {
        let fails = ["a", "!", "b"].into_iter().map(|part| match part {
            "!" => Err(io::Error::other("the database is gone")),
            part => Ok(Bytes::from(part)),
        });
        let (parts, log) = read("fails", Method::GET, 4, fails).await;
        // The body ends after the error.
        assert_eq!(parts, [Ok("a".into()), Err("the database is gone".to_owned())]);
        let [warning, access] = log.lines().collect::<Vec<_>>()[..] else { panic!("{log}") };
        assert!(warning.contains("WARN the response body failed"), "{log}");
        assert!(warning.contains("r-1") && warning.contains("the database is gone"), "{log}");
        assert!(access.contains("status=200 failed=true"), "{log}");
        assert!(is_counted("fails", "failed"));

        let panics = ["a", "!"].into_iter().map(|part| match part {
            "!" => panic!("a bug"),
            part => Ok(Bytes::from(part)),
        });
        let (parts, log) = read("panics", Method::GET, 4, panics).await;
        assert_eq!(parts, [Ok("a".into()), Err("panicked: a bug".to_owned())]);
        assert!(log.contains("r-1") && log.contains("a bug") && log.contains("failed=true"), "{log}");
        assert!(is_counted("panics", "failed"));
    }

    #[tokio::test]
    async fn a_stream_that_the_server_ends_early_is_no_failure() {
        let ends = [true, false].into_iter().map(|is_line| match is_line {
            true => Ok(Bytes::from("a")),
            false => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the client is idle")),
        });
        let (parts, log) = read("ends", Method::GET, 4, ends).await;
        assert_eq!(parts, [Ok("a".into()), Err("the client is idle".to_owned())]);
        let [reason, access] = log.lines().collect::<Vec<_>>()[..] else { panic!("{log}") };
        assert!(
            reason.contains("INFO ended the response early") && reason.contains("the client is idle"),
            "{log}"
        );
        assert!(reason.contains("r-1") && access.contains("status=200 ended=true"), "{log}");
        assert!(is_counted("ends", "canceled"));
    }

    #[tokio::test]
    async fn a_stream_whose_client_disconnects_is_canceled() {
        let content = std::iter::repeat_with(|| Ok(Bytes::from("line\n")));
        let (_, log) = read("canceled", Method::GET, 2, content).await;
        assert!(log.contains("status=200 gone=true") && log.lines().count() == 1, "{log}");
        assert!(is_counted("canceled", "canceled"));
    }

    #[tokio::test]
    async fn a_stream_that_is_not_sent_for_head_is_complete() {
        let content = std::iter::repeat_with(|| Ok(Bytes::from("line\n")));
        let (parts, log) = read("head", Method::HEAD, 0, content).await;
        assert_eq!(parts, []);
        assert!(log.contains("head=true status=200"), "{log}");
        assert!(!log.contains("gone") && is_counted("head", "2xx"), "{log}");
    }
}
