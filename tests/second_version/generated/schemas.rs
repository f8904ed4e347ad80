// Generated from tests/second_version/contract.yaml (sha256 b7b39e6d9d1e2d70ee707eb0fb4e07ea3e9d5e9280ffc50d55b64c9d112e904d), do not edit. Run `cargo xtask codegen`.

//! The types of requests and responses.

use poem_openapi::types::MaybeUndefined;
use contract_runtime::scalar::{Base64, Date, Timestamp, Uuid};

/// How big.
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
pub enum Kind {
    /// `big`.
    #[oai(rename = "big")]
    #[serde(rename = "big")]
    Big,
    /// `small`.
    #[oai(rename = "small")]
    #[serde(rename = "small")]
    Small,
}

impl Kind {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Big, Self::Small];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Big => "big",
            Self::Small => "small",
        }
    }
}

/// How high.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "i64", try_from = "i64")]
pub enum Level {
    /// `1`.
    Value1,
    /// `2`.
    Value2,
    /// `3`.
    Value3,
}

impl Level {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Value1, Self::Value2, Self::Value3];
}

impl From<Level> for i64 {
    fn from(value: Level) -> Self {
        match value {
            Level::Value1 => 1,
            Level::Value2 => 2,
            Level::Value3 => 3,
        }
    }
}

impl TryFrom<i64> for Level {
    type Error = &'static str;
    fn try_from(value: i64) -> std::result::Result<Self, Self::Error> {
        match value {
            1 => Ok(Self::Value1),
            2 => Ok(Self::Value2),
            3 => Ok(Self::Value3),
            _ => Err("is not an allowed value"),
        }
    }
}

impl poem_openapi::types::Type for Level {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;
    fn name() -> std::borrow::Cow<'static, str> {
        "Level".into()
    }
    fn schema_ref() -> poem_openapi::registry::MetaSchemaRef {
        poem_openapi::registry::MetaSchemaRef::Reference("Level".to_owned())
    }
    fn register(registry: &mut poem_openapi::registry::Registry) {
        registry
            .create_schema::<
                Self,
                _,
            >(
                "Level".to_owned(),
                |_| {
                    poem_openapi::registry::MetaSchema {
                        enum_items: vec![
                            serde_json::Value::from(1), serde_json::Value::from(2),
                            serde_json::Value::from(3)
                        ],
                        ..poem_openapi::registry::MetaSchema::new("integer")
                    }
                },
            );
    }
    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        Some(self)
    }
    fn raw_element_iter<'a>(
        &'a self,
    ) -> std::boxed::Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
        std::boxed::Box::new(std::iter::once(self))
    }
}

impl poem_openapi::types::ParseFromJSON for Level {
    fn parse_from_json(
        value: Option<serde_json::Value>,
    ) -> poem_openapi::types::ParseResult<Self> {
        serde_json::from_value(value.unwrap_or_default())
            .map_err(poem_openapi::types::ParseError::custom)
    }
}

impl poem_openapi::types::ToJSON for Level {
    fn to_json(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self).ok()
    }
}

impl poem_openapi::types::ParseFromParameter for Level {
    fn parse_from_parameter(text: &str) -> poem_openapi::types::ParseResult<Self> {
        let value: i64 = text.parse().map_err(poem_openapi::types::ParseError::custom)?;
        Self::try_from(value).map_err(poem_openapi::types::ParseError::custom)
    }
}

/// `Named`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Named {
    /// `name`.
    #[oai(validator(max_length = 30))]
    pub name: String,
}

/// A thing.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Thing {
    /// `id`.
    pub id: i64,
    /// Its kind.
    pub kind: Kind,
    /// How high.
    pub level: Level,
    /// `other_ids`.
    #[oai(validator(min_length = 3, min_items = 1, unique_items))]
    pub other_ids: Vec<String>,
    /// `size`.
    #[oai(nullable, validator(minimum(value = "0", exclusive)))]
    pub size: Option<f64>,
    /// `place`.
    #[oai(nullable)]
    pub place: Option<Place>,
    /// `at`.
    pub at: Timestamp,
    /// `day`.
    pub day: Date,
    /// `key`.
    pub key: Uuid,
    /// `seal`.
    pub seal: Base64,
    /// `self`.
    #[oai(rename = "self")]
    #[serde(rename = "self")]
    pub self_: String,
    /// `labels`.
    #[oai(validator(pattern = "^[a-z]+$", min_properties = 1, max_properties = 9))]
    pub labels: std::collections::BTreeMap<String, String>,
    /// `box`.
    pub r#box: ThingBox,
    /// `grid`.
    pub grid: Vec<Vec<i64>>,
    /// `anything`.
    pub anything: std::collections::BTreeMap<String, serde_json::Value>,
    /// `parts`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<ThingPartsItem>>,
    /// `old`.
    #[oai(nullable, skip_serializing_if_is_none, deprecated)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
}

