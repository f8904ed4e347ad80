//! Reads a query string strictly.
//!
//! Owns percent-decoding and the finding of empty and repeated parameters. Which parameters exist is the
//! contract's to say.

use std::borrow::Cow;

use super::{Fault, Faults, Part};

/// One parameter, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The parameters in the order they were sent. Those that cannot be read, and those that are repeated though they are
/// no lists, are reported and left out.
pub fn read(query: &str, is_list: impl Fn(&str) -> bool, faults: &mut Faults) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut repeated: Vec<String> = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        if pairs.len() + faults.len() >= MOST {
            faults.push(fault("", &format!("has more than {MOST} parameters; what follows was not read")));
            break;
        }
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let (Ok(name), value) = (decode(name), decode(value)) else {
            faults.push(fault(name, "is not a valid percent-encoded name"));
            continue;
        };
        if pairs.iter().any(|pair| pair.name == name) && !is_list(&name) {
            if !repeated.contains(&name) {
                faults.push(fault(&name, "is given more than once"));
                repeated.push(name);
            }
            continue;
        }
        match value {
            Err(Malformed) => faults.push(fault(&name, "is not valid percent-encoded UTF-8")),
            Ok(value) => pairs.push(Pair { name, value }),
        }
    }
    pairs
}

fn fault(name: &str, message: &str) -> Fault {
    Fault { place: Part::Query, field: super::shorten(name).into_owned(), message: message.to_owned() }
}

/// Parameters read of one query.
const MOST: usize = 64;

struct Malformed;

/// A segment of a path as it was meant; `None` when it is not valid percent-encoded UTF-8.
pub fn decode_segment(text: &str) -> Option<String> {
    // In a path a plus is a plus (RFC 3986, 3.3).
    if text.contains('+') { decode(&text.replace('+', "%2B")).ok() } else { decode(text).ok() }
}

/// A name or value as it was meant: `+` is a blank, `%` and two hexadecimal digits are a byte.
fn decode(text: &str) -> Result<String, Malformed> {
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
                let [high, low, tail @ ..] = rest else { return Err(Malformed) };
                rest = tail;
                hex(*high)? << 4 | hex(*low)?
            }
            byte => *byte,
        });
    }
    String::from_utf8(decoded).map_err(|_| Malformed)
}

fn hex(digit: u8) -> Result<u8, Malformed> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok()).ok_or(Malformed)
}

/// A value as it is written into a query string.
pub fn encode(value: &str) -> Cow<'_, str> {
    fn plain(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
    }
    if value.bytes().all(plain) {
        return Cow::Borrowed(value);
    }
    let mut text = String::with_capacity(value.len() + 8);
    for byte in value.bytes() {
        if plain(byte) {
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

    fn reading(query: &str) -> (Vec<(String, String)>, Vec<String>) {
        let mut faults = Faults::new();
        let pairs = read(query, |name| name == "list", &mut faults)
            .into_iter()
            .map(|pair| (pair.name, pair.value))
            .collect();
        (pairs, faults.into_iter().map(|fault| format!("{} {}", fault.field, fault.message)).collect())
    }

    #[test]
    fn a_parameter_given_twice_is_one_fault() {
        let (pairs, faults) = reading("a=1&b=2&a=3&a=4");
        assert_eq!(pairs, [("a".into(), "1".into()), ("b".into(), "2".into())]);
        assert_eq!(faults, ["a is given more than once"]);
    }

    #[test]
    fn a_list_is_given_item_by_item() {
        let (pairs, faults) = reading("list=1&a=2&list=3");
        assert_eq!(
            pairs,
            [("list".into(), "1".into()), ("a".into(), "2".into()), ("list".into(), "3".into())]
        );
        assert_eq!(faults, [""; 0]);
    }

    #[test]
    fn broken_encoding_is_refused() {
        assert_eq!(reading("a=%ff").1, ["a is not valid percent-encoded UTF-8"]);
        assert_eq!(reading("a=%4").1, ["a is not valid percent-encoded UTF-8"]);
        assert_eq!(reading("a=%+1").1, ["a is not valid percent-encoded UTF-8"]);
        assert_eq!(reading("%zz=1").1, ["%zz is not a valid percent-encoded name"]);
    }

    #[test]
    fn plus_is_a_blank() {
        assert_eq!(reading("a=x+y%2Bz").0, [("a".into(), "x y+z".into())]);
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(value in "\\PC*") {
            prop_assert_eq!(decode(&encode(&value)).ok(), Some(value));
        }
    }
}
