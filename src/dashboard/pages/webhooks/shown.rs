//! Bytes from outside as a page may show them: as text where they are text, as digits where they are not.

use std::fmt::Write as _;

/// Bytes of an answer that are kept.
const KEPT: usize = 16 * 1024;
/// Bytes that are shown as digits, and how many of them in a line.
const DIGITS: usize = 512;
const LINE: usize = 16;

/// What there is to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    /// The text, still to be escaped; empty when there is none.
    pub(super) text: String,
    /// Whether the text is digits, in lines that are not to be broken.
    pub(super) digits: bool,
    /// What is to be known about it; empty when it is all there is.
    pub(super) note: String,
}

/// The bytes to read. `cut` says that they are of an answer, of which the first 16 KiB are kept: with so many, there
/// may have been more.
pub(super) fn shown(bytes: &[u8], cut: bool) -> Shown {
    let cut = cut && bytes.len() >= KEPT;
    let rest = if cut { "The first 16 KiB of an answer are kept. " } else { "" };
    if bytes.is_empty() {
        return text(String::new(), "empty.".to_owned());
    }
    if bytes.iter().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r')) {
        let many = bytes.len();
        let part = if many > DIGITS { format!("; the first {DIGITS} are shown") } else { String::new() };
        let note = format!("{rest}{many} bytes that are no text{part}.");
        return Shown { text: digits(&bytes[..many.min(DIGITS)]), digits: true, note };
    }
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match std::str::from_utf8(bytes) {
        Ok(whole) => text(whole.to_owned(), rest.trim_end().to_owned()),
        // The cut may go through a character.
        Err(error) if cut && error.error_len().is_none() => {
            text(lossy(&bytes[..error.valid_up_to()]), rest.trim_end().to_owned())
        }
        Err(_) => {
            let note = format!("{rest}Not UTF-8: what cannot be read as such stands as \u{fffd}.");
            text(lossy(bytes), note)
        }
    }
}

const fn text(text: String, note: String) -> Shown {
    Shown { text, digits: false, note }
}

/// The bytes as hexadecimal digits, in lines that begin with the place and end with what is readable.
fn digits(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (number, line) in bytes.chunks(LINE).enumerate() {
        let _ = write!(text, "{:04x} ", number * LINE);
        for byte in line {
            let _ = write!(text, " {byte:02x}");
        }
        let readable =
            |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
        let gap = 3 * (LINE - line.len()) + 2;
        let _ = writeln!(text, "{:gap$}{}", "", line.iter().map(readable).collect::<String>());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> (String, String) {
        let Shown { text, note, .. } = shown(bytes, true);
        (text, note)
    }

    fn pair(text: &str, note: &str) -> (String, String) {
        (text.to_owned(), note.to_owned())
    }

    #[test]
    fn text_is_shown_to_the_byte() {
        assert_eq!(told(b"{\"a\": 1}\r\n"), pair("{\"a\": 1}\r\n", ""));
        assert_eq!(told("gr\u{fc}n \u{1f600}".as_bytes()), pair("gr\u{fc}n \u{1f600}", ""));
        assert_eq!(told(b""), pair("", "empty."));
    }

    #[test]
    fn another_charset_is_told() {
        let (text, note) = told(b"gr\xfcn");
        assert_eq!(text, "gr\u{fffd}n");
        assert!(note.starts_with("Not UTF-8"), "{note}");
    }

    #[test]
    fn what_is_no_text_is_shown_as_digits() {
        let (text, note) = told(b"\x1f\x8b\x08\0<script>alert(1)</script>");
        insta::assert_snapshot!(text, @r"
        0000  1f 8b 08 00 3c 73 63 72 69 70 74 3e 61 6c 65 72  ....<script>aler
        0010  74 28 31 29 3c 2f 73 63 72 69 70 74 3e           t(1)</script>
        ");
        assert_eq!(note, "29 bytes that are no text.");
        let (text, note) = told(&[0; KEPT]);
        assert_eq!(text.lines().count(), DIGITS / LINE);
        assert_eq!(
            note,
            "The first 16 KiB of an answer are kept. 16384 bytes that are no text; the first 512 are shown."
        );
    }

    #[test]
    fn a_cut_through_a_character_is_no_fault() {
        let mut bytes = vec![b'a'; KEPT - 1];
        bytes.push(0xc3);
        assert_eq!(told(&bytes).1, "The first 16 KiB of an answer are kept.");
        assert!(shown(&bytes, false).note.starts_with("Not UTF-8"));
    }
}