/// `Thing.box`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ThingBox {
    /// `depth`.
    pub depth: i64,
    /// `color`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<ThingBoxColor>,
}

/// `Thing.box.color`.
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
pub enum ThingBoxColor {
    /// `red`.
    #[oai(rename = "red")]
    #[serde(rename = "red")]
    Red,
    /// `green`.
    #[oai(rename = "green")]
    #[serde(rename = "green")]
    Green,
}

impl ThingBoxColor {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Red, Self::Green];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Green => "green",
        }
    }
}

/// `Thing.parts[]`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ThingPartsItem {
    /// `name`.
    pub name: String,
}

/// `Place`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Place {
    /// `name`.
    pub name: String,
}

/// `NewThing`.
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
pub struct NewThing {
    /// `labels`.
    #[oai(validator(pattern = "^[a-z]+$", min_properties = 1, max_properties = 9))]
    pub labels: std::collections::BTreeMap<String, String>,
    /// How big.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// `level`.
    #[oai(default = "new_thing_level_default")]
    #[serde(default = "new_thing_level_default")]
    pub level: NewThingLevel,
    /// `count`.
    #[oai(default = "new_thing_count_default", deprecated)]
    #[serde(default = "new_thing_count_default")]
    pub count: i32,
    /// `name`.
    #[oai(nullable, default = "new_thing_name_default", validator(max_length = 9))]
    #[serde(default = "new_thing_name_default")]
    pub name: Option<String>,
    /// `day`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Date>,
    /// `key`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Uuid>,
    /// `seal`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<Base64>,
    /// `email`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// `address`.
    #[oai(nullable, skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// `size`.
    #[oai(nullable, skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<NewThingSize>,
    /// `grid`.
    #[oai(default = "new_thing_grid_default")]
    #[serde(default = "new_thing_grid_default")]
    pub grid: Vec<Vec<i32>>,
    /// `extra`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<serde_json::Value>,
}

fn new_thing_level_default() -> NewThingLevel {
    NewThingLevel::Value2
}

fn new_thing_count_default() -> i32 {
    3
}

fn new_thing_name_default() -> Option<String> {
    Some("none".to_owned())
}

fn new_thing_grid_default() -> Vec<Vec<i32>> {
    Vec::new()
}

/// `NewThing.level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "i64", try_from = "i64")]
pub enum NewThingLevel {
    /// `1`.
    Value1,
    /// `2`.
    Value2,
    /// `3`.
    Value3,
}

impl NewThingLevel {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Value1, Self::Value2, Self::Value3];
}

impl From<NewThingLevel> for i64 {
    fn from(value: NewThingLevel) -> Self {
        match value {
            NewThingLevel::Value1 => 1,
            NewThingLevel::Value2 => 2,
            NewThingLevel::Value3 => 3,
        }
    }
}

impl TryFrom<i64> for NewThingLevel {
    type Error = &'static str;
    fn try_from(value: i64) -> std::result::Result<Self, Self::Error> {
        match value {
            1 => Ok(Self::Value1),
            2 => Ok(Self::Value2),
            3 => Ok(Self::Value3),
            _ => Err("is not an allowed value"),
        }
    }
}

impl poem_openapi::types::Type for NewThingLevel {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;
    fn name() -> std::borrow::Cow<'static, str> {
        "NewThingLevel".into()
    }
    fn schema_ref() -> poem_openapi::registry::MetaSchemaRef {
        poem_openapi::registry::MetaSchemaRef::Reference("NewThingLevel".to_owned())
    }
    fn register(registry: &mut poem_openapi::registry::Registry) {
        registry
            .create_schema::<
                Self,
                _,
            >(
                "NewThingLevel".to_owned(),
                |_| {
                    poem_openapi::registry::MetaSchema {
                        enum_items: vec![
                            serde_json::Value::from(1), serde_json::Value::from(2),
                            serde_json::Value::from(3)
                        ],
                        ..poem_openapi::registry::MetaSchema::new("integer")
                    }
                },
            );
    }
    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        Some(self)
    }
    fn raw_element_iter<'a>(
        &'a self,
    ) -> std::boxed::Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
        std::boxed::Box::new(std::iter::once(self))
    }
}

