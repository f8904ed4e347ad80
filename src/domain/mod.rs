//! What the platform knows and may do, one file a noun.
//!
//! Reads take `&App`; writes take the `&mut Write` their caller opened, so that a change, its event, its
//! rollups and what the caller keeps beside it (an idempotency record, an applied change) commit together.
//! Nothing here names HTTP, poem or a JSON text.

pub mod courses;
pub mod error;
pub mod page;
pub mod rollups;
pub mod scope;

pub use error::{Error, Fault, Result};
