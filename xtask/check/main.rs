//! The program behind `cargo xtask check`. Exit codes: 0 no difference, 1 differences, 2 could not run.

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
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
