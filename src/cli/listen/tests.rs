//! Tests of the arguments of `listen`.

use clap::Parser;

use crate::cli::Cli;

fn is_accepted(arguments: &str) -> bool {
    Cli::try_parse_from(format!("creator-api listen {arguments}").split(' ')).is_ok()
}

#[test]
fn an_event_needs_a_target() {
    assert!(is_accepted("--api http://localhost:8080 --forward-to http://localhost:3000"));
    assert!(is_accepted(
        "--api http://localhost:8080 --route order.*=http://localhost:3000 --event order.paid --once"
    ));
    assert!(is_accepted("--example order.paid --print-only"));
    for arguments in [
        "--api http://localhost:8080",
        "--api localhost:8080 --print-only",
        "--print-only",
        "--api http://localhost:8080 --print-only --forward-to http://localhost:3000",
        "--api http://localhost:8080 --route orders.*=http://localhost:3000",
        "--api http://localhost:8080 --print-only --timeout 5s",
        "--example order.paid --print-only --once",
    ] {
        assert!(!is_accepted(arguments), "{arguments}");
    }
}
