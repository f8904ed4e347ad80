//! haproxy, as the load balancer of the servers or in front of PostgreSQL.

use anyhow::Result;

use super::wait_until_listening;
use crate::ports::free_port;
use crate::process::{ProcessSpec, RunningProcess};
use crate::run::Context;

/// A running haproxy.
pub struct Haproxy {
    _process: RunningProcess,
    pub port: u16,
}

impl Haproxy {
    /// Starts the load balancer of the servers on these ports. It sends requests to servers whose `/readyz` succeeds, and
    /// repeats GET requests and requests with an `Idempotency-Key` on another server when a connection breaks before the
    /// response.
    ///
    /// # Errors
    /// Returns an error when haproxy does not start.
    pub async fn balance_servers(context: &Context, ports: &[u16]) -> Result<Self> {
        let servers = "
frontend clients
  bind 127.0.0.1:PORT
  default_backend servers
backend servers
  balance roundrobin
  option forwardfor
  option redispatch 1
  retries 3
  retry-on conn-failure empty-response
  http-request disable-l7-retry if METH_POST !{ req.hdr(Idempotency-Key) -m found }
  option httpchk GET /readyz
  http-check expect status 200
  default-server check inter 500ms fall 2 rise 1
";
        Self::start(context, "haproxy-servers", "http", servers, ports).await
    }

    /// Starts a proxy that leads to the one of these PostgreSQL servers that accepts writes. Connections to a server that fails or
    /// becomes a standby are closed.
    ///
    /// # Errors
    /// Returns an error when haproxy does not start.
    pub async fn find_primary(context: &Context, ports: &[u16]) -> Result<Self> {
        let checks = format!(
            "
frontend clients
  bind 127.0.0.1:PORT
  default_backend primary
backend primary
  option tcp-check
  tcp-check connect
  tcp-check send-binary {}
  tcp-check expect binary {READY_FOR_QUERY}
  tcp-check send-binary {}
  tcp-check expect binary {ROW_FALSE}
  default-server check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
",
            startup_message(),
            query_message("SELECT pg_is_in_recovery()")
        );
        Self::start(context, "haproxy-postgres", "tcp", &checks, ports).await
    }

    async fn start(context: &Context, name: &str, mode: &str, sections: &str, ports: &[u16]) -> Result<Self> {
        let port = free_port()?;
        let mut configuration = format!(
            "global
  maxconn 4000
defaults
  mode {mode}
  timeout connect 1s
  timeout client 10m
  timeout server 10m
  timeout check 2s
{}",
            sections.replace("PORT", &port.to_string())
        );
        for (number, port) in ports.iter().enumerate() {
            configuration.push_str(&format!("  server server{number} 127.0.0.1:{port}\n"));
        }
        let file = context.folder.join(format!("{name}.cfg"));
        std::fs::write(&file, configuration)?;
        let log = context.logs.join(format!("{name}.log"));
        let spec = ProcessSpec::new(&context.programs.haproxy, &context.folder, log);
        let spec = spec.args(["-db".into(), "-f".into(), file.into_os_string()]);
        let process = RunningProcess::start(&ProcessSpec { user: context.programs.user, ..spec })?;
        wait_until_listening(&process, port).await?;
        Ok(Self { _process: process, port })
    }

    /// Returns the URL of the load balancer.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// `ReadyForQuery` outside of a transaction, in hexadecimal.
const READY_FOR_QUERY: &str = "5a0000000549";

/// `DataRow` with the single value `f`, in hexadecimal.
const ROW_FALSE: &str = "440000000b00010000000166";

/// Returns the `StartupMessage` of the superuser, in hexadecimal.
fn startup_message() -> String {
    let parameters = b"user\0postgres\0database\0postgres\0\0";
    let length = u32::try_from(parameters.len() + 8).unwrap_or_default();
    hex::encode([&length.to_be_bytes()[..], &196_608_u32.to_be_bytes(), parameters].concat())
}

/// Returns the message `Query`, in hexadecimal.
fn query_message(sql: &str) -> String {
    let length = u32::try_from(sql.len() + 5).unwrap_or_default();
    hex::encode([b"Q", &length.to_be_bytes()[..], sql.as_bytes(), b"\0"].concat())
}
