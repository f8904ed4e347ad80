// Generated from openapi/v1.yaml (sha256 b75fab985b3114554580d493e8648edd12dfeb887f31ee7195d3ce598b11c873), do not edit. Run `cargo xtask codegen`.

//! The contract itself, for serving.

/// The title of the API.
pub const TITLE: &str = "Creator Platform API";

/// The version of the contract.
pub const VERSION: &str = "1.0.0";

/// The SHA-256 of the contract's text, in hexadecimal.
pub const SHA256: &str = "b75fab985b3114554580d493e8648edd12dfeb887f31ee7195d3ce598b11c873";

/// The contract as it was written: OpenAPI 3.1 in YAML.
pub const YAML: &str = include_str!("../../../openapi/v1.yaml");

/// The contract as JSON, every key in its place.
pub const JSON: &str = include_str!("v1.json");

/// The contract for tools that read OpenAPI 3.0.
pub const OPENAPI_3_0_JSON: &str = include_str!("v1.openapi-3.0.json");
