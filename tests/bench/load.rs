//! The load generator: a closed loop of connections on one thread.
//!
//! Every connection sends its next request as soon as it has read the answer. Requests are counted inside the window
//! only, after a warm-up; an answer of another status than the expected one ends the run with an error.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::task::LocalSet;

use crate::http::{Answer, Connection};
use crate::measured::Measured;
use crate::process::cpu_time;

/// Requests that one connection sends at most in one run.
const MOST_REQUESTS: u64 = 5_000_000;

/// How long after the window's end the last answers are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// What one connection asks for, request by request.
pub trait Script: Send {
    /// Writes the next request into an empty buffer.
    fn request(&mut self, request: &mut Vec<u8>);

    /// Looks at the answer.
    fn answer(&mut self, _answer: Answer<'_>) {}
}

/// A load: who is asked, by how many, for how long.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub address: SocketAddr,
    pub connections: usize,
    pub warm_up: Duration,
    pub window: Duration,
    /// The status that every answer must have.
    pub status: u16,
    /// The process whose processor time is counted.
    pub process: Option<u32>,
}

impl Load {
    /// Runs the load; `script` makes the part of each connection.
    ///
    /// # Errors
    /// A connection broke, or an answer had another status.
    pub async fn run(self, script: impl Fn(usize) -> Box<dyn Script>) -> Result<Measured> {
        let scripts: Vec<Box<dyn Script>> = (0..self.connections).map(script).collect();
        tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            LocalSet::new().block_on(&runtime, self.drive(scripts))
        })
        .await?
    }

    async fn drive(self, scripts: Vec<Box<dyn Script>>) -> Result<Measured> {
        let mut opened = Vec::with_capacity(scripts.len());
        for script in scripts {
            opened.push((Connection::open(self.address).await?, script));
        }
        let from = Instant::now() + self.warm_up;
        let clients: Vec<_> =
            opened.into_iter().map(|(connection, script)| self.client(connection, script, from)).collect();
        let clients: Vec<_> = clients.into_iter().map(tokio::task::spawn_local).collect();
        let cpu = tokio::task::spawn_local(self.processor_time(from));
        let mut measured = Measured::new(self.window);
        let all = async {
            for client in clients {
                measured.join(&client.await??);
            }
            anyhow::Ok(())
        };
        let limit = self.warm_up + self.window + PATIENCE;
        tokio::time::timeout(limit, all).await.context("the server stopped answering")??;
        measured.set_cpu(cpu.await?);
        if measured.count() == 0 {
            bail!("not one answer came within {:?}", self.window);
        }
        Ok(measured)
    }

    /// One connection's part, until the window's end.
    async fn client(
        self,
        mut connection: Connection,
        mut script: Box<dyn Script>,
        from: Instant,
    ) -> Result<Measured> {
        let mut measured = Measured::new(self.window);
        let until = from + self.window;
        let mut request = Vec::with_capacity(1024);
        let mut sent_at = Instant::now();
        for _ in 0..MOST_REQUESTS {
            request.clear();
            script.request(&mut request);
            let answer = connection.exchange(&request).await?;
            if answer.status != self.status {
                bail!("{}", surprise(&request, answer, self.status));
            }
            script.answer(answer);
            let now = Instant::now();
            if now >= until {
                break;
            }
            if sent_at >= from {
                measured.record(now - sent_at);
            }
            sent_at = now;
        }
        Ok(measured)
    }

    /// The processor time of the measured process inside the window.
    async fn processor_time(self, from: Instant) -> Option<Duration> {
        let process = self.process?;
        tokio::time::sleep_until(from.into()).await;
        let before = cpu_time(process)?;
        tokio::time::sleep_until((from + self.window).into()).await;
        Some(cpu_time(process)?.saturating_sub(before))
    }
}

/// What was asked and what came, without the headers, which hold a secret.
fn surprise(request: &[u8], answer: Answer<'_>, expected: u16) -> String {
    let asked = request.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let body = &answer.body[..answer.body.len().min(600)];
    format!(
        "{} was answered with {} instead of {expected}: {}",
        String::from_utf8_lossy(asked),
        answer.status,
        String::from_utf8_lossy(body)
    )
}

/// The same request again and again, or a few in turn.
pub struct InTurn {
    requests: Vec<Vec<u8>>,
    next: usize,
}

impl InTurn {
    /// Begins with the request at `first`.
    pub fn script(requests: Vec<Vec<u8>>, first: usize) -> Box<dyn Script> {
        Box::new(Self { next: first % requests.len(), requests })
    }
}

impl Script for InTurn {
    fn request(&mut self, request: &mut Vec<u8>) {
        request.extend_from_slice(&self.requests[self.next]);
        self.next = (self.next + 1) % self.requests.len();
    }
}
