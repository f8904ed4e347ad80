// Generated from tests/open_profile/contract.yaml (sha256 e45e821c32f875d53d482be9d999431e885ca8dd36d2236214724844bae428ef), do not edit. Run `cargo xtask codegen`.

//! The types of requests and responses.

use contract_runtime::scalar::Date;

/// `Problem`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Problem {
    /// `title`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `status`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i64>,
}

/// A property of a base has a narrower type here, and the schema contains itself.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Tool {
    /// `id`.
    pub id: String,
    /// `details`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<std::collections::BTreeMap<String, serde_json::Value>>,
    /// `links`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// `bought`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bought: Option<Date>,
    /// `parts`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<serde_json::Value>>,
    /// `x-extra`.
    #[oai(rename = "x-extra", skip_serializing_if_is_none)]
    #[serde(rename = "x-extra", skip_serializing_if = "Option::is_none")]
    pub x_extra: Option<bool>,
}

/// `Order`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Order {
    /// `id`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `details`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<std::collections::BTreeMap<String, serde_json::Value>>,
    /// `links`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<std::collections::BTreeMap<String, serde_json::Value>>>,
    /// `secret`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// `client`.
    pub client: String,
}

/// `NewTool`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
#[oai(deny_unknown_fields)]
#[serde(deny_unknown_fields)]
pub struct NewTool {
    /// `name`.
    #[oai(validator(min_length = 1))]
    pub name: String,
    /// `rating`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<f64>,
    /// `shape`.
    pub shape: serde_json::Value,
    /// `pair`.
    #[oai(skip_serializing_if_is_none, validator(min_items = 2, max_items = 2))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<Vec<serde_json::Value>>,
    /// `either`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub either: Option<serde_json::Value>,
}

/// `GetTools shade`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum GetToolsShade {
    /// `dark`.
    #[oai(rename = "dark")]
    #[serde(rename = "dark")]
    Dark,
    /// `light`.
    #[oai(rename = "light")]
    #[serde(rename = "light")]
    Light,
}

impl GetToolsShade {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Dark, Self::Light];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
        }
    }
}

/// `importTools 200 body`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ImportToolsOkBody {
    /// `line`.
    pub line: i64,
    /// `name`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `error`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `addNote body`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AddNoteBody {
    /// `text`.
    pub text: String,
}

/// `deleteFromJournal body`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct DeleteFromJournalBody {
    /// `page`.
    pub page: i64,
}

/// `addToJournal body`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct AddToJournalBody {
    /// `page`.
    pub page: i64,
}
