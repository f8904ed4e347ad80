//! An OTLP endpoint that decodes the spans it receives.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;
use regex::{Captures, Regex};
use tokio::io::AsyncWriteExt;

use super::receiver::{Receiver, read_request};

/// A span with the attributes of its process.
#[derive(Debug, Clone)]
pub struct ReceivedSpan {
    pub resource: BTreeMap<String, String>,
    pub span: Span,
}

/// The requests received so far: the head and the spans of each.
type ReceivedExports = Arc<Mutex<Vec<(String, Vec<ReceivedSpan>)>>>;

/// Listens until it is dropped.
pub struct OtlpReceiver {
    receiver: Receiver,
    exports: ReceivedExports,
}

impl OtlpReceiver {
    pub async fn start() -> Self {
        let exports = ReceivedExports::default();
        let shared = Arc::clone(&exports);
        let receiver = Receiver::start(move |mut stream| {
            let exports = Arc::clone(&shared);
            async move {
                loop {
                    let bytes = read_request(&mut stream).await;
                    if bytes.is_empty() {
                        return;
                    }
                    exports.lock().expect("the lock is not poisoned").push(decode(&bytes));
                    let response = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
                    if stream.write_all(response.as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await;
        Self { receiver, exports }
    }

    /// Returns the value of `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.receiver.address)
    }

    /// Returns the heads of the requests received so far.
    pub fn heads(&self) -> Vec<String> {
        self.exports.lock().expect("the lock is not poisoned").iter().map(|(head, _)| head.clone()).collect()
    }

    /// Returns the spans received so far.
    pub fn spans(&self) -> Vec<ReceivedSpan> {
        let exports = self.exports.lock().expect("the lock is not poisoned");
        exports.iter().flat_map(|(_, spans)| spans.clone()).collect()
    }

    /// Returns the first span with this name.
    pub fn find(&self, name: &str) -> Option<ReceivedSpan> {
        self.spans().into_iter().find(|received| received.span.name == name)
    }
}

fn decode(request: &[u8]) -> (String, Vec<ReceivedSpan>) {
    let head_length = request.windows(4).position(|window| window == b"\r\n\r\n").expect("a complete head");
    let head = String::from_utf8(request[..head_length].to_vec()).expect("the head is UTF-8");
    let export = ExportTraceServiceRequest::decode(&request[head_length + 4..]).expect("an OTLP request");
    let mut spans = Vec::new();
    for resource_spans in export.resource_spans {
        let resource = attributes(&resource_spans.resource.expect("a resource").attributes);
        let of_resource = resource_spans.scope_spans.into_iter().flat_map(|scope| scope.spans);
        spans.extend(of_resource.map(|span| ReceivedSpan { resource: resource.clone(), span }));
    }
    (head, spans)
}

fn attributes(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    attributes.iter().map(|attribute| (attribute.key.clone(), text(attribute))).collect()
}

impl ReceivedSpan {
    /// Returns the attributes by name.
    pub fn attributes(&self) -> BTreeMap<String, String> {
        attributes(&self.span.attributes)
    }

    /// Returns the trace id in hexadecimal digits.
    pub fn trace_id(&self) -> String {
        hex::encode(&self.span.trace_id)
    }

    /// Returns the header `traceparent` of a child of this span.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-01", self.trace_id(), hex::encode(&self.span.span_id))
    }
}

/// Returns the spans of a trace as an indented tree with their attributes and links. Ids, sizes and ports are masked.
pub fn tree(spans: &[ReceivedSpan], trace_id: &str) -> String {
    let mut spans: Vec<&ReceivedSpan> = spans.iter().filter(|span| span.trace_id() == trace_id).collect();
    spans.sort_by_key(|received| received.span.start_time_unix_nano);
    let mut text = String::new();
    let is_root = |received: &&ReceivedSpan| {
        !spans.iter().any(|other| other.span.span_id == received.span.parent_span_id)
    };
    for root in spans.iter().copied().filter(is_root) {
        add_subtree(&mut text, &spans, root, 0);
    }
    let id = Regex::new("[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}").expect("a valid pattern");
    let text = id.replace_all(&text, |found: &Captures<'_>| format!("{}_****", &found[0][..3]));
    let number = Regex::new("(server.port|body.size)=[0-9]+").expect("a valid pattern");
    number.replace_all(&text, "$1=****").into_owned()
}

fn add_subtree(text: &mut String, spans: &[&ReceivedSpan], parent: &ReceivedSpan, depth: usize) {
    let span = &parent.span;
    let kind = format!("{:?}", SpanKind::try_from(span.kind).expect("a known kind")).to_lowercase();
    let is_error = span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error);
    let indent = "  ".repeat(depth);
    let status = if is_error { " ERROR" } else { "" };
    let _ = writeln!(text, "{indent}{} ({kind}){status}", span.name);
    for (name, value) in parent.attributes() {
        let _ = writeln!(text, "{indent}    {name}={value}");
    }
    for link in &span.links {
        let linked = spans.iter().find(|other| other.span.span_id == link.span_id);
        let _ =
            writeln!(text, "{indent}    -> {}", linked.map_or("another trace", |linked| &linked.span.name));
    }
    for child in spans.iter().filter(|child| child.span.parent_span_id == span.span_id) {
        add_subtree(text, spans, child, depth + 1);
    }
}
