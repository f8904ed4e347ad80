//! Changes from the platform: how its facts come in.
//!
//! [`change`] is the format of one line, [`apply`](mod@apply) takes a stream of lines through the domain, [`demo`]
//! is the demo workspace written as changes, and [`generate`] makes synthetic ones of any size. Never answers a
//! request, and never writes what the domain could write, except for [`generate`]'s way straight into the
//! database.

pub mod apply;
mod change;
pub mod demo;
pub mod generate;
mod reject;

mod actions;
mod data;
mod fields;
mod lines;
#[cfg(test)]
mod tests;

pub use apply::{Options, Outcome, Progress, apply};
