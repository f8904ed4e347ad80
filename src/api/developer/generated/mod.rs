// Generated from openapi/developer-v1.yaml (sha256 7a234c3704539de2890798470f33b22697c47b081d77810b568ab801726ecb71), do not edit. Run `cargo xtask codegen`.

//! Developer API: code generated from the contract.

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

/// The operations of `key`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod key;

/// The operations of `webhooks`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod webhooks;

/// The operations of `deliveries`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod deliveries;

/// The operations of `event_feed`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod event_feed;

/// The operations of `sandbox`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod sandbox;
