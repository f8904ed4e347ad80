//! Logging to stderr, metrics for Prometheus, and traces for OpenTelemetry.
//!
//! Log lines are buffered in memory and written by a separate thread, so that requests do not wait for the terminal.
//! When the buffer is full, threads that log wait. Lines are lost if stderr cannot be written. [`LogGuard`] writes the
//! remaining lines at the end of the process.

pub mod activity;
mod log_format;
pub mod metrics;
pub mod traces;

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogConfig, LogFormat};
use log_format::{LogLines, RepeatedWarnings};

/// How long lines are buffered before they are written.
const WRITE_INTERVAL: Duration = Duration::from_millis(20);
/// How often the log thread checks whether repeated warnings are to be summarized, if there are any.
const SUMMARY_INTERVAL: Duration = Duration::from_secs(1);
/// The buffer size at which threads that log wait until the buffer is written.
const MAX_BUFFER_BYTES: usize = 4 << 20;

/// Starts the log of this process. Further calls do not change where and what it logs. Drop the returned guard at the
/// end of the process.
pub fn start(log: &LogConfig) -> LogGuard {
    let buffer = LogBuffer::default();
    let filter = EnvFilter::new(log.log_filter.as_str());
    let layer = tracing_subscriber::fmt::layer().with_writer(buffer.clone());
    let registry = tracing_subscriber::registry().with(filter);
    let repeated = Arc::new(RepeatedWarnings::new(log.log_format));
    let _ = match log.log_format {
        LogFormat::Pretty => {
            let is_terminal = io::stderr().is_terminal();
            let format = LogLines::new(fmt::format().with_ansi(is_terminal), Arc::clone(&repeated));
            registry.with(layer.with_ansi(is_terminal).event_format(format)).try_init()
        }
        LogFormat::Json => {
            let format = fmt::format().json().flatten_event(true).with_current_span(false);
            let format = LogLines::new(format, Arc::clone(&repeated));
            registry.with(layer.json().event_format(format)).try_init()
        }
    };
    let writer = buffer.clone();
    let thread = std::thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || writer.write_until_closed(&repeated));
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

    /// Waits until lines are added or the log is closed, at most for `timeout`.
    fn wait_for_lines<'a>(
        &self,
        mut pending: MutexGuard<'a, PendingLines>,
        timeout: Duration,
    ) -> MutexGuard<'a, PendingLines> {
        if pending.bytes.is_empty() && !pending.closed {
            let waited = self.shared.changed.wait_timeout(pending, timeout);
            pending = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        pending
    }

    fn wait<'a>(&self, pending: MutexGuard<'a, PendingLines>) -> MutexGuard<'a, PendingLines> {
        self.shared.changed.wait(pending).unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes buffered lines, and summaries of repeated warnings, until the log is closed and the buffer is empty.
    fn write_until_closed(&self, repeated: &RepeatedWarnings) {
        let mut batch = Vec::new();
        loop {
            let mut pending = self.pending();
            while pending.bytes.is_empty() && !pending.closed && !repeated.is_suppressing() {
                pending = self.wait(pending);
            }
            pending = self.wait_for_lines(pending, SUMMARY_INTERVAL);
            if !pending.closed {
                drop(pending);
                std::thread::sleep(WRITE_INTERVAL);
                pending = self.pending();
            }
            std::mem::swap(&mut pending.bytes, &mut batch);
            let closed = pending.closed;
            drop(pending);
            self.shared.changed.notify_all();
            if repeated.is_suppressing() {
                batch.extend_from_slice(repeated.take_summaries(closed, Instant::now()).as_bytes());
            }
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
