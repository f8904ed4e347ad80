//! The base crate of the server: clock, configuration, database connections, ids, the outbound address policy, secrets
//! and telemetry.

pub mod address_policy;
pub mod clock;
pub mod config;
pub mod data_folder;
pub mod database;
pub mod id;
pub mod outbound;
pub mod secret;
pub mod telemetry;
pub mod tls;
