//! A webhook endpoint that stores the requests it receives, and responds with the statuses that a test specifies.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use webhooks::verify::{self, TOLERANCE};

use super::receiver::{Receiver, read_request};

/// A received request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The headers, with names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    fn read(bytes: &[u8]) -> Self {
        let head_length = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a complete head");
        let head = String::from_utf8(bytes[..head_length].to_vec()).expect("the head is UTF-8");
        let headers = head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        Self { headers, body: bytes[head_length + 4..].to_vec() }
    }

    /// Parses the body as JSON.
    pub fn event(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// Returns a header's value; empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Returns whether the request has a signature with this secret that is valid at `now`, in seconds since 1970.
    pub fn is_signed(&self, secret: &str, now: i64) -> bool {
        verify::verify(&self.body, self.header("x-svc-signature"), &[secret], now, TOLERANCE).is_ok()
    }
}

/// The requests received so far, and the responses to the next ones.
#[derive(Debug, Default)]
struct EndpointState {
    requests: Vec<ReceivedRequest>,
    next_responses: VecDeque<String>,
    /// The response when `next_responses` is empty; `None` for 204.
    default_response: Option<String>,
}

/// Listens until it is dropped. Responds with 204 unless a test specifies other statuses.
pub struct Endpoint {
    receiver: Receiver,
    state: Arc<Mutex<EndpointState>>,
}

impl Endpoint {
    pub async fn start() -> Self {
        let state = Arc::new(Mutex::new(EndpointState::default()));
        let shared = Arc::clone(&state);
        let receiver = Receiver::start(move |mut stream| {
            let state = Arc::clone(&shared);
            async move {
                loop {
                    let bytes = read_request(&mut stream).await;
                    if bytes.is_empty() {
                        return;
                    }
                    let response = {
                        let mut state = state.lock().expect("the lock is not poisoned");
                        state.requests.push(ReceivedRequest::read(&bytes));
                        let next =
                            state.next_responses.pop_front().or_else(|| state.default_response.clone());
                        next.unwrap_or_else(|| response(204, ""))
                    };
                    if stream.write_all(response.as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await;
        Self { receiver, state }
    }

    /// Responds to the next requests with these statuses, and to later ones as before.
    pub fn respond_with(&self, statuses: impl IntoIterator<Item = u16>) {
        let responses = statuses.into_iter().map(|status| response(status, ""));
        self.state().next_responses.extend(responses);
    }

    /// Responds to the next request with this status and this header.
    pub fn respond_with_header(&self, status: u16, header: &str) {
        self.state().next_responses.push_back(response(status, &format!("{header}\r\n")));
    }

    /// Responds with this status to all requests after those of [`respond_with`](Self::respond_with).
    pub fn always_respond_with(&self, status: u16) {
        self.state().default_response = Some(response(status, ""));
    }

    /// Returns the requests received so far, in order of arrival.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.state().requests.clone()
    }

    pub fn url(&self) -> String {
        self.receiver.url("http", "127.0.0.1").to_string()
    }

    fn state(&self) -> MutexGuard<'_, EndpointState> {
        self.state.lock().expect("the lock is not poisoned")
    }
}

/// Returns a response with this status. `headers` is empty, or header lines that end with CRLF.
fn response(status: u16, headers: &str) -> String {
    match status {
        204 => format!("HTTP/1.1 204 No Content\r\n{headers}\r\n"),
        _ => format!("HTTP/1.1 {status} Status\r\n{headers}content-length: 2\r\n\r\nok"),
    }
}
