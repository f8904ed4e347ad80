//! The engines of a fleet: PostgreSQL, haproxy, pgbouncer, Redis or Valkey, and Prometheus.

pub mod haproxy;
pub mod pgbouncer;
pub mod postgres;
pub mod prometheus;
pub mod redis;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::process::RunningProcess;

/// The time limit for the start of an engine.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until an engine accepts connections.
///
/// # Errors
/// Returns an error with the end of its log when it ends or takes too long.
async fn wait_until_listening(process: &RunningProcess, port: u16) -> Result<()> {
    let start = Instant::now();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    while tokio::net::TcpStream::connect(address).await.is_err() {
        process.check()?;
        if start.elapsed() > START_TIMEOUT {
            bail!("nothing listens on port {port} after {} s", START_TIMEOUT.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Creates a folder that belongs to the user of the engines.
fn create_folder(path: &Path, user: Option<(u32, u32)>) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))?;
    if let Some((user, group)) = user {
        std::os::unix::fs::chown(path, Some(user), Some(group))?;
    }
    Ok(())
}
