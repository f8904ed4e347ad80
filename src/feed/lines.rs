//! Lines of a stream, with their numbers, and never more of one in memory than a change may have.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// Bytes of a line at most.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// One line without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: u64,
    /// Its bytes; of a line over [`MAX_BYTES`] the first of them, so many.
    pub(super) bytes: Vec<u8>,
    /// It is longer than [`MAX_BYTES`]: [`Lines::rest`] has what follows.
    pub(super) cut: bool,
}

/// Reads lines; reading may be given up and taken up again at any await.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    number: u64,
    bytes: Vec<u8>,
    /// The line that came last was cut, and its end was not reached yet.
    cut: bool,
    /// Bytes taken from the reader so far.
    pub(super) taken: u64,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, number: 0, bytes: Vec::new(), cut: false, taken: 0 }
    }

    /// The next line that is not blank; `None` at the end. What is left of one that was cut is passed over.
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
        while self.rest().await?.is_some() {}
        loop {
            // What was read before this await is kept in `self`.
            let buffer = self.reader.fill_buf().await?;
            let ended = buffer.is_empty();
            let newline = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..newline.unwrap_or(buffer.len())];
            let room = MAX_BYTES - self.bytes.len();
            self.cut = part.len() > room;
            self.bytes.extend_from_slice(&part[..part.len().min(room)]);
            let used = if self.cut { room } else { part.len() + usize::from(newline.is_some()) };
            self.consume(used);
            if self.cut || newline.is_some() || (ended && !self.bytes.is_empty()) {
                return Ok(Some(self.finish()));
            }
            if ended {
                return Ok(None);
            }
        }
    }

    /// Whether the line that came last was cut, and its end was not reached yet.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// What follows in a line that was cut, as much of it as is there; `None` at its end.
    ///
    /// # Errors
    /// When the reader fails.
    pub(super) async fn rest(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        if !self.cut {
            return Ok(None);
        }
        let buffer = self.reader.fill_buf().await?;
        let newline = buffer.iter().position(|byte| *byte == b'\n');
        let part = buffer[..newline.unwrap_or(buffer.len())].to_vec();
        self.cut = newline.is_none() && !buffer.is_empty();
        self.consume(part.len() + usize::from(newline.is_some()));
        Ok(Some(part))
    }

    fn consume(&mut self, used: usize) {
        self.reader.consume(used);
        self.taken += used as u64;
    }

    fn finish(&mut self) -> Line {
        self.number += 1;
        let mut bytes = std::mem::take(&mut self.bytes);
        if !self.cut && bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        Line { number: self.number, bytes, cut: self.cut }
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

    #[tokio::test]
    async fn what_was_cut_off_can_be_read_piece_by_piece() {
        for end in [&b"\n{}"[..], b""] {
            let text = [&vec![b'x'; MAX_BYTES][..], b"the rest", end].concat();
            let mut lines = Lines::new(tokio::io::BufReader::with_capacity(5, &text[..]));
            let first = lines.next().await.unwrap().unwrap();
            assert_eq!((first.bytes.len(), first.cut), (MAX_BYTES, true));
            let mut rest = Vec::new();
            while let Some(piece) = lines.rest().await.unwrap() {
                assert!(piece.len() <= 5, "no more than what is there");
                rest.extend(piece);
            }
            assert_eq!(rest, b"the rest");
            assert_eq!(lines.next().await.unwrap().is_some(), !end.is_empty());
            assert_eq!(lines.taken, text.len() as u64);
        }
    }
}
