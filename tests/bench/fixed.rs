//! The upper limit of this machine: a poem server that responds to every request with the same bytes.
//!
//! It runs as a separate process with the server's runtime, so that only the work differs.

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

/// The arguments of `fixed`.
#[derive(Debug, clap::Args)]
pub struct FixedBodyArgs {
    /// File with the body
    #[arg(long)]
    body: PathBuf,
    /// Status of every response
    #[arg(long)]
    status: u16,
}

/// Serves the body until standard input is closed, so that it never outlives its parent process.
///
/// # Errors
/// Returns an error when the body cannot be read or no port is free.
pub async fn serve(args: &FixedBodyArgs) -> Result<()> {
    let body = Bytes::from(std::fs::read(&args.body).context("cannot read the body")?);
    let status = StatusCode::from_u16(args.status)?;
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await?;
    let address = acceptor.local_addr().into_iter().next().and_then(|bound| bound.as_socket_addr().copied());
    println!("listening on http://{}", address.context("no address is bound")?);
    let endpoint = make_sync(move |_| {
        Response::builder().status(status).content_type("application/json; charset=utf-8").body(body.clone())
    });
    let closed = async {
        let mut rest = Vec::new();
        let _ = tokio::io::stdin().read_to_end(&mut rest).await;
    };
    Server::new_with_acceptor(acceptor)
        .run_with_graceful_shutdown(endpoint, closed, Some(Duration::ZERO))
        .await?;
    Ok(())
}

/// Starts a process that serves the body.
///
/// # Errors
/// Returns an error when it does not start.
pub async fn start(bench: &Bench, body: &[u8], status: u16) -> Result<process::BenchServer> {
    let file = bench.scratch().join("fixed-body");
    std::fs::write(&file, body)?;
    let mut command = tokio::process::Command::new(std::env::current_exe()?);
    command.arg("fixed").arg("--body").arg(&file).args(["--status", &status.to_string()]);
    process::BenchServer::start(command, &bench.scratch().join("fixed.log")).await
}
