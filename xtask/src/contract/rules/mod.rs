//! What a contract must hold to beyond its grammar.
//!
//! Each rule reads the model and adds findings; none changes anything, and none depends on another but for references,
//! which all others follow.

mod errors;
mod examples;
mod names;
mod paths;
mod references;
mod sites;
mod spelling;

use super::model::Document;
use super::node::Node;
use crate::diagnostic::Diagnostic;

/// Judges a document by every rule.
pub fn judge(root: &Node, document: &Document, findings: &mut Vec<Diagnostic>) {
    let before = findings.len();
    references::judge(document, findings);
    let sound = findings.len() == before;
    paths::judge(document, findings);
    errors::judge(document, findings);
    spelling::judge(root, document, findings);
    names::operations(document, findings);
    if sound {
        names::judge(document, findings);
        examples::judge(root, findings);
    }
}
