//! Where a chunked body ends (RFC 9112, 7.1).
//!
//! Accepts no body that the HTTP library would end elsewhere. Decodes nothing: the library does.

/// The position in a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunks {
    state: State,
    /// Bytes left of the current chunk, or its size as read so far.
    left: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    FirstDigit,
    Digits,
    Space,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    LineStart,
    Trailer,
    TrailerLf,
    EndLf,
    End,
}

/// The body is not a sequence of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

impl Chunks {
    /// The beginning of a body.
    pub(super) const START: Self = Self { state: State::FirstDigit, left: 0 };

    /// Whether the body has ended.
    pub(super) fn is_end(self) -> bool {
        self.state == State::End
    }

    /// Moves over bytes of the body, to its end at most; returns how many belong to it.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Result<usize, (usize, Malformed)> {
        let mut at = 0;
        while at < bytes.len() && self.state != State::End {
            if self.state == State::Data {
                let rest = bytes.len() - at;
                let taken = usize::try_from(self.left).map_or(rest, |left| left.min(rest));
                at += taken;
                self.left -= taken as u64;
                if self.left == 0 {
                    self.state = State::DataCr;
                }
                continue;
            }
            self.state = self.step(bytes[at]).ok_or((at, Malformed))?;
            at += 1;
        }
        Ok(at)
    }

    /// The state after one byte outside of a chunk's data; `None` when the byte is not allowed.
    fn step(&mut self, byte: u8) -> Option<State> {
        Some(match (self.state, byte) {
            (State::FirstDigit | State::Digits, byte) if byte.is_ascii_hexdigit() => {
                let digit = (byte as char).to_digit(16)?;
                self.left = self.left.checked_mul(16)?.checked_add(u64::from(digit))?;
                State::Digits
            }
            (State::Digits | State::Space, b' ' | b'\t') => State::Space,
            (State::Digits | State::Space, b';') => State::Extension,
            (State::Digits | State::Space | State::Extension, b'\r') => State::SizeLf,
            (State::Extension, byte) if !byte.is_ascii_control() || byte == b'\t' => State::Extension,
            (State::SizeLf, b'\n') if self.left == 0 => State::LineStart,
            (State::SizeLf, b'\n') => State::Data,
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::FirstDigit,
            (State::LineStart, b'\r') => State::EndLf,
            (State::LineStart | State::Trailer, byte) if !byte.is_ascii_control() || byte == b'\t' => {
                State::Trailer
            }
            (State::Trailer, b'\r') => State::TrailerLf,
            (State::TrailerLf, b'\n') => State::LineStart,
            (State::EndLf, b'\n') => State::End,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// How many bytes the body has; `None` when it is malformed or has no end.
    fn length(bytes: &[u8]) -> Option<usize> {
        let mut chunks = Chunks::START;
        let taken = chunks.advance(bytes).ok()?;
        chunks.is_end().then_some(taken)
    }

    #[test]
    fn a_body_ends_after_its_last_chunk_and_trailers() {
        for body in [
            "0\r\n\r\n",
            "5\r\nhello\r\n0\r\n\r\n",
            "00a ;name=\"value\"\r\n0123456789\r\n0;x\r\nTrailer: x\r\n\r\n",
        ] {
            assert_eq!(length(format!("{body}GET /").as_bytes()), Some(body.len()), "{body:?}");
        }
    }

    #[test]
    fn a_body_that_servers_could_read_differently_is_malformed() {
        for body in [
            "\r\n",
            "5\nhello\r\n0\r\n\r\n",
            "5\r\nhello\n0\r\n\r\n",
            "5\r\nhelloX\r\n0\r\n\r\n",
            "5;a\n\r\nhello\r\n0\r\n\r\n",
            "-1\r\n\r\n",
            "0x5\r\nhello\r\n0\r\n\r\n",
            "5 5\r\nhello\r\n0\r\n\r\n",
            " 5\r\nhello\r\n0\r\n\r\n",
            "10000000000000000\r\n",
            "0\r\nTrailer: x\n\r\n",
            "0\r\nTrailer: x\r\r\n",
            "0\r\n\rX",
        ] {
            let mut chunks = Chunks::START;
            assert!(chunks.advance(body.as_bytes()).is_err(), "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn the_end_is_the_same_however_the_bytes_arrive(
            sizes in proptest::collection::vec(1_usize..40, 0..5),
            cut in 1_usize..20,
        ) {
            let mut body = Vec::new();
            for size in sizes {
                body.extend_from_slice(format!("{size:x}\r\n{}\r\n", "x".repeat(size)).as_bytes());
            }
            body.extend_from_slice(b"0\r\n\r\n");
            let mut chunks = Chunks::START;
            for piece in body.chunks(cut) {
                prop_assert!(!chunks.is_end());
                prop_assert_eq!(chunks.advance(piece), Ok(piece.len()));
            }
            prop_assert!(chunks.is_end());
        }
    }
}
