// Generated from tests/second/contract.yaml (sha256 e3a43ab80e6d5ab832cc98eed45d56e1447e4c20cc7c831644561023b3683b9f), do not edit. Run `cargo xtask codegen`.

//! What webhooks send.

use super::schemas;

/// Every type of event, in the order of the contract.
pub const EVENT_TYPES: &[&str] = &["thing.made", "thing.gone"];

/// The body of one event, as it is delivered.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// A thing was made
    ThingMade(ThingMade),
    /// thing.gone
    ThingGone(ThingGoneBody),
}

impl Event {
    /// The type of the event.
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
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::ThingMade];
    /// The value as it is written.
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
    /// Every value, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Lost, Self::Sold];
    /// The value as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Sold => "sold",
        }
    }
}
