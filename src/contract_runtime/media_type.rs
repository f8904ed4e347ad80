//! Compares the media type that a request declares with the one that its operation accepts.

use poem::http::{HeaderMap, header};

use super::contract::{BodyFormat, essence};
use super::router::CallError;

/// Checks that the headers declare an unencoded body of the expected media type. The charset of JSON and text must be
/// UTF-8 if it is declared. Returns the declared media type.
pub(crate) fn check<'h>(headers: &'h HeaderMap, expected: &'static str) -> Result<&'h str, CallError> {
    let error = |header, message| CallError::MediaType { expected, header, message };
    let encoded = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if encoded {
        return Err(error("Content-Encoding", "must be absent: encoded bodies are not supported".to_owned()));
    }
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    match (types.next().map(|value| value.to_str()), types.next()) {
        (Some(Ok(value)), None) if is_media_type(value, expected) => Ok(value),
        _ => Err(error("Content-Type", format!("must be {expected}"))),
    }
}

/// Returns whether a media type is the expected one. If JSON or text has a `charset` parameter, it must be UTF-8.
fn is_media_type(media_type: &str, expected: &str) -> bool {
    let mut parts = media_type.split(';').map(str::trim);
    let is_text = BodyFormat::of(expected) != BodyFormat::Bytes;
    let expected = essence(expected);
    let is_same = parts.next().is_some_and(|essence| match expected.strip_suffix('*') {
        Some("*/") => essence.contains('/'),
        Some(prefix) => essence.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)),
        None => essence.eq_ignore_ascii_case(expected),
    });
    is_same
        && parts.filter(|part| !part.is_empty()).all(|parameter| match parameter.split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
                !is_text || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
            }
            Some(_) => true,
            None => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::JSON;

    #[test]
    fn a_json_media_type_can_declare_utf_8() {
        for accepted in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
        {
            assert!(is_media_type(accepted, JSON), "{accepted}");
        }
        for rejected in [
            "",
            "text/json",
            "application/jsonx",
            "application/vnd.api+json",
            "application/json; charset=latin1",
            "application/json; charset",
            "application/x-www-form-urlencoded",
        ] {
            assert!(!is_media_type(rejected, JSON), "{rejected}");
        }
    }

    #[test]
    fn a_range_accepts_the_types_in_it() {
        for (range, accepted) in
            [("image/*", "image/png"), ("*/*", "text/html; charset=latin1"), ("a/b; c=d", "A/B")]
        {
            assert!(is_media_type(accepted, range), "{accepted} in {range}");
        }
        for (range, rejected) in
            [("image/*", "text/png"), ("image/*", "image"), ("*/*", ""), ("a/b; c=d", "a/c")]
        {
            assert!(!is_media_type(rejected, range), "{rejected} in {range}");
        }
    }
}
