// Generated from tests/open_profile/contract.yaml (sha256 e45e821c32f875d53d482be9d999431e885ca8dd36d2236214724844bae428ef), do not edit. Run `cargo xtask codegen`.

//! The text of the contract, in the formats that the server serves.

/// The title of the API.
pub const TITLE: &str = "Workshop";

/// The version of the contract.
pub const VERSION: &str = "1.4.0";

/// The SHA-256 digest of the contract's text, in hexadecimal.
pub const SHA256: &str = "e45e821c32f875d53d482be9d999431e885ca8dd36d2236214724844bae428ef";

/// The original contract.
pub const YAML: &str = include_str!("../contract.yaml");

/// The contract as JSON, converted to OpenAPI 3.1.
pub const JSON: &str = include_str!("workshop.json");

/// The contract converted to OpenAPI 3.0.3, for tools that do not support 3.1.
pub const OPENAPI_3_0_JSON: &str = include_str!("workshop.openapi-3.0.json");

/// The contract for client generators: extensible enums of responses and events are strings.
pub const CLIENTS_JSON: &str = JSON;

/// The contract for client generators, converted to OpenAPI 3.0.3.
pub const CLIENTS_OPENAPI_3_0_JSON: &str = OPENAPI_3_0_JSON;
