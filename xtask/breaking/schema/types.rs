//! Which JSON types a schema lets through, as a set.

use contract::node::{Node, Value};

/// A set of JSON types. Integers are numbers without a fraction, so `number` holds two of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const INTEGER: u8 = 4;
const FRACTION: u8 = 8;
const STRING: u8 = 16;
const ARRAY: u8 = 32;
const OBJECT: u8 = 64;

/// Words and what they stand for, in the order in which they are printed.
const WORDS: [(&str, u8); 7] = [
    ("string", STRING),
    ("number", INTEGER | FRACTION),
    ("integer", INTEGER),
    ("boolean", BOOLEAN),
    ("array", ARRAY),
    ("object", OBJECT),
    ("null", NULL),
];

impl Types {
    /// Every type.
    pub(crate) const ANY: Self = Self(127);
    /// No type.
    pub(crate) const NONE: Self = Self(0);
    /// `null` alone.
    pub(crate) const NULL: Self = Self(NULL);
    /// Strings.
    pub(crate) const STRING: Self = Self(STRING);
    /// Numbers that have a fraction.
    pub(crate) const FRACTION: Self = Self(FRACTION);
    /// What is one word in a URL: everything but lists, objects and `null`.
    pub(crate) const PLAIN: Self = Self(BOOLEAN | INTEGER | FRACTION | STRING);

    /// What the keyword `type` says: a word or a list of words.
    pub(crate) fn of_keyword(node: &Node) -> Self {
        match &node.value {
            Value::Sequence(items) => items.iter().fold(Self(0), |types, item| types.or(Self::of_word(item))),
            _ => Self::of_word(node),
        }
    }

    /// Whether a word is the name of a type.
    pub(crate) fn is_word(word: &str) -> bool {
        WORDS.iter().any(|(known, _)| *known == word)
    }

    fn of_word(node: &Node) -> Self {
        let word = node.as_str().unwrap_or_default();
        WORDS.iter().find(|(known, _)| *known == word).map_or(Self(0), |(_, types)| Self(*types))
    }

    /// The type of a value.
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

    /// Integers.
    pub(crate) const fn of_integer() -> Self {
        Self(INTEGER)
    }

    /// The types of either.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The types of both.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The types but for `null`.
    pub(crate) const fn without_null(self) -> Self {
        Self(self.0 & !NULL)
    }

    /// Whether every type of the other is one of these.
    pub(crate) const fn holds(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a number may have a fraction.
    pub(crate) const fn has_fractions(self) -> bool {
        self.0 & FRACTION != 0
    }

    /// Whether it says nothing about types, `null` aside.
    pub(crate) const fn is_any(self) -> bool {
        self.0 | NULL == Self::ANY.0
    }

    /// Whether it takes more than one word to say it.
    pub(crate) fn is_list(self) -> bool {
        !self.is_any() && self.words().len() > 1
    }

    fn words(self) -> Vec<&'static str> {
        let mut left = self.0;
        let mut words = Vec::new();
        for (word, types) in WORDS {
            if left & types == types {
                words.push(word);
                left &= !types;
            }
        }
        words
    }
}

impl std::fmt::Display for Types {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_any() {
            return formatter.write_str("any");
        }
        let words = self.words();
        formatter.write_str(&if words.is_empty() { "none".to_owned() } else { words.join(" or ") })
    }
}
