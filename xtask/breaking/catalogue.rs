//! Every rule there is.
//!
//! Owns the way from an id to its rule. It never compares.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::rule::{Aspect, Rule};
use super::{compare, schema};

/// Every rule that is not about a schema alone.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        compare::API_RULES,
        compare::OPERATION_RULES,
        compare::PARAMETER_RULES,
        compare::BODY_RULES,
        compare::ENCODING_RULES,
        compare::RESPONSE_RULES,
        compare::SECURITY_RULES,
        compare::SERVER_RULES,
        compare::LIFECYCLE_RULES,
        schema::RULES,
    ]
    .into_iter()
    .flatten()
}

/// The rule with this id.
pub(crate) fn rule(id: &str) -> Option<&'static Rule> {
    static INDEX: OnceLock<HashMap<&str, &Rule>> = OnceLock::new();
    INDEX.get_or_init(|| rules().map(|rule| (rule.id, rule)).collect()).get(id).copied()
}

/// The kind of change of a schema that ids end with.
pub(crate) fn aspect(word: &str) -> Option<&'static Aspect> {
    static INDEX: OnceLock<HashMap<&str, &Aspect>> = OnceLock::new();
    INDEX.get_or_init(|| schema::aspects().map(|aspect| (aspect.word, aspect)).collect()).get(word).copied()
}
