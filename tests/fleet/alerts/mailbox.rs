//! An SMTP server that accepts all mail and can be stopped.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// A running or stopped server. It keeps its port when it is restarted.
pub struct Mailbox {
    address: SocketAddr,
    task: Option<JoinHandle<()>>,
}

impl Mailbox {
    /// Starts a server.
    ///
    /// # Errors
    /// Returns an error when no port is free.
    pub async fn start_new() -> Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, crate::ports::free_port()?));
        let mut mailbox = Self { address, task: None };
        mailbox.start().await?;
        Ok(mailbox)
    }

    /// Starts a stopped server.
    ///
    /// # Errors
    /// Returns an error when the port is not free.
    pub async fn start(&mut self) -> Result<()> {
        let listener = TcpListener::bind(self.address).await.context("the port of the mailbox")?;
        self.task = Some(tokio::spawn(async move {
            let mut sessions = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                sessions.spawn(tokio::time::timeout(Duration::from_secs(30), serve(stream)));
            }
        }));
        Ok(())
    }

    /// Stops the server and ends all sessions.
    pub async fn stop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            let _ = task.await;
        }
    }

    /// Returns the URL for `--smtp-url`.
    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Accepts mail on one connection.
async fn serve(stream: TcpStream) -> Result<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 mailbox.test ESMTP\r\n").await?;
    let (mut line, mut is_content) = (String::new(), false);
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let command = line.trim_end();
        let reply = match (is_content, command) {
            (true, ".") => {
                is_content = false;
                "250 accepted\r\n"
            }
            (true, _) => continue,
            (false, "DATA") => {
                is_content = true;
                "354 start mail input\r\n"
            }
            (false, "QUIT") => "221 bye\r\n",
            _ => "250 ok\r\n",
        };
        stream.write_all(reply.as_bytes()).await?;
    }
}