impl poem_openapi::types::ParseFromJSON for NewThingLevel {
    fn parse_from_json(
        value: Option<serde_json::Value>,
    ) -> poem_openapi::types::ParseResult<Self> {
        serde_json::from_value(value.unwrap_or_default())
            .map_err(poem_openapi::types::ParseError::custom)
    }
}

impl poem_openapi::types::ToJSON for NewThingLevel {
    fn to_json(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self).ok()
    }
}

impl poem_openapi::types::ParseFromParameter for NewThingLevel {
    fn parse_from_parameter(text: &str) -> poem_openapi::types::ParseResult<Self> {
        let value: i64 = text.parse().map_err(poem_openapi::types::ParseError::custom)?;
        Self::try_from(value).map_err(poem_openapi::types::ParseError::custom)
    }
}

/// `NewThing.size`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum NewThingSize {
    /// `number`.
    Number(f32),
    /// `string`.
    String(NewThingSizeString),
}

impl poem_openapi::types::Type for NewThingSize {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;
    fn name() -> std::borrow::Cow<'static, str> {
        "NewThingSize".into()
    }
    fn schema_ref() -> poem_openapi::registry::MetaSchemaRef {
        poem_openapi::registry::MetaSchemaRef::Reference("NewThingSize".to_owned())
    }
    fn register(registry: &mut poem_openapi::registry::Registry) {
        registry
            .create_schema::<
                Self,
                _,
            >(
                "NewThingSize".to_owned(),
                |registry| {
                    <f32 as poem_openapi::types::Type>::register(registry);
                    <NewThingSizeString as poem_openapi::types::Type>::register(
                        registry,
                    );
                    poem_openapi::registry::MetaSchema {
                        one_of: vec![
                            < f32 as poem_openapi::types::Type > ::schema_ref(), <
                            NewThingSizeString as poem_openapi::types::Type >
                            ::schema_ref()
                        ],
                        ..poem_openapi::registry::MetaSchema::ANY
                    }
                },
            );
    }
    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        Some(self)
    }
    fn raw_element_iter<'a>(
        &'a self,
    ) -> std::boxed::Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
        std::boxed::Box::new(std::iter::once(self))
    }
}

impl poem_openapi::types::ParseFromJSON for NewThingSize {
    fn parse_from_json(
        value: Option<serde_json::Value>,
    ) -> poem_openapi::types::ParseResult<Self> {
        serde_json::from_value(value.unwrap_or_default())
            .map_err(poem_openapi::types::ParseError::custom)
    }
}

impl poem_openapi::types::ToJSON for NewThingSize {
    fn to_json(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self).ok()
    }
}

/// `NewThing.size as string`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum NewThingSizeString {
    /// `any`.
    #[oai(rename = "any")]
    #[default]
    #[serde(rename = "any")]
    Any,
}

impl NewThingSizeString {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Any];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
        }
    }
}

/// `ThingPatch`.
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
pub struct ThingPatch {
    /// `name`.
    #[oai(
        nullable,
        skip_serializing_if = "MaybeUndefined::is_undefined",
        validator(max_length = 9)
    )]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub name: MaybeUndefined<String>,
    /// `count`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
    /// `place`.
    #[oai(nullable, skip_serializing_if = "MaybeUndefined::is_undefined")]
    #[serde(default, skip_serializing_if = "MaybeUndefined::is_undefined")]
    pub place: MaybeUndefined<Place>,
}

/// A thing put together of others.
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
pub struct LargeThing {
    /// `id`.
    pub id: i64,
    /// `name`.
    #[oai(validator(max_length = 30))]
    pub name: String,
    /// `weight`.
    pub weight: i64,
    /// `theme`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
}

/// How it was paid.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Payment {
    /// `card`.
    Card(CardPayment),
    /// `cash`.
    Cash(CashPayment),
}

impl<'de> serde::Deserialize<'de> for Payment {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let member = match value.get("method").and_then(serde_json::Value::as_str) {
            Some("card") => serde_json::from_value(value).map(Self::Card),
            Some("cash") => serde_json::from_value(value).map(Self::Cash),
            _ => {
                return Err(
                    serde::de::Error::custom(
                        concat!("unknown value of `", "method", "`"),
                    ),
                );
            }
        };
        member.map_err(serde::de::Error::custom)
    }
}

