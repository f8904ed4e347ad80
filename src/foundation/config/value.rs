//! The kinds of value a setting can have: how each is read, and how it is shown.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::network::Network;

/// What a value is written as in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `key = "text"`
    Text,
    /// `key = 5`
    Integer,
    /// `key = ["one", "two"]`; with commas in flags and variables.
    List,
}

impl Shape {
    /// What a message calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Integer => "a whole number without quotes",
            Self::List => "an array of strings",
        }
    }

    /// The value as a line of the file, so that what `config check` prints can be pasted there.
    pub(super) fn write(self, text: &str) -> String {
        match self {
            Self::Text => format!("{text:?}"),
            Self::Integer => text.to_owned(),
            Self::List => {
                format!("{:?}", text.split(',').filter(|part| !part.is_empty()).collect::<Vec<_>>())
            }
        }
    }
}

/// A type a setting can have.
pub(super) trait Field: Sized {
    /// What it is written as in the file.
    const SHAPE: Shape = Shape::Text;
    /// True when a message or a listing must not carry the value, and a file may hold it.
    const SECRET: bool = false;
    /// True when nothing of the value may be shown, and no flag takes it.
    const HIDDEN: bool = false;
    /// What is expected, as the end of a sentence: "an address with a port, such as 127.0.0.1:8080".
    const EXPECTED: &str;

    /// Reads the text; `None` when it is not what is expected.
    fn parse(text: &str) -> Option<Self>;

    /// The value without its secrets.
    fn show(&self) -> String;

    /// What stands when there is neither a value nor a default; `None` for what must have one.
    fn absent() -> Option<Self> {
        None
    }
}

/// A setting that may be left without a value.
impl<T: Field> Field for Option<T> {
    const SHAPE: Shape = T::SHAPE;
    const SECRET: bool = T::SECRET;
    const HIDDEN: bool = T::HIDDEN;
    const EXPECTED: &str = T::EXPECTED;

    fn parse(text: &str) -> Option<Self> {
        T::parse(text).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref().map(T::show).unwrap_or_default()
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// A list; empty text is the empty list.
impl<T: Field> Field for Vec<T> {
    const SHAPE: Shape = Shape::List;
    const EXPECTED: &str = T::EXPECTED;

    fn parse(text: &str) -> Option<Self> {
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(T::parse).collect()
    }

    fn show(&self) -> String {
        self.iter().map(T::show).collect::<Vec<_>>().join(",")
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

/// Implements [`Field`] for a type by its own `FromStr` and `Display`.
macro_rules! plain_field {
    ($kind:ty, $shape:ident, $expected:literal) => {
        impl Field for $kind {
            const SHAPE: Shape = Shape::$shape;
            const EXPECTED: &str = $expected;

            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    };
}

plain_field!(SocketAddr, Text, "an address with a port, such as 127.0.0.1:8080");
plain_field!(NonZeroU32, Integer, "a whole number from 1 to 4294967295");
plain_field!(Network, Text, "ranges of addresses, such as 10.0.0.0/8 or ::1");
plain_field!(Timestamp, Text, "a time with its zone, such as 2027-01-31T00:00:00Z");

impl Field for PathBuf {
    const EXPECTED: &str = "a path";

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self::from(text))
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

/// A value of which nothing is shown.
#[derive(Debug, Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// The value itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl Field for Secret {
    const SECRET: bool = true;
    const HIDDEN: bool = true;
    const EXPECTED: &str = "64 hexadecimal digits, such as `openssl rand -hex 32` prints";

    fn parse(text: &str) -> Option<Self> {
        let whole = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        whole.then(|| Self(SecretString::from(text)))
    }

    fn show(&self) -> String {
        "****".to_owned()
    }
}

impl Field for bool {
    const EXPECTED: &str = "on or off";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        }
    }

    fn show(&self) -> String {
        if *self { "on" } else { "off" }.to_owned()
    }
}

/// An `http` or `https` address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebUrl(Url);

impl WebUrl {
    /// The address without a slash at its end, so that a path can follow.
    pub fn base(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }
}

impl Field for WebUrl {
    const EXPECTED: &str = "an address that begins with https:// or http://";

    fn parse(text: &str) -> Option<Self> {
        Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https")).map(Self)
    }

    fn show(&self) -> String {
        self.base().to_owned()
    }
}
