//! The outcome of a request, for metrics, the access log and the span.

use poem::http::StatusCode;

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestOutcome {
    /// The response is complete.
    Complete(StatusCode),
    /// The client disconnected before the response was complete. The status is `None` if there was no response yet.
    Canceled(Option<StatusCode>),
    /// The response has begun, but the server ended its body early without a failure.
    Ended(StatusCode),
    /// The response has begun, but its body failed.
    Failed(StatusCode),
}

impl RequestOutcome {
    /// Returns the status of the response.
    pub(crate) fn status(self) -> Option<StatusCode> {
        match self {
            Self::Complete(status)
            | Self::Canceled(Some(status))
            | Self::Ended(status)
            | Self::Failed(status) => Some(status),
            Self::Canceled(None) => None,
        }
    }

    /// Returns the value of the label `status`.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Canceled(_) | Self::Ended(_) => "canceled",
            Self::Failed(_) => "failed",
            Self::Complete(status) => match status.as_u16() / 100 {
                1 => "1xx",
                2 => "2xx",
                3 => "3xx",
                4 => "4xx",
                _ => "5xx",
            },
        }
    }
}
