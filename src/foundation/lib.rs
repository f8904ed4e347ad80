//! What every other crate of the server stands on: time, configuration, database connections, ids, JSON, outbound addresses,
//! secrets and telemetry.

pub mod clock;
pub mod config;
pub mod database;
pub mod id;
pub mod reach;
pub mod secret;
pub mod telemetry;
