//! Logging to stderr, metrics for Prometheus, and traces for OpenTelemetry.
//!
//! Log lines are written by a separate thread, so that requests do not wait for a slow stderr. Lines beyond 8 MiB are
//! dropped and counted. [`LogGuard`] writes the remaining lines at the end of the process.

pub mod activity;
mod line_writer;
mod log_format;
pub mod metrics;
pub mod traces;

use std::io::{self, IsTerminal};
use std::sync::OnceLock;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogConfig, LogFormat};
use line_writer::LineWriter;
pub use line_writer::LogGuard;
use log_format::JsonLines;

/// The writer of this process.
static WRITER: OnceLock<LineWriter> = OnceLock::new();

/// Starts the log of this process. Further calls do not change where and what it logs. Drop the returned guard at the
/// end of the process.
pub fn start(log: &LogConfig) -> LogGuard {
    let (writer, guard) = LineWriter::start(io::stderr());
    let event_writer = writer.clone();
    let filter = EnvFilter::new(log.log_filter.as_str());
    let layer = fmt::layer().with_writer(move || event_writer.clone());
    let registry = tracing_subscriber::registry().with(filter);
    let started = match log.log_format {
        LogFormat::Pretty => registry.with(layer.with_ansi(io::stderr().is_terminal())).try_init(),
        LogFormat::Json => registry.with(layer.event_format(JsonLines)).try_init(),
    };
    if started.is_ok() {
        let _ = WRITER.set(writer);
    }
    log_panics();
    guard
}

/// Returns the number of log lines that were dropped because stderr was too slow or failed.
fn dropped_lines() -> u64 {
    WRITER.get().map_or(0, LineWriter::dropped_lines)
}

/// Waits until the lines that were logged so far are written, for at most a second. Call it before the process exits without
/// dropping the [`LogGuard`].
pub fn flush() {
    if let Some(writer) = WRITER.get() {
        writer.wait_until_written();
    }
}

/// Logs panics as events instead of writing them to stderr directly.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("no panic message");
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.message = message, panic.place = location, "panicked");
    }));
}
