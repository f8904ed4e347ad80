// Generated from tests/second/contract.yaml (sha256 aa032c0ab21254017e0bc564370240675dd413c8491fee50aa92322661d895bd), do not edit. Run `cargo xtask codegen`.

//! The contract itself, for serving.

/// The title of the API.
pub const TITLE: &str = "Constructs";

/// The version of the contract.
pub const VERSION: &str = "2.0.0";

/// The SHA-256 of the contract's text, in hexadecimal.
pub const SHA256: &str = "aa032c0ab21254017e0bc564370240675dd413c8491fee50aa92322661d895bd";

/// The contract as it was written: OpenAPI 3.1 in YAML.
pub const YAML: &str = include_str!("../contract.yaml");

/// The contract as JSON, every key in its place.
pub const JSON: &str = include_str!("v2.json");

/// The contract for tools that read OpenAPI 3.0.
pub const OPENAPI_3_0_JSON: &str = include_str!("v2.openapi-3.0.json");
