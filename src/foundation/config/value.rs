//! The types of settings: how values are parsed and shown.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::network::Network;
use crate::secret::MasterKeys;

/// The TOML type of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TomlType {
    /// `key = "text"`
    String,
    /// `key = 5`
    Integer,
    /// `key = ["one", "two"]`; separated by commas in flags and variables.
    Array,
}

impl TomlType {
    /// Returns the name of the type, with its article, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "a decimal integer",
            Self::Array => "an array of strings",
        }
    }

    /// Formats a value as TOML, so that the output of `config check` is valid in the configuration file.
    pub(super) fn format(self, text: &str) -> String {
        match self {
            Self::String => format!("{text:?}"),
            Self::Integer => text.to_owned(),
            Self::Array => {
                format!("{:?}", text.split(',').filter(|part| !part.is_empty()).collect::<Vec<_>>())
            }
        }
    }
}

/// The type of a setting's value.
pub(super) trait SettingValue: Sized {
    /// The type in the configuration file.
    const TOML_TYPE: TomlType = TomlType::String;
    /// Whether the value is secret. Error messages do not contain it, and it can be read from a file.
    const SECRET: bool = false;
    /// Whether a flag can set the value. Command lines are visible to other users of the machine.
    const HAS_FLAG: bool = true;
    /// The description of valid values for error messages, such as "an IP address and port, such as 127.0.0.1:8080".
    const EXPECTED: &str;

    /// Parses the value. Returns `None` if it is invalid.
    fn parse(text: &str) -> Option<Self>;

    /// Returns why an invalid value is invalid, as a sentence without the value of a secret and without a period. Returns `None` if
    /// [`EXPECTED`](Self::EXPECTED) says enough.
    fn problem(_text: &str) -> Option<String> {
        None
    }

    /// Formats the value, with secrets masked.
    fn show(&self) -> String;

    /// Returns the value of a setting that is not set and has no default, such as an empty list. Returns `None` for
    /// types whose settings must have a default.
    fn value_if_unset() -> Option<Self> {
        None
    }
}

/// An optional setting.
impl<T: SettingValue> SettingValue for Option<T> {
    const TOML_TYPE: TomlType = T::TOML_TYPE;
    const SECRET: bool = T::SECRET;
    const HAS_FLAG: bool = T::HAS_FLAG;
    const EXPECTED: &str = T::EXPECTED;

    fn parse(text: &str) -> Option<Self> {
        T::parse(text).map(Some)
    }

    fn problem(text: &str) -> Option<String> {
        T::problem(text)
    }

    fn show(&self) -> String {
        self.as_ref().map(T::show).unwrap_or_default()
    }

    fn value_if_unset() -> Option<Self> {
        Some(None)
    }
}

/// A list, separated by commas. Empty text is the empty list.
impl<T: SettingValue> SettingValue for Vec<T> {
    const TOML_TYPE: TomlType = TomlType::Array;
    const EXPECTED: &str = T::EXPECTED;

    fn parse(text: &str) -> Option<Self> {
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(T::parse).collect()
    }

    fn show(&self) -> String {
        self.iter().map(T::show).collect::<Vec<_>>().join(",")
    }

    fn value_if_unset() -> Option<Self> {
        Some(Vec::new())
    }
}

/// Implements [`SettingValue`] for a type by its `FromStr` and `Display`.
macro_rules! setting_value_from_str {
    ($value_type:ty, $toml_type:ident, $expected:literal) => {
        impl SettingValue for $value_type {
            const TOML_TYPE: TomlType = TomlType::$toml_type;
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

setting_value_from_str!(SocketAddr, String, "an IP address and port, such as 127.0.0.1:8080");
setting_value_from_str!(u16, Integer, "an integer from 0 to 65535");
setting_value_from_str!(NonZeroU32, Integer, "an integer from 1 to 4294967295");
setting_value_from_str!(Network, String, "IP addresses or networks, such as 10.0.0.0/8 or ::1");
setting_value_from_str!(Timestamp, String, "an RFC 3339 time, such as 2027-01-31T00:00:00Z");

impl SettingValue for PathBuf {
    const EXPECTED: &str = "a path";

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self::from(text))
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

/// A secret value that is never shown: one or several master keys of 64 hexadecimal digits.
#[derive(Debug, Clone)]
pub struct HexSecret(SecretString);

impl HexSecret {
    /// Returns the value.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl SettingValue for HexSecret {
    const SECRET: bool = true;
    const HAS_FLAG: bool = false;
    const EXPECTED: &str = "64 hexadecimal digits, such as the output of `openssl rand -hex 32`, or several different keys, \
                            separated by commas or line breaks";

    fn parse(text: &str) -> Option<Self> {
        MasterKeys::parse(text, "").is_ok().then(|| Self(SecretString::from(text)))
    }

    fn show(&self) -> String {
        "****".to_owned()
    }
}

impl SettingValue for bool {
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

/// An `http` or `https` URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebUrl(Url);

impl WebUrl {
    /// Returns the URL without a trailing slash, so that a path can be appended.
    pub fn base(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }
}

impl SettingValue for WebUrl {
    const EXPECTED: &str = "a URL that starts with https:// or http://";

    fn parse(text: &str) -> Option<Self> {
        Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https")).map(Self)
    }

    fn show(&self) -> String {
        self.base().to_owned()
    }
}
