//! Every kind of change of a schema at every place where a schema can stand.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::super::catalogue;
use super::super::rule::{Aspect, Effect, Level, Mirror, Site};
use super::super::schema;
use super::{differences, told, yaml};

/// A case: its aspect, and the schemas.
struct Case {
    aspect: &'static Aspect,
    base: Value,
    revision: Value,
    twin: Value,
    at: Option<BTreeSet<String>>,
    /// Whether the rule speaks of a property of the schema.
    inside: bool,
}

fn cases() -> Vec<Case> {
    let cases = yaml(include_str!("cases/schemas.yaml"));
    let case = |(word, case): (&String, &Value)| Case {
        aspect: catalogue::aspect(word).unwrap_or_else(|| panic!("{word} is no rule")),
        base: case["base"].clone(),
        revision: case["revision"].clone(),
        twin: case.get("twin").unwrap_or_else(|| panic!("{word} has no twin")).clone(),
        at: case.get("at").map(|sites| serde_json::from_value(sites.clone()).expect("a list of sites")),
        inside: case["inside"] == true,
    };
    cases.as_object().expect("cases by their words").iter().map(case).collect()
}

/// A document with the schema at a site, and nothing else in it.
fn mounted(site: Site, schema: &Value) -> String {
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
        Site::RequestBody => body(schema.clone()),
        Site::RequestProperty => body(within(schema)),
        Site::RequestReadOnly => body(marked("readOnly")),
        Site::Parameter => parameter("query", schema.clone()),
        Site::HeaderParameter => parameter("header", schema.clone()),
        Site::ParameterContent => content("query", schema),
        Site::HeaderContent => content("header", schema),
        Site::ParameterProperty => parameter("query", within(schema)),
        Site::HeaderProperty => parameter("header", within(schema)),
        Site::ResponseBody => response(schema.clone()),
        Site::ResponseProperty => response(within(schema)),
        Site::ResponseWriteOnly => response(marked("writeOnly")),
        Site::ResponseHeader => json!({"responses": {"200": {"headers": {"H": {"schema": schema}}}}}),
    };
    let components = json!({"schemas": {"A": {"type": "object"}, "B": {"type": "object"}}});
    json!({"openapi": "3.1.0", "paths": {"/a": {"post": operation}}, "components": components}).to_string()
}

/// What is found, by the texts that it is found in: several tests ask the same.
type Found = HashMap<(String, String), Vec<(String, Level)>>;

fn found(site: Site, base: &Value, revision: &Value) -> Vec<(String, Level)> {
    static KNOWN: Mutex<Option<Found>> = Mutex::new(None);
    let texts = (mounted(site, base), mounted(site, revision));
    let known = KNOWN.lock().expect("no test fails here").get_or_insert_default().get(&texts).cloned();
    known.unwrap_or_else(|| {
        let found = told(&differences(&texts.0, &texts.1));
        KNOWN.lock().expect("no test fails here").get_or_insert_default().insert(texts, found.clone());
        found
    })
}

fn sites(case: &Case) -> impl Iterator<Item = Site> {
    Site::ALL.into_iter().filter(|site| case.at.as_ref().is_none_or(|at| at.contains(site.prefix())))
}

fn named(case: &Case, site: Site, aspect: &Aspect) -> (String, Level) {
    let site = if case.inside { site.inner() } else { site };
    (site.id(aspect.word), aspect.level(site))
}

#[test]
fn every_aspect_fires_at_every_site_with_its_level() {
    for case in cases() {
        for site in sites(&case) {
            let found = found(site, &case.base, &case.revision);
            let expected = named(&case, site, case.aspect);
            assert!(found.contains(&expected), "{expected:?} is not among {found:?}");
        }
    }
}

#[test]
fn the_other_way_round_it_is_its_mirror() {
    for case in cases() {
        let Mirror::Of(word) = case.aspect.mirror else { continue };
        for site in sites(&case) {
            let found = found(site, &case.revision, &case.base);
            // In requests oasdiff calls fewer types a change of type.
            let request = site.id("type-changed");
            let id = if case.inside { site.inner().id(word) } else { site.id(word) };
            let known = found
                .iter()
                .any(|(other, _)| *other == id || (word == "type-specialized" && *other == request));
            assert!(known, "{} at {site:?} mirrors {id}, not {found:?}", case.aspect.word);
        }
    }
}

#[test]
fn every_aspect_has_a_harmless_twin() {
    for case in cases() {
        assert_ne!(case.base, case.twin, "the twin of {} changes nothing", case.aspect.word);
        for site in sites(&case) {
            let found = found(site, &case.base, &case.twin);
            let (id, _) = named(&case, site, case.aspect);
            let harmless = found.iter().all(|(other, level)| *other != id && *level < Level::Error);
            assert!(harmless, "the twin of {} at {site:?} is {found:?}", case.aspect.word);
        }
    }
}

#[test]
fn every_aspect_has_a_case() {
    let tried: BTreeSet<&str> = cases().iter().map(|case| case.aspect.word).collect();
    let untried: Vec<&str> =
        schema::aspects().map(|aspect| aspect.word).filter(|word| !tried.contains(word)).collect();
    assert!(untried.is_empty(), "{untried:?}");
}

#[test]
fn nothing_breaks_where_nothing_is_sent() {
    for case in cases() {
        for site in [Site::RequestReadOnly, Site::ResponseWriteOnly] {
            let found = found(site, &case.base, &case.revision);
            assert!(found.iter().all(|(_, level)| *level == Level::Info), "{} {found:?}", case.aspect.word);
        }
    }
}

#[test]
fn what_widens_is_harmless_in_requests_and_what_narrows_in_responses() {
    for case in cases() {
        let (site, at) = match case.aspect.effect {
            Effect::Widens => (Site::RequestProperty, "request-property"),
            Effect::Narrows => (Site::ResponseProperty, "response-property"),
            _ => continue,
        };
        if case.at.as_ref().is_some_and(|sites| !sites.contains(at)) {
            continue;
        }
        let found = found(site, &case.base, &case.revision);
        assert!(found.iter().all(|(_, level)| *level < Level::Error), "{} {found:?}", case.aspect.word);
    }
}
