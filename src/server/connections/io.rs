//! The bytes of one connection, between its socket and the HTTP library.
//!
//! Hands over whole and valid request heads only, bounds the time in which the client must take a response, and reads
//! on for a moment before it closes a connection whose request it did not read to the end: a socket that is closed with
//! unread bytes is reset, and the client might never see the response.

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

use super::first_request::FirstRequest;
use super::framing::{Framing, Stop};
use super::head::MAX_HEAD_BYTES;
use super::limits::Timeouts;
use super::progress::Progress;
use super::refused::Exchange;
use super::tally::Tally;
use web::rejection::Rejection;

/// Bytes that are read and discarded at most before a connection is closed.
const MAX_DISCARDED: usize = 1024 * 1024;

const TRUNCATED: Rejection =
    Rejection::new(StatusCode::BAD_REQUEST, "The request ended before its head was complete.");

/// A socket as the HTTP library sees it.
pub(super) struct ConnectionIo {
    stream: TcpStream,
    first_request: FirstRequest,
    framing: Framing,
    exchange: Arc<Exchange>,
    tally: Arc<Tally>,
    /// Bytes that arrived and were not handed over: a head that is not complete, or more than the library had room for.
    held: Vec<u8>,
    /// How many of the held bytes were accepted.
    accepted: usize,
    /// How many of these were handed over.
    given: usize,
    /// The chunked body is malformed after the accepted bytes.
    is_body_malformed: bool,
    /// The client has sent its last byte.
    is_ended: bool,
    progress: Progress,
    linger: Duration,
    discarding: Option<Discarding>,
}

/// The time and the bytes left before the connection is closed.
#[derive(Debug)]
struct Discarding {
    timer: Pin<Box<Sleep>>,
    left: usize,
}

impl ConnectionIo {
    pub(super) fn new(
        stream: TcpStream,
        first_request: FirstRequest,
        timeouts: &Timeouts,
        exchange: Arc<Exchange>,
        tally: Arc<Tally>,
    ) -> Self {
        Self {
            stream,
            first_request,
            framing: Framing::START,
            exchange,
            tally,
            held: Vec::new(),
            accepted: 0,
            given: 0,
            is_body_malformed: false,
            is_ended: false,
            progress: Progress::new(timeouts.write),
            linger: timeouts.linger,
            discarding: None,
        }
    }

    /// Hands over held bytes that were accepted. False when there are none.
    fn give(&mut self, buf: &mut ReadBuf<'_>) -> bool {
        if self.given == self.accepted {
            return false;
        }
        let end = self.accepted.min(self.given + buf.remaining());
        buf.put_slice(&self.held[self.given..end]);
        self.given = end;
        if self.given == self.accepted {
            self.held.drain(..self.accepted);
            (self.given, self.accepted) = (0, 0);
        }
        true
    }

    /// Validates the bytes that arrived after position `start` of the buffer, and leaves the accepted ones there.
    fn take(&mut self, buf: &mut ReadBuf<'_>, start: usize) {
        let arrived = &buf.filled()[start..];
        if self.held.is_empty() {
            let (accepted, stop) = self.framing.accept(arrived);
            if stop != Stop::Nowhere {
                self.held.extend_from_slice(&arrived[accepted..]);
                buf.set_filled(start + accepted);
                self.stop(stop);
            }
            return;
        }
        // A head cannot become complete or malformed in a new way before its next line ends.
        let may_be_decided = arrived.contains(&b'\n') || self.held.len() + arrived.len() >= MAX_HEAD_BYTES;
        self.held.extend_from_slice(arrived);
        buf.set_filled(start);
        if may_be_decided {
            let (accepted, stop) = self.framing.accept(&self.held);
            self.accepted = accepted;
            self.stop(stop);
        }
    }

    /// Deals with the held bytes after the accepted ones.
    fn stop(&mut self, stop: Stop) {
        match stop {
            Stop::Nowhere | Stop::Partial => {}
            Stop::Refused(rejection) => self.refuse(rejection),
            Stop::MalformedBody => {
                self.held.truncate(self.accepted);
                self.is_body_malformed = true;
            }
        }
    }

    /// Replaces the held bytes after the accepted ones by a substitute for the refused request.
    fn refuse(&mut self, rejection: Rejection) {
        let number = self.framing.heads() + 1;
        let substitute = self.exchange.refuse(number, rejection, &self.held[self.accepted..]);
        self.held.truncate(self.accepted);
        self.held.extend_from_slice(substitute);
        self.accepted = self.held.len();
    }

    /// Whether the client may still be sending something that nobody reads.
    fn has_unread_input(&self) -> bool {
        !self.is_ended
            && (self.exchange.has_refused()
                || self.is_body_malformed
                || !self.held.is_empty()
                || !self.framing.is_between_requests())
    }

    /// The client reads too little. Fails once the time limit has passed.
    fn poll_stalled<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        ready!(self.progress.poll_expired(cx));
        self.tally.stalled.fetch_add(1, Ordering::Relaxed);
        // Frees the unsent bytes at once instead of leaving them to the kernel.
        let _ = self.stream.set_zero_linger();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Passes on the outcome of a write.
    fn written(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match outcome {
            Poll::Ready(Ok(bytes)) => {
                self.progress.advance(bytes);
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
            if this.give(buf) {
                return Poll::Ready(Ok(()));
            }
            if this.is_body_malformed {
                return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
            }
            if this.exchange.has_refused() {
                // Nothing is read any more; the response to the substitute closes the connection.
                return Poll::Pending;
            }
            ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
            if buf.filled().len() == start {
                this.is_ended = true;
                if this.held.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                this.refuse(TRUNCATED);
                continue;
            }
            this.take(buf, start);
            if buf.filled().len() > start {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for ConnectionIo {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.written(cx, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.written(cx, outcome)
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
            left: MAX_DISCARDED,
        });
        loop {
            let mut scratch = [0; 4096];
            let mut buf = ReadBuf::new(&mut scratch);
            match Pin::new(&mut this.stream).poll_read(cx, &mut buf) {
                Poll::Ready(Ok(())) if !buf.filled().is_empty() && discarding.left > 0 => {
                    discarding.left = discarding.left.saturating_sub(buf.filled().len());
                }
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => return discarding.timer.as_mut().poll(cx).map(Ok),
            }
        }
    }
}
