//! The lines of the log: adds the ids of the current activity, and summarizes repeated warnings.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::activity::Activity;
use crate::config::LogFormat;

/// How often the same warning is logged in each [`WINDOW`]. Further ones are counted.
const MAX_REPEATS: usize = 5;
/// How long warnings are counted before a line reports their number.
const WINDOW: Duration = Duration::from_secs(60);

/// Formats lines as `inner` does. Adds the ids of the current activity to lines in JSON that do not contain them, and
/// leaves out [`RepeatedWarnings`].
pub(super) struct LogLines<F> {
    inner: F,
    repeated: Arc<RepeatedWarnings>,
}

impl<F> LogLines<F> {
    pub(super) fn new(inner: F, repeated: Arc<RepeatedWarnings>) -> Self {
        Self { inner, repeated }
    }
}

impl<S, N, F> FormatEvent<S, N> for LogLines<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let format = self.repeated.format;
        let activity = if format == LogFormat::Json { Activity::current() } else { None };
        let is_warning = *event.metadata().level() == Level::WARN;
        if activity.is_none() && !is_warning {
            return self.inner.format_event(context, writer, event);
        }
        let mut line = String::new();
        self.inner.format_event(context, Writer::new(&mut line), event)?;
        if let Some(activity) = activity {
            add_ids(&mut line, &activity);
        }
        if is_warning && self.repeated.suppress(event.metadata().callsite(), &line, Instant::now()) {
            return Ok(());
        }
        writer.write_str(&line)
    }
}

/// Adds the ids to a line in JSON, unless it already contains them.
fn add_ids(line: &mut String, activity: &Activity) {
    if let Some(request_id) = activity.request_id()
        && !line.contains("\"request.id\":")
    {
        // Request ids need no escaping.
        add_field(line, LogFormat::Json, "request.id", format_args!("\"{request_id}\""));
    }
    if let Some(span) = activity.span() {
        add_field(line, LogFormat::Json, "trace_id", format_args!("\"{}\"", span.trace_id()));
        add_field(line, LogFormat::Json, "span_id", format_args!("\"{}\"", span.span_id()));
    }
}

/// Adds a field to the end of a line. `value` is its JSON text.
fn add_field(line: &mut String, format: LogFormat, name: &str, value: fmt::Arguments<'_>) {
    line.truncate(line.trim_end().len());
    // Writing to a string does not fail.
    let _ = match format {
        LogFormat::Json => {
            line.truncate(line.strip_suffix('}').map_or(line.len(), str::len));
            writeln!(line, ",\"{name}\":{value}}}")
        }
        LogFormat::Pretty => writeln!(line, " {name}={value}"),
    };
}

/// Counts warnings that are logged repeatedly by the same line of code.
///
/// The first [`MAX_REPEATS`] of each minute are logged. At the end of the minute, the last one that was left out is logged
/// with the field `repeated`, the number of those that were left out.
#[derive(Debug)]
pub(super) struct RepeatedWarnings {
    format: LogFormat,
    /// Whether further repetitions of a warning are left out in its minute.
    is_suppressing: AtomicBool,
    windows: Mutex<HashMap<Identifier, WarningWindow>>,
}

/// A minute of one warning.
#[derive(Debug)]
struct WarningWindow {
    started: Instant,
    logged: usize,
    suppressed: u64,
    /// The last line that was left out.
    line: String,
}

impl WarningWindow {
    /// Returns the line that reports the warnings that were left out, if there are any.
    fn summary(&mut self, format: LogFormat) -> Option<String> {
        let repeated = std::mem::take(&mut self.suppressed);
        let mut line = std::mem::take(&mut self.line);
        (repeated > 0).then(|| {
            add_field(&mut line, format, "repeated", format_args!("{repeated}"));
            line
        })
    }
}

impl RepeatedWarnings {
    pub(super) fn new(format: LogFormat) -> Self {
        Self { format, is_suppressing: AtomicBool::new(false), windows: Mutex::default() }
    }

