//! Rules that a contract must follow beyond the syntax of OpenAPI.
//!
//! Each rule reads the tree of the contract or its model, and adds diagnostics. Rules are independent, except that some run only if
//! others report nothing.

mod envelope;
mod errors;
mod examples;
pub(crate) mod names;
mod parameters;
mod paths;
mod read_only;
mod references;
pub(crate) mod schema_locations;
mod security;
mod spelling;
mod streams;
mod unions;
mod webhooks;

pub(crate) use examples::uri_fragment;

use super::model::Document;
use super::node::Node;
use super::{Conventions, Profile};
use crate::diagnostic::Diagnostic;

/// Checks the tree and the model of a contract against the rules of its profile.
pub(crate) fn check(
    root: &Node,
    document: &Document,
    conventions: &Conventions<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let before = diagnostics.len();
    references::check(document, diagnostics);
    let references_are_valid = diagnostics.len() == before;
    paths::check(root, document, conventions.path_prefix, diagnostics);
    if conventions.profile == Profile::Server {
        errors::check(document, conventions.has_rate_limits, diagnostics);
        spelling::check(root, document, conventions.spelling_exceptions, diagnostics);
        security::check(document, diagnostics);
        streams::check(document, diagnostics);
    }
    names::check_operations(document, diagnostics);
    if !references_are_valid {
        return;
    }
    let before = diagnostics.len();
    unions::check(document, diagnostics);
    parameters::check(document, diagnostics);
    read_only::check(document, diagnostics);
    webhooks::check(document, diagnostics);
    // Do not report a problem twice: for example, union members of the same type also have the same name.
    if diagnostics.len() == before {
        names::check(document, diagnostics);
    }
    examples::check(root, diagnostics);
}
