//! The settings of the log.

use super::value::SettingValue;

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Human-readable.
    Pretty,
    /// One JSON object per line.
    Json,
}

impl SettingValue for LogFormat {
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

/// Which events are logged: a level for each target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFilter(String);

impl LogFilter {
    /// Returns the filter directives, which are valid.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SettingValue for LogFilter {
    const EXPECTED: &str = "off, error, warn, info, debug or trace, or comma-separated targets with levels";

    fn parse(text: &str) -> Option<Self> {
        tracing_subscriber::EnvFilter::try_new(text).is_ok().then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}
