//! A Redis or Valkey server of a test.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

use super::skip;

/// The environment variable with the path of the server program. `cargo xtask test` sets it.
const PROGRAM_VARIABLE: &str = "TEST_REDIS_SERVER";

/// A server without stored data on a free port. Dropping it kills the server.
pub struct RedisServer {
    port: u16,
    process: Child,
}

impl RedisServer {
    /// Starts a server. Returns `None` without the program, as in a plain `cargo test`.
    pub async fn start() -> Option<Self> {
        let Some(_) = std::env::var_os(PROGRAM_VARIABLE) else {
            skip(&format!("{PROGRAM_VARIABLE} is not set; `cargo xtask test` sets it"));
            return None;
        };
        loop {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let port = listener.local_addr().expect("an address").port();
            drop(listener);
            // Another process can use the port first.
            if let Some(process) = run(port).await {
                return Some(Self { port, process });
            }
        }
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Returns the host and the port.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Kills the server, which loses its data.
    pub async fn kill(&mut self) {
        self.process.kill().await.expect("the server can be killed");
    }

    /// Starts a killed server again, on the same port and without data.
    pub async fn restart(&mut self) {
        let started = Instant::now();
        self.process = loop {
            match run(self.port).await {
                Some(process) => break process,
                None => assert!(started.elapsed() < Duration::from_secs(20), "the port is in use"),
            }
        };
    }
}

/// Starts the program, and waits until it responds. Returns `None` if it ends, because the port is in use.
async fn run(port: u16) -> Option<Child> {
    let program = std::env::var_os(PROGRAM_VARIABLE).expect("the path of the program");
    let mut process = Command::new(program)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the server starts");
    loop {
        if process.try_wait().expect("the process can be awaited").is_some() {
            return None;
        }
        if responds(port).await && process.try_wait().expect("the process can be awaited").is_none() {
            return Some(process);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn responds(port: u16) -> bool {
    let Ok(mut connection) = TcpStream::connect(("127.0.0.1", port)).await else { return false };
    let mut response = [0; 5];
    connection.write_all(b"PING\r\n").await.is_ok()
        && connection.read_exact(&mut response).await.is_ok()
        && &response == b"+PONG"
}
