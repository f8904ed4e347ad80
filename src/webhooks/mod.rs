//! Webhooks on their way out.
//!
//! [`sign`] proves where a request comes from, [`outbound`] makes one attempt to deliver it, and [`verify`] is what a
//! receiver does with it. Nothing here runs inside a request to the API.

pub mod outbound;
pub mod sign;
pub mod verify;

/// The published vectors: requests, and whether a receiver is to believe them.
pub const VECTORS: &str = include_str!("vectors.json");
