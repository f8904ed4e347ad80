//! The load programs behind `cargo xtask bench`: one program that measures the built server from outside.
//!
//! It drives the `creator-api` binary through its commands and its HTTP interface, each figure beside its limit in the same
//! run, and hands rows over as JSON. It never fails on a figure: a goal that is not met is a row that says so.

// A binary exports nothing: `pub` says here what a module offers to its neighbours.
#![allow(unreachable_pub)]

mod bare;
mod bench;
mod catalogue;
mod compare;
mod events;
mod fixed;
mod http;
mod keys;
mod load;
mod measured;
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

/// As the server has it, whose parts run here too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The load programs; `cargo xtask bench` builds what they need and calls them.
#[derive(Debug, Parser)]
struct Arguments {
    /// What `cargo bench` passes to every program
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Run the scenarios and write their rows
    Run(bench::Args),
    /// Serve one fixed body, the limit that others stand beside
    Fixed(fixed::Args),
    /// Commit events, send them and receive them
    Events(events::Args),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        None => {
            println!("these programs measure a built server; run them with `cargo xtask bench`");
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

fn run(command: Command) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let outcome = runtime.block_on(async {
        match command {
            // Dropping the scenarios half-way kills every process they started.
            Command::Run(args) => tokio::select! {
                outcome = bench::run(args) => outcome,
                reason = told_to_stop() => Err(anyhow::anyhow!("stopped: {reason}")),
            },
            Command::Fixed(args) => fixed::serve(&args).await,
            Command::Events(args) => events::run(&args).await,
        }
    });
    // A load thread may still wait for a server that is gone.
    runtime.shutdown_background();
    outcome
}

/// Waits for an interrupt, or for the end of whoever started this program, which holds its standard input open.
async fn told_to_stop() -> &'static str {
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
        _ = terminate.recv() => "asked to end",
        () = closed => "whoever started this is gone",
    }
}
