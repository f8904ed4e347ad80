//! `creator-api health`: checks whether a server or worker on this machine is ready, for the health checks of containers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::outcome::{CommandError, CommandOutcome};
use super::output;
use foundation::config::{Config, flags};

/// The time limit for the response: more than a server waits for its database.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The flags of `health`.
#[derive(Debug, clap::Args)]
#[command(args = flags(&["listen", "metrics_listen"]))]
pub(super) struct HealthArgs {
    /// Check a worker, at --metrics-listen
    #[arg(long)]
    worker: bool,
}

pub(super) async fn run(config: Config, args: HealthArgs) -> Result<CommandOutcome, CommandError> {
    let address = match (args.worker, config.worker.metrics_listen) {
        (false, _) => config.server.listen,
        (true, Some(address)) => address,
        (true, None) => {
            return Err(CommandError::usage(
                "a worker without --metrics-listen serves no health checks; set it for both commands",
            ));
        }
    };
    let address = local(address);
    let response = match tokio::time::timeout(TIMEOUT, get(address, "/readyz")).await {
        Ok(response) => response.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no response within {} seconds", TIMEOUT.as_secs())),
    };
    let response = response.map_err(|problem| {
        CommandError::new(format!("http://{address}/readyz is not available: {problem}"))
    })?;
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    if status != "200" {
        let reason = body.trim_end();
        return Err(CommandError::new(format!("http://{address}/readyz returned {status}: {reason}")));
    }
    output::print(body.trim_end())?;
    Ok(CommandOutcome::Done)
}

/// Returns the address at which this machine reaches a listening socket: the loopback address if it listens on all.
pub(super) fn local(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Returns the response to a request, with its head.
async fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_all_addresses_is_reached_on_the_loopback_address() {
        let reached = |text: &str| local(text.parse().unwrap()).to_string();
        assert_eq!(reached("0.0.0.0:8080"), "127.0.0.1:8080");
        assert_eq!(reached("[::]:8080"), "[::1]:8080");
        for specific in ["127.0.0.1:80", "192.0.2.7:8080", "[2001:db8::1]:8080"] {
            assert_eq!(reached(specific), specific);
        }
    }
}
