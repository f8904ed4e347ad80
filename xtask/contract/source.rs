//! A source file and positions in it.
//!
//! This module converts byte ranges to `file:line:column`.

use std::ops::Range;

/// A range of bytes in a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// A line and a column, counted from 1. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The contents and the name of a file.
#[derive(Debug)]
pub struct Source {
    /// The path for `file:line:column`.
    pub name: String,
    /// The contents.
    pub text: String,
    line_starts: Vec<usize>,
}

impl Source {
    /// Creates a source.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { name: name.into(), text, line_starts }
    }

    /// Returns the position of the start of a span.
    pub fn position(&self, span: Span) -> LineColumn {
        let line = self.line_starts.partition_point(|start| *start <= span.start).max(1);
        let start = self.line_starts[line - 1];
        LineColumn { line, column: self.text[start..span.start].chars().count() + 1 }
    }

    /// Returns the part of the span that is in its first line, without trailing white space. An empty part is extended
    /// to one character, unless the line ends there.
    pub fn first_line_range(&self, span: Span) -> Range<usize> {
        let remaining = &self.text[span.start..];
        let line_end = span.start + remaining.find('\n').unwrap_or(remaining.len());
        let end = span.end.min(line_end);
        let visible = self.text[span.start..end.max(span.start)].trim_end().len();
        let character = remaining.chars().next().map_or(0, char::len_utf8);
        span.start..(span.start + visible).max((span.start + character).min(line_end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_span_is_extended_to_one_character() {
        let source = Source::new("a.yaml", "é: [\nb");
        assert_eq!(source.first_line_range(Span { start: 0, end: 0 }), 0..2);
        assert_eq!(source.first_line_range(Span { start: 5, end: 5 }), 5..5);
        assert_eq!(source.first_line_range(Span { start: 6, end: 7 }), 6..7);
    }
}
