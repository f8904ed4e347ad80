//! Streams of JSON values, one in each line (`application/x-ndjson`), in requests and responses.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::Poll;

use bytes::{Buf, Bytes, BytesMut};
use futures_util::stream::{self, Stream, StreamExt};
use poem::{Body, IntoResponse, Request, RequestBody, Response};
use poem_openapi::payload::Payload;
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchemaRef, Registry};
use poem_openapi::types::Type;
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::convert;
use crate::call;
use crate::contract::NDJSON;
use crate::validate::schemas::LineValidator;
use crate::validate::{RequestPart, Violation, Violations};

/// The maximum length of a line in a request, in bytes, without the line break: 256 KiB.
pub const MAX_LINE_BYTES: usize = 256 * 1024;

/// The number of empty lines in a row after which other tasks can run.
const MAX_EMPTY_LINES: usize = 1_000;

type ByteStream = Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>;

/// The lines of a request body that were not read yet, with the validator of a line.
pub(crate) struct RawLines {
    bytes: ByteStream,
    validator: LineValidator,
}

impl RawLines {
    pub(crate) fn new(body: Body, validator: LineValidator) -> Self {
        Self { bytes: Box::pin(body.into_bytes_stream()), validator }
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
    /// Whether the line is longer than [`MAX_LINE_BYTES`].
    pub is_too_long: bool,
}

/// A line of a request that is not validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawLine {
    /// The number of the line, counted from 1. Empty lines count.
    pub number: u64,
    /// The line without its line break.
    pub bytes: BytesMut,
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
    buffer: BytesMut,
    line: u64,
    is_ended: bool,
    /// Whether the buffer begins within a line that is too long.
    is_skipping: bool,
    value: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Lines<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("line", &self.line).finish_non_exhaustive()
    }
}

impl<T: DeserializeOwned> Lines<T> {
    fn new(raw: RawLines) -> Self {
        Self {
            raw,
            buffer: BytesMut::new(),
            line: 0,
            is_ended: false,
            is_skipping: false,
            value: PhantomData,
        }
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
            Ok(line) => line.bytes,
            Err(error) => return Some(Err(error)),
        };
        let value = self.raw.validator.parse(&line).and_then(|value| {
            convert(value).map_err(|error| violation(&format!("cannot be converted: {error}")))
        });
        Some(value.map_err(|violations| self.error(violations, false)))
    }

    /// Returns the next line as it was sent, for an operation that validates lines itself. Empty lines are skipped.
    ///
    /// # Errors
    /// Returns an error for a line that is too long; the following lines can be read. Returns a final error when the line
    /// cannot be read.
    ///
    /// # Cancellation
    /// If the future is dropped, no line is lost.
    pub async fn next_raw(&mut self) -> Option<Result<RawLine, LineError>> {
        let mut empty_lines = 0;
        loop {
            if empty_lines == MAX_EMPTY_LINES {
                yield_now().await;
                empty_lines = 0;
            }
            match self.next_line().await? {
                Ok(line) if line.iter().all(u8::is_ascii_whitespace) => empty_lines += 1,
                Ok(mut bytes) => {
                    if bytes.last() == Some(&b'\r') {
                        bytes.truncate(bytes.len() - 1);
                    }
                    return Some(Ok(RawLine { number: self.line, bytes }));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Returns the next line without its line break.
    async fn next_line(&mut self) -> Option<Result<BytesMut, LineError>> {
        if let Err(error) = self.skip_rest().await {
            return Some(Err(error));
        }
        let mut searched = 0;
        loop {
            let found =
                self.buffer[searched..].iter().position(|byte| *byte == b'\n').map(|at| searched + at);
            let length = found.unwrap_or(self.buffer.len());
            let has_return = length > 0 && self.buffer[length - 1] == b'\r';
            if length - usize::from(has_return) > MAX_LINE_BYTES {
                self.line += 1;
                self.is_skipping = true;
                let error = self.error(violation(&format!("is longer than {MAX_LINE_BYTES} bytes")), false);
                return Some(Err(LineError { is_too_long: true, ..error }));
            }
            if let Some(at) = found {
                let mut line = self.buffer.split_to(at + 1);
                line.truncate(at);
                self.line += 1;
                return Some(Ok(line));
            }
            searched = self.buffer.len();
            if self.is_ended {
                self.line += 1;
                return (!self.buffer.is_empty()).then(|| Ok(self.buffer.split()));
            }
            if let Err(error) = self.read().await {
                return Some(Err(error));
            }
        }
    }

    /// Reads further bytes into the buffer, or finds the end of the body.
    async fn read(&mut self) -> Result<(), LineError> {
        match self.raw.bytes.next().await {
            Some(Ok(bytes)) => self.buffer.extend_from_slice(&bytes),
            Some(Err(error)) if error.kind() == std::io::ErrorKind::TimedOut => {
                return Err(self.final_error("is incomplete: it did not arrive in time"));
            }
            Some(Err(_)) => return Err(self.final_error("is incomplete: it cannot be read")),
            None => self.is_ended = true,
        }
        Ok(())
    }

    /// Discards the rest of a line that is too long.
    async fn skip_rest(&mut self) -> Result<(), LineError> {
        while self.is_skipping {
            let found = self.buffer.iter().position(|byte| *byte == b'\n');
            self.buffer.advance(found.map_or(self.buffer.len(), |at| at + 1));
            self.is_skipping = found.is_none() && !self.is_ended;
            if self.is_skipping {
                // A compressed line can be very long.
                yield_now().await;
                self.read().await?;
            }
        }
        Ok(())
    }

    fn error(&self, violations: Violations, is_final: bool) -> LineError {
        LineError { line: self.line, violations, is_final, is_too_long: false }
    }

    /// Returns an error about the next line, and ends the stream.
    fn final_error(&mut self, message: &str) -> LineError {
        self.line += 1;
        self.is_ended = true;
        self.buffer.clear();
        self.raw.bytes = Box::pin(stream::empty());
        self.error(violation(message), true)
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
                    yield_now().await;
                }
                line
            }
        });
        Self { lines: Box::pin(lines), value: PhantomData }
    }
}

/// Lets other tasks run once.
async fn yield_now() {
    let mut has_yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Returns the line of a value.
fn serialize(value: &impl Serialize) -> Bytes {
    let mut line = serde_json::to_vec(value).expect("generated types can be serialized");
    line.push(b'\n');
    line.into()
}

impl<T> LineStream<T> {
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
