//! Rules: id, level, impact on clients and remedy.
//!
//! Most rules about schemas are [`SchemaRule`]s, which have an id and a level for each [`SchemaSite`]; every other rule
//! is a [`Rule`]. A rule that oasdiff (Apache-2.0, <https://github.com/oasdiff/oasdiff>) also has gets the id of
//! oasdiff, and at least its level.

use std::fmt;

use serde::Serialize;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Breaks no client.
    Info,
    /// May break some clients; the breaking-change gate (`cargo xtask breaking`) passes.
    Warning,
    /// Breaks clients; the breaking-change gate fails.
    Error,
}

/// The direction in which a value is sent. For a webhook or callback, the receiver is the client, so the request of the
/// server has the direction `Response`, and the response of the receiver has the direction `Request`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// From client to server: the set of accepted values may be widened, not narrowed.
    Request,
    /// From server to client: the set of sent values may be narrowed, not widened.
    Response,
}

/// Where in a request or response a schema is used. If a change of a shared schema is found at several sites with the
/// same direction and level, the first site in this order names the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SchemaSite {
    /// A request body.
    RequestBody,
    /// A property or item in a request body.
    RequestProperty,
    /// A parameter.
    Parameter,
    /// A header parameter.
    HeaderParameter,
    /// A parameter that is serialized as a media type (`content`).
    ParameterContent,
    /// A header parameter that is serialized as a media type (`content`).
    HeaderContent,
    /// A property or item in a parameter.
    ParameterProperty,
    /// A property or item in a header parameter.
    HeaderProperty,
    /// A property or item in a parameter that is serialized as a media type.
    ParameterContentProperty,
    /// A property or item in a header parameter that is serialized as a media type.
    HeaderContentProperty,
    /// A read-only property in a request, or a property or item in one. Clients do not send it.
    RequestReadOnly,
    /// A response body.
    ResponseBody,
    /// A property or item in a response body.
    ResponseProperty,
    /// A response header, or a property or item in one.
    ResponseHeader,
    /// A response header that is serialized as a media type (`content`), or a property or item in one.
    ResponseHeaderContent,
    /// A write-only property in a response, or a property or item in one. The server does not send it.
    ResponseWriteOnly,
}

impl SchemaSite {
    /// All sites.
    pub(crate) const ALL: [Self; 16] = [
        Self::RequestBody,
        Self::RequestProperty,
        Self::Parameter,
        Self::HeaderParameter,
        Self::ParameterContent,
        Self::HeaderContent,
        Self::ParameterProperty,
        Self::HeaderProperty,
        Self::ParameterContentProperty,
        Self::HeaderContentProperty,
        Self::RequestReadOnly,
        Self::ResponseBody,
        Self::ResponseProperty,
        Self::ResponseHeader,
        Self::ResponseHeaderContent,
        Self::ResponseWriteOnly,
    ];

    /// Returns the prefix of the rule ids at this site.
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::RequestBody => "request-body",
            Self::RequestProperty => "request-property",
            Self::Parameter | Self::HeaderParameter | Self::ParameterContent | Self::HeaderContent => {
                "request-parameter"
            }
            Self::ParameterProperty | Self::ParameterContentProperty => "request-parameter-property",
            Self::HeaderProperty | Self::HeaderContentProperty => "request-header-property",
            Self::RequestReadOnly => "request-read-only-property",
            Self::ResponseBody => "response-body",
            Self::ResponseProperty => "response-property",
            Self::ResponseHeader | Self::ResponseHeaderContent => "response-header",
            Self::ResponseWriteOnly => "response-write-only-property",
        }
    }

    /// Returns the direction in which values at this site are sent.
    pub(crate) const fn direction(self) -> Direction {
        match self {
            Self::ResponseBody
            | Self::ResponseProperty
            | Self::ResponseHeader
            | Self::ResponseHeaderContent
            | Self::ResponseWriteOnly => Direction::Response,
            _ => Direction::Request,
        }
    }

    /// Returns the site of properties and items of a schema at this site.
    pub(crate) const fn inner(self) -> Self {
        match self {
            Self::RequestBody => Self::RequestProperty,
            Self::Parameter => Self::ParameterProperty,
            Self::HeaderParameter => Self::HeaderProperty,
            Self::ParameterContent => Self::ParameterContentProperty,
            Self::HeaderContent => Self::HeaderContentProperty,
            Self::ResponseBody => Self::ResponseProperty,
            site => site,
        }
    }

    /// Returns the site of properties that are never sent in the direction of this site.
    pub(crate) const fn never_sent(self) -> Self {
        match self.direction() {
            Direction::Request => Self::RequestReadOnly,
            Direction::Response => Self::ResponseWriteOnly,
        }
    }

    /// Whether the schema describes a whole parameter.
    pub(crate) const fn is_parameter(self) -> bool {
        matches!(self, Self::Parameter | Self::HeaderParameter | Self::ParameterContent | Self::HeaderContent)
    }

    /// Whether values are sent as plain text, in a URL or a header. Text has no `null`, and the number 1 and the string
    /// `1` are the same.
    pub(crate) const fn is_plain_text(self) -> bool {
        matches!(
            self,
            Self::Parameter
                | Self::HeaderParameter
                | Self::ParameterProperty
                | Self::HeaderProperty
                | Self::ResponseHeader
        )
    }

    /// Whether values at this site are never sent, so that no change of their schema breaks a client.
    pub(crate) const fn is_never_sent(self) -> bool {
        matches!(self, Self::RequestReadOnly | Self::ResponseWriteOnly)
    }

    /// Returns the id of a schema rule at this site.
    pub(crate) fn id(self, suffix: &str) -> String {
        match (self, suffix) {
            (_, "unclassified-change") => suffix.to_owned(),
            // oasdiff uses another name for this rule.
            (Self::ResponseBody, "enum-value-removed") => "response-mediatype-enum-value-removed".to_owned(),
            _ => format!("{}-{suffix}", self.prefix()),
        }
    }
}

