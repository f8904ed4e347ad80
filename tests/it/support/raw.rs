//! Sends raw bytes to the server, for requests that no HTTP client would send.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{TestApp, TestResponse};

/// The maximum time until the server has responded and closed the connection.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The responses of one connection.
#[derive(Debug)]
pub struct RawExchange {
    /// The responses, in order, without `100 Continue`.
    pub responses: Vec<TestResponse>,
    /// The HTTP version of the last response; empty if there is none.
    pub version: String,
    /// Whether the server closed the connection gracefully; `false` after a reset or a timeout.
    pub is_closed: bool,
}

impl TestApp {
    /// Sends these bytes and reads one response.
    ///
    /// The request must contain `Connection: close`.
    pub async fn send_raw(&self, request: impl AsRef<[u8]>) -> TestResponse {
        let mut stream = self.connect().await;
        // The server may respond and close before it has read everything.
        let _ = stream.write_all(request.as_ref()).await;
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        let _ = tokio::time::timeout(TIMEOUT, read).await.expect("a response in time");
        parse_response(&bytes).0
    }

    /// Sends these bytes and reads all responses until the server closes the connection. If `is_truncated`, the
    /// client closes its sending side after these bytes.
    pub async fn exchange(&self, request: &[u8], is_truncated: bool) -> RawExchange {
        let (bytes, is_closed) = self.exchange_bytes(request, is_truncated).await;
        parse_exchange(&bytes, is_closed)
    }

    /// Like [`exchange`](Self::exchange), but returns the raw bytes, and whether the server closed the connection
    /// gracefully.
    pub async fn exchange_bytes(&self, request: &[u8], is_truncated: bool) -> (Vec<u8>, bool) {
        let mut stream = self.connect().await;
        // The server may respond and close before it has read everything.
        let _ = stream.write_all(request).await;
        if is_truncated {
            let _ = stream.shutdown().await;
        }
        read_to_end(&mut stream).await
    }

    /// Sends these bytes in pieces of this size, and reads all responses until the server closes the connection.
    pub async fn exchange_in_pieces(&self, request: &[u8], size: usize) -> RawExchange {
        let mut stream = self.connect().await;
        stream.set_nodelay(true).expect("the option is set");
        for piece in request.chunks(size) {
            if stream.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let (bytes, is_closed) = read_to_end(&mut stream).await;
        parse_exchange(&bytes, is_closed)
    }

    async fn connect(&self) -> TcpStream {
        let address = self.base_url.trim_start_matches("http://");
        TcpStream::connect(address).await.expect("the server listens")
    }
}

/// Reads until the connection ends, or until the timeout. Returns the bytes, and whether the connection ended
/// gracefully.
async fn read_to_end(stream: &mut TcpStream) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut bytes)).await;
    (bytes, matches!(read, Ok(Ok(_))))
}

/// Parses all responses on a connection, except `100 Continue`.
fn parse_exchange(bytes: &[u8], is_closed: bool) -> RawExchange {
    let (mut responses, mut remaining, mut version) = (Vec::new(), bytes, String::new());
    while !remaining.is_empty() {
        version = String::from_utf8_lossy(&remaining[..8.min(remaining.len())]).into_owned();
        let (response, length) = parse_response(remaining);
        remaining = &remaining[length..];
        if response.status != 100 {
            responses.push(response);
        }
    }
    RawExchange { responses, version, is_closed }
}

/// Parses the first response. Returns it with its length in bytes, which includes the head. A body without
/// `Content-Length` extends to the end of the bytes. Responses with the status 100 or 304 have no body.
fn parse_response(bytes: &[u8]) -> (TestResponse, usize) {
    let head_length = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let head_length =
        head_length.unwrap_or_else(|| panic!("no complete head in {:?}", String::from_utf8_lossy(bytes)));
    let text = String::from_utf8_lossy(&bytes[..head_length]);
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status line");
    let mut headers = reqwest::header::HeaderMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        let name = reqwest::header::HeaderName::from_bytes(name.as_bytes()).expect("a header name");
        headers.append(name, value.parse().expect("a header value"));
    }
    let body = &bytes[head_length + 4..];
    let declared_length = headers.get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
    let body_length = match status {
        100 | 304 => 0,
        _ => declared_length.unwrap_or(body.len()).min(body.len()),
    };
    (TestResponse { status, headers, body: body[..body_length].to_vec() }, head_length + 4 + body_length)
}
