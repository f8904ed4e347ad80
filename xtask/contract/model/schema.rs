//! The types of schemas.

use super::super::node::{Node, SpannedString};
use super::super::source::Span;

/// A schema of `components.schemas`.
#[derive(Debug)]
pub struct NamedSchema {
    /// The name.
    pub name: SpannedString,
    /// The schema.
    pub schema: Schema,
}

/// A schema.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The span of its key, or of the schema itself in a list such as `oneOf`.
    pub span: Span,
    /// The JSON pointer of the schema.
    pub pointer: String,
    /// Whether `null` is valid in addition to the values of the shape. [`Shape::Any`] and the target of a reference can
    /// also allow `null`.
    pub nullable: bool,
    /// `description`.
    pub description: Option<String>,
    /// `deprecated`.
    pub deprecated: bool,
    /// The span of `readOnly`, if it is `true`.
    pub read_only: Option<Span>,
    /// `default`.
    pub default: Option<Node>,
    /// The kind of schema, with its keywords.
    pub shape: Shape,
}

/// The kinds of schemas.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Any value.
    Any,
    /// A reference to a schema of `components.schemas`.
    Reference(SpannedString),
    /// An object with named properties.
    Object(ObjectShape),
    /// An object with arbitrary keys.
    Map(MapShape),
    /// An array.
    Array(ArrayShape),
    /// A string.
    String(StringShape),
    /// A string enum.
    Enum(EnumShape),
    /// An integer enum.
    IntegerEnum(IntegerEnumShape),
    /// A union of schemas.
    Union(UnionShape),
    /// An integer.
    Integer(NumberShape),
    /// A number.
    Number(NumberShape),
    /// `true` or `false`.
    Boolean,
}

/// An object with named properties.
#[derive(Clone, Debug, Default)]
pub struct ObjectShape {
    /// The parts, in document order. There is one part, except for `allOf`.
    pub parts: Vec<ObjectPart>,
    /// Whether other properties are rejected.
    pub closed: bool,
}

impl ObjectShape {
    /// Returns the properties declared here, without those of bases.
    pub fn own_properties(&self) -> impl Iterator<Item = &Property> {
        self.parts.iter().flat_map(|part| match part {
            ObjectPart::Own(own) => own.as_slice(),
            ObjectPart::Base(_) => &[],
        })
    }

    /// Returns the names of the schemas that the object extends.
    pub fn bases(&self) -> impl Iterator<Item = &SpannedString> {
        self.parts.iter().filter_map(|part| match part {
            ObjectPart::Base(name) => Some(name),
            ObjectPart::Own(_) => None,
        })
    }
}

/// A part of an object.
#[derive(Clone, Debug)]
pub enum ObjectPart {
    /// A schema of `components.schemas` that the object extends.
    Base(SpannedString),
    /// Properties declared in the object itself.
    Own(Vec<Property>),
}

/// A property of an object.
#[derive(Clone, Debug)]
pub struct Property {
    /// The name.
    pub name: SpannedString,
    /// Whether the property is required.
    pub required: bool,
    /// The schema of its value.
    pub schema: Schema,
}

/// An object with arbitrary keys.
#[derive(Clone, Debug)]
pub struct MapShape {
    /// The schema of the values.
    pub values: Box<Schema>,
    /// `minProperties`.
    pub min_properties: Option<u64>,
    /// `maxProperties`.
    pub max_properties: Option<u64>,
}

/// An array.
#[derive(Clone, Debug)]
pub struct ArrayShape {
    /// The schema of the items.
    pub items: Box<Schema>,
    /// `minItems`.
    pub min_items: Option<u64>,
    /// `maxItems`.
    pub max_items: Option<u64>,
    /// `uniqueItems`.
    pub unique_items: bool,
}

/// The keywords of a string that is not an enum.
#[derive(Clone, Debug, Default)]
pub struct StringShape {
    /// `format`.
    pub format: Option<SpannedString>,
    /// `pattern`.
    pub pattern: Option<SpannedString>,
    /// `minLength`.
    pub min_length: Option<u64>,
    /// `maxLength`.
    pub max_length: Option<u64>,
}

impl StringShape {
    /// Returns the Rust type for strings of this format, or `None` for a plain `String`.
    pub fn rust_type(&self) -> Option<&'static str> {
        match self.format.as_deref()? {
            "date-time" => Some("Timestamp"),
            "date" => Some("Date"),
            "uuid" => Some("Uuid"),
            "byte" => Some("Base64"),
            _ => None,
        }
    }
}

/// A string enum.
#[derive(Clone, Debug)]
pub struct EnumShape {
    /// The values, in document order. `const` has one value.
    pub values: Vec<SpannedString>,
}

/// An integer enum.
#[derive(Clone, Debug)]
pub struct IntegerEnumShape {
    /// The values with their spans, in document order. `const` has one value.
    pub values: Vec<(i64, Span)>,
}

/// A union of schemas, distinguished by a discriminator or by the JSON types of the values.
#[derive(Clone, Debug)]
pub struct UnionShape {
    /// The discriminator property. `None` if the JSON types distinguish the members.
    pub discriminator: Option<SpannedString>,
    /// The members, in document order.
    pub members: Vec<UnionMember>,
}

/// A member of a union.
#[derive(Clone, Debug)]
pub struct UnionMember {
    /// The name of the variant: the value of the discriminator, the name of the schema, or the JSON type.
    pub name: SpannedString,
    /// The schema.
    pub schema: Schema,
}

/// The keywords of an integer or a number.
#[derive(Clone, Debug, Default)]
pub struct NumberShape {
    /// `format`.
    pub format: Option<SpannedString>,
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
