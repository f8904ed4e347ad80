//! The environment variables of OpenTelemetry. The SDK reads most of them itself, but ignores invalid values; this
//! module reports them instead.

use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use url::Url;

use crate::config::ConfigErrors;

/// The endpoint of all signals: traces are sent to `/v1/traces` below it.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// The complete URL to which traces are sent. Takes precedence.
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
/// How long an export waits for a response by default.
const DEFAULT_TIMEOUT_MS: u64 = 10_000;
/// The number of ended spans that wait for their export by default.
const DEFAULT_QUEUE_SIZE: usize = 2_048;
/// The number of spans of an export by default.
const DEFAULT_BATCH_SIZE: usize = 512;

/// The valid settings of traces that are exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSettings {
    /// How long an export waits for a response.
    pub(super) timeout: Duration,
    /// The maximum number of ended spans that wait for their export.
    pub(super) queue_size: usize,
    /// The value of `OTEL_SERVICE_NAME`.
    pub(super) service_name: Option<String>,
}

/// What a variable may contain.
type Check = fn(&str) -> bool;

/// Variables whose values are checked, with what is expected.
const CHECKS: &[(&[&str], &str, Check)] = &[
    (&[ENDPOINT, TRACES_ENDPOINT], "an http or https URL", is_endpoint),
    (
        &["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"],
        "http/protobuf, the only supported protocol",
        |value| value == "http/protobuf",
    ),
    (&["OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION"], "none or gzip", |value| {
        matches!(value, "none" | "gzip")
    }),
    (
        &["OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"],
        "a positive number of milliseconds",
        is_positive,
    ),
    (
        &["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"],
        "comma-separated headers, such as name=value, with percent-encoded values",
        |value| pairs(value).all(is_header),
    ),
    (&["OTEL_RESOURCE_ATTRIBUTES"], "comma-separated attributes, such as name=value", |value| {
        pairs(value).all(|pair| pair.is_some_and(|(name, _)| !name.is_empty()))
    }),
    (
        &["OTEL_TRACES_SAMPLER"],
        "always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or parentbased_traceidratio",
        |value| {
            let root = value.strip_prefix("parentbased_").unwrap_or(value);
            matches!(root, "always_on" | "always_off" | "traceidratio")
        },
    ),
    (&["OTEL_TRACES_SAMPLER_ARG"], "a number from 0 to 1", |value| {
        value.parse().is_ok_and(|ratio: f64| (0.0..=1.0).contains(&ratio))
    }),
    (&["OTEL_BSP_SCHEDULE_DELAY"], "a positive number of milliseconds", is_positive),
    (
        &[
            "OTEL_BSP_MAX_QUEUE_SIZE",
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
            "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
            "OTEL_SPAN_EVENT_COUNT_LIMIT",
            "OTEL_SPAN_LINK_COUNT_LIMIT",
        ],
        "a number from 1 to 1000000",
        |value| value.parse().is_ok_and(|number: usize| (1..=1_000_000).contains(&number)),
    ),
    (
        &[
            "OTEL_EXPORTER_OTLP_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_CLIENT_KEY",
            "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
        ],
        "no value, since only the root certificates of the system are supported",
        |_| false,
    ),
];

