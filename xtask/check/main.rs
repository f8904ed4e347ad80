//! The program behind `cargo xtask check`. Exit codes: 0 no differences, 1 differences, 2 the check could not run.
//!
//! It is also a test target: `cargo test --workspace` runs it. Invalid options, such as those of the test harness, are
//! ignored.

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(ignore_errors = true)]
struct CommandLine {
    #[command(flatten)]
    args: check::CheckArgs,
}

fn main() -> ExitCode {
    match check::run(CommandLine::parse().args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
