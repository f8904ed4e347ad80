//! One HTTP/1.1 connection with minimal client overhead.
//!
//! It sends prepared bytes and reads whole responses by their `Content-Length`, so that the load generator leaves the
//! processor to the server. It does not retry, follow redirects or decode.

use std::net::SocketAddr;
use std::ops::Range;

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The maximum number of response headers.
const MAX_HEADERS: usize = 48;

/// The maximum size of a response in bytes.
const MAX_RESPONSE_BYTES: usize = 8 << 20;

/// An open connection for one request at a time.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The number of bytes of the current response in the buffer.
    filled: usize,
}

/// A response. It borrows the connection's buffer until the next request.
#[derive(Debug, Clone, Copy)]
pub struct ResponseView<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

/// The parsed head of a response.
struct Head {
    status: u16,
    body: Range<usize>,
}

impl Connection {
    /// Connects to a server on this machine.
    ///
    /// # Errors
    /// Returns an error when nothing listens there.
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream =
            TcpStream::connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 64 << 10], filled: 0 })
    }

    /// Sends one request and reads the response.
    ///
    /// # Errors
    /// Returns an error when the connection breaks, or when the response is not valid HTTP, has no `Content-Length`, is
    /// too large, or is followed by more bytes.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<ResponseView<'_>> {
        self.stream.write_all(request).await.context("cannot send a request")?;
        self.filled = 0;
        let head = loop {
            self.read_more().await?;
            if let Some(head) = parse(&self.buffer[..self.filled])? {
                break head;
            }
        };
        if head.body.end > MAX_RESPONSE_BYTES {
            bail!("a response of {} bytes is larger than the limit", head.body.end);
        }
        while self.filled < head.body.end {
            self.read_more().await?;
        }
        if self.filled > head.body.end {
            bail!("received more bytes than one response");
        }
        Ok(ResponseView { status: head.status, body: &self.buffer[head.body] })
    }

    async fn read_more(&mut self) -> Result<()> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        match self.stream.read(&mut self.buffer[self.filled..]).await.context("cannot read the response")? {
            0 => bail!("the server closed the connection before the end of its response"),
            count => self.filled += count,
        }
        Ok(())
    }
}

/// Parses the response head at the start of these bytes; returns `None` when it is incomplete.
fn parse(bytes: &[u8]) -> Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = response.parse(bytes).context("not an HTTP response")? else {
        return Ok(None);
    };
    let status = response.code.context("a response without a status")?;
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length: usize = match length {
        Some(header) => {
            std::str::from_utf8(header.value)?.trim().parse().context("an invalid Content-Length")?
        }
        None => bail!("a response ({status}) without Content-Length"),
    };
    Ok(Some(Head { status, body: start..start + length }))
}

/// Returns the bytes of a `GET` request, with an API key if specified.
pub fn get(path: &str, key: Option<&str>) -> Vec<u8> {
    let mut request = Vec::with_capacity(256);
    write_get(&mut request, path, key);
    request
}

/// Appends a `GET` request to `request`.
pub fn write_get(request: &mut Vec<u8>, path: &str, key: Option<&str>) {
    write_head(request, "GET", path, key);
    request.extend_from_slice(b"\r\n");
}

/// Appends a `POST` request with a JSON body to `request`.
pub fn write_post(request: &mut Vec<u8>, path: &str, key: &str, body: &[u8]) {
    write_head(request, "POST", path, Some(key));
    request.extend_from_slice(b"content-type: application/json\r\ncontent-length: ");
    request.extend_from_slice(body.len().to_string().as_bytes());
    request.extend_from_slice(b"\r\n\r\n");
    request.extend_from_slice(body);
}

fn write_head(request: &mut Vec<u8>, method: &str, path: &str, key: Option<&str>) {
    for part in [method, " ", path, " HTTP/1.1\r\nhost: bench\r\n"] {
        request.extend_from_slice(part.as_bytes());
    }
    if let Some(key) = key {
        for part in ["authorization: Bearer ", key, "\r\n"] {
            request.extend_from_slice(part.as_bytes());
        }
    }
}
