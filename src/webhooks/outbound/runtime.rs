//! The runtime in which requests to endpoints are sent, with threads of its own.
//!
//! Whatever an endpoint does, API requests and the delivery loop do not wait for its threads. Only connections to
//! endpoints belong to this runtime: the delivery loop claims and settles in the main runtime, since a database
//! connection is served by the runtime that opened it, and the pools are shared with the API.

use std::io;
use std::panic::resume_unwind;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::failure::AttemptFailure;

/// The runtime of a [`WebhookClient`](super::WebhookClient). Dropping it cancels its tasks without waiting for them.
pub(super) struct SendRuntime {
    /// `None` while it is being dropped.
    runtime: Option<Runtime>,
}

impl SendRuntime {
    /// Starts one thread for each core.
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().thread_name("webhooks").enable_all().build()?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// Runs an exchange with an endpoint. Cancels it if the returned future is dropped.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        exchange: impl Future<Output = Result<T, AttemptFailure>> + Send + 'static,
    ) -> Result<T, AttemptFailure> {
        let mut task = JoinSet::new();
        let Some(runtime) = &self.runtime else { return Err(AttemptFailure::Exhausted) };
        task.spawn_on(exchange, runtime.handle());
        match task.join_next().await {
            Some(Ok(result)) => result,
            Some(Err(error)) if error.is_panic() => resume_unwind(error.into_panic()),
            // The runtime was shut down.
            Some(Err(_)) | None => Err(AttemptFailure::Exhausted),
        }
    }
}

impl Drop for SendRuntime {
    fn drop(&mut self) {
        // A runtime that is dropped inside of another one would panic.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
