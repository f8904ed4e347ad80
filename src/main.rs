//! The `creator-api` command.

use std::process::ExitCode;

/// A page of a list is some thousand small texts, made and dropped on many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    creator_api::cli::run()
}
