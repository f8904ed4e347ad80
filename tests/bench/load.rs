//! The load generator: a fixed number of connections on one thread.
//!
//! Every connection sends its next request as soon as it has read the response. After a warm-up, the requests inside
//! the window are counted. A response with an unexpected status ends the run with an error.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::task::LocalSet;

use crate::http::{Connection, ResponseView};
use crate::measurement::Measurement;
use crate::process::cpu_time;

/// The maximum number of requests per connection and run.
const MAX_REQUESTS: u64 = 5_000_000;

/// The time limit for the last responses after the end of the window.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// The requests of one connection.
pub trait RequestScript: Send {
    /// Writes the next request into an empty buffer.
    fn request(&mut self, request: &mut Vec<u8>);

    /// Handles the response.
    fn handle_response(&mut self, _response: ResponseView<'_>) {}
}

/// A load: target, number of connections, and duration.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub address: SocketAddr,
    pub connections: usize,
    pub warm_up: Duration,
    pub window: Duration,
    /// The expected status of every response.
    pub status: u16,
    /// The id of the process whose processor time is measured; `None` to measure none.
    pub process: Option<u32>,
}

impl Load {
    /// Runs the load. `script` creates the requests of each connection from the number of the connection, counted from
    /// 0.
    ///
    /// # Errors
    /// Returns an error when a connection breaks, a response has an unexpected status, no response arrives in the
    /// window, or the last responses do not arrive within 30 seconds after it.
    pub async fn run(self, script: impl Fn(usize) -> Box<dyn RequestScript>) -> Result<Measurement> {
        let scripts: Vec<Box<dyn RequestScript>> = (0..self.connections).map(script).collect();
        tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            LocalSet::new().block_on(&runtime, self.drive(scripts))
        })
        .await?
    }

    async fn drive(self, scripts: Vec<Box<dyn RequestScript>>) -> Result<Measurement> {
        let mut connections = Vec::with_capacity(scripts.len());
        for script in scripts {
            connections.push((Connection::open(self.address).await?, script));
        }
        let window_start = Instant::now() + self.warm_up;
        let clients: Vec<_> = connections
            .into_iter()
            .map(|(connection, script)| self.client(connection, script, window_start))
            .collect();
        let clients: Vec<_> = clients.into_iter().map(tokio::task::spawn_local).collect();
        let cpu = tokio::task::spawn_local(self.processor_time(window_start));
        let mut measured = Measurement::new(self.window);
        let all_clients = async {
            for client in clients {
                measured.merge(&client.await??);
            }
            anyhow::Ok(())
        };
        let limit = self.warm_up + self.window + RESPONSE_TIMEOUT;
        tokio::time::timeout(limit, all_clients).await.context("the server stopped responding")??;
        measured.set_cpu(cpu.await?);
        if measured.count() == 0 {
            bail!("no response arrived within {:?}", self.window);
        }
        Ok(measured)
    }

    /// Runs one connection until the end of the window.
    async fn client(
        self,
        mut connection: Connection,
        mut script: Box<dyn RequestScript>,
        window_start: Instant,
    ) -> Result<Measurement> {
        let mut measured = Measurement::new(self.window);
        let window_end = window_start + self.window;
        let mut request = Vec::with_capacity(1024);
        let mut sent_at = Instant::now();
        for _ in 0..MAX_REQUESTS {
            request.clear();
            script.request(&mut request);
            let response = connection.exchange(&request).await?;
            if response.status != self.status {
                bail!("{}", unexpected_response(&request, response, self.status));
            }
            script.handle_response(response);
            let now = Instant::now();
            if now >= window_end {
                break;
            }
            if sent_at >= window_start {
                measured.record(now - sent_at);
            }
            sent_at = now;
        }
        Ok(measured)
    }

    /// Returns the processor time of the measured process inside the window.
    async fn processor_time(self, window_start: Instant) -> Option<Duration> {
        let process = self.process?;
        tokio::time::sleep_until(window_start.into()).await;
        let before = cpu_time(process)?;
        tokio::time::sleep_until((window_start + self.window).into()).await;
        Some(cpu_time(process)?.saturating_sub(before))
    }
}

/// Describes a response with an unexpected status. Leaves out the request headers, which contain an API key.
fn unexpected_response(request: &[u8], response: ResponseView<'_>, expected: u16) -> String {
    let request_line = request.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let body = &response.body[..response.body.len().min(600)];
    format!(
        "{}: expected status {expected}, got {}: {}",
        String::from_utf8_lossy(request_line),
        response.status,
        String::from_utf8_lossy(body)
    )
}

/// The same requests in round-robin order.
pub struct RequestCycle {
    requests: Vec<Vec<u8>>,
    next: usize,
}

impl RequestCycle {
    /// Creates a script that starts with the request at index `first`, modulo the number of requests.
    pub fn script(requests: Vec<Vec<u8>>, first: usize) -> Box<dyn RequestScript> {
        Box::new(Self { next: first % requests.len(), requests })
    }
}

impl RequestScript for RequestCycle {
    fn request(&mut self, request: &mut Vec<u8>) {
        request.extend_from_slice(&self.requests[self.next]);
        self.next = (self.next + 1) % self.requests.len();
    }
}
