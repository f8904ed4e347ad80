//! The catalogue against oasdiff's: every rule of theirs is one of ours with the same level, or stands in a list with the
//! reason why not.

use std::collections::{BTreeMap, BTreeSet};

use super::super::catalogue;
use super::super::rule::{Direction, Level, Mirror, Site};
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

/// The rules about requests whose ids begin so: the rule about responses that answers it, or the reason why none does.
const COUNTERPARTS: [(&str, Result<&str, &str>); 28] = [
    ("new-required-request-property", Ok("response-required-property-added")),
    ("new-optional-request-property", Ok("response-optional-property-added")),
    ("new-required-request-header-property", Ok("response-required-property-added")),
    ("request-property-removed", Ok("response-required-property-removed")),
    ("request-read-only-property-removed", Ok("response-required-write-only-property-removed")),
    ("request-optional-property-became-read-only", Ok("response-optional-property-became-write-only")),
    (
        "request-optional-property-became-not-read-only",
        Ok("response-optional-property-became-not-write-only"),
    ),
    ("request-required-property-became-read-only", Ok("response-required-property-became-write-only")),
    (
        "request-required-property-became-not-read-only",
        Ok("response-required-property-became-not-write-only"),
    ),
    ("request-optional-property-became-write-only", Ok("response-optional-property-became-read-only")),
    (
        "request-optional-property-became-not-write-only",
        Ok("response-optional-property-became-not-read-only"),
    ),
    ("request-required-property-became-write-only", Ok("response-required-property-became-read-only")),
    (
        "request-required-property-became-not-write-only",
        Ok("response-required-property-became-not-read-only"),
    ),
    ("request-body-media-type-added", Ok("response-media-type-added")),
    ("request-body-media-type-removed", Ok("response-media-type-removed")),
    ("request-body-media-type-schema-added", Ok("response-body-media-type-schema-added")),
    ("request-body-media-type-schema-removed", Ok("response-body-media-type-schema-removed")),
    ("request-body-encoding-changed", Ok("response-body-encoding-changed")),
    ("request-body-added", Err("a response's body comes with its first media type")),
    ("request-body-removed", Err("a response's body goes with its last media type")),
    ("request-body-became", Err("whether a response has a body follows from its status")),
    ("new-required-request-parameter", Ok("response-header-added")),
    ("new-optional-request-parameter", Ok("response-header-added")),
    ("new-required-request-default-parameter", Err("a response has nothing that holds for a whole path")),
    ("new-optional-request-default-parameter", Err("a response has nothing that holds for a whole path")),
    ("new-request-path-parameter", Err("a response has no path")),
    ("request-path-parameter", Err("a response has no path")),
    ("request-parameter-", Ok("required-response-header-removed")),
];

#[test]
fn every_rule_about_requests_has_its_counterpart_or_a_reason() {
    for rule in catalogue::rules().filter(|rule| rule.id.contains("request")) {
        let counterpart = COUNTERPARTS.iter().filter(|(start, _)| rule.id.starts_with(start));
        match counterpart.max_by_key(|(start, _)| start.len()).map(|(_, answer)| answer) {
            None => panic!("{} has no counterpart", rule.id),
            Some(Ok(id)) => assert!(catalogue::rule(id).is_some(), "{id} is no rule"),
            Some(Err(reason)) => assert!(!reason.is_empty()),
        }
    }
    // Those about schemas stand at sites of both directions by what they are.
    let both = |direction| Site::ALL.iter().filter(|site| site.direction() == direction).count();
    assert!(both(Direction::Request) >= 5 && both(Direction::Response) >= 4);
}
