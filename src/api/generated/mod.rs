// Generated from openapi/v1.yaml (sha256 b75fab985b3114554580d493e8648edd12dfeb887f31ee7195d3ce598b11c873), do not edit. Run `cargo xtask codegen`.

//! Creator Platform API, as the contract has it.

/// The traits of all tags as one poem-openapi API.
#[rustfmt::skip]
#[allow(
    clippy::too_many_arguments,
    reason = "one argument for each parameter of an operation"
)]
pub mod adapter;

/// The contract itself, for serving.
#[rustfmt::skip]
pub mod document;

/// What webhooks send.
#[rustfmt::skip]
#[allow(clippy::large_enum_variant, reason = "a variant is as large as its schema")]
pub mod events;

/// The contract as static tables.
#[rustfmt::skip]
pub mod operations;

/// The types of requests and responses.
#[rustfmt::skip]
pub mod schemas;

/// The operations of `courses`.
#[rustfmt::skip]
#[allow(clippy::large_enum_variant, reason = "a variant is as large as its schema")]
pub mod courses;

/// The operations of `students`.
#[rustfmt::skip]
#[allow(clippy::large_enum_variant, reason = "a variant is as large as its schema")]
pub mod students;

/// The operations of `orders`.
#[rustfmt::skip]
#[allow(clippy::large_enum_variant, reason = "a variant is as large as its schema")]
pub mod orders;

/// The operations of `enrollments`.
#[rustfmt::skip]
#[allow(clippy::large_enum_variant, reason = "a variant is as large as its schema")]
pub mod enrollments;

/// The operations of `analytics`.
#[rustfmt::skip]
#[allow(clippy::large_enum_variant, reason = "a variant is as large as its schema")]
pub mod analytics;
