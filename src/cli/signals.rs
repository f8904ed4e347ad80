//! Ctrl-C and SIGTERM: the first asks for an orderly stop, the second ends the process at once.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::failure::Failure;
use super::output;

/// Exit code of a process that was ended by an interrupt, as shells count it.
const INTERRUPTED: i32 = 130;

/// Resolves once a stop is asked for; clones resolve together.
pub(super) type Stop = Shared<BoxFuture<'static, ()>>;

/// Begins to listen. `ends` says what still ends after a stop is asked for: "running requests finish".
pub(super) fn stop(ends: &'static str) -> Result<Stop, Failure> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let asked = async move {
        either(&mut interrupt, &mut terminate).await;
        output::say(format_args!("stopping: {ends}; ask again to stop at once"));
        tokio::spawn(async move {
            either(&mut interrupt, &mut terminate).await;
            std::process::exit(INTERRUPTED);
        });
    };
    Ok(asked.boxed().shared())
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
