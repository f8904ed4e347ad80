//! The trace of each event: the header `traceparent` (W3C Trace Context) of the span that appended it. NULL if the trace is not
//! recorded.

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0031_trace_context",
    floor: 30,
    added_columns: &[("events", "traceparent TEXT")],
    ..Migration::EMPTY
};
