// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! The text of the contract, in the formats that the server serves.

/// The title of the API.
pub const TITLE: &str = "Platform API";

/// The version of the contract.
pub const VERSION: &str = "1.1.0";

/// The SHA-256 digest of the contract's text, in hexadecimal.
pub const SHA256: &str = "857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713";

/// The original contract: OpenAPI 3.1 in YAML.
pub const YAML: &str = include_str!("../../../../openapi/platform-v1.yaml");

/// The contract as JSON, with all keys in the original order.
pub const JSON: &str = include_str!("platform-v1.json");

/// The contract converted to OpenAPI 3.0.3, for tools that do not support 3.1.
pub const OPENAPI_3_0_JSON: &str = include_str!("platform-v1.openapi-3.0.json");

/// The contract for client generators: extensible enums of responses and events are strings.
pub const CLIENTS_JSON: &str = include_str!("platform-v1.clients.json");

/// The contract for client generators, converted to OpenAPI 3.0.3.
pub const CLIENTS_OPENAPI_3_0_JSON: &str = include_str!(
    "platform-v1.clients.openapi-3.0.json"
);
