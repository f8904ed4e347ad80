//! What a contract must hold to beyond its grammar.
//!
//! Each rule reads the model and adds findings; none changes anything, and none depends on another but for references,
//! which all others follow.

mod errors;
mod examples;
mod names;
mod paths;
mod read_only;
mod references;
mod security;
mod sites;
mod spelling;
mod unions;
mod values;
mod webhooks;

use super::Customs;
use super::model::Document;
use super::node::Node;
use crate::diagnostic::Diagnostic;

/// Judges a document by every rule.
pub(crate) fn judge(root: &Node, document: &Document, customs: &Customs<'_>, findings: &mut Vec<Diagnostic>) {
    let before = findings.len();
    references::judge(document, findings);
    let sound = findings.len() == before;
    paths::judge(root, document, customs.beginning, findings);
    errors::judge(document, findings);
    spelling::judge(root, document, customs.spelled, findings);
    names::operations(document, findings);
    security::judge(document, findings);
    if !sound {
        return;
    }
    let before = findings.len();
    unions::judge(document, findings);
    values::judge(document, findings);
    read_only::judge(document, findings);
    webhooks::judge(document, findings);
    // Shapes that nothing tells apart have no names of their own either.
    if findings.len() == before {
        names::judge(document, findings);
    }
    examples::judge(root, findings);
}
