// Generated from tests/open/contract.yaml (sha256 26ccfa7552052c3ab5df37f54467d53f75116ab12798085521eef6e1deca2c5d), do not edit. Run `cargo xtask codegen`.

//! The text of the contract, in the formats that the server serves.

/// The title of the API.
pub const TITLE: &str = "Workshop";

/// The version of the contract.
pub const VERSION: &str = "1.4.0";

/// The SHA-256 digest of the contract's text, in hexadecimal.
pub const SHA256: &str = "26ccfa7552052c3ab5df37f54467d53f75116ab12798085521eef6e1deca2c5d";

/// The original contract.
pub const YAML: &str = include_str!("../contract.yaml");

/// The contract as JSON, converted to OpenAPI 3.1.
pub const JSON: &str = include_str!("workshop.json");

/// The contract converted to OpenAPI 3.0.3, for tools that do not support 3.1.
pub const OPENAPI_3_0_JSON: &str = include_str!("workshop.openapi-3.0.json");
