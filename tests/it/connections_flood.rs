//! Health checks work while clients open many connections, send requests, and never read the responses.
//!
//! By default, the flood is small and short. Set `TEST_FLOOD_SOCKETS` and `TEST_FLOOD_SECONDS` to the numbers of a
//! real attack.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{client_builder, send};

/// The default number of connections.
const SOCKETS: usize = 600;
/// The default duration of the flood in seconds.
const SECONDS: usize = 2;
/// The number of clients that open connections concurrently.
const CLIENTS: usize = 16;
/// The maximum duration of a health check.
const MAX_HEALTH_CHECK: Duration = Duration::from_secs(1);

/// Returns the number in an environment variable, or the default.
fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Opens a connection from this address with a small receive buffer, and sends requests without reading the responses.
/// Returns `None` if the server cannot be reached.
async fn send_without_reading(from: Ipv4Addr, to: SocketAddr) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().ok()?;
    socket.set_recv_buffer_size(2048).ok()?;
    socket.bind(SocketAddr::new(IpAddr::V4(from), 0)).ok()?;
    let mut stream = socket.connect(to).await.ok()?;
    let requests = "GET /openapi/v1.json HTTP/1.1\r\nHost: api\r\n\r\n".repeat(50);
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(requests.as_bytes())).await;
    Some(stream)
}

/// The results of the health checks during a flood.
#[derive(Debug, Default)]
struct HealthChecks {
    /// The number of responses with the status 200.
    answered: usize,
    /// The longest time until a response or a failure.
    slowest: Duration,
    failures: Vec<String>,
}

/// Floods the server from this number of addresses, and sends health checks at the same time.
async fn flood(server: &ServerProcess, sources: usize) -> HealthChecks {
    let (sockets, seconds) = (number("TEST_FLOOD_SOCKETS", SOCKETS), number("TEST_FLOOD_SECONDS", SECONDS));
    let end = Instant::now() + Duration::from_secs(seconds as u64);
    let to: SocketAddr = server.base_url.trim_start_matches("http://").parse().expect("an address");
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(async move {
            let mut open = Vec::new();
            for index in (client..sockets).step_by(CLIENTS) {
                if Instant::now() > end {
                    break;
                }
                let host = u8::try_from(index % sources).expect("few sources") + 1;
                open.extend(send_without_reading(Ipv4Addr::new(127, 0, 0, host), to).await);
            }
            let opened_at = Instant::now();
            tokio::time::sleep_until(end.into()).await;
            (open.len(), opened_at)
        });
    }
    let started = Instant::now();
    let mut checks = HealthChecks::default();
    let health = client_builder().build().expect("a client");
    let mut pause = tokio::time::interval(Duration::from_millis(20));
    while Instant::now() < end {
        pause.tick().await;
        let requested_at = Instant::now();
        let request = health.request(Method::GET, format!("{}/healthz", server.base_url));
        match request.header("connection", "close").timeout(Duration::from_secs(5)).send().await {
            Ok(response) if response.status() == StatusCode::OK => checks.answered += 1,
            failure => checks.failures.push(format!("{:?}: {failure:?}", started.elapsed())),
        }
        checks.slowest = checks.slowest.max(requested_at.elapsed());
    }
    let clients = clients.join_all().await;
    let opened: usize = clients.iter().map(|(opened, _)| opened).sum();
    let opening_duration =
        clients.iter().map(|(_, opened_at)| *opened_at - started).max().unwrap_or_default();
    println!("{opened} connections from {sources} addresses, opened in {opening_duration:?}: {checks:?}");
    checks
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_connections_does_not_stop_health_checks() {
    // One address reaches its own limit; many addresses reach the limit of the server.
    for sources in [1, 200] {
        let program = TestProgram::new().await;
        let server = program.serve(&["serve", "--no-worker", "--log-filter", "error"]).await;
        let checks = flood(&server, sources).await;
        assert!(checks.failures.is_empty() && checks.slowest < MAX_HEALTH_CHECK, "{checks:?}");
        let ready = client_builder()
            .build()
            .expect("a client")
            .request(Method::GET, format!("{}/readyz", server.base_url));
        send(ready).await.assert_status(200);
        assert_eq!(server.stop().await, Some(0));
    }
}
