//! Requests that no HTTP client would send.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Answer, TestApp};

impl TestApp {
    /// Sends these bytes, closes its side, and reads the one answer.
    ///
    /// The request must ask for `Connection: close`.
    pub async fn raw(&self, request: impl AsRef<[u8]>) -> Answer {
        let address = self.base.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).await.expect("the server listens");
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(request.as_ref()).await;
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        let _ = tokio::time::timeout(Duration::from_secs(20), read).await.expect("an answer comes in time");
        parse(&bytes)
    }
}

fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let end = text.find("\r\n\r\n").unwrap_or_else(|| panic!("no whole head in {text:?}"));
    let mut lines = text[..end].split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status line");
    let mut headers = reqwest::header::HeaderMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        let name = reqwest::header::HeaderName::from_bytes(name.as_bytes()).expect("a header name");
        headers.append(name, value.parse().expect("a header value"));
    }
    Answer { status, headers, body: bytes[end + 4..].to_vec() }
}
