//! Parses query strings strictly, and encodes and decodes percent-encoded values.
//!
//! Reports malformed and repeated parameters. [`Schemas::check_query`](super::schemas::Schemas::check_query) reports
//! parameters that the contract does not declare.

use std::borrow::Cow;

use super::{RequestPart, Violation, Violations};

/// A decoded query parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryParameter {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// Parses the parameters of a query string, in the order they were sent. Reports and omits malformed parameters, and
/// repetitions of parameters that cannot be repeated. `can_repeat` returns whether the parameter with this name can be
/// repeated. Stops with a violation if there are more than 64 parameters.
pub fn parse(
    query: &str,
    can_repeat: impl Fn(&str) -> bool,
    violations: &mut Violations,
) -> Vec<QueryParameter> {
    let mut parameters: Vec<QueryParameter> = Vec::new();
    let mut repeated: Vec<String> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        if parameters.len() + violations.len() >= MAX_PARAMETERS {
            violations.push(violation(
                "",
                &format!("has more than {MAX_PARAMETERS} parameters; the remaining parameters were not read"),
            ));
            break;
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Ok(name), value) = (decode(name), decode(value)) else {
            violations.push(violation(name, "is not a valid percent-encoded name"));
            continue;
        };
        if parameters.iter().any(|parameter| parameter.name == name) && !can_repeat(&name) {
            if !repeated.contains(&name) {
                violations.push(violation(&name, "is specified more than once"));
                repeated.push(name);
            }
            continue;
        }
        match value {
            Err(InvalidEncoding) => violations.push(violation(&name, "is not valid percent-encoded UTF-8")),
            Ok(value) => parameters.push(QueryParameter { name, value }),
        }
    }
    parameters
}

fn violation(name: &str, message: &str) -> Violation {
    Violation {
        part: RequestPart::Query,
        field: super::shorten(name).into_owned(),
        message: message.to_owned(),
    }
}

/// Maximum number of parameters of a query string. Its reported violations count toward this limit, too.
const MAX_PARAMETERS: usize = 64;

/// A string is not valid percent-encoded UTF-8.
struct InvalidEncoding;

/// Decodes a path segment or a cookie value. Returns `None` when it is not valid percent-encoded UTF-8.
pub fn decode_segment(text: &str) -> Option<String> {
    // In a path, a plus sign is not a space (RFC 3986, section 3.3).
    if text.contains('+') { decode(&text.replace('+', "%2B")).ok() } else { decode(text).ok() }
}

/// Decodes a name or a value: `+` is a space, `%` and two hexadecimal digits are a byte.
fn decode(text: &str) -> Result<String, InvalidEncoding> {
    let bytes = text.as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b'%' | b'+')) {
        return Ok(text.to_owned());
    }
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        rest = tail;
        decoded.push(match first {
            b'+' => b' ',
            b'%' => {
                let [high, low, tail @ ..] = rest else { return Err(InvalidEncoding) };
                rest = tail;
                hex_digit(*high)? << 4 | hex_digit(*low)?
            }
            byte => *byte,
        });
    }
    String::from_utf8(decoded).map_err(|_| InvalidEncoding)
}

fn hex_digit(digit: u8) -> Result<u8, InvalidEncoding> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok()).ok_or(InvalidEncoding)
}

/// Percent-encodes a value for use in a URL.
pub fn encode(value: &str) -> Cow<'_, str> {
    fn is_unreserved(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
    }
    if value.bytes().all(is_unreserved) {
        return Cow::Borrowed(value);
    }
    let mut text = String::with_capacity(value.len() + 8);
    for byte in value.bytes() {
        if is_unreserved(byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the parameters and the messages about a query string in which only `list` is a list.
    fn parsed(query: &str) -> (Vec<(String, String)>, Vec<String>) {
        let mut violations = Violations::new();
        let parameters = parse(query, |name| name == "list", &mut violations)
            .into_iter()
            .map(|parameter| (parameter.name, parameter.value))
            .collect();
        (
            parameters,
            violations
                .into_iter()
                .map(|violation| format!("{} {}", violation.field, violation.message))
                .collect(),
        )
    }

    #[test]
    fn a_repeated_parameter_is_one_violation() {
        let (parameters, violations) = parsed("a=1&b=2&a=3&a=4");
        assert_eq!(parameters, [("a".into(), "1".into()), ("b".into(), "2".into())]);
        assert_eq!(violations, ["a is specified more than once"]);
    }

    #[test]
    fn the_name_of_a_list_can_be_repeated() {
        let (parameters, violations) = parsed("list=1&a=2&list=3");
        assert_eq!(
            parameters,
            [("list".into(), "1".into()), ("a".into(), "2".into()), ("list".into(), "3".into())]
        );
        assert_eq!(violations, [""; 0]);
    }

    #[test]
    fn malformed_encoding_is_rejected() {
        assert_eq!(parsed("a=%ff").1, ["a is not valid percent-encoded UTF-8"]);
        assert_eq!(parsed("a=%4").1, ["a is not valid percent-encoded UTF-8"]);
        assert_eq!(parsed("a=%+1").1, ["a is not valid percent-encoded UTF-8"]);
        assert_eq!(parsed("%zz=1").1, ["%zz is not a valid percent-encoded name"]);
    }

    #[test]
    fn a_plus_sign_is_a_space() {
        assert_eq!(parsed("a=x+y%2Bz").0, [("a".into(), "x y+z".into())]);
    }

    proptest! {
        #[test]
        fn encoded_values_are_decoded_again(value in "\\PC*") {
            prop_assert_eq!(decode(&encode(&value)).ok(), Some(value));
        }
    }
}
