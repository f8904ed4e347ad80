//! The fleet program behind `cargo xtask fleet`: starts PostgreSQL, proxies, servers and workers, stops parts of them under
//! load, and checks what a fleet guarantees.
//!
//! Each scenario starts its own fleet in a temporary folder. Every process ends with this program, even if it is killed.

// A binary exports nothing. Here `pub` marks what a module provides to the other modules.
#![allow(unreachable_pub)]

mod alerts;
mod client;
mod commands;
#[path = "../it/support/delaying_relay.rs"]
mod delaying_relay;
mod engines;
mod fleet;
mod load;
#[path = "../bench/measurement.rs"]
#[allow(dead_code, reason = "the benchmarks use all of it")]
mod measurement;
mod ports;
mod process;
mod programs;
mod readers;
mod receiver;
mod reconcile;
mod relay;
mod report;
mod run;
mod scenarios;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{SignalKind, signal};

/// Run the scenarios of a fleet; run by `cargo xtask fleet`
#[derive(Debug, Parser)]
struct FleetArguments {
    /// Ignored: `cargo bench` passes it to every program
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    command: Option<FleetCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum FleetCommand {
    /// Run the scenarios and write the results
    Run(run::RunArgs),
}

fn main() -> ExitCode {
    let Some(FleetCommand::Run(args)) = FleetArguments::parse().command else {
        println!("run the scenarios with `cargo xtask fleet`");
        return ExitCode::SUCCESS;
    };
    match run_scenarios(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run_scenarios(args: run::RunArgs) -> Result<()> {
    // Fails only if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Runtime::new()?;
    let outcome = runtime.block_on(async {
        // Dropping the scenarios stops every process that they started.
        tokio::select! {
            outcome = run::run(args) => outcome,
            reason = stop_requested() => Err(anyhow::anyhow!("stopped: {reason}")),
        }
    });
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
