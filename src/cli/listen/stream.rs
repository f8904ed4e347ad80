//! Reads events from `streamEvents`. After a lost connection, continues after the last line that was received.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use reqwest::header::{AUTHORIZATION, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::timeout;

use super::event::Event;
use crate::cli::outcome::CommandError;
use crate::cli::output;
use domain::keys;
use domain::workspaces::Mode;

/// The time limit for a connection, and for the head of the response.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a connection without a line is considered alive. The server sends one every 15 seconds.
const LINE_TIMEOUT: Duration = Duration::from_secs(40);
/// The pauses between attempts to connect: the first one, and the longest. Each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// How long a connection without an event must last, so that the next attempt needs no longer pause. Each attempt is a request that
/// counts.
const STABLE_AFTER: Duration = Duration::from_secs(10);
/// The pause after a 429 without `Retry-After`.
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(5);
/// Maximum length of a line, in bytes. Events are much smaller.
const MAX_LINE_BYTES: usize = 8 << 20;
/// What precedes the event, the last field of a line.
const EVENT_FIELD: &[u8] = b"\"event\":";

/// The events of a workspace, from the start of the command.
pub(super) struct EventStream {
    client: reqwest::Client,
    url: Url,
    authorization: HeaderValue,
    /// Whether the key is that of a sandbox, which can be reset.
    is_sandbox: bool,
    /// How long before the start of the command the stream begins.
    since: Duration,
    started: Instant,
    /// The cursor of the last line. `None` before the first one.
    cursor: Option<String>,
    connection: Option<Connection>,
    pause: Duration,
    /// The last problem that was printed. `None` while connected.
    problem: Option<String>,
}

/// A connection whose response is a stream of lines.
struct Connection {
    response: Response,
    received: BytesMut,
    opened: Instant,
    /// Whether an event was received.
    has_events: bool,
}

/// Why the next line was not received.
enum Interruption {
    /// The connection failed, or the server cannot respond at present.
    Retry(String),
    /// The server asks to wait.
    Wait(String, Duration),
    /// The server rejects the cursor, since the sandbox was reset.
    Reset,
    /// Trying again would not help.
    Fatal(CommandError),
}

impl From<reqwest::Error> for Interruption {
    fn from(error: reqwest::Error) -> Self {
        // The message of the error itself contains the URL, but not the reason.
        let mut cause: &dyn std::error::Error = &error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        Self::Retry(cause.to_string())
    }
}

impl EventStream {
    /// Creates a stream that begins `since` before now. Connects when the first event is read.
    pub(super) fn new(api: &Url, key: &SecretString, since: Duration) -> Result<Self, CommandError> {
        let base = api.as_str().trim_end_matches('/');
        let url = Url::parse(&format!("{base}/developer/v1/events/stream")).map_err(anyhow::Error::from)?;
        let authorization = HeaderValue::try_from(format!("Bearer {}", key.expose_secret()));
        let mut authorization = authorization.map_err(anyhow::Error::from)?;
        authorization.set_sensitive(true);
        let tls = foundation::tls::client_config(Vec::new()).map_err(anyhow::Error::from)?;
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(anyhow::Error::from)?;
        Ok(Self {
            client,
            url,
            authorization,
            is_sandbox: keys::mode_of(key.expose_secret()) == Mode::Test,
            since,
            started: Instant::now(),
            cursor: None,
            connection: None,
            pause: FIRST_PAUSE,
            problem: None,
        })
    }

    /// Returns the next event. Connects again when the connection is lost; the caller must have handled the previous event.
    ///
    /// # Errors
    /// Returns an error when the server rejects the request, such as with a revoked key.
    pub(super) async fn next(&mut self) -> Result<Event, CommandError> {
        loop {
            match self.next_line().await {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(interruption) => self.wait(interruption).await?,
            }
        }
    }

