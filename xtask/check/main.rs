//! The program behind `cargo xtask check`. Exit codes: 0 no difference, 1 differences, 2 could not run.
//!
//! It is a test as well: `cargo test --workspace` runs it. The options of the test harness say nothing here.

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(ignore_errors = true)]
struct Arguments {
    #[command(flatten)]
    args: check::Args,
}

fn main() -> ExitCode {
    match check::run(Arguments::parse().args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
