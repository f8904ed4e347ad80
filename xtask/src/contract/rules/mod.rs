//! What a contract must hold to beyond its grammar.

use super::model::Document;
use super::node::Node;
use crate::diagnostic::Diagnostic;

/// Judges a document by every rule.
pub fn judge(_root: &Node, _document: &Document, _findings: &mut Vec<Diagnostic>) {}
