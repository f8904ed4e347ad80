//! Lines of a stream, with their numbers, and never more of one in memory than a change may have.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Bytes of a line at most.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// One line without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: u64,
    /// Its bytes; of a line over [`MAX_BYTES`] the first of them.
    pub(super) bytes: Vec<u8>,
    /// It was longer than [`MAX_BYTES`].
    pub(super) cut: bool,
}

/// Reads lines; reading may be given up and taken up again at any await.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    number: u64,
    bytes: Vec<u8>,
    cut: bool,
    /// Bytes taken from the reader so far.
    pub(super) taken: u64,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, number: 0, bytes: Vec::new(), cut: false, taken: 0 }
    }

    /// The next line that is not blank; `None` at the end.
    ///
    /// # Errors
    /// When the reader fails.
    pub(super) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let Some(line) = self.any().await? else { return Ok(None) };
            if line.cut || !line.bytes.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(line));
            }
        }
    }

    /// The next line, blank or not.
    async fn any(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            // The only await: what was read before it is kept in `self`.
            let buffer = self.reader.fill_buf().await?;
            let ended = buffer.is_empty();
            let newline = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..newline.unwrap_or(buffer.len())];
            let room = MAX_BYTES - self.bytes.len();
            self.cut |= part.len() > room;
            self.bytes.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len() + usize::from(newline.is_some());
            self.reader.consume(used);
            self.taken += used as u64;
            if newline.is_some() || (ended && !self.bytes.is_empty()) {
                return Ok(Some(self.finish()));
            }
            if ended {
                return Ok(None);
            }
        }
    }

    fn finish(&mut self) -> Line {
        self.number += 1;
        let mut bytes = std::mem::take(&mut self.bytes);
        let cut = std::mem::take(&mut self.cut);
        if !cut && bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        Line { number: self.number, bytes, cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8]) -> Vec<(u64, usize, bool)> {
        let mut lines = Lines::new(tokio::io::BufReader::with_capacity(7, text));
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push((line.number, line.bytes.len(), line.cut));
        }
        found
    }

    #[tokio::test]
    async fn blank_lines_count_but_do_not_show() {
        assert_eq!(lines(b"{}\r\n\r\n\n  {}x\nlast").await, [(1, 2, false), (4, 5, false), (5, 4, false)]);
    }

    #[tokio::test]
    async fn a_line_over_the_cap_is_cut_and_the_next_is_whole() {
        let mut text = vec![b'x'; MAX_BYTES + 1];
        text.extend_from_slice(b"\n{}\n");
        assert_eq!(lines(&text).await, [(1, MAX_BYTES, true), (2, 2, false)]);
        assert_eq!(lines(&text[1..]).await, [(1, MAX_BYTES, false), (2, 2, false)]);
    }
}
