//! Sets of JSON types.

use contract::node::{Node, Value};

/// A set of JSON types. `number` contains two members: integers and numbers with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct JsonTypes(u8);

// Each type is one bit of a set.
const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const INTEGER: u8 = 4;
const FRACTION: u8 = 8;
const STRING: u8 = 16;
const ARRAY: u8 = 32;
const OBJECT: u8 = 64;

/// Type names and their members, in display order.
const TYPE_NAMES: [(&str, u8); 7] = [
    ("string", STRING),
    ("number", INTEGER | FRACTION),
    ("integer", INTEGER),
    ("boolean", BOOLEAN),
    ("array", ARRAY),
    ("object", OBJECT),
    ("null", NULL),
];

impl JsonTypes {
    /// Every type: all seven bits.
    pub(crate) const ANY: Self = Self(127);
    /// No type.
    pub(crate) const NONE: Self = Self(0);
    /// `null` alone.
    pub(crate) const NULL: Self = Self(NULL);
    /// `true` and `false`.
    pub(crate) const BOOLEAN: Self = Self(BOOLEAN);
    /// Integers, and numbers with a fraction.
    pub(crate) const NUMBER: Self = Self(INTEGER | FRACTION);
    /// Strings.
    pub(crate) const STRING: Self = Self(STRING);
    /// Arrays.
    pub(crate) const ARRAY: Self = Self(ARRAY);
    /// Objects.
    pub(crate) const OBJECT: Self = Self(OBJECT);
    /// Numbers with a fraction.
    pub(crate) const FRACTION: Self = Self(FRACTION);
    /// Types whose values are serialized as plain text in a URL: all but arrays, objects and `null`.
    pub(crate) const PLAIN: Self = Self(BOOLEAN | INTEGER | FRACTION | STRING);

    /// Parses the keyword `type`: a name or a list of names.
    pub(crate) fn of_keyword(node: &Node) -> Self {
        match &node.value {
            Value::Sequence(items) => items.iter().fold(Self(0), |types, item| types.or(Self::of_name(item))),
            _ => Self::of_name(node),
        }
    }

    /// Whether a string is the name of a type.
    pub(crate) fn is_type_name(name: &str) -> bool {
        TYPE_NAMES.iter().any(|(type_name, _)| *type_name == name)
    }

    fn of_name(node: &Node) -> Self {
        let name = node.as_str().unwrap_or_default();
        TYPE_NAMES.iter().find(|(type_name, _)| *type_name == name).map_or(Self(0), |(_, types)| Self(*types))
    }

    /// Returns the type of a value as JSON Schema defines it: a number without a fraction, such as 1.0, is an integer.
    pub(crate) fn of_number_or_value(node: &Node) -> Self {
        match node.value {
            Value::Float(value) if value.fract() == 0.0 => Self::integer(),
            _ => Self::of_value(node),
        }
    }

    /// Returns the type of a value. A float without a fraction, such as 1.0, also counts as [`Self::FRACTION`].
    pub(crate) const fn of_value(node: &Node) -> Self {
        Self(match &node.value {
            Value::Null => NULL,
            Value::Bool(_) => BOOLEAN,
            Value::Integer(_) => INTEGER,
            Value::Float(_) => FRACTION,
            Value::String(_) => STRING,
            Value::Sequence(_) => ARRAY,
            Value::Mapping(_) => OBJECT,
        })
    }

    /// Returns the set of integers.
    pub(crate) const fn integer() -> Self {
        Self(INTEGER)
    }

    /// Returns the union of two sets.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the intersection of two sets.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the set without `null`.
    pub(crate) const fn without_null(self) -> Self {
        Self(self.0 & !NULL)
    }

    /// Whether the other set is a subset of this one.
    pub(crate) const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set contains numbers with a fraction.
    pub(crate) const fn has_fractions(self) -> bool {
        self.0 & FRACTION != 0
    }

    /// Whether the set contains all types, except possibly `null`.
    pub(crate) const fn is_any(self) -> bool {
        self.0 | NULL == Self::ANY.0
    }

    /// Whether the set and another one have a common type.
    pub(crate) const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns each type of the set as a set of its own.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        (0..7).map(|bit| Self(1 << bit)).filter(move |single| self.contains(*single))
    }

    /// Whether the set needs more than one type name, and is not the set of all types.
    pub(crate) fn needs_list(self) -> bool {
        !self.is_any() && self.names().len() > 1
    }

    fn names(self) -> Vec<&'static str> {
        let mut remaining = self.0;
        let mut names = Vec::new();
        for (name, types) in TYPE_NAMES {
            if remaining & types == types {
                names.push(name);
                remaining &= !types;
            }
        }
        names
    }
}

impl std::fmt::Display for JsonTypes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_any() {
            return formatter.write_str("any");
        }
        let names = self.names();
        formatter.write_str(&if names.is_empty() { "none".to_owned() } else { names.join(" or ") })
    }
}
