// Generated from tests/it/rehearsal/v2.yaml (sha256 ed84963bdcaa9cb541f49980fa61eddaf2358629fad989072505beb9c4c6a3fa), do not edit. Run `cargo xtask codegen`.

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
