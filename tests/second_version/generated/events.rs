// Generated from tests/second_version/contract.yaml (sha256 b7b39e6d9d1e2d70ee707eb0fb4e07ea3e9d5e9280ffc50d55b64c9d112e904d), do not edit. Run `cargo xtask codegen`.

//! The types of webhook events.

use super::schemas;

/// All event types, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &["thing.made", "thing.gone"];

/// The body of an event, as webhooks receive it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// A thing was made
    ThingMade(ThingMade),
    /// thing.gone
    ThingGone(ThingGoneBody),
}

impl Event {
    /// Returns the event type.
    pub const fn event_type(&self) -> &'static str {
        match self {
            Self::ThingMade(_) => "thing.made",
            Self::ThingGone(_) => "thing.gone",
        }
    }
}

/// `ThingMade`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ThingMade {
    /// `type`.
    pub r#type: ThingMadeType,
    /// A thing put together of others.
    pub data: schemas::LargeThing,
    /// `by`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Maker>,
}

/// `ThingMade.type`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize
)]
pub enum ThingMadeType {
    /// `thing.made`.
    #[default]
    #[serde(rename = "thing.made")]
    ThingMade,
}

impl ThingMadeType {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::ThingMade];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ThingMade => "thing.made",
        }
    }
}

/// `Maker`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Maker {
    /// `Place`.
    Place(schemas::Place),
    /// `integer`.
    Integer(i64),
}

/// `thing.gone body`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ThingGoneBody {
    /// `id`.
    pub id: i64,
    /// `why`.
    pub why: ThingGoneBodyWhy,
}

/// `thing.gone body.why`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ThingGoneBodyWhy {
    /// `lost`.
    #[serde(rename = "lost")]
    Lost,
    /// `sold`.
    #[serde(rename = "sold")]
    Sold,
}

impl ThingGoneBodyWhy {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Lost, Self::Sold];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Sold => "sold",
        }
    }
}