impl TraceSettings {
    /// Reads the environment variables of OpenTelemetry. Returns `None` if traces are not to be exported: unless an
    /// endpoint is set, or if `OTEL_SDK_DISABLED` is `true` or `OTEL_TRACES_EXPORTER` is `none`. The other variables
    /// are then not checked.
    ///
    /// # Errors
    /// Returns an error for each invalid value.
    pub fn from_environment() -> Result<Option<Self>, ConfigErrors> {
        Self::read(|name| {
            std::env::var_os(name).map(|value| value.into_string().unwrap_or("\u{fffd}".into()))
        })
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, ConfigErrors> {
        // An empty value is the same as none.
        let get = |name: &str| variable(name).filter(|value| !value.is_empty());
        let first = |names: [&str; 2]| names.into_iter().find_map(get);
        let is_disabled = get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if is_disabled || first([TRACES_ENDPOINT, ENDPOINT]).is_none() {
            return Ok(None);
        }
        match get("OTEL_TRACES_EXPORTER").as_deref() {
            None | Some("otlp") => {}
            Some("none") => return Ok(None),
            Some(_) => {
                let error = "OTEL_TRACES_EXPORTER: expected otlp or none".to_owned();
                return Err(ConfigErrors(vec![error]));
            }
        }
        let mut errors = Vec::new();
        for (names, expected, is_valid) in CHECKS {
            let invalid = names.iter().filter(|name| get(name).is_some_and(|value| !is_valid(&value)));
            // Values are not repeated, since headers and URLs can contain secrets.
            errors.extend(invalid.map(|name| format!("{name}: expected {expected}")));
        }
        let number = |name: &str, default| get(name).and_then(|value| value.parse().ok()).unwrap_or(default);
        let queue_size = number("OTEL_BSP_MAX_QUEUE_SIZE", DEFAULT_QUEUE_SIZE);
        if errors.is_empty()
            && number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", DEFAULT_BATCH_SIZE.min(queue_size)) > queue_size
        {
            errors
                .push("OTEL_BSP_MAX_EXPORT_BATCH_SIZE: expected at most OTEL_BSP_MAX_QUEUE_SIZE".to_owned());
        }
        if !errors.is_empty() {
            return Err(ConfigErrors(errors));
        }
        let timeout = first(["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"]);
        let timeout_ms = timeout.and_then(|value| value.parse().ok()).unwrap_or(DEFAULT_TIMEOUT_MS);
        let service_name = get("OTEL_SERVICE_NAME");
        Ok(Some(Self { timeout: Duration::from_millis(timeout_ms), queue_size, service_name }))
    }
}

fn is_endpoint(value: &str) -> bool {
    Url::parse(value).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

fn is_positive(value: &str) -> bool {
    value.parse().is_ok_and(|number: u32| number > 0)
}

/// Returns the name and the value of each element of a comma-separated list. `None` stands for an element without `=`.
fn pairs(list: &str) -> impl Iterator<Item = Option<(&str, &str)>> {
    list.split_terminator(',')
        .map(|pair| pair.split_once('=').map(|(name, value)| (name.trim(), value.trim())))
}

fn is_header(pair: Option<(&str, &str)>) -> bool {
    let Some((name, value)) = pair else { return false };
    let value = percent_encoding::percent_decode_str(value).decode_utf8();
    HeaderName::try_from(name).is_ok() && value.is_ok_and(|value| HeaderValue::try_from(&*value).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDPOINT_SET: (&str, &str) = (ENDPOINT, "http://localhost:4318");

    fn read(variables: &[(&str, &str)]) -> Result<Option<TraceSettings>, ConfigErrors> {
        let find = |name: &str| variables.iter().find(|(variable, _)| *variable == name);
        TraceSettings::read(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn traces_are_exported_only_if_an_endpoint_is_set() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[(ENDPOINT, ""), ("OTEL_TRACES_SAMPLER", "x")]), Ok(None));
        assert_eq!(read(&[ENDPOINT_SET, ("OTEL_SDK_DISABLED", "TRUE")]), Ok(None));
        assert_eq!(read(&[ENDPOINT_SET, ("OTEL_TRACES_EXPORTER", "none")]), Ok(None));
        let settings = read(&[ENDPOINT_SET]).unwrap().unwrap();
        assert_eq!((settings.timeout, settings.queue_size), (Duration::from_secs(10), 2_048));
        assert!(read(&[(TRACES_ENDPOINT, "https://traces.example/otlp")]).unwrap().is_some());
    }

    #[test]
    fn valid_values_are_accepted() {
        let settings = read(&[
            ENDPOINT_SET,
            ("OTEL_SDK_DISABLED", "false"),
            ("OTEL_TRACES_EXPORTER", "otlp"),
            ("OTEL_SERVICE_NAME", "school"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc, x-tenant=1"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "500"),
            ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "250"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.namespace=a"),
            ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
            ("OTEL_TRACES_SAMPLER_ARG", "0.1"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "100"),
        ]);
        let timeout = Duration::from_millis(250);
        let expected = TraceSettings { timeout, queue_size: 100, service_name: Some("school".to_owned()) };
        assert_eq!(settings, Ok(Some(expected)));
    }

    #[test]
    fn every_invalid_value_is_reported_without_the_value() {
        let errors = read(&[
            (ENDPOINT, "localhost:4318"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization: Bearer abc"),
            ("OTEL_RESOURCE_ATTRIBUTES", "production"),
            ("OTEL_TRACES_SAMPLER", "xray"),
            ("OTEL_TRACES_SAMPLER_ARG", "10%"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "0"),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/etc/ca.pem"),
        ]);
        insta::assert_snapshot!(errors.unwrap_err());
        let invalid = read(&[ENDPOINT_SET, ("OTEL_TRACES_EXPORTER", "console")]).unwrap_err();
        assert_eq!(invalid.to_string(), "OTEL_TRACES_EXPORTER: expected otlp or none");
        let sizes =
            [ENDPOINT_SET, ("OTEL_BSP_MAX_QUEUE_SIZE", "10"), ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "11")];
        let invalid = read(&sizes).unwrap_err();
        assert_eq!(
            invalid.to_string(),
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE: expected at most OTEL_BSP_MAX_QUEUE_SIZE"
        );
    }
}
