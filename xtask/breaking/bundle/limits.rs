//! Limits of the tree into which the targets of references are inserted.

use contract::diagnostic::{Code, Diagnostic};
use contract::node::{Node, Value};
use contract::source::Span;

use super::{Bundler, Place, Target};

/// The maximum nesting of a tree into which parts of files were inserted.
pub(super) const MAX_DEPTH: usize = 192;
/// The maximum number of nodes that references insert, in addition to those of the files. Targets that refer to others
/// several times multiply, and a target that contains others is copied together with them.
pub(super) const MAX_INSERTED_NODES: usize = 1_000_000;

impl Bundler<'_> {
    /// Whether a node is nested too deeply, which is reported, or a limit was exceeded before.
    pub(super) fn is_too_deep(&mut self, node: &Node, place: Place) -> bool {
        if place.depth > MAX_DEPTH {
            let message =
                format!("values are nested deeper than {MAX_DEPTH} levels, including referenced files");
            self.stop(Diagnostic::error(Code::Syntax, node.span, message, ""));
        }
        self.is_stopped
    }

    /// Reports that a limit was exceeded, unless one was before.
    pub(super) fn stop(&mut self, diagnostic: Diagnostic) {
        if !self.is_stopped {
            self.diagnostics.push(diagnostic);
        }
        self.is_stopped = true;
    }

    /// Copies the target of a reference at `span`. Returns `None` if it does not exist, or if too many nodes were
    /// inserted, which is reported.
    pub(super) fn copy(&mut self, target: &Target, span: Span) -> Option<Node> {
        if self.is_stopped {
            return None;
        }
        let found = self.find(target)?;
        let Some(remaining) = self.remaining_insertions.checked_sub(count_nodes(found)) else {
            let message = format!("references insert more than {MAX_INSERTED_NODES} values");
            let help = "refer to components, and not to schemas inside of others";
            self.stop(Diagnostic::error(Code::CyclicRef, span, message, help));
            return None;
        };
        let copy = found.clone();
        self.remaining_insertions = remaining;
        Some(copy)
    }
}

/// Returns the number of nodes in a tree.
pub(super) fn count_nodes(node: &Node) -> usize {
    let inner: usize = match &node.value {
        Value::Mapping(entries) => entries.iter().map(|entry| count_nodes(&entry.value)).sum(),
        Value::Sequence(items) => items.iter().map(count_nodes).sum(),
        _ => 0,
    };
    inner + 1
}
