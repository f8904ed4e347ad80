//! A TCP relay that delays the responses of a server.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// A relay that listens until it is dropped.
pub struct DelayingRelay {
    address: String,
    /// How long each response waits; `None` for as long as this does not change.
    delay: watch::Sender<Option<Duration>>,
    task: JoinHandle<()>,
}

impl DelayingRelay {
    /// Starts a relay to a server that delays no responses.
    pub async fn start(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (delay, delays) = watch::channel(Some(Duration::ZERO));
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.expect("the server accepts");
                connections.spawn(forward(client, server, delays.clone()));
            }
        });
        Self { address, delay, task }
    }

    /// Returns the host and the port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Delays the responses from now on.
    pub fn delay(&self, delay: Duration) {
        self.delay.send_replace(Some(delay));
    }

    /// Holds back all responses until the next call of [`delay`](Self::delay).
    pub fn stop(&self) {
        self.delay.send_replace(None);
    }
}

impl Drop for DelayingRelay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn forward(client: TcpStream, server: TcpStream, mut delays: watch::Receiver<Option<Duration>>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let responses = async {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = from_server.read(&mut buffer).await {
            let Ok(delay) = delays.wait_for(Option::is_some).await.map(|delay| *delay) else { return };
            tokio::time::sleep(delay.unwrap_or_default()).await;
            if to_client.write_all(&buffer[..length]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
        () = responses => {}
    }
}
