//! The limit of this machine: poem answering every request with the same bytes.
//!
//! It runs as a process of its own with the runtime of the server, so that nothing differs but the work done.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use poem::http::StatusCode;
use poem::listener::{Acceptor, Listener, TcpListener};
use poem::{Response, Server, endpoint::make_sync};
use tokio::io::AsyncReadExt;

use crate::bench::Bench;
use crate::process;

/// Which answer is given.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File that holds the body
    #[arg(long)]
    body: PathBuf,
    /// Status of every answer
    #[arg(long)]
    status: u16,
}

/// Serves the body until its standard input is closed, so that it never outlives whoever started it.
///
/// # Errors
/// The body cannot be read, or there is no port.
pub async fn serve(args: &Args) -> Result<()> {
    let body = Bytes::from(std::fs::read(&args.body).context("cannot read the body")?);
    let status = StatusCode::from_u16(args.status)?;
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await?;
    let address = acceptor.local_addr().into_iter().next().and_then(|bound| bound.as_socket_addr().copied());
    println!("listening on http://{}", address.context("no address is bound")?);
    let answer = make_sync(move |_| {
        Response::builder().status(status).content_type("application/json; charset=utf-8").body(body.clone())
    });
    let closed = async {
        let mut rest = Vec::new();
        let _ = tokio::io::stdin().read_to_end(&mut rest).await;
    };
    Server::new_with_acceptor(acceptor)
        .run_with_graceful_shutdown(answer, closed, Some(Duration::ZERO))
        .await?;
    Ok(())
}

/// Starts such a server.
///
/// # Errors
/// It does not start.
pub async fn start(bench: &Bench, body: &[u8], status: u16) -> Result<process::Server> {
    let file = bench.scratch().join("fixed-body");
    std::fs::write(&file, body)?;
    let mut command = tokio::process::Command::new(std::env::current_exe()?);
    command.arg("fixed").arg("--body").arg(&file).args(["--status", &status.to_string()]);
    process::Server::start(command, &bench.scratch().join("fixed.log")).await
}
