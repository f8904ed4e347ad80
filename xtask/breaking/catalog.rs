//! The catalog of all rules, with lookup by id.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::rule::{Level, Rule, SchemaRule, SchemaSite};
use super::{compare, schema, version};

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
        version::RULES,
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

/// Returns the default level of the rule or schema rule with the id, or `None` if there is none.
pub(crate) fn level(id: &str) -> Option<Level> {
    static LEVELS: OnceLock<HashMap<String, Level>> = OnceLock::new();
    let all = || {
        let mut levels: HashMap<String, Level> =
            rules().map(|rule| (rule.id.to_owned(), rule.level)).collect();
        for rule in schema::schema_rules() {
            for site in SchemaSite::ALL {
                levels.entry(site.id(rule.suffix)).or_insert_with(|| rule.level(site));
            }
        }
        levels
    };
    LEVELS.get_or_init(all).get(id).copied()
}

/// Returns the schema rule with the suffix (its id without the prefix of the site), or `None` if there is none.
pub(crate) fn schema_rule(suffix: &str) -> Option<&'static SchemaRule> {
    static INDEX: OnceLock<HashMap<&str, &SchemaRule>> = OnceLock::new();
    INDEX
        .get_or_init(|| schema::schema_rules().map(|schema_rule| (schema_rule.suffix, schema_rule)).collect())
        .get(suffix)
        .copied()
}
