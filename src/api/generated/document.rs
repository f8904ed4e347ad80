// Generated from openapi/v1.yaml (sha256 0407f22c6e2ca5b84a29df515d420ce1a2966477b20c965b8a31e89c6023a115), do not edit. Run `cargo xtask codegen`.

//! The text of the contract, in the formats that the server serves.

/// The title of the API.
pub const TITLE: &str = "Creator Platform API";

/// The version of the contract.
pub const VERSION: &str = "1.1.0";

/// The SHA-256 digest of the contract's text, in hexadecimal.
pub const SHA256: &str = "0407f22c6e2ca5b84a29df515d420ce1a2966477b20c965b8a31e89c6023a115";

/// The original contract: OpenAPI 3.1 in YAML.
pub const YAML: &str = include_str!("../../../openapi/v1.yaml");

/// The contract as JSON, with all keys in the original order.
pub const JSON: &str = include_str!("v1.json");

/// The contract converted to OpenAPI 3.0.3, for tools that do not support 3.1.
pub const OPENAPI_3_0_JSON: &str = include_str!("v1.openapi-3.0.json");

/// The contract for client generators: extensible enums of responses and events are strings.
pub const CLIENTS_JSON: &str = include_str!("v1.clients.json");

/// The contract for client generators, converted to OpenAPI 3.0.3.
pub const CLIENTS_OPENAPI_3_0_JSON: &str = include_str!("v1.clients.openapi-3.0.json");
