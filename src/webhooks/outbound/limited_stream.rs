//! A TCP stream that limits the bytes of a response, so that no receiver can keep a thread busy.
//!
//! The HTTP library skips interim responses (status 1xx) without a limit, and reads as long as bytes are available. One
//! receiver could therefore occupy a thread for seconds. Below TLS, the limit also covers the handshake, and records
//! without content.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Once more bytes than this were received after the last byte was sent, nothing more is read. Enough for the head and
/// the stored part of the body, 16 KiB each, and for the certificates of a TLS handshake.
const MAX_RESPONSE_BYTES: usize = 32 * 1024;

/// A stream that fails when a response exceeds [`MAX_RESPONSE_BYTES`]. Sending the next request restarts the count.
pub(super) struct LimitedStream {
    stream: TcpStream,
    received_bytes: usize,
}

impl LimitedStream {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, received_bytes: 0 }
    }

    /// Restarts the count if bytes were sent.
    fn record_sent(&mut self, sent_bytes: usize) {
        if sent_bytes > 0 {
            self.received_bytes = 0;
        }
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.received_bytes > MAX_RESPONSE_BYTES {
            return Poll::Ready(Err(io::Error::new(ErrorKind::InvalidData, "the response is too long")));
        }
        let filled_before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.received_bytes += buffer.filled().len() - filled_before;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.record_sent(sent);
        Poll::Ready(Ok(sent))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices))?;
        self.record_sent(sent);
        Poll::Ready(Ok(sent))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl Connection for LimitedStream {
    fn connected(&self) -> Connected {
        self.stream.connected()
    }
}
