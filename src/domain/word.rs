//! Closed lists of words: an enum and the text of each variant, as changes, the database and the API spell it.

/// Gives an enum `ALL`, `as_str`, `Display`, `FromStr` and `Deserialize` from the word of each variant.
macro_rules! words {
    ($name:ident, $noun:literal, { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $name {
            /// Every variant.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word as it is written.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::word::UnknownWord;

            fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    other => Err($crate::word::UnknownWord {
                        given: other.to_owned(),
                        noun: $noun,
                        words: &[$($word),*],
                    }),
                }
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

pub(crate) use words;

/// A text that is none of the words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not {noun}; one of {} is", words.join(", "))]
pub struct UnknownWord {
    /// The text.
    pub given: String,
    /// What was wanted: "a course status".
    pub noun: &'static str,
    /// The words there are.
    pub words: &'static [&'static str],
}
