//! One HTTP/1.1 connection, as cheap as a client can be.
//!
//! Sends bytes that were made beforehand and reads whole answers by their `Content-Length`. What costs the load generator
//! nothing is left to the server. It never retries, follows, or decodes anything.

use std::net::SocketAddr;
use std::ops::Range;

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Headers an answer may have.
const HEADERS: usize = 48;

/// The longest answer that is read, in bytes.
const LONGEST: usize = 8 << 20;

/// An open connection, which answers are read from one after the other.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
}

/// An answer; it stands in its connection's buffer until the next request.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

/// What the head of an answer says.
struct Head {
    status: u16,
    body: Range<usize>,
}

impl Connection {
    /// Connects to a server on this machine.
    ///
    /// # Errors
    /// Nobody listens there.
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream =
            TcpStream::connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 64 << 10], filled: 0 })
    }

    /// Sends one request and reads its answer.
    ///
    /// # Errors
    /// The connection broke, or what came is no answer with a `Content-Length`.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await.context("cannot send a request")?;
        self.filled = 0;
        let head = loop {
            self.read_more().await?;
            if let Some(head) = parse(&self.buffer[..self.filled])? {
                break head;
            }
        };
        if head.body.end > LONGEST {
            bail!("an answer of {} bytes is longer than any that is expected", head.body.end);
        }
        while self.filled < head.body.end {
            self.read_more().await?;
        }
        if self.filled > head.body.end {
            bail!("more came than the one answer that was asked for");
        }
        Ok(Answer { status: head.status, body: &self.buffer[head.body] })
    }

    async fn read_more(&mut self) -> Result<()> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        match self.stream.read(&mut self.buffer[self.filled..]).await.context("cannot read an answer")? {
            0 => bail!("the server closed the connection before its answer was whole"),
            count => self.filled += count,
        }
        Ok(())
    }
}

/// The head that stands at the beginning of these bytes; `None` when it is not whole yet.
fn parse(bytes: &[u8]) -> Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = response.parse(bytes).context("this is no HTTP answer")? else {
        return Ok(None);
    };
    let status = response.code.context("an answer without a status")?;
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length: usize = match length {
        Some(header) => {
            std::str::from_utf8(header.value)?.trim().parse().context("an unreadable Content-Length")?
        }
        None => bail!("an answer ({status}) without Content-Length"),
    };
    Ok(Some(Head { status, body: start..start + length }))
}

/// The bytes of a `GET`, with a key when one is given.
pub fn get(path: &str, key: Option<&str>) -> Vec<u8> {
    let mut request = Vec::with_capacity(256);
    write_get(&mut request, path, key);
    request
}

/// Writes a `GET` behind what stands in `request`.
pub fn write_get(request: &mut Vec<u8>, path: &str, key: Option<&str>) {
    write_head(request, "GET", path, key);
    request.extend_from_slice(b"\r\n");
}

/// Writes a `POST` of JSON behind what stands in `request`.
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
