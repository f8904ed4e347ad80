//! Finds the end of a chunked body (RFC 9112, 7.1).
//!
//! Rejects every body whose end the HTTP library could place differently. Decoding is left to the library.

/// The position in a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunks {
    state: ChunkState,
    /// The number of remaining bytes of the current chunk. While the size is read, the value of its digits so far.
    bytes_left: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkState {
    /// Before the first digit of a chunk's size.
    FirstDigit,
    /// After at least one digit of the size.
    Digits,
    /// After whitespace that follows the size.
    Space,
    /// In an extension of the chunk.
    Extension,
    /// Before the LF that ends the line of the size.
    SizeLf,
    /// In the data of a chunk.
    Data,
    /// Before the CR that follows the data.
    DataCr,
    /// Before the LF that follows the data.
    DataLf,
    /// After the last chunk, at the start of a trailer or of the empty line.
    LineStart,
    /// In a trailer.
    Trailer,
    /// Before the LF that ends a trailer.
    TrailerLf,
    /// Before the LF of the empty line.
    EndLf,
    /// After the body.
    End,
}

/// The error of a body that is not a sequence of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MalformedChunk;

impl Chunks {
    /// The position at the start of a body.
    pub(super) const START: Self = Self { state: ChunkState::FirstDigit, bytes_left: 0 };

    /// Returns whether the body has ended.
    pub(super) fn is_end(self) -> bool {
        self.state == ChunkState::End
    }

    /// Advances over bytes up to the end of the body. Returns how many of them belong to the body.
    ///
    /// # Errors
    /// Returns the number of valid bytes before the malformed one.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Result<usize, (usize, MalformedChunk)> {
        let mut position = 0;
        while position < bytes.len() && self.state != ChunkState::End {
            if self.state == ChunkState::Data {
                let available = bytes.len() - position;
                let consumed = usize::try_from(self.bytes_left).map_or(available, |left| left.min(available));
                position += consumed;
                self.bytes_left -= consumed as u64;
                if self.bytes_left == 0 {
                    self.state = ChunkState::DataCr;
                }
                continue;
            }
            self.state = self.step(bytes[position]).ok_or((position, MalformedChunk))?;
            position += 1;
        }
        Ok(position)
    }

    /// Returns the state after one byte outside of a chunk's data, or `None` if the byte is not allowed.
    fn step(&mut self, byte: u8) -> Option<ChunkState> {
        Some(match (self.state, byte) {
            (ChunkState::FirstDigit | ChunkState::Digits, byte) if byte.is_ascii_hexdigit() => {
                let digit = (byte as char).to_digit(16)?;
                self.bytes_left = self.bytes_left.checked_mul(16)?.checked_add(u64::from(digit))?;
                ChunkState::Digits
            }
            (ChunkState::Digits | ChunkState::Space, b' ' | b'\t') => ChunkState::Space,
            (ChunkState::Digits | ChunkState::Space, b';') => ChunkState::Extension,
            (ChunkState::Digits | ChunkState::Space | ChunkState::Extension, b'\r') => ChunkState::SizeLf,
            (ChunkState::Extension, byte) if !byte.is_ascii_control() || byte == b'\t' => {
                ChunkState::Extension
            }
            (ChunkState::SizeLf, b'\n') if self.bytes_left == 0 => ChunkState::LineStart,
            (ChunkState::SizeLf, b'\n') => ChunkState::Data,
            (ChunkState::DataCr, b'\r') => ChunkState::DataLf,
            (ChunkState::DataLf, b'\n') => ChunkState::FirstDigit,
            (ChunkState::LineStart, b'\r') => ChunkState::EndLf,
            (ChunkState::LineStart | ChunkState::Trailer, byte)
                if !byte.is_ascii_control() || byte == b'\t' =>
            {
                ChunkState::Trailer
            }
            (ChunkState::Trailer, b'\r') => ChunkState::TrailerLf,
            (ChunkState::TrailerLf, b'\n') => ChunkState::LineStart,
            (ChunkState::EndLf, b'\n') => ChunkState::End,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the length of the body, or `None` if it is malformed or incomplete.
    fn length(bytes: &[u8]) -> Option<usize> {
        let mut chunks = Chunks::START;
        let consumed = chunks.advance(bytes).ok()?;
        chunks.is_end().then_some(consumed)
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
    fn a_body_that_servers_could_interpret_differently_is_malformed() {
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
