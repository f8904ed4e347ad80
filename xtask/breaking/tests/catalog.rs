//! Compares the catalog with the rules of oasdiff, another tool that finds breaking changes of OpenAPI documents: every
//! rule of oasdiff exists here with the same level, or is listed with the reason for the difference.

use std::collections::{BTreeMap, BTreeSet};

use super::super::catalog;
use super::super::policies::VERSION_RULES;
use super::super::rule::{Inverse, Level, SchemaSite};
use super::super::schema;

/// Rules of oasdiff that do not exist here, by the end of their ids, and the reason.
const OMITTED: [(&str, &str); 4] = [
    ("-all-of-added", "`allOf` is merged first, and each added keyword has its own rule"),
    ("-all-of-removed", "`allOf` is merged first, and each removed keyword has its own rule"),
    ("-all-of-added-annotation-only", "`allOf` is merged first, and annotations are not compared"),
    ("-all-of-removed-annotation-only", "`allOf` is merged first, and annotations are not compared"),
];

/// Rules with a higher level than in oasdiff, by a part of their ids, and the reason.
const RAISED: [(&str, &str); 22] = [
    ("api-security-component-removed", SECURITY),
    ("api-security-component-type-changed", SECURITY),
    ("api-security-component-oauth-url-changed", SECURITY),
    ("api-security-component-oauth-token-url-changed", SECURITY),
    ("api-security-component-oauth-scope-removed", SECURITY),
    ("api-security-added", SECURITY),
    ("api-security-scope-removed", SECURITY),
    ("api-global-security-added", SECURITY),
    ("api-global-security-scope-removed", SECURITY),
    ("api-operation-id-removed", "generated clients use it as a function name"),
    ("request-parameter-removed", "a strict server rejects unknown parameters"),
    ("discriminator", "clients select the schema by the discriminator"),
    (
        "request-parameter-property-type-changed",
        "requests with the old type are rejected, as at all other sites",
    ),
    ("became-read-only", "the server ignores what clients send"),
    (
        "request-required-property-became-not-read-only",
        "clients must send what they were not allowed to send",
    ),
    ("became-write-only", "clients no longer receive the property"),
    ("pattern-changed", "values that were valid are rejected, as with a tightened bound"),
    ("request-parameter-default-value", "requests without the parameter have another effect"),
    ("optional-response-header-removed", "clients that read it no longer receive it"),
    ("response-optional-property-removed", "clients that read it no longer receive it"),
    ("became-not-write-only", "clients receive what they did not expect"),
    ("prefix-items-", "it is decided which lists are no longer valid"),
];

/// Rules with a lower level than in oasdiff, by a part of their ids, and the reason.
const LOWERED: [(&str, &str); 2] = [
    ("prefix-items-", "it is decided which lists are no longer valid"),
    ("response-media-type-name-changed", "only a parameter that clients ignore changed, such as the charset"),
];

const SECURITY: &str = "clients depend on their keys and scopes";

fn parse_level(name: &str) -> Level {
    match name {
        "ERR" => Level::Error,
        "WARN" => Level::Warning,
        _ => Level::Info,
    }
}

/// Returns the rules of oasdiff with their levels.
fn oasdiff_levels() -> BTreeMap<&'static str, Level> {
    let lines = include_str!("oasdiff.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once(' ').expect("each line has a level and an id"))
        .map(|(level, id)| (id, parse_level(level)))
        .collect()
}

/// Returns the rules of the catalog with their levels.
fn catalog_levels() -> BTreeMap<String, Level> {
    let mut rules: BTreeMap<String, Level> =
        catalog::rules().map(|rule| (rule.id.to_owned(), rule.level)).collect();
    for site in SchemaSite::ALL {
        for schema_rule in schema::schema_rules() {
            rules.entry(site.id(schema_rule.suffix)).or_insert_with(|| schema_rule.level(site));
        }
    }
    rules
}

