//! What a rule is: an id, how bad its finding is, who breaks, and how to do without.
//!
//! Rules about schemas are the product of a [`Site`] and an [`Aspect`]; all others are a [`Rule`] each. Ids and levels are
//! those of oasdiff (Apache-2.0, <https://github.com/oasdiff/oasdiff>) where it has the rule. Nothing here compares.

use std::fmt;

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Nobody breaks.
    Info,
    /// Some clients may break; the gate stays open.
    Warning,
    /// Clients break; the gate closes.
    Error,
}

/// Which way a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// Clients write it: what is accepted may grow, never shrink.
    Request,
    /// Clients read it: what is sent may shrink, never grow.
    Response,
}

/// Where a schema stands. The order is that in which one of several names a shared change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Site {
    /// The body of a request.
    RequestBody,
    /// Anything inside of a body of a request.
    RequestProperty,
    /// A parameter.
    Parameter,
    /// A parameter in a header.
    HeaderParameter,
    /// A parameter that is written as its media type says.
    ParameterContent,
    /// A parameter in a header that is written so.
    HeaderContent,
    /// Anything inside of a parameter.
    ParameterProperty,
    /// Anything inside of a header parameter.
    HeaderProperty,
    /// What is read-only inside of a request: it is not sent.
    RequestReadOnly,
    /// The body of a response.
    ResponseBody,
    /// Anything inside of a body of a response.
    ResponseProperty,
    /// A header of a response, and what is inside of it.
    ResponseHeader,
    /// What is write-only inside of a response: it is not sent.
    ResponseWriteOnly,
}

impl Site {
    /// Every site.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 13] = [
        Self::RequestBody,
        Self::RequestProperty,
        Self::Parameter,
        Self::HeaderParameter,
        Self::ParameterContent,
        Self::HeaderContent,
        Self::ParameterProperty,
        Self::HeaderProperty,
        Self::RequestReadOnly,
        Self::ResponseBody,
        Self::ResponseProperty,
        Self::ResponseHeader,
        Self::ResponseWriteOnly,
    ];

    /// What the ids of its rules begin with.
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::RequestBody => "request-body",
            Self::RequestProperty => "request-property",
            Self::Parameter | Self::HeaderParameter | Self::ParameterContent | Self::HeaderContent => {
                "request-parameter"
            }
            Self::ParameterProperty => "request-parameter-property",
            Self::HeaderProperty => "request-header-property",
            Self::RequestReadOnly => "request-read-only-property",
            Self::ResponseBody => "response-body",
            Self::ResponseProperty => "response-property",
            Self::ResponseHeader => "response-header",
            Self::ResponseWriteOnly => "response-write-only-property",
        }
    }

    /// Which way its values go.
    pub(crate) const fn direction(self) -> Direction {
        match self {
            Self::ResponseBody | Self::ResponseProperty | Self::ResponseHeader | Self::ResponseWriteOnly => {
                Direction::Response
            }
            _ => Direction::Request,
        }
    }

    /// The site of what is inside.
    pub(crate) const fn inner(self) -> Self {
        match self {
            Self::RequestBody => Self::RequestProperty,
            Self::Parameter | Self::ParameterContent => Self::ParameterProperty,
            Self::HeaderParameter | Self::HeaderContent => Self::HeaderProperty,
            Self::ResponseBody => Self::ResponseProperty,
            other => other,
        }
    }

    /// The site of a property that this side never sends.
    pub(crate) const fn unsent(self) -> Self {
        match self.direction() {
            Direction::Request => Self::RequestReadOnly,
            Direction::Response => Self::ResponseWriteOnly,
        }
    }

    /// Whether it is a parameter itself.
    pub(crate) const fn is_parameter(self) -> bool {
        self.is_text() || matches!(self, Self::ParameterContent | Self::HeaderContent)
    }

    /// Whether it is a text, whatever its type: in a URL or a header nothing tells a number from its digits.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::Parameter | Self::HeaderParameter)
    }

    /// Whether nothing of it is ever sent, so that no change breaks anyone.
    pub(crate) const fn is_unsent(self) -> bool {
        matches!(self, Self::RequestReadOnly | Self::ResponseWriteOnly)
    }

    /// The id of a rule about schemas.
    pub(crate) fn id(self, word: &str) -> String {
        match (self, word) {
            (_, "unclassified-change") => word.to_owned(),
            // oasdiff calls this one otherwise.
            (Self::ResponseBody, "enum-value-removed") => "response-mediatype-enum-value-removed".to_owned(),
            _ => format!("{}-{word}", self.prefix()),
        }
    }
}

