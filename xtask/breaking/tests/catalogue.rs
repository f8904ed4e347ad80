//! The catalogue against oasdiff's: every rule of theirs is one of ours with the same level, or stands in a list with the
//! reason why not.

use std::collections::{BTreeMap, BTreeSet};

use super::super::catalogue;
use super::super::rule::{Level, Mirror, Site};
use super::super::schema;

/// Rules of oasdiff that are not here, by how they end, and why.
const WITHOUT: [(&str, &str); 4] = [
    ("-all-of-added", "`allOf` is merged first; what it adds is found by the rule of each keyword"),
    ("-all-of-removed", "`allOf` is merged first; what it takes away is found by the rule of each keyword"),
    ("-all-of-added-annotation-only", "`allOf` is merged first; annotations are no change"),
    ("-all-of-removed-annotation-only", "`allOf` is merged first; annotations are no change"),
];

/// Rules that are worse here than in oasdiff, and why.
const RAISED: [(&str, &str); 28] = [
    ("api-security-component-removed", SECURITY),
    ("api-security-component-type-changed", SECURITY),
    ("api-security-component-oauth-url-changed", SECURITY),
    ("api-security-component-oauth-token-url-changed", SECURITY),
    ("api-security-component-oauth-scope-removed", SECURITY),
    ("api-security-removed", SECURITY),
    ("api-security-added", SECURITY),
    ("api-security-scope-added", SECURITY),
    ("api-security-scope-removed", SECURITY),
    ("api-global-security-removed", SECURITY),
    ("api-global-security-added", SECURITY),
    ("api-global-security-scope-added", SECURITY),
    ("api-global-security-scope-removed", SECURITY),
    ("api-operation-id-removed", "generated clients call a function by this name"),
    ("request-parameter-removed", "a strict server refuses a parameter that it does not know"),
    ("response-property-enum-value-added", "only an enum marked open tells clients that values come"),
    ("discriminator", "clients choose by it how to read and write the rest"),
    ("response-body-any-of-added", "clients must read what they did not know, as with `oneOf`"),
    ("response-property-any-of-added", "clients must read what they did not know, as with `oneOf`"),
    (
        "request-parameter-property-type-changed",
        "a client that sends the old type is refused, as anywhere else",
    ),
    ("became-read-only", "what a client sends is not heeded any more"),
    ("request-required-property-became-not-read-only", "what was not to be sent must be sent"),
    ("became-write-only", "what a client reads is gone"),
    ("max-length-set", BOUND),
    ("max-set", BOUND),
    ("min-items-set", BOUND),
    ("min-set", BOUND),
    ("pattern-changed", BOUND),
];

const BOUND: &str = "a client is refused where it was not, as by a bound that got tighter";

const SECURITY: &str = "keys and scopes are what clients were given";

fn level(word: &str) -> Level {
    match word {
        "ERR" => Level::Error,
        "WARN" => Level::Warning,
        _ => Level::Info,
    }
}

/// Every rule of oasdiff with its level.
fn theirs() -> BTreeMap<&'static str, Level> {
    let lines = include_str!("oasdiff.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once(' ').expect("a level and an id"))
        .map(|(word, id)| (id, level(word)))
        .collect()
}

/// Every rule of ours with its level.
fn ours() -> BTreeMap<String, Level> {
    let mut rules: BTreeMap<String, Level> =
        catalogue::rules().map(|rule| (rule.id.to_owned(), rule.level)).collect();
    for site in Site::ALL {
        for aspect in schema::aspects() {
            rules.entry(site.id(aspect.word)).or_insert_with(|| aspect.level(site));
        }
    }
    rules
}

#[test]
fn every_rule_of_oasdiff_is_here_or_left_out_for_a_reason() {
    let ours = ours();
    let missing: Vec<&str> = theirs()
        .into_keys()
        .filter(|id| !ours.contains_key(*id) && !WITHOUT.iter().any(|(ending, _)| id.ends_with(ending)))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    for (ending, reason) in WITHOUT {
        assert!(
            !reason.is_empty() && theirs().keys().any(|id| id.ends_with(ending)),
            "{ending} is in no list"
        );
    }
}

