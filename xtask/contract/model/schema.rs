//! Schemas: what a value may be.

use super::super::node::{Node, Text};
use super::super::source::Span;

/// A schema under its name.
#[derive(Debug)]
pub struct NamedSchema {
    /// The name.
    pub name: Text,
    /// The schema.
    pub schema: Schema,
}

/// A schema.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Where it stands.
    pub span: Span,
    /// The JSON pointer to it.
    pub pointer: String,
    /// Whether `null` is a value of it.
    pub nullable: bool,
    /// What it means.
    pub description: Option<String>,
    /// Whether it is going away.
    pub deprecated: bool,
    /// Where it says that it stands in answers alone.
    pub read_only: Option<Span>,
    /// Its default.
    pub default: Option<Node>,
    /// Its kind, with what belongs to that.
    pub shape: Shape,
}

/// The kinds of schemas.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Anything.
    Any,
    /// A schema of `components.schemas`.
    Reference(Text),
    /// An object with named properties.
    Object(ObjectShape),
    /// An object with keys of the caller's choice.
    Map(MapShape),
    /// A list.
    Array(ArrayShape),
    /// A string.
    String(StringShape),
    /// A string out of a list.
    Enum(EnumShape),
    /// A whole number out of a list.
    IntegerEnum(IntegerEnumShape),
    /// One of several shapes.
    Union(UnionShape),
    /// A whole number.
    Integer(NumberShape),
    /// A number.
    Number(NumberShape),
    /// `true` or `false`.
    Boolean,
}

/// An object with named properties.
#[derive(Clone, Debug, Default)]
pub struct ObjectShape {
    /// What it is put together of, in document order; one part unless it is an `allOf`.
    pub parts: Vec<ObjectPart>,
    /// Whether other properties are refused.
    pub closed: bool,
}

impl ObjectShape {
    /// The properties written here, not those of other schemas.
    pub fn own(&self) -> impl Iterator<Item = &Property> {
        self.parts.iter().flat_map(|part| match part {
            ObjectPart::Own(own) => own.as_slice(),
            ObjectPart::Base(_) => &[],
        })
    }

    /// The objects of `components.schemas` whose properties it has too.
    pub fn bases(&self) -> impl Iterator<Item = &Text> {
        self.parts.iter().filter_map(|part| match part {
            ObjectPart::Base(name) => Some(name),
            ObjectPart::Own(_) => None,
        })
    }
}

/// A part of an object.
#[derive(Clone, Debug)]
pub enum ObjectPart {
    /// Every property of an object of `components.schemas`.
    Base(Text),
    /// Properties written here.
    Own(Vec<Property>),
}

/// A property of an object.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name.
    pub name: Text,
    /// Whether it must be there.
    pub required: bool,
    /// What it may be.
    pub schema: Schema,
}

/// An object with keys of the caller's choice.
#[derive(Clone, Debug)]
pub struct MapShape {
    /// What each value may be.
    pub values: Box<Schema>,
    /// `minProperties`.
    pub min_properties: Option<u64>,
    /// `maxProperties`.
    pub max_properties: Option<u64>,
}

/// A list.
#[derive(Clone, Debug)]
pub struct ArrayShape {
    /// What each item may be.
    pub items: Box<Schema>,
    /// `minItems`.
    pub min_items: Option<u64>,
    /// `maxItems`.
    pub max_items: Option<u64>,
    /// `uniqueItems`.
    pub unique_items: bool,
}

/// A string.
#[derive(Clone, Debug, Default)]
pub struct StringShape {
    /// `format`.
    pub format: Option<Text>,
    /// `pattern`.
    pub pattern: Option<Text>,
    /// `minLength`.
    pub min_length: Option<u64>,
    /// `maxLength`.
    pub max_length: Option<u64>,
}

impl StringShape {
    /// The type that Rust knows a string of this format by, when it has one of its own.
    pub fn scalar(&self) -> Option<&'static str> {
        match self.format.as_deref()? {
            "date-time" => Some("Timestamp"),
            "date" => Some("Date"),
            "uuid" => Some("Uuid"),
            "byte" => Some("Base64"),
            _ => None,
        }
    }
}

/// A string out of a list.
#[derive(Clone, Debug)]
pub struct EnumShape {
    /// The values, in document order; one for `const`.
    pub values: Vec<Text>,
}

/// A whole number out of a list.
#[derive(Clone, Debug)]
pub struct IntegerEnumShape {
    /// The values, in document order; one for `const`.
    pub values: Vec<(i64, Span)>,
}

/// One of several shapes, told apart by a property of theirs or by the kind of value that they are.
#[derive(Clone, Debug)]
pub struct UnionShape {
    /// The property that tells objects apart; `None` when the kinds of values do.
    pub discriminator: Option<Text>,
    /// The shapes, in document order.
    pub members: Vec<Member>,
}

/// One shape of a union.
#[derive(Clone, Debug)]
pub struct Member {
    /// What it is called among the others: its value of the discriminator, the schema's name, or its kind.
    pub name: Text,
    /// Its schema.
    pub schema: Schema,
}

/// A number.
#[derive(Clone, Debug, Default)]
pub struct NumberShape {
    /// `format`.
    pub format: Option<Text>,
    /// `minimum`.
    pub minimum: Option<f64>,
    /// `maximum`.
    pub maximum: Option<f64>,
    /// `exclusiveMinimum`.
    pub exclusive_minimum: Option<f64>,
    /// `exclusiveMaximum`.
    pub exclusive_maximum: Option<f64>,
    /// `multipleOf`.
    pub multiple_of: Option<f64>,
}
