//! What the current task works on: a request, a delivery attempt, or a part of one.
//!
//! The log adds its ids to each line, and spans that are started in it become children of its span.

use std::sync::Arc;

use futures_util::future::Either;
use opentelemetry::trace::{SpanBuilder, SpanContext, SpanKind};

use super::traces::Span;

tokio::task_local! {
    static CURRENT: Activity;
}

/// The ids of a request or a delivery attempt. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Activity {
    ids: Arc<ActivityIds>,
}

#[derive(Debug)]
struct ActivityIds {
    request_id: Option<String>,
    span: Option<SpanContext>,
}

impl Activity {
    /// Creates an activity. `span` is `None` if it is not recorded.
    pub fn new(request_id: Option<String>, span: Option<&Span>) -> Self {
        Self { ids: Arc::new(ActivityIds { request_id, span: span.map(|span| span.context().clone()) }) }
    }

    /// Returns the activity of the current task, if it has one.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Starts a span in the activity of the current task. Returns `None` if that is not recorded.
    pub fn start_span(name: &'static str, kind: SpanKind) -> Option<Span> {
        Span::start(SpanBuilder::from_name(name).with_kind(kind), Some(Self::current()?.span()?))
    }

    /// Runs a future as a part of this activity. Tasks that it spawns are not part of it, see [`inherit_activity`].
    pub fn run<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, future)
    }

    /// Calls a function as a part of this activity.
    pub fn enter<T>(&self, call: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self.clone(), call)
    }

    /// Returns the context of the activity's span; `None` if it is not recorded.
    pub fn span(&self) -> Option<&SpanContext> {
        self.ids.span.as_ref()
    }

    /// Returns the request id, if the activity is a request.
    pub fn request_id(&self) -> Option<&str> {
        self.ids.request_id.as_deref()
    }
}

/// Runs a future, for example in another task, as a part of the activity of the caller.
pub fn inherit_activity<F: Future>(future: F) -> impl Future<Output = F::Output> {
    match Activity::current() {
        Some(activity) => Either::Left(activity.run(future)),
        None => Either::Right(future),
    }
}
