//! Streams of JSON values, one in each line (`application/x-ndjson`), in requests and responses.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use poem::{Body, IntoResponse, Request, RequestBody, Response};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchemaRef, Registry};
use poem_openapi::types::Type;
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, BufReader};

use super::line_reader::{InputLine, LineReader, MAX_LINE_BYTES};
use crate::call;
use crate::contract::NDJSON;
use crate::validate::{BodyValidator, RequestPart, Violation, Violations};

type ByteStream = Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>;

/// The lines of a request body that were not read yet, with the validator of a line.
pub(crate) struct RawLines {
    reader: LineReader<BufReader<Pin<Box<dyn AsyncRead + Send>>>>,
    validator: Arc<BodyValidator>,
}

impl RawLines {
    pub(crate) fn new(body: Body, validator: Arc<BodyValidator>) -> Self {
        Self { reader: LineReader::new(BufReader::new(Box::pin(body.into_async_read()))), validator }
    }
}

impl fmt::Debug for RawLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawLines")
    }
}

/// An error in a line of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    /// The number of the line, counted from 1. Empty lines count.
    pub line: u64,
    /// What is wrong. The fields are JSON pointers into the line.
    pub violations: Violations,
    /// Whether the following lines cannot be read: the line did not arrive in time, or the body cannot be read.
    pub is_final: bool,
}

/// The request body of an operation that reads one JSON value from each line. Lines are read when the operation asks for
/// them, so a slow operation slows the client down, and memory use does not depend on the number of lines.
///
/// The rest of a line that is too long is discarded, which takes as long as the client sends it. An operation without another time
/// limit stops at such a line.
///
/// An operation that reads all lines before it responds has the server's time limit of a request for waits for the database.
/// Commit the lines in transactions of a limited size.
pub struct Lines<T> {
    raw: RawLines,
    is_ended: bool,
    value: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Lines<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("line", &self.raw.reader.number()).finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned> Lines<T> {
    fn new(raw: RawLines) -> Self {
        Self { raw, is_ended: false, value: PhantomData }
    }

    /// Returns the value of the next line, or `None` after the last one. Empty lines are skipped.
    ///
    /// # Errors
    /// Returns an error for a line that is not a valid value. The following lines can be read unless the error is final.
    ///
    /// # Cancellation
    /// If the future is dropped, no line is lost.
    pub async fn next(&mut self) -> Option<Result<T, LineError>> {
        let line = match self.next_raw().await? {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        let value = match line.truncated {
            true => Err(violation(&format!("is longer than {MAX_LINE_BYTES} bytes"))),
            false => self.raw.validator.read(&line.bytes),
        };
        Some(value.map_err(|violations| LineError { line: line.number, violations, is_final: false }))
    }

    /// Returns the next line as it was sent, for an operation that validates lines itself. Empty lines are skipped.
    ///
    /// # Errors
    /// Returns a final error when the line cannot be read.
    ///
    /// # Cancellation
    /// If the future is dropped, no line is lost.
    pub async fn next_raw(&mut self) -> Option<Result<InputLine, LineError>> {
        if self.is_ended {
            return None;
        }
        let error = match self.raw.reader.next().await {
            Ok(line) => return line.map(Ok),
            Err(error) => error,
        };
        self.is_ended = true;
        let message = match error.kind() {
            std::io::ErrorKind::TimedOut => "is incomplete: it did not arrive in time",
            _ => "is incomplete: it cannot be read",
        };
        let line = self.raw.reader.number() + 1;
        Some(Err(LineError { line, violations: violation(message), is_final: true }))
    }
}

fn violation(message: &str) -> Violations {
    vec![Violation { part: RequestPart::Body, field: String::new(), message: message.to_owned() }]
}

impl<'a, T: Type + DeserializeOwned> ApiExtractor<'a> for Lines<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    const PARAM_IS_REQUIRED: bool = true;
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        let content = vec![MetaMediaType { content_type: NDJSON, schema: T::schema_ref() }];
        Some(MetaRequest { description: None, content, required: true })
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        call::input(request)?.take_lines().map(Self::new)
    }
}

/// A response body with one JSON value in each line. The server writes a line when the stream yields it.
pub struct LineStream<T> {
    lines: ByteStream,
    value: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for LineStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LineStream")
    }
}

impl<T: Serialize> LineStream<T> {
    /// Creates a body from a stream of values that cannot fail.
    ///
    /// # Panics
    /// The stream panics when serialization fails. It cannot fail for generated types, whose maps have string keys.
    pub fn new(values: impl Stream<Item = T> + Send + 'static) -> Self {
        Self { lines: Box::pin(values.map(|value| Ok(serialize(&value)))), value: PhantomData }
    }

    /// Creates a body from a stream that can fail. The first error ends the stream: the server closes the connection
    /// without the end of the body, so clients do not take the lines before for the whole response. To report the reason
    /// to clients, send it as the last line before the error. The server tries to send this line before it closes the
    /// connection. An error of the kind [`ConnectionAborted`](std::io::ErrorKind::ConnectionAborted) means that the server did
    /// not fail, such as when the client stopped sending.
    ///
    /// For an HTTP/1.0 client, the end of the connection is the end of the body, so a failed stream looks complete. Some
    /// proxies are such clients, such as nginx without `proxy_http_version 1.1`.
    ///
    /// # Panics
    /// See [`LineStream::new`].
    pub fn try_new(values: impl Stream<Item = std::io::Result<T>> + Send + 'static) -> Self {
        let lines = values.then(|value| {
            let line = value.map(|value| serialize(&value));
            async move {
                if line.is_err() {
                    // hyper drops lines that it has not written when the body fails. It writes them when the body is
                    // not ready.
                    super::yield_now().await;
                }
                line
            }
        });
        Self { lines: Box::pin(lines), value: PhantomData }
    }
}

/// Returns the line of a value.
fn serialize(value: &impl Serialize) -> Bytes {
    let mut line = serde_json::to_vec(value).expect("generated types can be serialized");
    line.push(b'\n');
    line.into()
}

impl<T> LineStream<T> {
    /// Creates a body from a stream of parts that consist of complete, already serialized lines. It can fail as that of
    /// [`LineStream::try_new`] can.
    pub fn from_lines(parts: impl Stream<Item = std::io::Result<Bytes>> + Send + 'static) -> Self {
        Self { lines: Box::pin(parts), value: PhantomData }
    }

    /// Creates a body from lines that are already serialized.
    pub fn from_bytes(lines: Bytes) -> Self {
        Self { lines: Box::pin(stream::once(async { Ok(lines) })), value: PhantomData }
    }
}

impl<T: Type> Payload for LineStream<T> {
    const CONTENT_TYPE: &'static str = NDJSON;

    fn schema_ref() -> MetaSchemaRef {
        T::schema_ref()
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

impl<T: Send> IntoResponse for LineStream<T> {
    fn into_response(self) -> Response {
        Response::builder().content_type(NDJSON).extension(Streamed).body(Body::from_bytes_stream(self.lines))
    }
}

/// The extension of responses whose body is a stream. Middleware must not read such a body: it can be endless, and its
/// lines are sent when they are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streamed;
