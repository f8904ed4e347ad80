//! The log: which events are written, in which form, and that none is lost.
//!
//! Lines are gathered in memory and written to stderr by a thread of their own, so that a request never waits for the
//! terminal. [`Guard`] writes what is left when it is dropped. Never decides what is logged about a request. [`metrics`]
//! holds the figures.

pub mod metrics;

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Format, Log};

/// How long lines are gathered before they are written.
const GATHER: Duration = Duration::from_millis(20);
/// Above this, whoever logs waits until there is room: lines are never dropped.
const MOST_BYTES: usize = 4 << 20;

/// Starts the log for this process; a second call changes nothing.
pub fn start(log: &Log) -> Guard {
    let lines = Lines::default();
    let filter = EnvFilter::new(log.log_filter.as_str());
    let layer = tracing_subscriber::fmt::layer().with_writer(lines.clone());
    let registry = tracing_subscriber::registry().with(filter);
    let _ = match log.log_format {
        Format::Pretty => registry.with(layer.with_ansi(io::stderr().is_terminal())).try_init(),
        Format::Json => registry.with(layer.json().flatten_event(true).with_current_span(false)).try_init(),
    };
    let writer = lines.clone();
    let thread =
        std::thread::Builder::new().name("log".to_owned()).spawn(move || writer.write_until_closed());
    log_panics();
    Guard { lines, thread: thread.ok() }
}

/// A panic goes to the log as one event, instead of to stderr as it comes.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("a panic without a message");
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(panic.message = message, panic.place = place, "panicked");
    }));
}

/// Writes the rest of the log when it is dropped.
#[derive(Debug)]
pub struct Guard {
    lines: Lines,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.lines.gathered().closed = true;
        self.lines.inner.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The lines that wait to be written.
#[derive(Debug, Clone, Default)]
struct Lines {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    gathered: Mutex<Gathered>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Gathered {
    bytes: Vec<u8>,
    closed: bool,
}

impl Lines {
    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.inner.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, gathered: MutexGuard<'a, Gathered>) -> MutexGuard<'a, Gathered> {
        self.inner.changed.wait(gathered).unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what gathers, again and again, until the log is closed and empty.
    fn write_until_closed(&self) {
        let mut batch = Vec::new();
        loop {
            let mut gathered = self.gathered();
            while gathered.bytes.is_empty() && !gathered.closed {
                gathered = self.wait(gathered);
            }
            if !gathered.closed {
                drop(gathered);
                std::thread::sleep(GATHER);
                gathered = self.gathered();
            }
            std::mem::swap(&mut gathered.bytes, &mut batch);
            let closed = gathered.closed;
            drop(gathered);
            self.inner.changed.notify_all();
            // A closed stderr leaves nobody to tell.
            let _ = io::stderr().write_all(&batch);
            batch.clear();
            if closed {
                return;
            }
        }
    }
}

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut gathered = self.gathered();
        if gathered.closed {
            drop(gathered);
            return io::stderr().write(line);
        }
        while gathered.bytes.len() > MOST_BYTES {
            gathered = self.wait(gathered);
        }
        let first = gathered.bytes.is_empty();
        gathered.bytes.extend_from_slice(line);
        drop(gathered);
        if first {
            self.inner.changed.notify_all();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
