//! Ctrl-C and SIGTERM: the first starts a graceful shutdown, the second exits immediately.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::outcome::{CommandError, INTERRUPTED};
use super::output;

/// Resolves when the process should stop. Clones resolve together.
pub(super) type StopSignal = Shared<BoxFuture<'static, ()>>;

/// Installs the signal handlers. `waiting` is the part of the printed message that states what the shutdown waits for,
/// such as "waiting for requests in flight".
pub(super) fn listen(waiting: &'static str) -> Result<StopSignal, CommandError> {
    listen_with(waiting, || {})
}

/// Installs the signal handlers like [`listen`]. Calls `at_exit` before the second signal ends the process.
pub(super) fn listen_with(
    waiting: &'static str,
    at_exit: impl FnOnce() + Send + 'static,
) -> Result<StopSignal, CommandError> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stopped = async move {
        next_signal(&mut interrupt, &mut terminate).await;
        output::eprint(format_args!("stopping: {waiting}; interrupt again to exit immediately"));
        tokio::spawn(async move {
            next_signal(&mut interrupt, &mut terminate).await;
            foundation::telemetry::flush();
            at_exit();
            std::process::exit(INTERRUPTED.into());
        });
    };
    Ok(stopped.boxed().shared())
}

/// Returns a stop signal that resolves `delay` after `stop`.
pub(super) fn delayed(stop: &StopSignal, delay: Duration) -> StopSignal {
    let stop = stop.clone();
    let delayed = async move {
        stop.await;
        tokio::time::sleep(delay).await;
    };
    delayed.boxed().shared()
}

async fn next_signal(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