/// The effect of a change on the set of valid values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueEffect {
    /// The set is narrowed.
    Narrows,
    /// The set is widened.
    Widens,
    /// The new set is neither a subset nor a superset of the old one, or this is unknown.
    Alters,
    /// The set stays the same.
    Neutral,
}

/// The subject of a schema rule. Together with the direction, it selects the impact and remedy of a finding, unless the
/// module `advice` has specific ones for the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Types and formats.
    JsonTypes,
    /// Enums, constants and defaults.
    Values,
    /// Lengths, counts, ranges, multiples, unique items and patterns.
    Bounds,
    /// Properties, and which of them are required.
    Properties,
    /// Alternatives, discriminators, conditions, items and all keywords without another topic.
    Structure,
    /// Deprecation, sunset and stability.
    Lifecycle,
}

/// The inverse of a rule: the rule that reports the same change when the two compared contracts, base (old) and
/// revision (new), are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "only tests read the inverse"))]
pub(crate) enum Inverse {
    /// Another rule, or the rule itself.
    Of(&'static str),
    /// The rule has no inverse, for this reason.
    None(&'static str),
}

/// One kind of schema change: a rule for each [`SchemaSite`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchemaRule {
    /// The rule id without the prefix of the site.
    pub suffix: &'static str,
    /// The subject.
    pub topic: Topic,
    /// The effect on the set of valid values.
    pub effect: ValueEffect,
    /// The inverse rule.
    #[cfg_attr(not(test), allow(dead_code, reason = "only tests read the inverse"))]
    pub inverse: Inverse,
    /// The level in requests, if it does not follow from the effect.
    pub request: Option<Level>,
    /// The level in responses, if it does not follow from the effect.
    pub response: Option<Level>,
}

impl SchemaRule {
    /// Creates a rule whose levels follow from its effect.
    pub(crate) const fn new(
        topic: Topic,
        effect: ValueEffect,
        suffix: &'static str,
        inverse: &'static str,
    ) -> Self {
        Self { suffix, topic, effect, inverse: Inverse::Of(inverse), request: None, response: None }
    }

    /// Overrides the level in requests.
    pub(crate) const fn in_requests(mut self, level: Level) -> Self {
        self.request = Some(level);
        self
    }

    /// Overrides the level in responses.
    pub(crate) const fn in_responses(mut self, level: Level) -> Self {
        self.response = Some(level);
        self
    }

    /// Declares that the rule has no inverse.
    pub(crate) const fn without_inverse(mut self, reason: &'static str) -> Self {
        self.inverse = Inverse::None(reason);
        self
    }

    /// Whether the rule is about the set of valid values, so that it breaks no client if all values remain compatible.
    pub(crate) fn is_about_valid_values(&self) -> bool {
        let other_subjects = [
            "default-value-",
            "x-extensible-enum",
            "enum-opened",
            "enum-closed",
            "discriminator",
            "unclassified",
        ];
        self.topic != Topic::Lifecycle && !other_subjects.iter().any(|start| self.suffix.starts_with(start))
    }

    /// Returns the level of the rule at a site.
    pub(crate) fn level(&self, site: SchemaSite) -> Level {
        if site.is_never_sent() {
            return Level::Info;
        }
        // The default applies to requests without the parameter, so its changes affect clients that omit the parameter.
        if site.is_parameter() && self.suffix.starts_with("default-value-") {
            return Level::Error;
        }
        let level_override = match site.direction() {
            Direction::Request => self.request,
            Direction::Response => self.response,
        };
        level_override.unwrap_or(match (self.effect, site.direction()) {
            (ValueEffect::Narrows, Direction::Request)
            | (ValueEffect::Widens, Direction::Response)
            | (ValueEffect::Alters, _) => Level::Error,
            _ => Level::Info,
        })
    }
}

/// A rule that is not a [`SchemaRule`]: it has one id and one level, not one for each site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The rule id.
    pub id: &'static str,
    /// The default level of its findings.
    pub level: Level,
    /// The inverse rule.
    #[cfg_attr(not(test), allow(dead_code, reason = "only tests read the inverse"))]
    pub inverse: Inverse,
    /// How clients can break; empty at level info, unless a policy raises the level.
    pub impact: &'static str,
    /// How to avoid the break; empty at level info, unless a policy raises the level.
    pub remedy: &'static str,
}

impl Rule {
    /// Creates a rule at level error.
    pub(crate) const fn error(
        id: &'static str,
        inverse: Inverse,
        impact: &'static str,
        remedy: &'static str,
    ) -> Self {
        Self { id, level: Level::Error, inverse, impact, remedy }
    }

    /// Creates a rule at level warning.
    pub(crate) const fn warning(
        id: &'static str,
        inverse: Inverse,
        impact: &'static str,
        remedy: &'static str,
    ) -> Self {
        Self { id, level: Level::Warning, inverse, impact, remedy }
    }

    /// Creates a rule at level info.
    pub(crate) const fn info(id: &'static str, inverse: Inverse) -> Self {
        Self { id, level: Level::Info, inverse, impact: "", remedy: "" }
    }

    /// Creates a rule at level info that a policy raises.
    pub(crate) const fn expectation(
        id: &'static str,
        inverse: Inverse,
        impact: &'static str,
        remedy: &'static str,
    ) -> Self {
        Self { id, level: Level::Info, inverse, impact, remedy }
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
