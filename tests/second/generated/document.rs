// Generated from tests/second/contract.yaml (sha256 e3a43ab80e6d5ab832cc98eed45d56e1447e4c20cc7c831644561023b3683b9f), do not edit. Run `cargo xtask codegen`.

//! The contract itself, for serving.

/// The title of the API.
pub const TITLE: &str = "Constructs";

/// The version of the contract.
pub const VERSION: &str = "2.0.0";

/// The SHA-256 of the contract's text, in hexadecimal.
pub const SHA256: &str = "e3a43ab80e6d5ab832cc98eed45d56e1447e4c20cc7c831644561023b3683b9f";

/// The contract as it was written: OpenAPI 3.1 in YAML.
pub const YAML: &str = include_str!("../contract.yaml");

/// The contract as JSON, every key in its place.
pub const JSON: &str = include_str!("v2.json");

/// The contract for tools that read OpenAPI 3.0.
pub const OPENAPI_3_0_JSON: &str = include_str!("v2.openapi-3.0.json");
