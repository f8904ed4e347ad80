//! Displays untrusted bytes: as text if they are text, otherwise in hexadecimal.

use std::fmt::Write as _;

/// Maximum number of bytes of a response that the delivery log stores. A body of this size counts as truncated.
const MAX_STORED_BYTES: usize = 16 * 1024;
/// Maximum number of bytes shown in hexadecimal, and bytes per line.
const MAX_SHOWN_BYTES: usize = 512;
const BYTES_PER_LINE: usize = 16;

/// A body, ready to be displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DisplayedBody {
    /// The text, not yet escaped; empty if the body is empty.
    pub(super) text: String,
    /// Whether the text is hexadecimal, in lines that must not wrap.
    pub(super) is_hexadecimal: bool,
    /// A note about the body; empty if the text is the whole body.
    pub(super) note: String,
}

/// Returns the bytes as text. Of a response (`is_response`), only the first 16 KiB are stored; requests are complete.
pub(super) fn display(bytes: &[u8], is_response: bool) -> DisplayedBody {
    let is_truncated = is_response && bytes.len() >= MAX_STORED_BYTES;
    let prefix = if is_truncated { "Only the first 16 KiB of a response are stored. " } else { "" };
    if bytes.is_empty() {
        return text(String::new(), "empty.".to_owned());
    }
    if bytes.iter().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r')) {
        let length = bytes.len();
        let part = if length > MAX_SHOWN_BYTES {
            format!("; the first {MAX_SHOWN_BYTES} are shown")
        } else {
            String::new()
        };
        let note = format!("{prefix}{length} bytes of binary data{part}.");
        return DisplayedBody {
            text: hexadecimal(&bytes[..length.min(MAX_SHOWN_BYTES)]),
            is_hexadecimal: true,
            note,
        };
    }
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match std::str::from_utf8(bytes) {
        Ok(whole) => text(whole.to_owned(), prefix.trim_end().to_owned()),
        // The truncation may split a character.
        Err(error) if is_truncated && error.error_len().is_none() => {
            text(lossy(&bytes[..error.valid_up_to()]), prefix.trim_end().to_owned())
        }
        Err(_) => {
            let note = format!("{prefix}Not UTF-8: invalid bytes are shown as \u{fffd}.");
            text(lossy(bytes), note)
        }
    }
}

const fn text(text: String, note: String) -> DisplayedBody {
    DisplayedBody { text, is_hexadecimal: false, note }
}

/// Formats bytes in hexadecimal, in lines with offset and readable characters.
fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (number, line) in bytes.chunks(BYTES_PER_LINE).enumerate() {
        let _ = write!(text, "{:04x} ", number * BYTES_PER_LINE);
        for byte in line {
            let _ = write!(text, " {byte:02x}");
        }
        let readable =
            |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
        let gap = 3 * (BYTES_PER_LINE - line.len()) + 2;
        let _ = writeln!(text, "{:gap$}{}", "", line.iter().map(readable).collect::<String>());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_and_note(bytes: &[u8]) -> (String, String) {
        let DisplayedBody { text, note, .. } = display(bytes, true);
        (text, note)
    }

    fn pair(text: &str, note: &str) -> (String, String) {
        (text.to_owned(), note.to_owned())
    }

    #[test]
    fn text_is_shown_unchanged() {
        assert_eq!(text_and_note(b"{\"a\": 1}\r\n"), pair("{\"a\": 1}\r\n", ""));
        assert_eq!(text_and_note("gr\u{fc}n \u{1f600}".as_bytes()), pair("gr\u{fc}n \u{1f600}", ""));
        assert_eq!(text_and_note(b""), pair("", "empty."));
    }

    #[test]
    fn invalid_utf8_is_reported() {
        let (text, note) = text_and_note(b"gr\xfcn");
        assert_eq!(text, "gr\u{fffd}n");
        assert!(note.starts_with("Not UTF-8"), "{note}");
    }

    #[test]
    fn binary_data_is_shown_in_hexadecimal() {
        let (text, note) = text_and_note(b"\x1f\x8b\x08\0<script>alert(1)</script>");
        insta::assert_snapshot!(text, @r"
        0000  1f 8b 08 00 3c 73 63 72 69 70 74 3e 61 6c 65 72  ....<script>aler
        0010  74 28 31 29 3c 2f 73 63 72 69 70 74 3e           t(1)</script>
        ");
        assert_eq!(note, "29 bytes of binary data.");
        let (text, note) = text_and_note(&[0; MAX_STORED_BYTES]);
        assert_eq!(text.lines().count(), MAX_SHOWN_BYTES / BYTES_PER_LINE);
        assert_eq!(
            note,
            "Only the first 16 KiB of a response are stored. 16384 bytes of binary data; the first 512 are shown."
        );
    }

    #[test]
    fn truncation_inside_a_character_is_not_invalid_utf8() {
        let mut bytes = vec![b'a'; MAX_STORED_BYTES - 1];
        bytes.push(0xc3);
        assert_eq!(text_and_note(&bytes).1, "Only the first 16 KiB of a response are stored.");
        assert!(display(&bytes, false).note.starts_with("Not UTF-8"));
    }
}
