//! A TCP relay whose connections can stop silently, as when a firewall drops their packets.

use std::net::Ipv4Addr;

use anyhow::{Context as _, Result};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// A relay that listens until it is dropped.
pub struct Relay {
    pub port: u16,
    freezes: watch::Sender<usize>,
    task: JoinHandle<()>,
}

impl Relay {
    /// Starts a relay to a port of this machine.
    ///
    /// # Errors
    /// Returns an error when no port is free.
    pub async fn start(target: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("no port is free")?;
        let port = listener.local_addr()?.port();
        let (freezes, _) = watch::channel(0);
        let shared = freezes.clone();
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                connections.spawn(forward(client, target, shared.subscribe()));
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self { port, freezes, task })
    }

    /// Stops all connections that are open now. Both sides stay open and carry no more bytes. New connections work.
    pub fn freeze(&self) {
        self.freezes.send_modify(|count| *count += 1);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Forwards in both directions until a side closes the connection or the relay is frozen.
async fn forward(mut client: TcpStream, target: u16, mut freezes: watch::Receiver<usize>) {
    let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, target)).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut server) => return,
        _ = freezes.changed() => {}
    }
    // Keeps both sides open.
    std::future::pending::<()>().await;
}
