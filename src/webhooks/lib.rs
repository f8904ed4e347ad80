//! Sends webhooks: the delivery worker and its maintenance jobs.
//!
//! [`worker`] runs the delivery loop, which sends due deliveries at least once: [`claim`] leases them,
//! [`pre_leased`] receives those that this process has just committed, [`target`] reads where each goes, [`outbound`]
//! makes one attempt, signed by [`sign`], and [`settle`] records the result. [`poll_policy`] decides when the loop
//! polls the queue. When a lease expires during an attempt, two workers may send the same delivery; receivers
//! deduplicate by event id. [`verify`] checks a signature, as a receiver does. No code of this crate runs within an API
//! request.

mod attempt;
mod claim;
mod health;
mod in_flight;
pub mod maintenance;
pub mod outbound;
mod poll_policy;
mod pre_leased;
mod progress;
mod recording;
mod schedule;
mod settle;
pub mod sign;
mod target;
pub mod verify;
mod worker;

pub use progress::Progress;
pub use worker::Worker;

/// The published test vectors, as JSON: requests, and whether a receiver must accept them.
pub const TEST_VECTORS: &str = include_str!("vectors.json");
