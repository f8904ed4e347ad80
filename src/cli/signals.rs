//! Ctrl-C and SIGTERM: the first asks for an orderly stop, the second ends the process at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::failure::Failure;
use super::output;

/// Exit code of a process that was ended by an interrupt, as shells count it.
const INTERRUPTED: i32 = 130;

/// Begins to listen; what comes out is done once a stop is asked for.
pub(super) fn stop() -> Result<impl Future<Output = ()> + Send + 'static, Failure> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        either(&mut interrupt, &mut terminate).await;
        output::say("stopping: running requests finish; ask again to stop at once");
        tokio::spawn(async move {
            either(&mut interrupt, &mut terminate).await;
            std::process::exit(INTERRUPTED);
        });
    })
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
