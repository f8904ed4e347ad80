//! Tests every schema rule at every site.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::super::catalog;
use super::super::rule::{Inverse, Level, SchemaRule, SchemaSite, ValueEffect};
use super::super::schema;
use super::{differences, ids_and_levels, yaml};

/// A test case of a schema rule.
struct SchemaCase {
    schema_rule: &'static SchemaRule,
    base: Value,
    revision: Value,
    harmless: Value,
    at: Option<BTreeSet<String>>,
    /// Whether the rule is about a property of the schema.
    inside: bool,
}

fn cases() -> Vec<SchemaCase> {
    let cases = yaml(include_str!("cases/schemas.yaml"));
    let case = |(suffix, case): (&String, &Value)| SchemaCase {
        schema_rule: catalog::schema_rule(suffix).unwrap_or_else(|| panic!("{suffix} is not a rule")),
        base: case["base"].clone(),
        revision: case["revision"].clone(),
        harmless: case
            .get("harmless")
            .unwrap_or_else(|| panic!("{suffix} has no harmless counterpart"))
            .clone(),
        at: case.get("at").map(|sites| serde_json::from_value(sites.clone()).expect("a list of sites")),
        inside: case["inside"] == true,
    };
    cases.as_object().expect("cases by rule").iter().map(case).collect()
}

/// Creates a document with the schema at a site.
fn mounted(site: SchemaSite, schema: &Value) -> String {
    let within = |schema: &Value| json!({"type": "object", "properties": {"p": schema}});
    let marked = |flag: &str| within(&json!({"allOf": [schema, {flag: true}]}));
    let body = |schema: Value| json!({"requestBody": {"content": {"application/json": {"schema": schema}}}});
    let parameter =
        |place, schema: Value| json!({"parameters": [{"name": "q", "in": place, "schema": schema}]});
    let content = |place, schema: &Value| {
        let content = json!({"application/json": {"schema": schema}});
        json!({"parameters": [{"name": "q", "in": place, "content": content}]})
    };
    let response =
        |schema: Value| json!({"responses": {"200": {"content": {"application/json": {"schema": schema}}}}});
    let operation = match site {
        SchemaSite::RequestBody => body(schema.clone()),
        SchemaSite::RequestProperty => body(within(schema)),
        SchemaSite::RequestReadOnly => body(marked("readOnly")),
        SchemaSite::Parameter => parameter("query", schema.clone()),
        SchemaSite::HeaderParameter => parameter("header", schema.clone()),
        SchemaSite::ParameterContent => content("query", schema),
        SchemaSite::HeaderContent => content("header", schema),
        SchemaSite::ParameterProperty => parameter("query", within(schema)),
        SchemaSite::HeaderProperty => parameter("header", within(schema)),
        SchemaSite::ResponseBody => response(schema.clone()),
        SchemaSite::ResponseProperty => response(within(schema)),
        SchemaSite::ResponseWriteOnly => response(marked("writeOnly")),
        SchemaSite::ResponseHeader => json!({"responses": {"200": {"headers": {"H": {"schema": schema}}}}}),
    };
    let components = json!({"schemas": {"A": {"type": "object"}, "B": {"type": "object"}}});
    json!({"openapi": "3.1.0", "paths": {"/a": {"post": operation}}, "components": components}).to_string()
}

/// A cache of findings by the two documents, which several tests share.
type FindingCache = HashMap<(String, String), Vec<(String, Level)>>;

fn found(site: SchemaSite, base: &Value, revision: &Value) -> Vec<(String, Level)> {
    static KNOWN: Mutex<Option<FindingCache>> = Mutex::new(None);
    let texts = (mounted(site, base), mounted(site, revision));
    let known = KNOWN.lock().expect("the lock is not poisoned").get_or_insert_default().get(&texts).cloned();
    known.unwrap_or_else(|| {
        let found = ids_and_levels(&differences(&texts.0, &texts.1));
        KNOWN.lock().expect("the lock is not poisoned").get_or_insert_default().insert(texts, found.clone());
        found
    })
}

fn sites(case: &SchemaCase) -> impl Iterator<Item = SchemaSite> {
    SchemaSite::ALL.into_iter().filter(|site| case.at.as_ref().is_none_or(|at| at.contains(site.prefix())))
}

fn named(case: &SchemaCase, site: SchemaSite, schema_rule: &SchemaRule) -> (String, Level) {
    let site = if case.inside { site.inner() } else { site };
    (site.id(schema_rule.suffix), schema_rule.level(site))
}

#[test]
fn every_schema_rule_is_reported_at_every_site_with_its_level() {
    for case in cases() {
        for site in sites(&case) {
            let found = found(site, &case.base, &case.revision);
            let expected = named(&case, site, case.schema_rule);
            assert!(found.contains(&expected), "expected {expected:?}, got {found:?}");
        }
    }
}

#[test]
fn the_inverse_change_is_reported_by_the_inverse_rule() {
    for case in cases() {
        let Inverse::Of(suffix) = case.schema_rule.inverse else { continue };
        for site in sites(&case) {
            let found = found(site, &case.revision, &case.base);
            // In requests, oasdiff reports narrowed types as `type-changed`.
            let request = site.id("type-changed");
            let id = if case.inside { site.inner().id(suffix) } else { site.id(suffix) };
            let known = found
                .iter()
                .any(|(other, _)| *other == id || (suffix == "type-specialized" && *other == request));
            assert!(
                known,
                "inverse of {} at {site:?}: expected {id}, got {found:?}",
                case.schema_rule.suffix
            );
        }
    }
}

#[test]
fn every_schema_rule_has_a_harmless_counterpart() {
    for case in cases() {
        assert_ne!(
            case.base, case.harmless,
            "the counterpart of {} equals its base",
            case.schema_rule.suffix
        );
        for site in sites(&case) {
            let found = found(site, &case.base, &case.harmless);
            let (id, _) = named(&case, site, case.schema_rule);
            let is_harmless = found.iter().all(|(other, level)| *other != id && *level < Level::Error);
            assert!(
                is_harmless,
                "the counterpart of {} at {site:?} reports {found:?}",
                case.schema_rule.suffix
            );
        }
    }
}

#[test]
fn every_schema_rule_has_a_case() {
    let tested: BTreeSet<&str> = cases().iter().map(|case| case.schema_rule.suffix).collect();
    let untested: Vec<&str> = schema::schema_rules()
        .map(|schema_rule| schema_rule.suffix)
        .filter(|suffix| !tested.contains(suffix))
        .collect();
    assert!(untested.is_empty(), "{untested:?}");
}

#[test]
fn changes_of_values_that_are_never_sent_are_harmless() {
    for case in cases() {
        for site in [SchemaSite::RequestReadOnly, SchemaSite::ResponseWriteOnly] {
            let found = found(site, &case.base, &case.revision);
            assert!(
                found.iter().all(|(_, level)| *level == Level::Info),
                "{} {found:?}",
                case.schema_rule.suffix
            );
        }
    }
}

#[test]
fn widening_a_request_and_narrowing_a_response_are_harmless() {
    for case in cases() {
        let (site, at) = match case.schema_rule.effect {
            ValueEffect::Widens => (SchemaSite::RequestProperty, "request-property"),
            ValueEffect::Narrows => (SchemaSite::ResponseProperty, "response-property"),
            _ => continue,
        };
        if case.at.as_ref().is_some_and(|sites| !sites.contains(at)) {
            continue;
        }
        let found = found(site, &case.base, &case.revision);
        assert!(
            found.iter().all(|(_, level)| *level < Level::Error),
            "{} {found:?}",
            case.schema_rule.suffix
        );
    }
}