impl poem_openapi::types::Type for Payment {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;
    fn name() -> std::borrow::Cow<'static, str> {
        "Payment".into()
    }
    fn schema_ref() -> poem_openapi::registry::MetaSchemaRef {
        poem_openapi::registry::MetaSchemaRef::Reference("Payment".to_owned())
    }
    fn register(registry: &mut poem_openapi::registry::Registry) {
        registry
            .create_schema::<
                Self,
                _,
            >(
                "Payment".to_owned(),
                |registry| {
                    <CardPayment as poem_openapi::types::Type>::register(registry);
                    <CashPayment as poem_openapi::types::Type>::register(registry);
                    poem_openapi::registry::MetaSchema {
                        one_of: vec![
                            < CardPayment as poem_openapi::types::Type > ::schema_ref(),
                            < CashPayment as poem_openapi::types::Type > ::schema_ref()
                        ],
                        discriminator: Some(poem_openapi::registry::MetaDiscriminatorObject {
                            property_name: "method",
                            mapping: vec![
                                ("card".to_owned(), format!("#/components/schemas/{}", <
                                CardPayment as poem_openapi::types::Type > ::name())),
                                ("cash".to_owned(), format!("#/components/schemas/{}", <
                                CashPayment as poem_openapi::types::Type > ::name()))
                            ],
                        }),
                        ..poem_openapi::registry::MetaSchema::ANY
                    }
                },
            );
    }
    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        Some(self)
    }
    fn raw_element_iter<'a>(
        &'a self,
    ) -> std::boxed::Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
        std::boxed::Box::new(std::iter::once(self))
    }
}

impl poem_openapi::types::ParseFromJSON for Payment {
    fn parse_from_json(
        value: Option<serde_json::Value>,
    ) -> poem_openapi::types::ParseResult<Self> {
        serde_json::from_value(value.unwrap_or_default())
            .map_err(poem_openapi::types::ParseError::custom)
    }
}

impl poem_openapi::types::ToJSON for Payment {
    fn to_json(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self).ok()
    }
}

/// `CardPayment`.
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
pub struct CardPayment {
    /// `method`.
    pub method: CardPaymentMethod,
    /// `number`.
    #[oai(validator(pattern = "^[0-9]{4}$"))]
    pub number: String,
    /// What a payment is for, by its number, its name, or both.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
}

/// `CardPayment.method`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CardPaymentMethod {
    /// `card`.
    #[oai(rename = "card")]
    #[default]
    #[serde(rename = "card")]
    Card,
}

impl CardPaymentMethod {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Card];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Card => "card",
        }
    }
}

/// `CashPayment`.
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
pub struct CashPayment {
    /// `method`.
    pub method: CashPaymentMethod,
    /// `amount`.
    #[oai(validator(minimum(value = "1")))]
    pub amount: i64,
}

/// `CashPayment.method`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    poem_openapi::Enum,
    serde::Serialize,
    serde::Deserialize
)]
pub enum CashPaymentMethod {
    /// `cash`.
    #[oai(rename = "cash")]
    #[default]
    #[serde(rename = "cash")]
    Cash,
}

impl CashPaymentMethod {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Cash];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cash => "cash",
        }
    }
}

/// What a payment is for, by its number, its name, or both.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Reference {
    /// `integer`.
    Integer(i64),
    /// `string`.
    String(String),
    /// `array`.
    Array(Vec<String>),
    /// `Named`.
    Named(Named),
    /// `boolean`.
    Boolean(bool),
}

impl poem_openapi::types::Type for Reference {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;
    fn name() -> std::borrow::Cow<'static, str> {
        "Reference".into()
    }
    fn schema_ref() -> poem_openapi::registry::MetaSchemaRef {
        poem_openapi::registry::MetaSchemaRef::Reference("Reference".to_owned())
    }
    fn register(registry: &mut poem_openapi::registry::Registry) {
        registry
            .create_schema::<
                Self,
                _,
            >(
                "Reference".to_owned(),
                |registry| {
                    <i64 as poem_openapi::types::Type>::register(registry);
                    <String as poem_openapi::types::Type>::register(registry);
                    <Vec<String> as poem_openapi::types::Type>::register(registry);
                    <Named as poem_openapi::types::Type>::register(registry);
                    <bool as poem_openapi::types::Type>::register(registry);
                    poem_openapi::registry::MetaSchema {
                        one_of: vec![
                            < i64 as poem_openapi::types::Type > ::schema_ref(), < String
                            as poem_openapi::types::Type > ::schema_ref(), < Vec < String
                            > as poem_openapi::types::Type > ::schema_ref(), < Named as
                            poem_openapi::types::Type > ::schema_ref(), < bool as
                            poem_openapi::types::Type > ::schema_ref()
                        ],
                        ..poem_openapi::registry::MetaSchema::ANY
                    }
                },
            );
    }
    fn as_raw_value(&self) -> Option<&Self::RawValueType> {
        Some(self)
    }
    fn raw_element_iter<'a>(
        &'a self,
    ) -> std::boxed::Box<dyn Iterator<Item = &'a Self::RawElementValueType> + 'a> {
        std::boxed::Box::new(std::iter::once(self))
    }
}

