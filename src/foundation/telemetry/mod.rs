//! Logging to stderr, metrics for Prometheus, and traces for OpenTelemetry.
//!
//! Log lines are written by a separate thread, so that requests do not wait for a slow stderr. Lines beyond
//! [`MAX_QUEUED_LINES`] are dropped and counted. [`LogGuard`] writes the remaining lines at the end of the process.

pub mod activity;
mod log_format;
pub mod metrics;
pub mod traces;

use std::io::{self, BufWriter, IsTerminal};
use std::sync::OnceLock;

use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogConfig, LogFormat};
use log_format::WithActivity;

/// Maximum number of lines that wait to be written.
const MAX_QUEUED_LINES: usize = 16_384;

/// The number of lines that were dropped.
static DROPPED_LINES: OnceLock<ErrorCounter> = OnceLock::new();

/// Starts the log of this process. Further calls do not change where and what it logs. Drop the returned guard at the
/// end of the process.
pub fn start(log: &LogConfig) -> LogGuard {
    let builder = NonBlockingBuilder::default().buffered_lines_limit(MAX_QUEUED_LINES).thread_name("log");
    let (writer, guard) = builder.finish(BufWriter::new(io::stderr()));
    let dropped_lines = writer.error_counter();
    let filter = EnvFilter::new(log.log_filter.as_str());
    let layer = fmt::layer().with_writer(writer);
    let registry = tracing_subscriber::registry().with(filter);
    let started = match log.log_format {
        LogFormat::Pretty => registry.with(layer.with_ansi(io::stderr().is_terminal())).try_init(),
        LogFormat::Json => {
            let format = fmt::format().json().flatten_event(true).with_current_span(false);
            registry.with(layer.json().event_format(WithActivity(format))).try_init()
        }
    };
    if started.is_ok() {
        let _ = DROPPED_LINES.set(dropped_lines);
    }
    log_panics();
    LogGuard { _worker: guard }
}

/// Returns the number of log lines that were dropped because stderr was too slow.
fn dropped_lines() -> u64 {
    let dropped = DROPPED_LINES.get().map_or(0, ErrorCounter::dropped_lines);
    u64::try_from(dropped).unwrap_or(u64::MAX)
}

/// Logs panics as events instead of writing them to stderr directly.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("no panic message");
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.message = message, panic.place = location, "panicked");
    }));
}

/// Writes the queued lines on drop, for at most a second.
#[derive(Debug)]
pub struct LogGuard {
    _worker: WorkerGuard,
}
