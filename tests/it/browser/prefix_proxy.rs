//! A proxy that removes a prefix from the paths of requests, as proxies in front of a server with a public URL do.

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// A running proxy. It is stopped on drop.
pub struct PrefixProxy {
    listener: Option<TcpListener>,
    task: Option<AbortHandle>,
    /// The URL with the prefix, without a slash at the end.
    pub url: String,
}

impl PrefixProxy {
    /// Reserves the address of a proxy for this prefix, such as `/base`.
    pub async fn bind(prefix: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}{prefix}", listener.local_addr().expect("an address"));
        Self { listener: Some(listener), task: None, url }
    }

    /// Starts to forward requests to this server. Other paths than those with the prefix are not found.
    pub fn forward_to(&mut self, server: &str) {
        let listener = self.listener.take().expect("the proxy starts once");
        let server = server.trim_start_matches("http://").to_owned();
        let prefix = self.url.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, prefix) = (server.clone(), prefix.clone());
                tokio::spawn(async move { forward(client, &server, &prefix).await });
            }
        });
        self.task = Some(task.abort_handle());
    }
}

impl Drop for PrefixProxy {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Forwards one request, and closes the connection after the response.
async fn forward(client: TcpStream, server: &str, prefix: &str) -> std::io::Result<()> {
    let mut client = BufReader::new(client);
    let mut line = String::new();
    client.read_line(&mut line).await?;
    let Some((method, path)) =
        line.split_once(' ').and_then(|(method, rest)| Some((method, rest.strip_prefix(prefix)?)))
    else {
        return client
            .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .await;
    };
    let mut upstream = TcpStream::connect(server).await?;
    upstream.write_all(format!("{method} {path}Connection: close\r\n").as_bytes()).await?;
    loop {
        let mut header = String::new();
        client.read_line(&mut header).await?;
        if !header.to_ascii_lowercase().starts_with("connection:") {
            upstream.write_all(header.as_bytes()).await?;
        }
        if header.trim().is_empty() {
            break;
        }
    }
    let _ = tokio::io::copy_bidirectional(&mut client, &mut upstream).await;
    Ok(())
}