impl poem_openapi::types::ParseFromJSON for Reference {
    fn parse_from_json(
        value: Option<serde_json::Value>,
    ) -> poem_openapi::types::ParseResult<Self> {
        serde_json::from_value(value.unwrap_or_default())
            .map_err(poem_openapi::types::ParseError::custom)
    }
}

impl poem_openapi::types::ToJSON for Reference {
    fn to_json(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self).ok()
    }
}

/// `Error`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct Error {
    /// `error`.
    pub error: ErrorError,
}

/// `Error.error`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ErrorError {
    /// `code`.
    pub code: String,
    /// `message`.
    pub message: String,
    /// `retryAfterSeconds`.
    #[oai(rename = "retryAfterSeconds", skip_serializing_if_is_none)]
    #[serde(rename = "retryAfterSeconds", skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<i64>,
    /// `request_id`.
    pub request_id: String,
    /// `doc_url`.
    pub doc_url: String,
    /// `details`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<ErrorErrorDetailsItem>>,
}

/// `Error.error.details[]`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ErrorErrorDetailsItem {
    /// `in`.
    pub r#in: ErrorErrorDetailsItemIn,
    /// `field`.
    pub field: String,
    /// `message`.
    pub message: String,
}

/// `Error.error.details[].in`.
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
pub enum ErrorErrorDetailsItemIn {
    /// `body`.
    #[oai(rename = "body")]
    #[serde(rename = "body")]
    Body,
    /// `query`.
    #[oai(rename = "query")]
    #[serde(rename = "query")]
    Query,
    /// `path`.
    #[oai(rename = "path")]
    #[serde(rename = "path")]
    Path,
    /// `header`.
    #[oai(rename = "header")]
    #[serde(rename = "header")]
    Header,
    /// `cookie`.
    #[oai(rename = "cookie")]
    #[serde(rename = "cookie")]
    Cookie,
}

impl ErrorErrorDetailsItemIn {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::Body,
        Self::Query,
        Self::Path,
        Self::Header,
        Self::Cookie,
    ];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Query => "query",
            Self::Path => "path",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

/// `listThings theme`.
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
pub enum ListThingsTheme {
    /// `light`.
    #[oai(rename = "light")]
    #[serde(rename = "light")]
    Light,
    /// `dark`.
    #[oai(rename = "dark")]
    #[serde(rename = "dark")]
    Dark,
}

impl ListThingsTheme {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Light, Self::Dark];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// `listThings sort`.
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
pub enum ListThingsSort {
    /// `size`.
    #[oai(rename = "size")]
    #[serde(rename = "size")]
    Size,
    /// `-size`.
    #[oai(rename = "-size")]
    #[serde(rename = "-size")]
    SizeDescending,
}

impl ListThingsSort {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Size, Self::SizeDescending];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::SizeDescending => "-size",
        }
    }
}

/// `labelThing body`.
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
pub struct LabelThingBody {
    /// `labels`.
    #[oai(validator(pattern = "^[a-z]+$", min_properties = 1, max_properties = 9))]
    pub labels: std::collections::BTreeMap<String, String>,
    /// `color`.
    #[oai(skip_serializing_if_is_none)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<LabelThingBodyColor>,
}

/// `labelThing body.color`.
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
pub enum LabelThingBodyColor {
    /// `red`.
    #[oai(rename = "red")]
    #[serde(rename = "red")]
    Red,
    /// `green`.
    #[oai(rename = "green")]
    #[serde(rename = "green")]
    Green,
}

impl LabelThingBodyColor {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[Self::Red, Self::Green];
    /// Returns the value as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Green => "green",
        }
    }
}

/// `changeThing 200 body`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ChangeThingOkBody {
    /// `set`.
    pub set: Vec<String>,
    /// `cleared`.
    pub cleared: Vec<String>,
}

/// `pay 200 body`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct PayOkBody {
    /// How it was paid.
    pub payment: Payment,
    /// What a payment is for, by its number, its name, or both.
    pub r#for: Reference,
}

/// `importNotes body`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ImportNotesBody {
    /// `text`.
    #[oai(validator(max_length = 20))]
    pub text: String,
}

/// `importNotes 200 body`.
#[derive(
    Debug,
    Clone,
    PartialEq,
    poem_openapi::Object,
    serde::Serialize,
    serde::Deserialize
)]
pub struct ImportNotesOkBody {
    /// `line`.
    pub line: i64,
    /// `text`.
    pub text: String,
}
