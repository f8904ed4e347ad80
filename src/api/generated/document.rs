// Generated from openapi/v1.yaml (sha256 a91ae072de0f121fb0066bc479eba9ae8dd3e0f05e5c7fef830a2ca02f3440a9), do not edit. Run `cargo xtask codegen`.

//! The contract itself, for serving.

/// The title of the API.
pub const TITLE: &str = "Creator Platform API";

/// The version of the contract.
pub const VERSION: &str = "1.0.0";

/// The SHA-256 of the contract's text, in hexadecimal.
pub const SHA256: &str = "a91ae072de0f121fb0066bc479eba9ae8dd3e0f05e5c7fef830a2ca02f3440a9";

/// The contract as it was written: OpenAPI 3.1 in YAML.
pub const YAML: &str = include_str!("../../../openapi/v1.yaml");

/// The contract as JSON, every key in its place.
pub const JSON: &str = include_str!("v1.json");

/// The contract for tools that read OpenAPI 3.0.
pub const OPENAPI_3_0_JSON: &str = include_str!("v1.openapi-3.0.json");
