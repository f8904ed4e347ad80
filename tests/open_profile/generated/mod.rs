// Generated from tests/open_profile/contract.yaml (sha256 e45e821c32f875d53d482be9d999431e885ca8dd36d2236214724844bae428ef), do not edit. Run `cargo xtask codegen`.

//! Workshop: code generated from the contract.

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

/// The operations of `Operations API`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod operations_api;

/// The operations of `Orders`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod orders;

/// The operations of `default`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod default;
