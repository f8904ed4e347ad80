//! The benchmark programs behind `cargo xtask bench`: one binary that measures the built server.
//!
//! It runs the `creator-api` binary through its commands and its HTTP interface; only its command `events` runs the
//! worker in its own process. It compares most figures with a limit or with another figure from the same run, and
//! writes result rows as JSON. A goal that is not met is marked in its row and does not fail the run.

// A binary exports nothing. Here `pub` marks what a module provides to the other modules.
#![allow(unreachable_pub)]

mod bare;
mod bench;
mod catalog;
mod compare;
mod events;
mod fixed;
mod http;
mod keys;
mod load;
mod measurement;
mod process;
mod report;
mod scenarios;
mod site;
mod speed;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{SignalKind, signal};

/// The allocator of the server, because parts of the server run in this process.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measure a built server; run by `cargo xtask bench`
#[derive(Debug, Parser)]
struct BenchArguments {
    /// Ignored: `cargo bench` passes it to every program
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    command: Option<BenchCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum BenchCommand {
    /// Run the scenarios and write the result rows
    Run(bench::RunArgs),
    /// Serve a fixed body, to measure the limit of the machine
    Fixed(fixed::FixedBodyArgs),
    /// Commit, send and receive events
    Events(events::EventsArgs),
}

fn main() -> ExitCode {
    let arguments = BenchArguments::parse();
    let outcome = match arguments.command {
        None => {
            println!("run the benchmarks with `cargo xtask bench`");
            Ok(())
        }
        Some(command) => run(command),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: BenchCommand) -> Result<()> {
    // HTTP clients need a TLS provider. Fails only if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Runtime::new()?;
    let outcome = runtime.block_on(async {
        match command {
            // Dropping the scenarios kills every process that they started.
            BenchCommand::Run(args) => tokio::select! {
                outcome = bench::run(args) => outcome,
                reason = stop_requested() => Err(anyhow::anyhow!("stopped: {reason}")),
            },
            BenchCommand::Fixed(args) => fixed::serve(&args).await,
            BenchCommand::Events(args) => events::run(&args).await,
        }
    });
    // A load thread may still wait for a server that has ended.
    runtime.shutdown_background();
    outcome
}

/// Waits for a signal to stop, or for the end of the parent process, which holds this program's standard input open.
/// Returns the reason.
async fn stop_requested() -> &'static str {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return "signals cannot be received";
    };
    let closed = async {
        let mut rest = Vec::new();
        let _ = tokio::io::stdin().read_to_end(&mut rest).await;
    };
    tokio::select! {
        _ = interrupt.recv() => "interrupted",
        _ = terminate.recv() => "terminated",
        () = closed => "the parent process ended",
    }
}