/// What a change does to the set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Fewer values are valid.
    Narrows,
    /// More values are valid.
    Widens,
    /// Other values are valid.
    Alters,
    /// The values stay.
    Notes,
}

/// What a change of a schema is about: it chooses the sentences that explain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Types and formats.
    Types,
    /// Enums, constants and defaults.
    Values,
    /// Lengths, counts, ranges and patterns.
    Bounds,
    /// Which properties there are, and which must be there.
    Properties,
    /// Alternatives and conditions.
    Structure,
    /// Deprecation.
    Lifecycle,
}

/// The mirror of a rule: what the same change is called when it is made the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "the tests hold that every rule has its mirror"))]
pub(crate) enum Mirror {
    /// Another rule, or this one itself.
    Of(&'static str),
    /// There is none, for this reason.
    None(&'static str),
}

/// One kind of change of a schema: a rule for each [`Site`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aspect {
    /// What the id ends with.
    pub word: &'static str,
    /// What it is about.
    pub topic: Topic,
    /// What it does.
    pub effect: Effect,
    /// What it is called the other way round.
    #[cfg_attr(not(test), allow(dead_code, reason = "the tests hold that every rule has its mirror"))]
    pub mirror: Mirror,
    /// The level in requests, where it does not follow from the effect.
    pub request: Option<Level>,
    /// The level in responses, where it does not follow from the effect.
    pub response: Option<Level>,
}

impl Aspect {
    /// A change whose levels follow from its effect.
    pub(crate) const fn new(topic: Topic, effect: Effect, word: &'static str, mirror: &'static str) -> Self {
        Self { word, topic, effect, mirror: Mirror::Of(mirror), request: None, response: None }
    }

    /// The same, with a level of its own in requests.
    pub(crate) const fn in_requests(mut self, level: Level) -> Self {
        self.request = Some(level);
        self
    }

    /// The same, with a level of its own in responses.
    pub(crate) const fn in_responses(mut self, level: Level) -> Self {
        self.response = Some(level);
        self
    }

    /// The same, without a mirror.
    pub(crate) const fn one_way(mut self, reason: &'static str) -> Self {
        self.mirror = Mirror::None(reason);
        self
    }

    /// How bad it is at a site.
    pub(crate) fn level(&self, site: Site) -> Level {
        if site.is_unsent() {
            return Level::Info;
        }
        if site.is_parameter() && self.word.starts_with("default-value-") {
            return Level::Error;
        }
        let own = match site.direction() {
            Direction::Request => self.request,
            Direction::Response => self.response,
        };
        own.unwrap_or(match (self.effect, site.direction()) {
            (Effect::Narrows, Direction::Request)
            | (Effect::Widens, Direction::Response)
            | (Effect::Alters, _) => Level::Error,
            _ => Level::Info,
        })
    }
}

/// A rule that is about anything but a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// Its id.
    pub id: &'static str,
    /// How bad its finding is.
    pub level: Level,
    /// What it is called the other way round.
    #[cfg_attr(not(test), allow(dead_code, reason = "the tests hold that every rule has its mirror"))]
    pub mirror: Mirror,
    /// Who breaks, and why; empty when nobody does.
    pub who: &'static str,
    /// How to make the change without breaking; empty when it is harmless.
    pub instead: &'static str,
}

impl Rule {
    /// A rule whose finding closes the gate.
    pub(crate) const fn error(
        id: &'static str,
        mirror: Mirror,
        who: &'static str,
        instead: &'static str,
    ) -> Self {
        Self { id, level: Level::Error, mirror, who, instead }
    }

    /// A rule whose finding is worth a look.
    pub(crate) const fn warning(
        id: &'static str,
        mirror: Mirror,
        who: &'static str,
        instead: &'static str,
    ) -> Self {
        Self { id, level: Level::Warning, mirror, who, instead }
    }

    /// A rule whose finding is news.
    pub(crate) const fn info(id: &'static str, mirror: Mirror) -> Self {
        Self { id, level: Level::Info, mirror, who: "", instead: "" }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}
