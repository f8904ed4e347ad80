//! Clients that open connections, send requests and never read: the server goes on answering health checks.
//!
//! A short version runs with all other tests. By hand, with the numbers of a real attack:
//! `TEST_FLOOD_SOCKETS=8300 TEST_FLOOD_SECONDS=45 cargo test --test it connections_flood -- --nocapture`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use reqwest::Method;
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

/// Floods the server from these addresses for the given time, and asks for its health meanwhile; the slowest answer.
async fn flood(serving: &Serving, sources: usize) -> Duration {
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
            tokio::time::sleep_until(end.into()).await;
            open.len()
        });
    }
    let (mut slowest, mut checks) = (Duration::ZERO, 0);
    let health = http().build().expect("a client");
    let mut pause = tokio::time::interval(Duration::from_millis(20));
    while Instant::now() < end {
        pause.tick().await;
        let asked = Instant::now();
        let request = health.request(Method::GET, format!("{}/healthz", serving.base));
        send(request.header("connection", "close").timeout(Duration::from_secs(5))).await.assert_status(200);
        slowest = slowest.max(asked.elapsed());
        checks += 1;
    }
    let opened: usize = clients.join_all().await.into_iter().sum();
    println!(
        "{opened} connections from {sources} addresses; {checks} health checks, the slowest in {slowest:?}"
    );
    slowest
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_connections_does_not_stop_health_checks() {
    // One address reaches its own limit; many reach the limit of the server.
    for sources in [1, 200] {
        let machine = Machine::new().await;
        let serving = machine.serve(&["serve", "--no-worker", "--log-filter", "error"]).await;
        assert!(flood(&serving, sources).await < LIMIT);
        let other =
            http().build().expect("a client").request(Method::GET, format!("{}/readyz", serving.base));
        send(other).await.assert_status(200);
        assert_eq!(serving.stop().await, Some(0));
    }
}
