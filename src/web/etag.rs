//! Computes weak entity tags of bodies and compares them with `If-None-Match`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use poem::http::{HeaderMap, HeaderValue, header};
use xxhash_rust::xxh3::xxh3_128;

/// Returns the weak entity tag of a body. It does not depend on the content coding.
///
/// Entity tags need no cryptographic hash, so this uses a fast 128-bit hash.
pub fn compute(body: &[u8]) -> HeaderValue {
    let digest = xxh3_128(body).to_be_bytes();
    let mut tag = [b'"'; 27];
    tag[0] = b'W';
    tag[1] = b'/';
    // The 16 bytes of the digest are 22 characters in base64.
    let written = URL_SAFE_NO_PAD.encode_slice(digest, &mut tag[3..26]).unwrap_or(0);
    HeaderValue::from_bytes(&tag[..3 + written + 1]).unwrap_or(HeaderValue::from_static("W/\"\""))
}

/// Returns whether `If-None-Match` contains this tag, by weak comparison (RFC 9110, section 13.1.2).
pub fn matches(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let without_weak_prefix = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag).to_vec();
    let expected = without_weak_prefix(tag.as_bytes());
    headers.get_all(header::IF_NONE_MATCH).iter().any(|line| {
        line.as_bytes().trim_ascii() == b"*"
            || quoted_tags(line.as_bytes()).any(|tag| tag == expected.as_slice())
    })
}

/// Returns the tags of a comma-separated list, with their quotes but without `W/`.
fn quoted_tags(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.iter().position(|byte| *byte == b'"')?;
        let length = rest[start + 1..].iter().position(|byte| *byte == b'"')? + 2;
        let tag = &rest[start..start + length];
        rest = &rest[start + length..];
        Some(tag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(lines: &[&'static str], tag: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::IF_NONE_MATCH, HeaderValue::from_static(line));
        }
        matches(&headers, &HeaderValue::from_static(tag))
    }

    #[test]
    fn a_tag_is_weak_and_depends_on_the_body() {
        let tag = compute(b"{}");
        assert_eq!(tag, compute(b"{}"));
        assert_ne!(tag, compute(b"{} "));
        let text = tag.to_str().unwrap();
        assert!(text.starts_with("W/\"") && text.ends_with('"') && text.len() == 26, "{text}");
    }

    #[test]
    fn tags_are_compared_weakly_in_any_list() {
        for lines in [
            &["W/\"a\""][..],
            &["\"a\""],
            &["\"x\", W/\"a\" , \"y\""],
            &["\"x\"", "\"a\""],
            &["*"],
            &["\",\", \"a\""],
        ] {
            assert!(is_match(lines, "W/\"a\""), "{lines:?}");
        }
        for lines in [&[][..], &["\"b\""], &["a"], &["\"a"], &["W/\"\""]] {
            assert!(!is_match(lines, "W/\"a\""), "{lines:?}");
        }
    }
}
