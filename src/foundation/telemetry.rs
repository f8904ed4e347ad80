//! Logging to stderr, and metrics for Prometheus.
//!
//! Log lines are buffered in memory and written by a separate thread, so that requests do not wait for the terminal.
//! When the buffer is full, threads that log wait. Lines are lost if stderr cannot be written. [`LogGuard`] writes the
//! remaining lines at the end of the process.

pub mod metrics;

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogConfig, LogFormat};

/// How long lines are buffered before they are written.
const WRITE_INTERVAL: Duration = Duration::from_millis(20);
/// The buffer size at which threads that log wait until the buffer is written.
const MAX_BUFFER_BYTES: usize = 4 << 20;

/// Starts the log of this process. Further calls do not change where and what it logs. Drop the returned guard at the
/// end of the process.
pub fn start(log: &LogConfig) -> LogGuard {
    let buffer = LogBuffer::default();
    let filter = EnvFilter::new(log.log_filter.as_str());
    let layer = tracing_subscriber::fmt::layer().with_writer(buffer.clone());
    let registry = tracing_subscriber::registry().with(filter);
    let _ = match log.log_format {
        LogFormat::Pretty => registry.with(layer.with_ansi(io::stderr().is_terminal())).try_init(),
        LogFormat::Json => {
            registry.with(layer.json().flatten_event(true).with_current_span(false)).try_init()
        }
    };
    let writer = buffer.clone();
    let thread =
        std::thread::Builder::new().name("log".to_owned()).spawn(move || writer.write_until_closed());
    log_panics();
    LogGuard { buffer, thread: thread.ok() }
}

/// Logs panics as events instead of writing them to stderr directly.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("no panic message");
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.message = message, panic.place = location, "panicked");
    }));
}

/// Writes the buffered lines on drop.
#[derive(Debug)]
pub struct LogGuard {
    buffer: LogBuffer,
    thread: Option<JoinHandle<()>>,
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.buffer.pending().closed = true;
        self.buffer.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The buffer of log lines.
#[derive(Debug, Clone, Default)]
struct LogBuffer {
    shared: Arc<SharedBuffer>,
}

#[derive(Debug, Default)]
struct SharedBuffer {
    pending: Mutex<PendingLines>,
    /// Notified when lines are added to an empty buffer, when the writer empties the buffer, and when the log is
    /// closed.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct PendingLines {
    bytes: Vec<u8>,
    /// Whether the [`LogGuard`] was dropped. Later lines are written to stderr directly.
    closed: bool,
}

impl LogBuffer {
    fn pending(&self) -> MutexGuard<'_, PendingLines> {
        self.shared.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, pending: MutexGuard<'a, PendingLines>) -> MutexGuard<'a, PendingLines> {
        self.shared.changed.wait(pending).unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes buffered lines until the log is closed and the buffer is empty.
    fn write_until_closed(&self) {
        let mut batch = Vec::new();
        loop {
            let mut pending = self.pending();
            while pending.bytes.is_empty() && !pending.closed {
                pending = self.wait(pending);
            }
            if !pending.closed {
                drop(pending);
                std::thread::sleep(WRITE_INTERVAL);
                pending = self.pending();
            }
            std::mem::swap(&mut pending.bytes, &mut batch);
            let closed = pending.closed;
            drop(pending);
            self.shared.changed.notify_all();
            // If stderr cannot be written, there is no other place to report the error.
            let _ = io::stderr().write_all(&batch);
            batch.clear();
            if closed {
                return;
            }
        }
    }
}

impl Write for LogBuffer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut pending = self.pending();
        while pending.bytes.len() > MAX_BUFFER_BYTES && !pending.closed {
            pending = self.wait(pending);
        }
        if pending.closed {
            drop(pending);
            return io::stderr().write(line);
        }
        let was_empty = pending.bytes.is_empty();
        pending.bytes.extend_from_slice(line);
        drop(pending);
        if was_empty {
            self.shared.changed.notify_all();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogBuffer {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
