//! Opens the files to which a document refers.

use contract::diagnostic::{Code, Diagnostic};
use contract::source::Span;
use contract::yaml::{self, AliasPolicy};

use super::files::{check_name, resolve_path};
use super::identifiers::Identifiers;
use super::limits::count_nodes;
use super::{Bundler, File, Resolution};

/// The maximum size of a document with the files to which it refers.
const MAX_BYTES: usize = 32 * 1024 * 1024;

impl Bundler<'_> {
    /// Returns the index of a referenced file, which is read if it was not read before.
    pub(super) fn open(
        &mut self,
        text: &str,
        path: &str,
        span: Span,
        from: usize,
        is_in_resource: bool,
    ) -> Result<usize, Resolution> {
        let Some(path) = resolve_path(&self.files[from].path, path) else {
            return Err(self.report_unreadable(text, span, "it leads out of the folder of the document"));
        };
        if let Some(index) = self.files.iter().position(|file| file.path == path) {
            return Ok(index);
        }
        if self.invalid_files.contains(&path) {
            return Err(Resolution::Reported);
        }
        let contents = match check_name(&path).and_then(|()| self.readable.read(&path)) {
            Ok(contents) => contents,
            Err(_) if is_in_resource => return Err(Resolution::Literal),
            Err(reason) => return Err(self.report_unreadable(text, span, &reason)),
        };
        let name = self.readable.name(&path).to_string();
        let read = contract::source_from_bytes(&name, contents);
        let file = match read {
            Ok(file) if self.source.text.len() + file.text.len() <= MAX_BYTES => file,
            Ok(_) => {
                let reason = "the document and its files are larger than the maximum of 32 MiB in total";
                return Err(self.report_unreadable(text, span, reason));
            }
            Err(error) => return Err(self.report_unreadable(text, span, &error.to_string())),
        };
        let mut problems = Vec::new();
        let tree = yaml::read_with(&file, AliasPolicy::Expand, &mut problems);
        let offset = self.source.append(name, &file.text);
        let moved = |span: Span| Span { start: span.start + offset, end: span.end + offset };
        for problem in problems {
            let related = problem.related.map(|(span, label)| (moved(span), label));
            self.diagnostics.push(Diagnostic { span: moved(problem.span), related, ..problem });
        }
        let Some(mut tree) = tree else {
            self.invalid_files.insert(path);
            return Err(Resolution::Reported);
        };
        tree.move_spans(offset);
        self.remaining_insertions += count_nodes(&tree);
        self.files.push(File { path, identifiers: Identifiers::of(&tree), tree });
        Ok(self.files.len() - 1)
    }

    fn report_unreadable(&mut self, text: &str, span: Span, reason: &str) -> Resolution {
        self.report(Diagnostic::error(
            Code::ExternalRef,
            span,
            format!("`{text}` cannot be read: {reason}"),
            "put the file into the folder of the document, or bundle the documents into one",
        ));
        Resolution::Reported
    }
}
