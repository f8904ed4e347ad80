//! A receiver of webhooks that does with each connection what the story says.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Listens on a port of its own until it is dropped.
pub struct Receiver {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Receiver {
    /// Does this with each connection.
    pub async fn start<F, R>(each: F) -> Self
    where
        F: Fn(TcpStream) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            // Whoever is being served when the receiver goes, goes with it.
            let mut serving = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                serving.spawn(each(stream));
            }
        });
        Self { address, connections, task }
    }

    /// Answers each request with these bytes, and leaves the connection open.
    pub async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<[u8]> = answer.into().into();
        Self::start(move |mut stream| {
            let answer = Arc::clone(&answer);
            async move {
                while !request(&mut stream).await.is_empty() && stream.write_all(&answer).await.is_ok() {}
            }
        })
        .await
    }

    /// The connections that were made so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// A URL of this receiver, by this name.
    pub fn url(&self, scheme: &str, host: &str) -> reqwest::Url {
        format!("{scheme}://{host}:{}/hook", self.address.port()).parse().expect("a URL")
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One request as it came, head and body; empty when the other side has closed.
pub async fn request(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length =
                head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            if bytes.len() >= end + 4 + length.unwrap_or(0_usize) {
                return bytes;
            }
        }
        match stream.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return Vec::new(),
            Ok(_) => {}
        }
    }
}
