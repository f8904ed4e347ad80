//! The `creator-api` command.

use std::process::ExitCode;

/// Uses mimalloc, since each list response allocates and frees thousands of small strings, on many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    creator_api::cli::run()
}