#[test]
fn every_rule_of_oasdiff_exists_or_is_omitted_for_a_reason() {
    let catalog_levels = catalog_levels();
    let missing: Vec<&str> = oasdiff_levels()
        .into_keys()
        .filter(|id| {
            !catalog_levels.contains_key(*id) && !OMITTED.iter().any(|(ending, _)| id.ends_with(ending))
        })
        .collect();
    assert!(missing.is_empty(), "rules of oasdiff that do not exist here: {missing:#?}");
    for (ending, reason) in OMITTED {
        assert!(
            !reason.is_empty() && oasdiff_levels().keys().any(|id| id.ends_with(ending)),
            "{ending} matches no rule of oasdiff"
        );
    }
}

#[test]
fn every_level_equals_that_of_oasdiff_or_is_raised_for_a_reason() {
    let catalog_levels = catalog_levels();
    let mut used_entries = BTreeSet::new();
    for (id, oasdiff_level) in oasdiff_levels() {
        let Some(catalog_level) = catalog_levels.get(id) else { continue };
        if *catalog_level == oasdiff_level {
            continue;
        }
        let is_raised = *catalog_level > oasdiff_level;
        let reasons: &[(&str, &str)] = if is_raised { &RAISED } else { &LOWERED };
        let reason = reasons.iter().find(|(part, _)| id.contains(part));
        assert!(reason.is_some(), "{id}: {oasdiff_level:?} in oasdiff, {catalog_level:?} here");
        used_entries.extend(reason.map(|(part, _)| (is_raised, *part)));
    }
    let entries = RAISED.iter().map(|(part, _)| (true, *part)).chain(LOWERED.map(|(part, _)| (false, part)));
    let unused: Vec<(bool, &str)> = entries.filter(|entry| !used_entries.contains(entry)).collect();
    assert!(unused.is_empty(), "entries that match no raised (true) or lowered level: {unused:?}");
}

#[test]
fn every_rule_has_an_inverse_or_a_reason() {
    let suffixes: BTreeSet<&str> = schema::schema_rules().map(|schema_rule| schema_rule.suffix).collect();
    for schema_rule in schema::schema_rules() {
        match schema_rule.inverse {
            Inverse::Of(suffix) => {
                assert!(
                    suffixes.contains(suffix),
                    "the inverse {suffix} of {} does not exist",
                    schema_rule.suffix
                )
            }
            Inverse::None(reason) => assert!(!reason.is_empty(), "{} has no reason", schema_rule.suffix),
        }
    }
    for rule in catalog::rules() {
        match rule.inverse {
            Inverse::Of(id) => {
                assert!(catalog::rule(id).is_some(), "the inverse {id} of {} does not exist", rule.id)
            }
            Inverse::None(reason) => assert!(!reason.is_empty(), "{} has no reason", rule.id),
        }
    }
}

#[test]
fn every_rule_above_level_info_has_an_impact_and_a_remedy() {
    for rule in catalog::rules() {
        let is_explained = !rule.impact.is_empty() && !rule.remedy.is_empty();
        let can_be_raised = VERSION_RULES.contains(&rule.id);
        assert_eq!(
            is_explained,
            rule.level != Level::Info || can_be_raised,
            "impact and remedy of {}",
            rule.id
        );
    }
}

#[test]
fn no_two_rules_share_an_id() {
    let mut seen = BTreeSet::new();
    for rule in catalog::rules() {
        assert!(seen.insert(rule.id), "{} is declared twice", rule.id);
    }
    let mut suffixes = BTreeSet::new();
    for schema_rule in schema::schema_rules() {
        assert!(suffixes.insert(schema_rule.suffix), "{} is declared twice", schema_rule.suffix);
    }
}

const NO_PATH: &str = "responses have no path";
const NO_PATH_ITEM: &str = "responses have no parameters of a path item";

