//! `openapi-gate`: finds the changes between two OpenAPI documents that break clients.

use std::process::ExitCode;

fn main() -> ExitCode {
    breaking::run_openapi_gate()
}
