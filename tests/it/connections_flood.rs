//! Clients that open connections, send requests and never read do not stop health checks.
//!
//! A short version runs with all other tests. To run it manually with the numbers of a real attack:

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::machine::{Machine, ServerProcess};
use crate::support::{http, send};

/// Connections and seconds of the short version.
const SOCKETS: usize = 600;
const SECONDS: usize = 2;
/// The number of clients that open connections concurrently.
const CLIENTS: usize = 16;
/// The maximum duration of a health check.
const LIMIT: Duration = Duration::from_secs(1);

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Opens a connection from this address with a small receive buffer, and sends requests until the server accepts no more.
async fn send_without_reading(from: Ipv4Addr, to: SocketAddr) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().ok()?;
    socket.set_recv_buffer_size(2048).ok()?;
    socket.bind(SocketAddr::new(IpAddr::V4(from), 0)).ok()?;
    let mut stream = socket.connect(to).await.ok()?;
    let requests = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: api\r\n\r\n".repeat(50);
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(requests.as_bytes())).await;
    Some(stream)
}

/// The results of the health checks during a flood.
#[derive(Debug, Default)]
struct Checks {
    answered: usize,
    slowest: Duration,
    failures: Vec<String>,
}

/// Floods the server from these addresses for the specified time, and sends health checks meanwhile.
async fn flood(serving: &ServerProcess, sources: usize) -> Checks {
    let (sockets, seconds) = (number("TEST_FLOOD_SOCKETS", SOCKETS), number("TEST_FLOOD_SECONDS", SECONDS));
    let end = Instant::now() + Duration::from_secs(seconds as u64);
    let to: SocketAddr = serving.base.trim_start_matches("http://").parse().expect("an address");
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(async move {
            let mut open = Vec::new();
            for number in (client..sockets).step_by(CLIENTS) {
                if Instant::now() > end {
                    break;
                }
                let host = u8::try_from(number % sources).expect("few sources") + 1;
                open.extend(send_without_reading(Ipv4Addr::new(127, 0, 0, host), to).await);
            }
            let opened = Instant::now();
            tokio::time::sleep_until(end.into()).await;
            (open.len(), opened)
        });
    }
    let started = Instant::now();
    let mut checks = Checks::default();
    let health = http().build().expect("a client");
    let mut pause = tokio::time::interval(Duration::from_millis(20));
    while Instant::now() < end {
        pause.tick().await;
        let requested_at = Instant::now();
        let request = health.request(Method::GET, format!("{}/healthz", serving.base));
        match request.header("connection", "close").timeout(Duration::from_secs(5)).send().await {
            Ok(response) if response.status() == StatusCode::OK => checks.answered += 1,
            other => checks.failures.push(format!("{:?}: {other:?}", started.elapsed())),
        }
        checks.slowest = checks.slowest.max(requested_at.elapsed());
    }
    let clients = clients.join_all().await;
    let opened: usize = clients.iter().map(|(opened, _)| opened).sum();
    let took = clients.iter().map(|(_, at)| *at - started).max().unwrap_or_default();
    println!("{opened} connections from {sources} addresses, opened in {took:?}: {checks:?}");
    checks
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_connections_does_not_stop_health_checks() {
    // One address reaches its own limit; many addresses reach the limit of the server.
    for sources in [1, 200] {
        let machine = Machine::new().await;
        let serving = machine.serve(&["serve", "--no-worker", "--log-filter", "error"]).await;
        let checks = flood(&serving, sources).await;
        assert!(checks.failures.is_empty() && checks.slowest < LIMIT, "{checks:?}");
        let other =
            http().build().expect("a client").request(Method::GET, format!("{}/readyz", serving.base));
        send(other).await.assert_status(200);
        assert_eq!(serving.stop().await, Some(0));
    }
}
