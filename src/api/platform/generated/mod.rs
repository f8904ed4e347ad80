// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! Platform API: code generated from the contract.

/// Serves the traits of all tags as one poem-openapi API.
#[rustfmt::skip]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument for each parameter of an operation"
)]
pub mod adapter;

/// The text of the contract, in the formats that the server serves.
#[rustfmt::skip]
pub mod document;

/// The types of webhook events.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod events;

/// Static descriptions of the operations.
#[rustfmt::skip]
pub mod operations;

/// The types of requests and responses.
#[rustfmt::skip]
pub mod schemas;

/// The operations of `changes`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod changes;

/// The operations of `event_feed`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod event_feed;

/// The operations of `dashboard_links`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod dashboard_links;
