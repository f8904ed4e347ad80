//! The project tasks.

use std::process::ExitCode;

use clap::Parser;

mod test;
mod tidy;

/// The project tasks.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Everything that CI runs
    Test(test::Args),
    /// The house rules that a compiler does not know
    Tidy,
}

fn main() -> ExitCode {
    let result = match Task::parse() {
        Task::Test(args) => test::run(&args),
        Task::Tidy => tidy::run(),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
