//! Raw requests that no HTTP client would send.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{TestApp, TestResponse};

/// The timeout of a response and of closing the connection.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The responses of one connection.
#[derive(Debug)]
pub struct RawExchange {
    /// The responses, in order.
    pub responses: Vec<TestResponse>,
    /// The HTTP version of the last response.
    pub version: String,
    /// Whether the server closed the connection gracefully.
    pub is_closed: bool,
}

impl TestApp {
    /// Sends these bytes and reads one response.
    ///
    /// The request must contain `Connection: close`.
    pub async fn raw(&self, request: impl AsRef<[u8]>) -> TestResponse {
        let mut stream = self.connect().await;
        // The server may respond and close before it has read everything.
        let _ = stream.write_all(request.as_ref()).await;
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        let _ = tokio::time::timeout(TIMEOUT, read).await.expect("an answer comes in time");
        parse(&bytes).0
    }

    /// Sends these bytes and reads all responses until the server closes. `is_truncated` closes the sending side first.
    pub async fn exchange(&self, request: &[u8], is_truncated: bool) -> RawExchange {
        let (bytes, is_closed) = self.exchange_bytes(request, is_truncated).await;
        received(&bytes, is_closed)
    }

    /// Like [`exchange`](Self::exchange), but returns raw bytes.
    pub async fn exchange_bytes(&self, request: &[u8], is_truncated: bool) -> (Vec<u8>, bool) {
        let mut stream = self.connect().await;
        // The server may respond and close before it has read everything.
        let _ = stream.write_all(request).await;
        if is_truncated {
            let _ = stream.shutdown().await;
        }
        read(&mut stream).await
    }

    /// Sends these bytes in pieces and reads all responses until the server closes.
    pub async fn exchange_in_pieces(&self, request: &[u8], size: usize) -> RawExchange {
        let mut stream = self.connect().await;
        stream.set_nodelay(true).expect("a socket");
        for piece in request.chunks(size) {
            if stream.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let (bytes, is_closed) = read(&mut stream).await;
        received(&bytes, is_closed)
    }

    async fn connect(&self) -> TcpStream {
        let address = self.base.trim_start_matches("http://");
        TcpStream::connect(address).await.expect("the server listens")
    }
}

/// Reads everything until the connection ends, and whether it ended gracefully.
async fn read(stream: &mut TcpStream) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut bytes)).await;
    (bytes, matches!(read, Ok(Ok(_))))
}

fn received(bytes: &[u8], is_closed: bool) -> RawExchange {
    let (mut responses, mut rest, mut version) = (Vec::new(), bytes, String::new());
    while !rest.is_empty() {
        version = String::from_utf8_lossy(&rest[..8.min(rest.len())]).into_owned();
        let (response, length) = parse(rest);
        rest = &rest[length..];
        if response.status != 100 {
            responses.push(response);
        }
    }
    RawExchange { responses, version, is_closed }
}

/// Parses the first response and returns its length. A response without `Content-Length` extends to the end.
fn parse(bytes: &[u8]) -> (TestResponse, usize) {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no whole head in {:?}", String::from_utf8_lossy(bytes)));
    let text = String::from_utf8_lossy(&bytes[..end]);
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status line");
    let mut headers = reqwest::header::HeaderMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        let name = reqwest::header::HeaderName::from_bytes(name.as_bytes()).expect("a header name");
        headers.append(name, value.parse().expect("a header value"));
    }
    let body = &bytes[end + 4..];
    let declared = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
    let length = match status {
        100 | 304 => 0,
        _ => declared.unwrap_or(body.len()).min(body.len()),
    };
    (TestResponse { status, headers, body: body[..length].to_vec() }, end + 4 + length)
}
