//! A Redis or Valkey server of a test.

use std::process::Stdio;

use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

use super::wait_until;

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
            eprintln!("skipped, because {PROGRAM_VARIABLE} is not set; `cargo xtask test` sets it");
            return None;
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        Some(Self { port, process: run(port).await })
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
        self.process = run(self.port).await;
    }
}

async fn run(port: u16) -> Child {
    let program = std::env::var_os(PROGRAM_VARIABLE).expect("the path of the program");
    let port = port.to_string();
    let process = Command::new(program)
        .args(["--port", &port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the server starts");
    let address = format!("127.0.0.1:{port}");
    wait_until("the Redis server accepts connections", async || TcpStream::connect(&address).await.is_ok())
        .await;
    process
}