    /// Reads the next line. Returns `None` for a heartbeat, and at the end of a stream that was useful.
    async fn next_line(&mut self) -> Result<Option<Event>, Interruption> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let Some(line) = connection.line().await? else {
            // The stream of a server that stops ends at once, and a proxy may end each stream early.
            return match connection.is_stable() {
                true => Ok(None),
                false => Err(Interruption::Retry("the stream ended early".to_owned())),
            };
        };
        if self.problem.take().is_some() {
            output::eprint("connected again");
        }
        let (cursor, event) = parse(&line).ok_or_else(|| {
            Interruption::Fatal(CommandError::new(
                "the server sent a line that is not an event; is --api the server's URL?",
            ))
        })?;
        self.cursor = Some(cursor);
        connection.has_events |= event.is_some();
        if connection.is_stable() {
            self.pause = FIRST_PAUSE;
        }
        self.connection = Some(connection);
        Ok(event)
    }

    /// Sends the request, and returns the connection if it is accepted.
    async fn connect(&self) -> Result<Connection, Interruption> {
        let mut url = self.url.clone();
        let (name, value) = match &self.cursor {
            Some(cursor) => ("cursor", cursor.clone()),
            None => {
                // Also includes the events since the start of the command.
                let since = (self.since + self.started.elapsed()).as_secs_f64().ceil().min(2_592_000.0);
                ("since", since.to_string())
            }
        };
        url.query_pairs_mut().append_pair(name, &value);
        let request = self.client.get(url).header(AUTHORIZATION, self.authorization.clone()).send();
        let response = timeout(CONNECT_TIMEOUT, request)
            .await
            .map_err(|_| Interruption::Retry("the server does not respond".to_owned()))??;
        match response.status() {
            StatusCode::OK => Ok(Connection {
                response,
                received: BytesMut::new(),
                opened: Instant::now(),
                has_events: false,
            }),
            _ => Err(self.rejection(response).await),
        }
    }

    /// Returns what a response means that is not a stream.
    async fn rejection(&self, response: Response) -> Interruption {
        let status = response.status();
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let body = timeout(CONNECT_TIMEOUT, response.bytes()).await;
        let body: Value = body
            .ok()
            .and_then(Result::ok)
            .and_then(|body| serde_json::from_slice(&body).ok())
            .unwrap_or_default();
        let message = output::plain_text(body["error"]["message"].as_str().unwrap_or("no message"));
        match status {
            StatusCode::TOO_MANY_REQUESTS => {
                Interruption::Wait(message, retry_after.map_or(DEFAULT_RETRY_AFTER, Duration::from_secs))
            }
            status if status.is_server_error() => Interruption::Retry(format!("{status}: {message}")),
            StatusCode::UNPROCESSABLE_ENTITY
                if self.is_sandbox
                    && self.cursor.is_some()
                    && body["error"]["details"][0]["field"] == "cursor" =>
            {
                Interruption::Reset
            }
            status => {
                Interruption::Fatal(CommandError::new(format!("{} returned {status}: {message}", self.url)))
            }
        }
    }

    /// Prints why the connection was interrupted, and waits before the next attempt.
    async fn wait(&mut self, interruption: Interruption) -> Result<(), CommandError> {
        let (problem, pause) = match interruption {
            Interruption::Fatal(error) => return Err(error),
            Interruption::Retry(problem) => {
                let pause = self.pause;
                self.pause = (pause * 2).min(MAX_PAUSE);
                (format!("not connected: {problem}; trying again"), pause)
            }
            Interruption::Wait(message, pause) => {
                (format!("{message} Trying again in {} seconds", pause.as_secs()), pause)
            }
            Interruption::Reset => {
                (self.cursor, self.since, self.started) = (None, Duration::ZERO, Instant::now());
                ("the sandbox was reset, so its cursor is no longer valid; continuing with the events from now on".to_owned(), Duration::ZERO)
            }
        };
        if self.problem.as_ref() != Some(&problem) {
            output::eprint(&problem);
            self.problem = Some(problem);
        }
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

impl Connection {
    /// Returns whether the next attempt to connect needs no longer pause than the first one.
    fn is_stable(&self) -> bool {
        self.has_events || self.opened.elapsed() >= STABLE_AFTER
    }

    /// Returns the next line without its line break, or `None` at the end of the stream.
    async fn line(&mut self) -> Result<Option<Bytes>, Interruption> {
        let mut examined = 0;
        loop {
            if let Some(length) = self.received[examined..].iter().position(|byte| *byte == b'\n') {
                let mut line = self.received.split_to(examined + length + 1);
                line.truncate(line.len() - 1);
                return Ok(Some(line.freeze()));
            }
            examined = self.received.len();
            if examined > MAX_LINE_BYTES {
                return Err(Interruption::Retry("the server sent a line that is too long".to_owned()));
            }
            let chunk = timeout(LINE_TIMEOUT, self.response.chunk()).await;
            let chunk = chunk.map_err(|_| Interruption::Retry("the server sends nothing".to_owned()))??;
            match chunk {
                Some(chunk) => self.received.extend_from_slice(&chunk),
                None => return Ok(None),
            }
        }
    }
}

/// Parses a line: its cursor, and its event unless it is a heartbeat. The event keeps its bytes.
fn parse(line: &Bytes) -> Option<(String, Option<Event>)> {
    let fields: Value = serde_json::from_slice(line).ok()?;
    let cursor = fields["cursor"].as_str()?.to_owned();
    if fields["event"].is_null() {
        return Some((cursor, None));
    }
    let start = line.windows(EVENT_FIELD.len()).position(|window| window == EVENT_FIELD)? + EVENT_FIELD.len();
    let body = line.slice(start..line.len().checked_sub(1)?);
    Some((cursor, Some(Event::from_body(body)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_keeps_its_bytes() {
        let body = r#"{"type":"order.paid", "id":"evt_1","workspace_id":"wks_1","data":{"event":"}"}}"#;
        let line = Bytes::from(format!(r#"{{"cursor":"abc","sequence":"1","event":{body}}}"#));
        let (cursor, event) = parse(&line).unwrap();
        let event = event.unwrap();
        assert_eq!((cursor.as_str(), &*event.body), ("abc", body.as_bytes()));
        assert_eq!((event.id.as_str(), event.event_type.as_str()), ("evt_1", "order.paid"));
        let heartbeat = Bytes::from_static(br#"{"cursor":"abd","sequence":null,"event":null}"#);
        assert_eq!(parse(&heartbeat), Some(("abd".to_owned(), None)));
        assert_eq!(parse(&Bytes::from_static(b"<html>")), None);
    }
}
