//! Clients that open connections, send requests and never read: the server goes on answering health checks.
//!
//! A short version runs with all other tests. By hand, with the numbers of a real attack:
//! `TEST_FLOOD_SOCKETS=8300 TEST_FLOOD_SECONDS=45 cargo test --test it connections_flood -- --nocapture`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::machine::{Machine, Serving};
use crate::support::{http, send};

/// Connections and seconds of the short version.
const SOCKETS: usize = 600;
const SECONDS: usize = 2;
/// Clients that open connections at the same time.
const CLIENTS: usize = 16;
/// What a health check may take.
const LIMIT: Duration = Duration::from_secs(1);

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Opens a connection from this address with a small receive buffer, and sends requests until no more are taken.
async fn greedy(from: Ipv4Addr, to: SocketAddr) -> Option<TcpStream> {
    let socket = TcpSocket::new_v4().ok()?;
    socket.set_recv_buffer_size(2048).ok()?;
    socket.bind(SocketAddr::new(IpAddr::V4(from), 0)).ok()?;
    let mut stream = socket.connect(to).await.ok()?;
    let requests = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: api\r\n\r\n".repeat(50);
    let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(requests.as_bytes())).await;
    Some(stream)
}

/// The health checks during a flood.
#[derive(Debug, Default)]
struct Checks {
    answered: usize,
    slowest: Duration,
    failures: Vec<String>,
}

/// Floods the server from these addresses for the given time, and sends health checks meanwhile.
async fn flood(serving: &Serving, sources: usize) -> Checks {
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
                open.extend(greedy(Ipv4Addr::new(127, 0, 0, host), to).await);
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
        let asked = Instant::now();
        let request = health.request(Method::GET, format!("{}/healthz", serving.base));
        match request.header("connection", "close").timeout(Duration::from_secs(5)).send().await {
            Ok(response) if response.status() == StatusCode::OK => checks.answered += 1,
            other => checks.failures.push(format!("{:?}: {other:?}", started.elapsed())),
        }
        checks.slowest = checks.slowest.max(asked.elapsed());
    }
    let clients = clients.join_all().await;
    let opened: usize = clients.iter().map(|(opened, _)| opened).sum();
    let took = clients.iter().map(|(_, at)| *at - started).max().unwrap_or_default();
    println!("{opened} connections from {sources} addresses, opened in {took:?}: {checks:?}");
    checks
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_connections_does_not_stop_health_checks() {
    // One address reaches its own limit; many reach the limit of the server.
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
