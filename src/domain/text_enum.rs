//! Enums with one string per variant, which the change feed, the command line and the dashboard read and show.

/// Implements `ALL`, `NAMES`, `as_str`, `Display`, `FromStr` and `Deserialize` for an enum from the string of each variant.
/// Without strings, implements only the traits, for an enum of the contract. The second argument is the noun for error
/// messages, with an article.
macro_rules! text_enum {
    ($name:ident, $noun:literal, { $($variant:ident = $text:literal),* $(,)? }) => {
        impl $name {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The strings of all variants.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// Returns the string of the variant.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        $crate::text_enum::text_enum!($name, $noun);
    };
    ($name:ident, $noun:literal) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::text_enum::UnknownVariant;

            fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
                let variant = Self::ALL.iter().find(|variant| variant.as_str() == text);
                variant.copied().ok_or_else(|| $crate::text_enum::UnknownVariant {
                    value: text.to_owned(),
                    noun: $noun,
                    expected: Self::NAMES,
                })
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use text_enum;

/// A string that names no variant of the enum.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} is not {noun}; expected one of {}", expected.join(", "))]
pub struct UnknownVariant {
    /// The string.
    pub value: String,
    /// The expected kind of value, with an article: "a course status".
    pub noun: &'static str,
    /// The strings of all variants.
    pub expected: &'static [&'static str],
}
