//! A TCP server that receives webhooks. The test provides the function that handles each connection.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Listens on a free port of 127.0.0.1 until it is dropped.
pub struct Receiver {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Receiver {
    /// Starts a receiver that calls `handle` for each connection.
    pub async fn start<F, R>(handle: F) -> Self
    where
        F: Fn(TcpStream) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let connections = Arc::new(AtomicUsize::new(0));
        let connection_count = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            // Dropped together with the receiver, which closes all connections.
            let mut handlers = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connection_count.fetch_add(1, Ordering::SeqCst);
                handlers.spawn(handle(stream));
            }
        });
        Self { address, connections, task }
    }

    /// Starts a receiver that responds to each request with these bytes and keeps the connection open.
    pub async fn responding_with(response: impl Into<Vec<u8>>) -> Self {
        let response: Arc<[u8]> = response.into().into();
        Self::start(move |mut stream| {
            let response = Arc::clone(&response);
            async move {
                while !read_request(&mut stream).await.is_empty() && stream.write_all(&response).await.is_ok()
                {
                }
            }
        })
        .await
    }

    /// Returns the number of connections accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns a URL of this receiver with this scheme and host.
    pub fn url(&self, scheme: &str, host: &str) -> reqwest::Url {
        format!("{scheme}://{host}:{}/hook", self.address.port()).parse().expect("a URL")
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads one request, with head and body. Returns an empty vector if the connection ends before the request does.
pub async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        if let Some(head_length) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..head_length]).to_lowercase();
            let body_length =
                head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            if bytes.len() >= head_length + 4 + body_length.unwrap_or(0_usize) {
                return bytes;
            }
        }
        match stream.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return Vec::new(),
            Ok(_) => {}
        }
    }
}
