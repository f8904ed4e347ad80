//! The lines of the log in JSON.

use std::fmt::{self, Debug, Display, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::activity::Activity;

/// The capacity of a new line in bytes. The line of a request is shorter.
const LINE_BYTES: usize = 512;

/// Formats each event as a line with a JSON object: `timestamp`, `level`, the fields of the event, `target`, and the ids of the
/// current activity. Every request writes a line, and the JSON format of `tracing-subscriber` takes three times as long.
pub(super) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::with_capacity(LINE_BYTES);
        line.push_str("{\"timestamp\":\"");
        SystemTime.format_time(&mut Writer::new(&mut line))?;
        line.push_str("\",\"level\":\"");
        line.push_str(event.metadata().level().as_str());
        line.push('"');
        let mut fields = JsonFields { line, has_request_id: false };
        event.record(&mut fields);
        fields.add_text("target", event.metadata().target());
        if let Some(activity) = Activity::current() {
            fields.add_ids(&activity);
        }
        fields.line.push_str("}\n");
        writer.write_str(&fields.line)
    }
}

/// Adds fields to a line.
struct JsonFields {
    line: String,
    has_request_id: bool,
}

impl JsonFields {
    fn add_name(&mut self, name: &str) {
        self.has_request_id |= name == "request.id";
        self.line.push(',');
        self.push_text(name.strip_prefix("r#").unwrap_or(name));
        self.line.push(':');
    }

    fn add_text(&mut self, name: &str, value: &str) {
        self.add_name(name);
        self.push_text(value);
    }

    /// Adds a JSON string.
    fn push_text(&mut self, value: &str) {
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if value.bytes().all(is_plain) {
            self.line.push('"');
            self.line.push_str(value);
            self.line.push('"');
        } else {
            self.line.push_str(&serde_json::Value::from(value).to_string());
        }
    }

    /// Adds a value whose text is JSON.
    fn add_json(&mut self, name: &str, value: impl Display) {
        self.add_name(name);
        // Writing to a string never fails.
        let _ = write!(self.line, "{value}");
    }

    /// Adds the ids of an activity, unless the event has them.
    fn add_ids(&mut self, activity: &Activity) {
        if let Some(request_id) = activity.request_id()
            && !self.has_request_id
        {
            self.add_text("request.id", request_id);
        }
        if let Some(span) = activity.span() {
            self.add_text("trace_id", &span.trace_id().to_string());
            self.add_text("span_id", &span.span_id().to_string());
        }
    }
}

impl Visit for JsonFields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add_text(field.name(), &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add_text(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add_json(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add_json(field.name(), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add_json(field.name(), serde_json::Value::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add_json(field.name(), value);
    }
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
        let layer = tracing_subscriber::fmt::layer().with_writer(move || writer.clone());
        let subscriber = tracing_subscriber::registry().with(layer.event_format(JsonLines));
        let log = || {
            tracing::info!("a\"b" = f64::NAN, r#type = 1_u128, "odd names");
            let (text, number, missing) = ("\"\n\\\u{1}é", 1.5, None::<u64>);
            tracing::info!(object = ?Some(1), text, number, missing, count = -2, yes = true, "a}}");
            tracing::warn!(request.id = "req-1", "b");
        };
        let request = Activity::new(Some("req-1".to_owned()), None);
        request.run(async { tracing::subscriber::with_default(subscriber, log) }).await;
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!((&lines[0]["a\"b"], &lines[0]["type"]), (&serde_json::Value::Null, &"1".into()));
        let lines = &lines[1..];
        assert_eq!(lines[0]["message"], "a}");
        assert_eq!((&lines[0]["text"], &lines[0]["object"]), (&"\"\n\\\u{1}é".into(), &"Some(1)".into()));
        assert_eq!((&lines[0]["number"], &lines[0]["count"]), (&1.5.into(), &(-2).into()));
        assert_eq!((&lines[0]["yes"], lines[0].get("missing")), (&true.into(), None));
        assert_eq!(lines[0]["level"], "INFO");
        let timestamp = lines[0]["timestamp"].as_str().unwrap();
        assert!(timestamp.parse::<jiff::Timestamp>().is_ok() && timestamp.len() == 27, "{timestamp}");
        assert!(lines.iter().all(|line| line["request.id"] == "req-1"), "{text}");
        assert_eq!(text.matches("req-1").count(), 3);
    }
}
