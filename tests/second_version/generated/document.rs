// Generated from tests/second_version/contract.yaml (sha256 b7b39e6d9d1e2d70ee707eb0fb4e07ea3e9d5e9280ffc50d55b64c9d112e904d), do not edit. Run `cargo xtask codegen`.

//! The text of the contract, in the formats that the server serves.

/// The title of the API.
pub const TITLE: &str = "Constructs";

/// The version of the contract.
pub const VERSION: &str = "2.0.0";

/// The SHA-256 digest of the contract's text, in hexadecimal.
pub const SHA256: &str = "b7b39e6d9d1e2d70ee707eb0fb4e07ea3e9d5e9280ffc50d55b64c9d112e904d";

/// The original contract: OpenAPI 3.1 in YAML.
pub const YAML: &str = include_str!("../contract.yaml");

/// The contract as JSON, with all keys in the original order.
pub const JSON: &str = include_str!("v2.json");

/// The contract converted to OpenAPI 3.0.3, for tools that do not support 3.1.
pub const OPENAPI_3_0_JSON: &str = include_str!("v2.openapi-3.0.json");

/// The contract for client generators: extensible enums of responses and events are strings.
pub const CLIENTS_JSON: &str = include_str!("v2.clients.json");

/// The contract for client generators, converted to OpenAPI 3.0.3.
pub const CLIENTS_OPENAPI_3_0_JSON: &str = include_str!("v2.clients.openapi-3.0.json");
