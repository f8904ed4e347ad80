//! Spans of traces, which are exported by OTLP over HTTP.
//!
//! A [`Span`] exists only if it is recorded. The sampler decides at the first span of a trace, such as a request;
//! without a recorded parent, no other span is created.

mod export;
mod settings;

use std::borrow::Cow;
use std::sync::OnceLock;

use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{Link, Span as _, SpanBuilder, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracer;

pub use export::{TraceGuard, start};
pub use opentelemetry::trace::{SpanContext, SpanKind};
pub use settings::TraceSettings;

/// Creates the spans of this process. Unset if traces are not exported.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// Returns whether this process exports traces.
pub fn is_enabled() -> bool {
    TRACER.get().is_some()
}

/// A recorded span. It ends when it is dropped.
#[derive(Debug)]
pub struct Span {
    span: opentelemetry_sdk::trace::Span,
}

impl Span {
    /// Starts the first span of this process in a trace. Continues the trace of `parent`; without it, starts a new one.
    /// Returns `None` if the sampler decides not to record the trace, or if traces are not exported.
    pub fn start_root(
        name: impl Into<Cow<'static, str>>,
        kind: SpanKind,
        parent: Option<&SpanContext>,
    ) -> Option<Self> {
        Self::start(SpanBuilder::from_name(name).with_kind(kind), parent)
    }

    /// Starts a child of this span.
    pub fn start_child(&self, name: impl Into<Cow<'static, str>>, kind: SpanKind) -> Option<Self> {
        Self::start(SpanBuilder::from_name(name).with_kind(kind), Some(self.context()))
    }

    /// Starts the span that processes a message, as a child of the span that sent it and with a link to it. `sent_by` is
    /// the [`traceparent`](Self::traceparent) of that span. Returns `None` if that was not recorded.
    pub fn start_processing(name: impl Into<Cow<'static, str>>, sent_by: Option<&str>) -> Option<Self> {
        let parent = sent_by.filter(|_| is_enabled()).and_then(|sent_by| remote_parent(sent_by, None))?;
        let link = Link::with_context(parent.clone());
        let builder = SpanBuilder::from_name(name).with_kind(SpanKind::Consumer).with_links(vec![link]);
        Self::start(builder, Some(&parent))
    }

    pub(super) fn start(builder: SpanBuilder, parent: Option<&SpanContext>) -> Option<Self> {
        let tracer = TRACER.get()?;
        let context = Context::new();
        let context = match parent {
            Some(parent) => context.with_remote_span_context(parent.clone()),
            None => context,
        };
        let span = tracer.build_with_context(builder, &context);
        span.is_recording().then_some(Self { span })
    }

    /// Sets an attribute.
    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        self.span.set_attribute(KeyValue::new(name, value));
    }

    /// Replaces the name.
    pub fn rename(&mut self, name: impl Into<Cow<'static, str>>) {
        self.span.update_name(name);
    }

    /// Marks the operation as failed. `error_type` is the class of the failure and must not contain data of clients.
    pub fn fail(&mut self, error_type: impl Into<Value>) {
        self.set("error.type", error_type);
        self.span.set_status(Status::error(""));
    }

    /// Returns the context, which identifies the span.
    pub fn context(&self) -> &SpanContext {
        self.span.span_context()
    }

    /// Returns the context as the value of the header `traceparent` (W3C Trace Context).
    pub fn traceparent(&self) -> String {
        let context = self.context();
        format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), context.trace_flags())
    }
}

/// Parses the headers `traceparent` and `tracestate` (W3C Trace Context). Returns `None` if `traceparent` is invalid.
pub fn remote_parent(traceparent: &str, tracestate: Option<&str>) -> Option<SpanContext> {
    let headers = TraceHeaders { traceparent, tracestate };
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
    let parent = context.span().span_context().clone();
    parent.is_valid().then_some(parent)
}

/// The headers of W3C Trace Context.
struct TraceHeaders<'a> {
    traceparent: &'a str,
    tracestate: Option<&'a str>,
}

impl Extractor for TraceHeaders<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            "traceparent" => Some(self.traceparent),
            "tracestate" => self.tracestate,
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent", "tracestate"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_valid_or_ignored() {
        let valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let parent = remote_parent(valid, Some("vendor=1")).unwrap();
        assert!(parent.is_sampled() && parent.is_remote());
        assert_eq!(parent.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(parent.trace_state().header(), "vendor=1");
        let zero_trace = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        for invalid in ["", "00", "x", &valid.to_uppercase(), zero_trace, &valid[..54]] {
            let parent = remote_parent(invalid, None);
            assert!(parent.is_none() || invalid.len() == 54, "{invalid}: {parent:?}");
        }
    }
}
