// Generated from openapi/v1.yaml (sha256 0407f22c6e2ca5b84a29df515d420ce1a2966477b20c965b8a31e89c6023a115), do not edit. Run `cargo xtask codegen`.

//! Creator Platform API: code generated from the contract.

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

/// The operations of `courses`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod courses;

/// The operations of `students`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod students;

/// The operations of `orders`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod orders;

/// The operations of `enrollments`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod enrollments;

/// The operations of `analytics`.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    reason = "the size of a variant follows from its schema"
)]
pub mod analytics;
