// Generated from tests/second/contract.yaml (sha256 e3a43ab80e6d5ab832cc98eed45d56e1447e4c20cc7c831644561023b3683b9f), do not edit. Run `cargo xtask codegen`.

//! Constructs, as the contract has it.

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

/// The operations of `things`.
#[rustfmt::skip]
#[allow(clippy::large_enum_variant, reason = "a variant is as large as its schema")]
pub mod things;

/// The operations of `type`.
#[rustfmt::skip]
#[allow(clippy::large_enum_variant, reason = "a variant is as large as its schema")]
pub mod r#type;
