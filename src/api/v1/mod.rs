//! The operations of v1: each converts, calls the domain, converts back.
//!
//! Owns nothing else: no rule, no check, no SQL.

mod analytics;
mod convert;
mod courses;
mod enrollments;
mod orders;
mod paging;
mod students;

pub(super) use convert::{text, texts, twins};

use domain::app::App;

/// Implements the traits of all tags.
#[derive(Clone)]
pub struct Handlers {
    /// The shared parts of the process.
    pub app: App,
}
