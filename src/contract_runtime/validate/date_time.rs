//! Validates the format `date-time`: RFC 3339 with a UTC offset and without leap seconds.

use jiff::Timestamp;

/// Validates a time.
///
/// # Errors
/// Returns what is wrong, as the end of a sentence that begins with the field's name.
pub(super) fn check(text: &str) -> Result<(), &'static str> {
    const EXPECTED_FORMAT: &str =
        "must be an RFC 3339 time with a UTC offset, such as `2026-02-14T09:12:45Z`";
    let bytes = text.as_bytes();
    // `d` stands for a digit.
    let template = b"dddd-dd-ddTdd:dd:dd";
    let Some((head, mut tail)) = bytes.split_at_checked(template.len()) else { return Err(EXPECTED_FORMAT) };
    let is_well_formed = head.iter().zip(template).all(|(byte, expected)| match expected {
        b'd' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b't'),
        expected => byte == expected,
    });
    if !is_well_formed {
        return Err(EXPECTED_FORMAT);
    }
    if let [b'.', digits @ ..] = tail {
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(EXPECTED_FORMAT);
        }
        if count > 9 {
            return Err("must not have more than nine fractional digits");
        }
        tail = &digits[count..];
    }
    match tail {
        [b'Z' | b'z'] => {}
        [b'+' | b'-', h1, h2, b':', m1, m2] if [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit()) => {
            // At most `23:59`.
            if (h1, h2) > (&b'2', &b'3') || *m1 > b'5' {
                return Err("has an invalid UTC offset");
            }
        }
        [] => return Err("must have a UTC offset: end it with `Z` or an offset such as `+01:00`"),
        [b' ', ..] => {
            return Err("has a space in place of its UTC offset; in a query string, encode `+` as `%2B`");
        }
        _ => return Err(EXPECTED_FORMAT),
    }
    if head.ends_with(b"60") {
        return Err("must not be a leap second (`:60`)");
    }
    match text.parse::<Timestamp>() {
        Ok(_) => Ok(()),
        Err(_) => Err("is not a valid date and time"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339_times_are_valid() {
        for text in [
            "2026-02-14T09:12:45Z",
            "2026-02-14t09:12:45.301z",
            "2026-02-14T09:12:45.123456789+05:30",
            "2024-02-29T00:00:00-23:59",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn each_invalid_time_is_reported_with_its_reason() {
        let error = |text: &str| check(text).unwrap_err();
        assert!(error("2026-02-14T09:12:45").starts_with("must have a UTC offset"));
        assert!(error("2026-02-14T09:12:45 01:00").starts_with("has a space"));
        assert!(error("2016-12-31T23:59:60Z").contains("leap second"));
        assert!(error("2026-02-30T00:00:00Z").contains("valid"));
        assert!(error("2026-02-14T24:00:00Z").contains("valid"));
        assert!(error("2026-02-14T09:12:45+24:00").contains("offset"));
        for text in [
            "",
            "2026-02-14",
            "yesterday",
            "2026-02-14 09:12:45Z",
            "20260214T091245Z",
            "2026-02-14T09:12:45.Z",
        ] {
            assert!(error(text).starts_with("must be an RFC 3339 time"), "{text}");
        }
    }
}
