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

/// The contents and the name of a file, and of the files to which it refers.
///
/// The files are one text, so that a [`Span`] identifies a position in any of them.
#[derive(Debug)]
pub struct Source {
    /// The path for `file:line:column`.
    pub name: String,
    /// The contents, followed by those of the appended files.
    pub text: String,
    line_starts: Vec<usize>,
    appended: Vec<AppendedFile>,
    paths: RepositoryPaths,
}

/// How the names of files become paths in the repository, which services need to show annotations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RepositoryPaths {
    /// The names are the paths.
    #[default]
    Names,
    /// A prefix of the names is replaced.
    Prefix {
        /// The prefix of the names.
        name: String,
        /// The folder in the repository: empty, or with a slash at its end.
        folder: String,
    },
    /// The files are not part of the working tree.
    None,
}

/// A file that was appended to a [`Source`].
#[derive(Debug)]
struct AppendedFile {
    name: String,
    /// The byte offset of its first byte in the text.
    start: usize,
    /// The index of its first line in `line_starts`.
    first_line: usize,
}

impl Source {
    /// Creates a source.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { name: name.into(), text, line_starts, appended: Vec::new(), paths: RepositoryPaths::Names }
    }

    /// Appends a file to which this one refers. Returns the byte offset of its contents in the text.
    pub fn append(&mut self, name: impl Into<String>, text: &str) -> usize {
        if !self.text.ends_with('\n') {
            self.text.push('\n');
            self.line_starts.push(self.text.len());
        }
        // The text ends with a line break, so the last line is empty, and the new file begins there.
        let (start, first_line) = (self.text.len(), self.line_starts.len() - 1);
        self.appended.push(AppendedFile { name: name.into(), start, first_line });
        self.line_starts.extend(text.match_indices('\n').map(|(at, _)| start + at + 1));
        self.text.push_str(text);
        start
    }

    /// Returns the position of the start of a span in its file.
    pub fn position(&self, span: Span) -> LineColumn {
        let line = self.line_starts.partition_point(|start| *start <= span.start).max(1);
        let start = self.line_starts[line - 1];
        let first_line = self.appended_file(span.start).map_or(0, |file| file.first_line);
        LineColumn { line: line - first_line, column: self.text[start..span.start].chars().count() + 1 }
    }

    /// Returns the name of the file that contains the start of a span.
    pub fn file_name(&self, span: Span) -> &str {
        self.appended_file(span.start).map_or(&self.name, |file| &file.name)
    }

    /// Sets how names become paths in the repository.
    pub fn set_paths(&mut self, paths: RepositoryPaths) {
        self.paths = paths;
    }

    /// Returns the path in the repository of the file that contains the start of a span, or `None` if the file is not
    /// part of the working tree. A file outside of the repository has its name.
    pub fn path(&self, span: Span) -> Option<String> {
        let name = self.file_name(span);
        match &self.paths {
            RepositoryPaths::Names => Some(name.to_owned()),
            RepositoryPaths::Prefix { name: prefix, folder } => {
                let path = name.strip_prefix(prefix.as_str()).filter(|path| !path.starts_with('/'));
                let joined = path.and_then(|path| without_dots(&format!("{folder}{path}")));
                Some(joined.unwrap_or_else(|| name.to_owned()))
            }
            RepositoryPaths::None => None,
        }
    }

    /// Returns the range in the text of the file that contains an offset.
    pub fn file_range(&self, offset: usize) -> Range<usize> {
        let index = self.appended.partition_point(|file| file.start <= offset);
        let start = index.checked_sub(1).map_or(0, |index| self.appended[index].start);
        start..self.appended.get(index).map_or(self.text.len(), |file| file.start)
    }

    /// Returns the appended file that contains an offset, or `None` if the first file contains it.
    fn appended_file(&self, offset: usize) -> Option<&AppendedFile> {
        let index = self.appended.partition_point(|file| file.start <= offset);
        index.checked_sub(1).map(|index| &self.appended[index])
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

/// Removes `.` and `..` from a path. Returns `None` if it leaves its first folder.
fn without_dots(path: &str) -> Option<String> {
    let mut steps = Vec::new();
    for step in path.split('/') {
        match step {
            "." | "" => {}
            ".." => drop(steps.pop()?),
            step => steps.push(step),
        }
    }
    Some(steps.join("/"))
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

    #[test]
    fn positions_in_appended_files_are_counted_from_their_start() {
        for first in ["a: 1\nb: 2", "a: 1\nb: 2\n"] {
            let mut source = Source::new("a.yaml", first);
            let offsets = [source.append("b.yaml", "é: 1\nc: 3"), source.append("c.yaml", "d: 4\n")];
            let places: Vec<_> = ["a: 1", "b: 2", "é", "c: 3", "d: 4"]
                .map(|text| {
                    let start = source.text.find(text).unwrap();
                    let span = Span { start, end: start + 1 };
                    let position = source.position(span);
                    format!("{}:{}:{}", source.file_name(span), position.line, position.column)
                })
                .into();
            assert_eq!(places, ["a.yaml:1:1", "a.yaml:2:1", "b.yaml:1:1", "b.yaml:2:1", "c.yaml:1:1"]);
            assert_eq!(&source.text[source.file_range(0)], "a: 1\nb: 2\n");
            assert_eq!(source.file_range(offsets[0]), offsets[0]..offsets[1]);
            assert_eq!(&source.text[source.file_range(offsets[1] + 2)], "d: 4\n");
        }
    }

    #[test]
    fn names_become_paths_in_the_repository() {
        let prefix = |name: &str, folder: &str| RepositoryPaths::Prefix {
            name: name.to_owned(),
            folder: folder.to_owned(),
        };
        for (name, paths, path) in [
            ("a.yaml", RepositoryPaths::Names, Some("a.yaml")),
            ("a.yaml", RepositoryPaths::None, None),
            ("a.yaml", prefix("", "api/v1/"), Some("api/v1/a.yaml")),
            ("./b/a.yaml", prefix("", "api/v1/"), Some("api/v1/b/a.yaml")),
            ("../a.yaml", prefix("", "api/v1/"), Some("api/a.yaml")),
            ("../../a.yaml", prefix("", "api/"), Some("../../a.yaml")),
            ("/etc/a.yaml", prefix("", "api/"), Some("/etc/a.yaml")),
            ("/home/r/a.yaml", prefix("/home/r/", ""), Some("a.yaml")),
            ("HEAD:b/a.yaml", prefix("HEAD:", ""), Some("b/a.yaml")),
            (":../a.yaml", prefix(":", "api/"), Some("a.yaml")),
        ] {
            let mut source = Source::new(name, "a");
            source.set_paths(paths);
            assert_eq!(source.path(Span::default()).as_deref(), path, "{name}");
        }
    }
}
