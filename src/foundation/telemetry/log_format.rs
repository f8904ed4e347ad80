//! The lines of the log in JSON.

use std::fmt::{self, Write as _};

use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::activity::Activity;

/// Formats lines in JSON as the inner format does, and adds the ids of the current activity to those that do not contain them.
pub(super) struct WithActivity<F>(pub(super) F);

impl<S, N, F> FormatEvent<S, N> for WithActivity<F>
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
        let Some(activity) = Activity::current() else {
            return self.0.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        add_ids(&mut line, &activity)?;
        writer.write_str(&line)
    }
}

/// Adds the ids to the end of a line, unless it already contains them.
fn add_ids(line: &mut String, activity: &Activity) -> fmt::Result {
    let end = line.trim_end().strip_suffix('}').map_or(line.len(), str::len);
    line.truncate(end);
    if let Some(request_id) = activity.request_id()
        && !line.contains("\"request.id\":")
    {
        // Request ids need no escaping.
        write!(line, ",\"request.id\":\"{request_id}\"")?;
    }
    if let Some(span) = activity.span() {
        write!(line, ",\"trace_id\":\"{}\",\"span_id\":\"{}\"", span.trace_id(), span.span_id())?;
    }
    line.write_str("}\n")
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn lines_of_a_request_contain_its_id_once() {
        let lines = Lines::default();
        let writer = lines.clone();
        let format = tracing_subscriber::fmt::format().json().flatten_event(true).with_current_span(false);
        let layer = tracing_subscriber::fmt::layer().json().with_writer(move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(layer.event_format(WithActivity(format)));
        let log = || {
            tracing::info!(object = ?Some(1), "a}}");
            tracing::warn!(request.id = "req-1", "b");
        };
        let request = Activity::new(Some("req-1".to_owned()), None);
        request.run(async { tracing::subscriber::with_default(subscriber, log) }).await;
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((lines.len(), &lines[0]["message"]), (2, &"a}".into()));
        assert!(lines.iter().all(|line| line["request.id"] == "req-1"), "{text}");
        assert_eq!(text.matches("req-1").count(), 2);
    }
}
