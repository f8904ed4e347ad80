//! Reads numbered lines from a stream. Limits the number of bytes of a line that are stored in memory.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The maximum length of a line, in bytes, without the line break: 256 KiB.
pub const MAX_LINE_BYTES: usize = 256 * 1024;

/// The number of blank lines in a row after which other tasks can run.
const MAX_BLANK_LINES: usize = 1_000;

/// A line without its line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputLine {
    /// The line number, starting at 1. Blank lines count.
    pub number: u64,
    /// The bytes of the line. If it is truncated, its first bytes: more than [`MAX_LINE_BYTES`].
    pub bytes: Vec<u8>,
    /// Whether the line is longer than [`MAX_LINE_BYTES`], so that `bytes` contains only its beginning.
    pub truncated: bool,
}

/// Reads lines. Every method is cancel-safe: a later call continues where a canceled one stopped.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: R,
    /// The number of lines returned so far.
    number: u64,
    /// The bytes of the current line read so far.
    bytes: Vec<u8>,
    /// Whether the line returned most recently was truncated and its end is not reached yet.
    truncated: bool,
    bytes_read: u64,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    /// Creates a reader of lines.
    pub fn new(reader: R) -> Self {
        Self { reader, number: 0, bytes: Vec::new(), truncated: false, bytes_read: 0 }
    }

    /// Returns the number of bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Returns the number of lines returned so far, including blank ones.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the next line that is not blank, or `None` at the end. Skips the rest of a truncated line.
    ///
    /// # Errors
    /// Returns an error when the reader fails.
    pub async fn next(&mut self) -> std::io::Result<Option<InputLine>> {
        let mut blank_lines = 0;
        while let Some(line) = self.next_including_blank().await? {
            if line.truncated || !line.bytes.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(line));
            }
            blank_lines += 1;
            if blank_lines % MAX_BLANK_LINES == 0 {
                super::yield_now().await;
            }
        }
        Ok(None)
    }

    /// Returns the next line, including blank ones.
    async fn next_including_blank(&mut self) -> std::io::Result<Option<InputLine>> {
        while self.read_rest().await?.is_some() {
            // A compressed line can be very long.
            super::yield_now().await;
        }
        loop {
            // Bytes read before this await are stored in `self`, so cancellation loses none.
            let buffer = self.reader.fill_buf().await?;
            let ended = buffer.is_empty();
            let newline = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..newline.unwrap_or(buffer.len())];
            // One more byte than the limit, because it can be the first one of a line break.
            let taken = part.len().min(MAX_LINE_BYTES + 1 - self.bytes.len());
            self.bytes.extend_from_slice(&part[..taken]);
            let can_end_here = taken == part.len() && self.bytes.last() == Some(&b'\r');
            self.truncated = self.bytes.len() > MAX_LINE_BYTES && !can_end_here;
            let has_newline = newline.is_some() && !self.truncated;
            self.consume(taken + usize::from(has_newline));
            if self.truncated || has_newline || (ended && !self.bytes.is_empty()) {
                return Ok(Some(self.finish()));
            }
            if ended {
                return Ok(None);
            }
        }
    }

    /// Returns whether the line returned most recently was truncated and its end is not reached yet.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Returns the next available bytes of a truncated line, or `None` at its end.
    ///
    /// # Errors
    /// Returns an error when the reader fails.
    pub async fn read_rest(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        if !self.truncated {
            return Ok(None);
        }
        let buffer = self.reader.fill_buf().await?;
        let newline = buffer.iter().position(|byte| *byte == b'\n');
        let part = buffer[..newline.unwrap_or(buffer.len())].to_vec();
        self.truncated = newline.is_none() && !buffer.is_empty();
        self.consume(part.len() + usize::from(newline.is_some()));
        Ok(Some(part))
    }

    fn consume(&mut self, consumed: usize) {
        self.reader.consume(consumed);
        self.bytes_read += consumed as u64;
    }

    fn finish(&mut self) -> InputLine {
        self.number += 1;
        let mut bytes = std::mem::take(&mut self.bytes);
        if !self.truncated && bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        InputLine { number: self.number, bytes, truncated: self.truncated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8]) -> Vec<(u64, usize, bool)> {
        let mut lines = LineReader::new(tokio::io::BufReader::with_capacity(7, text));
        let mut read_lines = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read_lines.push((line.number, line.bytes.len(), line.truncated));
        }
        read_lines
    }

    #[tokio::test]
    async fn blank_lines_are_counted_and_skipped() {
        assert_eq!(lines(b"{}\r\n\r\n\n  {}x\nlast").await, [(1, 2, false), (4, 5, false), (5, 4, false)]);
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_truncated_and_the_next_one_is_complete() {
        let text = |length: usize, end: &str| [&vec![b'x'; length], end.as_bytes()].concat();
        for end in ["\n{}\n", "\r\n{}\n"] {
            let longest = text(MAX_LINE_BYTES, end);
            assert_eq!(lines(&longest).await, [(1, MAX_LINE_BYTES, false), (2, 2, false)]);
            let too_long = text(MAX_LINE_BYTES + 1, end);
            assert_eq!(lines(&too_long).await, [(1, MAX_LINE_BYTES + 1, true), (2, 2, false)]);
        }
        for end in ["", "\r"] {
            assert_eq!(lines(&text(MAX_LINE_BYTES, end)).await, [(1, MAX_LINE_BYTES, false)]);
        }
        assert_eq!(lines(&text(MAX_LINE_BYTES, "\rx")).await, [(1, MAX_LINE_BYTES + 1, true)]);
    }

    #[tokio::test]
    async fn the_rest_of_a_truncated_line_is_read_in_pieces() {
        for end in [&b"\n{}"[..], b""] {
            let text = [&vec![b'x'; MAX_LINE_BYTES + 1][..], b"the rest", end].concat();
            let mut lines = LineReader::new(tokio::io::BufReader::with_capacity(5, &text[..]));
            let first = lines.next().await.unwrap().unwrap();
            assert_eq!((first.bytes.len(), first.truncated), (MAX_LINE_BYTES + 1, true));
            let mut rest = Vec::new();
            while let Some(piece) = lines.read_rest().await.unwrap() {
                assert!(piece.len() <= 5, "no more than the available bytes");
                rest.extend(piece);
            }
            assert_eq!(rest, b"the rest");
            assert_eq!(lines.next().await.unwrap().is_some(), !end.is_empty());
            assert_eq!(lines.bytes_read, text.len() as u64);
        }
    }
}
