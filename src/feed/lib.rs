//! The change feed: imports changes from the platform, the system that sells the courses.
//!
//! [`change`] reads a line into the types that are generated from the contract, [`Importer`] applies lines through the domain, [`apply`](mod@apply) reads them from a
//! stream, [`demo`] is the demo workspace as changes, and [`generate`] creates synthetic workspaces of any size. The records of a
//! workspace are written by domain operations, except that [`generate`] can insert rows directly.

pub mod apply;
mod change;
pub mod demo;
pub mod generate;
#[rustfmt::skip]
#[allow(clippy::all, reason = "generated")]
pub mod generated;
mod reject;

mod actions;
mod convert;
mod importer;
mod retention;
mod runs;
#[cfg(test)]
mod tests;

pub use apply::{ApplyOptions, ApplyOutcome, ApplyProgress, apply};
pub use importer::{Importer, LineResult, validate};
pub use reject::RejectedLine;
pub use retention::prune;
