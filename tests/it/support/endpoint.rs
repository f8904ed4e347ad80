//! A webhook endpoint that stores its requests and responds with the statuses that a test specifies.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use webhooks::verify::{self, TOLERANCE};

use super::receiver::{Receiver, request};

/// A received request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The headers, with names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
        let headers = head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        Self { headers, body: bytes[end + 4..].to_vec() }
    }

    /// Parses the body.
    pub fn event(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Whether it has a valid signature of this secret at this time.
    pub fn is_signed(&self, secret: &str, now: i64) -> bool {
        verify::verify(&self.body, self.header("x-svc-signature"), &[secret], now, TOLERANCE).is_ok()
    }
}

#[derive(Debug, Default)]
struct Script {
    sent: Vec<ReceivedRequest>,
    next: VecDeque<String>,
    always: Option<String>,
}

/// Listens until it is dropped. Responds with 204 by default.
pub struct Endpoint {
    receiver: Receiver,
    script: Arc<Mutex<Script>>,
}

impl Endpoint {
    pub async fn start() -> Self {
        let script = Arc::new(Mutex::new(Script::default()));
        let shared = Arc::clone(&script);
        let receiver = Receiver::start(move |mut stream| {
            let script = Arc::clone(&shared);
            async move {
                loop {
                    let bytes = request(&mut stream).await;
                    if bytes.is_empty() {
                        return;
                    }
                    let response = {
                        let mut script = script.lock().expect("the script");
                        script.sent.push(ReceivedRequest::read(&bytes));
                        let next = script.next.pop_front().or_else(|| script.always.clone());
                        next.unwrap_or_else(|| response(204, ""))
                    };
                    if stream.write_all(response.as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await;
        Self { receiver, script }
    }

    /// Responds to the next requests with these statuses, and then as before.
    pub fn answers(&self, statuses: impl IntoIterator<Item = u16>) {
        let responses = statuses.into_iter().map(|status| response(status, ""));
        self.script.lock().expect("the script").next.extend(responses);
    }

    /// Responds to the next request with this status and this header.
    pub fn answers_with(&self, status: u16, header: &str) {
        self.script.lock().expect("the script").next.push_back(response(status, &format!("{header}\r\n")));
    }

    /// Responds to all further requests with this status.
    pub fn always_answers(&self, status: u16) {
        self.script.lock().expect("the script").always = Some(response(status, ""));
    }

    /// Returns the requests so far, in the order of their arrival.
    pub fn sent(&self) -> Vec<ReceivedRequest> {
        self.script.lock().expect("the script").sent.clone()
    }

    pub fn url(&self) -> String {
        self.receiver.url("http", "127.0.0.1").to_string()
    }
}

fn response(status: u16, headers: &str) -> String {
    match status {
        204 => format!("HTTP/1.1 204 No Content\r\n{headers}\r\n"),
        _ => format!("HTTP/1.1 {status} Status\r\n{headers}content-length: 2\r\n\r\nok"),
    }
}
