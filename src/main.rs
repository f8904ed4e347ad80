//! The `creator-api` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    creator_api::cli::run()
}
