//! Webhooks on their way out.
//!
//! Sends what is due, at least once: [`claim`] leases due deliveries, [`born`] takes over those that were just committed
//! here, [`route`] says where each goes, [`outbound`] makes one attempt at one of them, signed by [`sign`], and [`settle`]
//! records what came of it; [`worker`] goes round, and [`outlook`] says when it looks at the queue. Two workers may send the
//! same delivery when a lease runs out amid an attempt; receivers drop doubles by event id. [`verify`] is what a receiver does
//! with a request. Nothing here runs inside a request to the API.

mod attempt;
mod born;
mod claim;
mod flight;
mod health;
pub mod outbound;
mod outlook;
mod round;
mod route;
mod schedule;
mod settle;
pub mod sign;
pub mod upkeep;
pub mod verify;
mod worker;

pub use worker::Worker;

/// The published vectors: requests, and whether a receiver is to believe them.
pub const VECTORS: &str = include_str!("vectors.json");
