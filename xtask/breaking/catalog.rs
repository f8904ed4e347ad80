//! The catalog of all rules, with lookup by id.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use super::rule::{Rule, SchemaRule, SchemaSite};
use super::{compare, schema};

/// Returns all rules that are not schema rules.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        compare::API_RULES,
        compare::OPERATION_RULES,
        compare::PARAMETER_RULES,
        compare::BODY_RULES,
        compare::ENCODING_RULES,
        compare::RESPONSE_RULES,
        compare::SECURITY_RULES,
        compare::SECURITY_SCHEME_RULES,
        compare::SERVER_RULES,
        compare::LIFECYCLE_RULES,
        schema::RULES,
    ]
    .into_iter()
    .flatten()
}

/// Returns the rule with the id, or `None` if there is none or it is a schema rule.
pub(crate) fn rule(id: &str) -> Option<&'static Rule> {
    static INDEX: OnceLock<HashMap<&str, &Rule>> = OnceLock::new();
    INDEX.get_or_init(|| rules().map(|rule| (rule.id, rule)).collect()).get(id).copied()
}

/// Whether a rule or a schema rule has the id.
pub(crate) fn is_rule(id: &str) -> bool {
    static IDS: OnceLock<HashSet<String>> = OnceLock::new();
    let all = || {
        let at_sites = schema::schema_rules()
            .flat_map(|rule| SchemaSite::ALL.into_iter().map(|site| site.id(rule.suffix)));
        rules().map(|rule| rule.id.to_owned()).chain(at_sites).collect()
    };
    IDS.get_or_init(all).contains(id)
}

/// Returns the schema rule with the suffix (its id without the prefix of the site), or `None` if there is none.
pub(crate) fn schema_rule(suffix: &str) -> Option<&'static SchemaRule> {
    static INDEX: OnceLock<HashMap<&str, &SchemaRule>> = OnceLock::new();
    INDEX
        .get_or_init(|| schema::schema_rules().map(|schema_rule| (schema_rule.suffix, schema_rule)).collect())
        .get(suffix)
        .copied()
}