    /// Returns whether a warning is left out, and then counts it.
    fn suppress(&self, callsite: Identifier, line: &str, now: Instant) -> bool {
        let mut windows = self.windows();
        let new_window = || WarningWindow { started: now, logged: 0, suppressed: 0, line: String::new() };
        let window = windows.entry(callsite).or_insert_with(new_window);
        if window.suppressed == 0 && now.duration_since(window.started) >= WINDOW {
            *window = new_window();
        }
        if window.logged < MAX_REPEATS {
            window.logged += 1;
            if window.logged == MAX_REPEATS {
                self.is_suppressing.store(true, Ordering::Relaxed);
            }
            return false;
        }
        window.suppressed += 1;
        line.clone_into(&mut window.line);
        true
    }

    /// Returns whether [`take_summaries`](Self::take_summaries) must be called again. Becomes true before the line is
    /// written after which others are left out.
    pub(super) fn is_suppressing(&self) -> bool {
        self.is_suppressing.load(Ordering::Relaxed)
    }

    /// Returns the lines that report the warnings that were left out: those whose minute is over, or all of them.
    pub(super) fn take_summaries(&self, all: bool, now: Instant) -> String {
        let mut windows = self.windows();
        let is_over = |window: &WarningWindow| now.duration_since(window.started) >= WINDOW;
        let over = windows.values_mut().filter(|window| all || is_over(window));
        let lines = over.filter_map(|window| window.summary(self.format)).collect();
        windows.retain(|_, window| !is_over(window));
        let is_suppressing = windows.values().any(|window| window.logged == MAX_REPEATS);
        self.is_suppressing.store(is_suppressing, Ordering::Relaxed);
        lines
    }

    fn windows(&self) -> MutexGuard<'_, HashMap<Identifier, WarningWindow>> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::fmt::MakeWriter;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::telemetry::LogBuffer;

    /// Returns the lines that `log` writes in JSON, and the summaries of repeated warnings at its end.
    fn logged(log: impl FnOnce()) -> (Vec<serde_json::Value>, Vec<serde_json::Value>) {
        let parse = |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (buffer, repeated) = (LogBuffer::default(), Arc::new(RepeatedWarnings::new(LogFormat::Json)));
        let format = tracing_subscriber::fmt::format().json().flatten_event(true).with_current_span(false);
        let layer = tracing_subscriber::fmt::layer().json().with_writer(buffer.make_writer());
        let layer = layer.event_format(LogLines::new(format, Arc::clone(&repeated)));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
        let summaries = parse(&repeated.take_summaries(false, Instant::now() + WINDOW));
        assert!(!repeated.is_suppressing());
        let lines = parse(&String::from_utf8(buffer.pending().bytes.clone()).unwrap());
        (lines, summaries)
    }

    #[test]
    fn repeated_warnings_are_summarized() {
        let (lines, summaries) = logged(|| {
            for number in 0..100 {
                tracing::warn!(number, "a failed");
                tracing::info!("b");
            }
            tracing::warn!("c failed");
        });
        let count = |message: &str| lines.iter().filter(|line| line["message"] == message).count();
        assert_eq!((count("a failed"), count("b"), count("c failed")), (5, 100, 1));
        let [summary] = summaries.as_slice() else { panic!("{summaries:?}") };
        assert_eq!((&summary["number"], &summary["repeated"]), (&99.into(), &95.into()));
    }

    #[tokio::test]
    async fn lines_of_a_request_contain_its_id_once() {
        let request = Activity::new(Some("req-1".to_owned()), None);
        let log = || {
            tracing::info!("a");
            tracing::warn!(request.id = "req-1", "b");
        };
        let (lines, _) = request.run(async { logged(log) }).await;
        for line in &lines {
            assert_eq!(line["request.id"], "req-1");
        }
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn a_field_is_added_to_either_format() {
        let (mut json, mut pretty) = ("{\"a\":1}\n".to_owned(), "WARN a\n".to_owned());
        add_field(&mut json, LogFormat::Json, "repeated", format_args!("2"));
        add_field(&mut pretty, LogFormat::Pretty, "repeated", format_args!("2"));
        assert_eq!((json.as_str(), pretty.as_str()), ("{\"a\":1,\"repeated\":2}\n", "WARN a repeated=2\n"));
    }
}
