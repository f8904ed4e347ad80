//! A text with its name, and places in it.
//!
//! Owns the way from a byte range to `file:line:column`. It never reads YAML.

use std::ops::Range;

/// A range of bytes in a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// A line and a column, both counted from 1; the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A text and the name under which people know it.
#[derive(Debug)]
pub struct Source {
    /// The path as given, for `file:line:column`.
    pub name: String,
    /// The whole text.
    pub text: String,
    line_starts: Vec<usize>,
}

impl Source {
    /// Takes a text under a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { name: name.into(), text, line_starts }
    }

    /// Where a span begins.
    pub fn place(&self, span: Span) -> Place {
        let line = self.line_starts.partition_point(|start| *start <= span.start).max(1);
        let start = self.line_starts[line - 1];
        Place { line, column: self.text[start..span.start].chars().count() + 1 }
    }

    /// The span cut off at the end of its first line, and at least one character wide where the text allows it.
    pub fn on_one_line(&self, span: Span) -> Range<usize> {
        let rest = &self.text[span.start..];
        let line_end = span.start + rest.find('\n').unwrap_or(rest.len());
        let end = span.end.min(line_end);
        let visible = self.text[span.start..end.max(span.start)].trim_end().len();
        let character = rest.chars().next().map_or(0, char::len_utf8);
        span.start..(span.start + visible).max((span.start + character).min(line_end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_without_width_is_drawn_one_character_wide() {
        let source = Source::new("a.yaml", "é: [\nb");
        assert_eq!(source.on_one_line(Span { start: 0, end: 0 }), 0..2);
        assert_eq!(source.on_one_line(Span { start: 5, end: 5 }), 5..5);
        assert_eq!(source.on_one_line(Span { start: 6, end: 7 }), 6..7);
    }
}