#[test]
fn a_level_is_that_of_oasdiff_or_a_worse_one_for_a_reason() {
    let ours = ours();
    let mut used = BTreeSet::new();
    for (id, theirs) in theirs() {
        let Some(ours) = ours.get(id) else { continue };
        if *ours == theirs {
            continue;
        }
        let raised = RAISED.iter().find(|(part, _)| id.contains(part));
        assert!(*ours > theirs && raised.is_some(), "{id} is {theirs:?} in oasdiff and {ours:?} here");
        used.extend(raised.map(|(part, _)| *part));
    }
    let unused: Vec<&str> =
        RAISED.iter().map(|(part, _)| *part).filter(|part| !used.contains(part)).collect();
    assert!(unused.is_empty(), "raised nowhere: {unused:?}");
}

#[test]
fn every_rule_has_its_mirror_or_a_reason() {
    let words: BTreeSet<&str> = schema::aspects().map(|aspect| aspect.word).collect();
    for aspect in schema::aspects() {
        match aspect.mirror {
            Mirror::Of(word) => {
                assert!(words.contains(word), "{} mirrors {word}, which is none", aspect.word)
            }
            Mirror::None(reason) => assert!(!reason.is_empty(), "{}", aspect.word),
        }
    }
    for rule in catalogue::rules() {
        match rule.mirror {
            Mirror::Of(id) => {
                assert!(catalogue::rule(id).is_some(), "{} mirrors {id}, which is none", rule.id)
            }
            Mirror::None(reason) => assert!(!reason.is_empty(), "{}", rule.id),
        }
    }
}

#[test]
fn who_breaks_and_what_to_do_instead_are_said_wherever_something_breaks() {
    for rule in catalogue::rules() {
        let said = !rule.who.is_empty() && !rule.instead.is_empty();
        assert_eq!(said, rule.level != Level::Info, "{}", rule.id);
    }
}

#[test]
fn no_two_rules_share_an_id() {
    let mut seen = BTreeSet::new();
    for rule in catalogue::rules() {
        assert!(seen.insert(rule.id), "{} stands twice", rule.id);
    }
    let mut words = BTreeSet::new();
    for aspect in schema::aspects() {
        assert!(words.insert(aspect.word), "{} stands twice", aspect.word);
    }
}

const NO_PATH: &str = "what a server sends has no path";
const NO_WHOLE_PATH: &str = "what a server sends has nothing that holds for a whole path";

/// Each rule about requests: the rule about what a server sends that answers it, or the reason why none does.
const COUNTERPARTS: [(&str, Result<&str, &str>); 42] = [
    ("new-optional-request-default-parameter-to-existing-path", Err(NO_WHOLE_PATH)),
    ("new-optional-request-parameter", Ok("response-header-added")),
    ("new-optional-request-property", Ok("response-optional-property-added")),
    ("new-request-path-parameter", Err(NO_PATH)),
    ("new-required-request-default-parameter-to-existing-path", Err(NO_WHOLE_PATH)),
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
    ("request-parameter-allow-reserved-changed", Err("a header escapes nothing")),
    ("request-parameter-empty-value-allowed", Err("only a query can name a thing without a value")),
    ("request-parameter-empty-value-refused", Err("only a query can name a thing without a value")),
    ("request-parameter-explode-changed", Ok("response-header-explode-changed")),
    ("request-parameter-removed", Ok("required-response-header-removed")),
    ("request-parameter-removed-before-sunset", Ok("required-response-header-removed")),
    ("request-parameter-removed-with-deprecation", Ok("required-response-header-removed")),
    ("request-parameter-serialization-changed", Ok("response-header-serialization-changed")),
    ("request-parameter-style-changed", Err("a header has one style")),
    ("request-parameter-sunset-parse", Ok("response-header-deprecated-sunset-invalid")),
    ("request-path-parameter-renamed", Err(NO_PATH)),
    ("request-property-removed", Ok("response-required-property-removed")),
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
fn every_rule_about_requests_has_its_counterpart_or_a_reason() {
    let named: BTreeMap<&str, Result<&str, &str>> = BTreeMap::from(COUNTERPARTS);
    let about: BTreeSet<&str> =
        catalogue::rules().map(|rule| rule.id).filter(|id| id.contains("request")).collect();
    assert_eq!(named.keys().copied().collect::<BTreeSet<_>>(), about, "named here, and rules");
    let ours = ours();
    for (id, counterpart) in named {
        match counterpart {
            Ok(other) => {
                let sent = other.contains("response") || other.starts_with("webhook-payload");
                assert!(sent && ours.contains_key(other), "{other} does not answer {id}");
            }
            Err(reason) => assert!(!reason.is_empty(), "{id}"),
        }
    }
}