/// For each rule about requests, the corresponding rule about responses, or the reason why there is none.
const COUNTERPARTS: [(&str, Result<&str, &str>); 46] = [
    ("new-optional-request-default-parameter-to-existing-path", Err(NO_PATH_ITEM)),
    ("new-optional-request-parameter", Ok("response-header-added")),
    ("new-optional-request-property", Ok("response-optional-property-added")),
    ("new-request-path-parameter", Err(NO_PATH)),
    ("new-required-request-default-parameter-to-existing-path", Err(NO_PATH_ITEM)),
    ("new-required-request-header-property", Ok("response-required-property-added")),
    ("new-required-request-parameter", Ok("response-header-added")),
    ("new-required-request-property", Ok("response-required-property-added")),
    ("new-required-request-property-with-default", Ok("response-required-property-added")),
    ("request-body-added-optional", Ok("webhook-payload-added")),
    ("request-body-added-required", Ok("webhook-payload-added")),
    ("request-body-became-optional", Ok("webhook-payload-became-optional")),
    ("request-body-became-required", Ok("webhook-payload-became-required")),
    ("request-body-encoding-changed", Ok("response-body-encoding-changed")),
    ("request-body-media-type-added", Ok("response-media-type-added")),
    ("request-body-media-type-name-changed", Ok("response-media-type-name-changed")),
    ("request-body-media-type-name-generalized", Ok("response-media-type-name-generalized")),
    ("request-body-media-type-removed", Ok("response-media-type-removed")),
    ("request-body-media-type-schema-added", Ok("response-body-media-type-schema-added")),
    ("request-body-media-type-schema-removed", Ok("response-body-media-type-schema-removed")),
    ("request-body-removed", Ok("webhook-payload-removed")),
    (
        "request-optional-property-became-not-read-only",
        Ok("response-optional-property-became-not-write-only"),
    ),
    (
        "request-optional-property-became-not-write-only",
        Ok("response-optional-property-became-not-read-only"),
    ),
    ("request-optional-property-became-read-only", Ok("response-optional-property-became-write-only")),
    ("request-optional-property-became-write-only", Ok("response-optional-property-became-read-only")),
    ("request-parameter-allow-reserved-changed", Err("headers are not percent-encoded")),
    ("request-parameter-became-list", Err("a single header value has the same text as a list of one value")),
    ("request-parameter-empty-value-allowed", Err("only query parameters can be empty")),
    ("request-parameter-empty-value-refused", Err("only query parameters can be empty")),
    ("request-parameter-explode-changed", Ok("response-header-explode-changed")),
    ("request-parameter-removed", Ok("required-response-header-removed")),
    ("request-parameter-removed-before-sunset", Ok("required-response-header-removed")),
    ("request-parameter-removed-with-deprecation", Ok("required-response-header-removed")),
    ("request-parameter-serialization-changed", Ok("response-header-serialization-changed")),
    ("request-parameter-style-changed", Err("headers have only one style")),
    ("request-parameter-sunset-parse", Ok("response-header-deprecated-sunset-invalid")),
    ("request-path-parameter-declared", Err(NO_PATH)),
    ("request-path-parameter-renamed", Err(NO_PATH)),
    ("request-path-parameter-undeclared", Err(NO_PATH)),
    ("request-property-removed", Ok("response-required-property-removed")),
    ("request-property-removed-with-deprecation", Ok("response-property-removed-with-deprecation")),
    ("request-read-only-property-removed", Ok("response-required-write-only-property-removed")),
    (
        "request-required-property-became-not-read-only",
        Ok("response-required-property-became-not-write-only"),
    ),
    (
        "request-required-property-became-not-write-only",
        Ok("response-required-property-became-not-read-only"),
    ),
    ("request-required-property-became-read-only", Ok("response-required-property-became-write-only")),
    ("request-required-property-became-write-only", Ok("response-required-property-became-read-only")),
];

#[test]
fn every_rule_about_requests_has_a_counterpart_about_responses_or_a_reason() {
    let counterparts: BTreeMap<&str, Result<&str, &str>> = BTreeMap::from(COUNTERPARTS);
    let request_rules: BTreeSet<&str> =
        catalog::rules().map(|rule| rule.id).filter(|id| id.contains("request")).collect();
    let listed: BTreeSet<&str> = counterparts.keys().copied().collect();
    assert_eq!(listed, request_rules, "the rules in `COUNTERPARTS` differ from those in the catalog");
    let catalog_levels = catalog_levels();
    for (id, counterpart) in counterparts {
        match counterpart {
            Ok(response_rule) => {
                let is_about_responses =
                    response_rule.contains("response") || response_rule.starts_with("webhook-payload");
                assert!(
                    is_about_responses && catalog_levels.contains_key(response_rule),
                    "{response_rule} is not the counterpart of {id}"
                );
            }
            Err(reason) => assert!(!reason.is_empty(), "{id} has no reason"),
        }
    }
}
