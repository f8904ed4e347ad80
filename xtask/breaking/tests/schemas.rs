//! Tests every schema rule at every site, a kind of place in a document where a schema can be, such as a request body.

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
    /// A similar change of the base that breaks no client at any site.
    harmless: Value,
    /// The prefixes of the rule ids at the tested sites; `None` for all sites.
    site_prefixes: Option<BTreeSet<String>>,
    /// Whether the rule is about a property of the schema.
    is_about_property: bool,
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
        site_prefixes: case
            .get("at")
            .map(|prefixes| serde_json::from_value(prefixes.clone()).expect("`at` is a list of prefixes")),
        is_about_property: case["inside"] == true,
    };
    cases.as_object().expect("the cases are a mapping").iter().map(case).collect()
}

/// Creates a document with the schema at a site.
fn document_with_schema(site: SchemaSite, schema: &Value) -> String {
    let as_property = |schema: &Value| json!({"type": "object", "properties": {"p": schema}});
    let with_flag = |flag: &str| as_property(&json!({"allOf": [schema, {flag: true}]}));
    let body = |schema: Value| json!({"requestBody": {"content": {"application/json": {"schema": schema}}}});
    let parameter =
        |location, schema: Value| json!({"parameters": [{"name": "q", "in": location, "schema": schema}]});
    let content = |location, schema: &Value| {
        let content = json!({"application/json": {"schema": schema}});
        json!({"parameters": [{"name": "q", "in": location, "content": content}]})
    };
    let response =
        |schema: Value| json!({"responses": {"200": {"content": {"application/json": {"schema": schema}}}}});
    let operation = match site {
        SchemaSite::RequestBody => body(schema.clone()),
        SchemaSite::RequestProperty => body(as_property(schema)),
        SchemaSite::RequestReadOnly => body(with_flag("readOnly")),
        SchemaSite::Parameter => parameter("query", schema.clone()),
        SchemaSite::HeaderParameter => parameter("header", schema.clone()),
        SchemaSite::ParameterContent => content("query", schema),
        SchemaSite::HeaderContent => content("header", schema),
        SchemaSite::ParameterProperty => parameter("query", as_property(schema)),
        SchemaSite::HeaderProperty => parameter("header", as_property(schema)),
        SchemaSite::ParameterContentProperty => content("query", &as_property(schema)),
        SchemaSite::HeaderContentProperty => content("header", &as_property(schema)),
        SchemaSite::ResponseHeaderContent => {
            let content = json!({"application/json": {"schema": schema}});
            json!({"responses": {"200": {"headers": {"H": {"content": content}}}}})
        }
        SchemaSite::ResponseBody => response(schema.clone()),
        SchemaSite::ResponseProperty => response(as_property(schema)),
        SchemaSite::ResponseWriteOnly => response(with_flag("writeOnly")),
        SchemaSite::ResponseHeader => json!({"responses": {"200": {"headers": {"H": {"schema": schema}}}}}),
    };
    let components = json!({"schemas": {"A": {"type": "object"}, "B": {"type": "object"}}});
    json!({"openapi": "3.1.0", "paths": {"/a": {"post": operation}}, "components": components}).to_string()
}

/// A cache of findings by the two documents, which several tests share.
type FindingCache = HashMap<(String, String), Vec<(String, Level)>>;

/// Compares two schemas at a site. Returns the ids and levels of the findings.
fn reported_rules(site: SchemaSite, base: &Value, revision: &Value) -> Vec<(String, Level)> {
    static CACHE: Mutex<Option<FindingCache>> = Mutex::new(None);
    let texts = (document_with_schema(site, base), document_with_schema(site, revision));
    let cached = CACHE.lock().expect("the lock is not poisoned").get_or_insert_default().get(&texts).cloned();
    cached.unwrap_or_else(|| {
        let reported = ids_and_levels(&differences(&texts.0, &texts.1));
        CACHE
            .lock()
            .expect("the lock is not poisoned")
            .get_or_insert_default()
            .insert(texts, reported.clone());
        reported
    })
}

/// Returns the sites at which a rule is tested.
fn sites(case: &SchemaCase) -> impl Iterator<Item = SchemaSite> {
    let prefixes = case.site_prefixes.as_ref();
    SchemaSite::ALL
        .into_iter()
        .filter(move |site| prefixes.is_none_or(|prefixes| prefixes.contains(site.prefix())))
        // Plain text has no `null`.
        .filter(|site| !(site.is_plain_text() && case.schema_rule.suffix.ends_with("nullable")))
}

/// Returns the id and level of a rule that is reported for a case at a site.
fn expected_rule(case: &SchemaCase, site: SchemaSite, schema_rule: &SchemaRule) -> (String, Level) {
    let site = if case.is_about_property { site.inner() } else { site };
    (site.id(schema_rule.suffix), schema_rule.level(site))
}

#[test]
fn every_schema_rule_is_reported_at_every_site_with_its_level() {
    for case in cases() {
        for site in sites(&case) {
            let reported = reported_rules(site, &case.base, &case.revision);
            let expected = expected_rule(&case, site, case.schema_rule);
            assert!(reported.contains(&expected), "expected {expected:?}, got {reported:?}");
        }
    }
}

#[test]
fn the_inverse_change_is_reported_by_the_inverse_rule() {
    for case in cases() {
        let Inverse::Of(suffix) = case.schema_rule.inverse else { continue };
        for site in sites(&case) {
            let reported = reported_rules(site, &case.revision, &case.base);
            // In requests, oasdiff reports narrowed types as `type-changed`.
            let type_changed = site.id("type-changed");
            let id = if case.is_about_property { site.inner().id(suffix) } else { site.id(suffix) };
            let is_reported = reported.iter().any(|(reported_id, _)| {
                *reported_id == id || (suffix == "type-specialized" && *reported_id == type_changed)
            });
            assert!(
                is_reported,
                "inverse of {} at {site:?}: expected {id}, got {reported:?}",
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
            let reported = reported_rules(site, &case.base, &case.harmless);
            let (id, _) = expected_rule(&case, site, case.schema_rule);
            let is_harmless =
                reported.iter().all(|(reported_id, level)| *reported_id != id && *level < Level::Error);
            assert!(
                is_harmless,
                "the counterpart of {} at {site:?} reports {reported:?}",
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
    assert!(untested.is_empty(), "rules without a case: {untested:?}");
}

#[test]
fn changes_of_values_that_are_never_sent_are_harmless() {
    for case in cases() {
        for site in [SchemaSite::RequestReadOnly, SchemaSite::ResponseWriteOnly] {
            let reported = reported_rules(site, &case.base, &case.revision);
            assert!(
                reported.iter().all(|(_, level)| *level == Level::Info),
                "{} {reported:?}",
                case.schema_rule.suffix
            );
        }
    }
}

#[test]
fn widening_a_request_and_narrowing_a_response_are_harmless() {
    for case in cases() {
        let (site, prefix) = match case.schema_rule.effect {
            ValueEffect::Widens => (SchemaSite::RequestProperty, "request-property"),
            ValueEffect::Narrows => (SchemaSite::ResponseProperty, "response-property"),
            _ => continue,
        };
        if case.site_prefixes.as_ref().is_some_and(|prefixes| !prefixes.contains(prefix)) {
            continue;
        }
        let reported = reported_rules(site, &case.base, &case.revision);
        assert!(
            reported.iter().all(|(_, level)| *level < Level::Error),
            "{} {reported:?}",
            case.schema_rule.suffix
        );
    }
}
