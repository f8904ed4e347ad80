//! The format `date-time` as the API takes it: RFC 3339 with an offset, and no leap second.

use jiff::Timestamp;

/// Why a text is not a time, as the end of a sentence that begins with the field's name.
///
/// # Errors
/// The reason.
pub(super) fn check(text: &str) -> Result<(), &'static str> {
    const FORM: &str = "must be an RFC 3339 time with its offset from UTC, such as `2026-02-14T09:12:45Z`";
    let bytes = text.as_bytes();
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let Some((head, mut tail)) = bytes.split_at_checked(shape.len()) else { return Err(FORM) };
    let fits = head.iter().zip(shape).all(|(byte, want)| match want {
        b'd' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b't'),
        want => byte == want,
    });
    if !fits {
        return Err(FORM);
    }
    if let [b'.', digits @ ..] = tail {
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(FORM);
        }
        if count > 9 {
            return Err("must not have more than nine digits of a second");
        }
        tail = &digits[count..];
    }
    match tail {
        [b'Z' | b'z'] => {}
        [b'+' | b'-', h1, h2, b':', m1, m2] if [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit()) => {
            if (h1, h2) > (&b'2', &b'3') || *m1 > b'5' {
                return Err("names an offset from UTC that does not exist");
            }
        }
        [] => return Err("must name its offset from UTC: end it with `Z` or, say, `+01:00`"),
        [b' ', ..] => {
            return Err("has a blank where its offset should be; in a query string write `+` as `%2B`");
        }
        _ => return Err(FORM),
    }
    if head.ends_with(b"60") {
        return Err("must not be a leap second (`:60`)");
    }
    match text.parse::<Timestamp>() {
        Ok(_) => Ok(()),
        Err(_) => Err("is not a time that exists"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_3339_is_taken() {
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
    fn each_wrong_time_is_told_why() {
        let why = |text: &str| check(text).unwrap_err();
        assert!(why("2026-02-14T09:12:45").starts_with("must name its offset"));
        assert!(why("2026-02-14T09:12:45 01:00").starts_with("has a blank"));
        assert!(why("2016-12-31T23:59:60Z").contains("leap second"));
        assert!(why("2026-02-30T00:00:00Z").contains("exists"));
        assert!(why("2026-02-14T24:00:00Z").contains("exists"));
        assert!(why("2026-02-14T09:12:45+24:00").contains("offset"));
        for text in [
            "",
            "2026-02-14",
            "yesterday",
            "2026-02-14 09:12:45Z",
            "20260214T091245Z",
            "2026-02-14T09:12:45.Z",
        ] {
            assert!(why(text).starts_with("must be an RFC 3339 time"), "{text}");
        }
    }
}
