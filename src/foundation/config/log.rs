//! What goes to the log.

use super::value::Field;

/// The form of the log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Pretty,
    /// One JSON object a line.
    Json,
}

impl Field for Format {
    const EXPECTED: &str = "pretty or json";

    fn parse(text: &str) -> Option<Self> {
        match text {
            "pretty" => Some(Self::Pretty),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Pretty => "pretty",
            Self::Json => "json",
        }
        .to_owned()
    }
}

/// Which events are logged: levels, by target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter(String);

impl Filter {
    /// The directives as they were written, known to be readable.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Field for Filter {
    const EXPECTED: &str = "off, error, warn, info, debug or trace, or targets with such levels";

    fn parse(text: &str) -> Option<Self> {
        tracing_subscriber::EnvFilter::try_new(text).is_ok().then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}
