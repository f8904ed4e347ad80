//! The `creator-api` command.
fn main() {}
