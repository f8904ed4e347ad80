//! The I/O layer between the socket of a connection and the HTTP library.
//!
//! Passes only complete and valid request heads to the library, limits the time in which the client must read a
//! response, and discards unread input for a short time before it closes the connection: closing a socket with unread
//! bytes resets it, and the client might not receive the response.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use poem::http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use super::counters::ConnectionCounters;
use super::exchange::Exchange;
use super::first_request::FirstRequest;
use super::framing::{Framing, StopReason};
use super::head::MAX_HEAD_BYTES;
use super::limits::Timeouts;
use super::write_progress::WriteProgress;
use web::rejection::Rejection;

/// The maximum number of bytes that are discarded before a connection is closed.
const MAX_DISCARDED_BYTES: usize = 1024 * 1024;

const TRUNCATED: Rejection =
    Rejection::new(StatusCode::BAD_REQUEST, "The request ended before its head was complete.");

/// The stream that the HTTP library reads from and writes to.
pub(super) struct ConnectionIo {
    stream: TcpStream,
    first_request: FirstRequest,
    framing: Framing,
    exchange: Arc<Exchange>,
    counters: Arc<ConnectionCounters>,
    /// Received bytes that were not passed to the library yet: an incomplete head, or bytes that did not fit into the
    /// library's buffer.
    buffer: Vec<u8>,
    /// How many bytes of the buffer were accepted.
    accepted: usize,
    /// How many accepted bytes were passed to the library.
    passed: usize,
    /// Whether the chunked body is malformed after the accepted bytes.
    is_body_malformed: bool,
    /// Whether the client has closed its sending side.
    is_ended: bool,
    write_progress: WriteProgress,
    /// How long unread input is discarded before the connection is closed.
    linger: Duration,
    /// `None` until the connection is being closed with unread input.
    discarding: Option<Discarding>,
}

/// The remaining time and bytes before the connection is closed.
#[derive(Debug)]
struct Discarding {
    timer: Pin<Box<Sleep>>,
    bytes_left: usize,
}

impl ConnectionIo {
    pub(super) fn new(
        stream: TcpStream,
        first_request: FirstRequest,
        timeouts: &Timeouts,
        exchange: Arc<Exchange>,
        counters: Arc<ConnectionCounters>,
    ) -> Self {
        Self {
            stream,
            first_request,
            framing: Framing::START,
            exchange,
            counters,
            buffer: Vec::new(),
            accepted: 0,
            passed: 0,
            is_body_malformed: false,
            is_ended: false,
            write_progress: WriteProgress::new(timeouts.write),
            linger: timeouts.linger,
            discarding: None,
        }
    }

    /// Passes accepted bytes of the buffer to the library. Returns `false` if there are none.
    fn pass_accepted(&mut self, buf: &mut ReadBuf<'_>) -> bool {
        if self.passed == self.accepted {
            return false;
        }
        let end = self.accepted.min(self.passed + buf.remaining());
        buf.put_slice(&self.buffer[self.passed..end]);
        self.passed = end;
        if self.passed == self.accepted {
            self.buffer.drain(..self.accepted);
            (self.passed, self.accepted) = (0, 0);
        }
        true
    }

    /// Validates the bytes that arrived in `buf` after position `start`. Leaves the accepted ones there and moves the
    /// others to the buffer.
    fn validate_arrived(&mut self, buf: &mut ReadBuf<'_>, start: usize) {
        let arrived = &buf.filled()[start..];
        if self.buffer.is_empty() {
            let (accepted, stop) = self.framing.accept(arrived);
            if stop != StopReason::AllAccepted {
                self.buffer.extend_from_slice(&arrived[accepted..]);
                buf.set_filled(start + accepted);
                self.handle_stop(stop);
            }
            return;
        }
        // A head can only become complete at the end of a line. An invalid byte is detected then, too.
        let must_validate = arrived.contains(&b'\n') || self.buffer.len() + arrived.len() >= MAX_HEAD_BYTES;
        self.buffer.extend_from_slice(arrived);
        buf.set_filled(start);
        if must_validate {
            let (accepted, stop) = self.framing.accept(&self.buffer);
            self.accepted = accepted;
            self.handle_stop(stop);
        }
    }

    /// Handles the bytes of the buffer after the accepted ones.
    fn handle_stop(&mut self, stop: StopReason) {
        match stop {
            StopReason::AllAccepted | StopReason::Partial => {}
            StopReason::Rejected(rejection) => self.reject(rejection),
            StopReason::MalformedBody => {
                self.buffer.truncate(self.accepted);
                self.is_body_malformed = true;
            }
        }
    }

    /// Replaces the bytes of the buffer after the accepted ones with a substitute for the rejected request.
    fn reject(&mut self, rejection: Rejection) {
        let number = self.framing.heads() + 1;
        let substitute = self.exchange.reject(number, rejection, &self.buffer[self.accepted..]);
        self.buffer.truncate(self.accepted);
        self.buffer.extend_from_slice(substitute);
        self.accepted = self.buffer.len();
    }

    /// Returns whether the client may still be sending bytes that are not read.
    fn has_unread_input(&self) -> bool {
        !self.is_ended
            && (self.exchange.has_rejected()
                || self.is_body_malformed
                || !self.buffer.is_empty()
                || !self.framing.is_between_requests())
    }

    /// Fails once the client has read too little within the time limit.
    fn poll_stalled<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        ready!(self.write_progress.poll_expired(cx));
        self.counters.stalled.fetch_add(1, Ordering::Relaxed);
        // Frees the unsent bytes immediately.
        let _ = self.stream.set_zero_linger();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Records the progress of a write and returns its result.
    fn record_write(
        &mut self,
        cx: &mut Context<'_>,
        result: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match result {
            Poll::Ready(Ok(bytes)) => {
                self.write_progress.advance(bytes);
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => self.poll_stalled(cx),
        }
    }
}

impl AsyncRead for ConnectionIo {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.first_request.poll_start(&this.stream, &this.exchange, cx))?;
        let start = buf.filled().len();
        loop {
            if this.pass_accepted(buf) {
                return Poll::Ready(Ok(()));
            }
            if this.is_body_malformed {
                return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
            }
            if this.exchange.has_rejected() {
                // Reading has ended. The response to the substitute closes the connection.
                return Poll::Pending;
            }
            ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
            if buf.filled().len() == start {
                this.is_ended = true;
                if this.buffer.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                this.reject(TRUNCATED);
                continue;
            }
            this.validate_arrived(buf, start);
            if buf.filled().len() > start {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for ConnectionIo {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.record_write(cx, result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.record_write(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.discarding.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            if !this.has_unread_input() {
                return Poll::Ready(Ok(()));
            }
        }
        let linger = this.linger;
        let discarding = this.discarding.get_or_insert_with(|| Discarding {
            timer: Box::pin(tokio::time::sleep(linger)),
            bytes_left: MAX_DISCARDED_BYTES,
        });
        loop {
            let mut discarded = [0; 4096];
            let mut buf = ReadBuf::new(&mut discarded);
            match Pin::new(&mut this.stream).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if !buf.filled().is_empty() && discarding.bytes_left > 0 => {
                    discarding.bytes_left = discarding.bytes_left.saturating_sub(buf.filled().len());
                }
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => return discarding.timer.as_mut().poll(cx).map(Ok),
            }
        }
    }
}
