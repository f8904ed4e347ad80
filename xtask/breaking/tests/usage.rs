//! Tests of the usage report: to which findings rejected requests belong, verdicts, and formats.

use contract::operations;
use contract::source::Source;
use contract::usage::{DayUsage, Direction, KeyUsage, OperationUsage, UsageFinding, UsageReport, VERSION};
use contract::yaml;
use jiff::{Timestamp, ToSpan as _};

use super::super::ReportFormat;
use super::super::config::Settings;
use super::super::finding::Finding;
use super::super::report::{self, ComparisonResult};
use super::super::rule::Level;
use super::super::usage::{self, Usage, Verdict};
use super::{TODAY, compare, read};

const BASE: &str = "openapi: 3.1.0
info: {title: T, version: 1.0.0}
paths:
  /a:
    get:
      operationId: listA
      parameters:
      - {in: query, name: limit, schema: {type: integer, maximum: 100}}
      - {in: query, name: sort, schema: {type: string, enum: [a, b]}}
      responses: {'200': {description: Fine.}}
    post:
      operationId: createA
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: '#/components/schemas/A'}
      responses:
        '200':
          description: Fine.
          content: {application/json: {schema: {type: object, properties: {id: {type: string, maxLength: 5}}}}}
components:
  schemas:
    A:
      type: object
      additionalProperties: false
      required: [name]
      properties:
        name: {type: string, maxLength: 10}
        note: {type: string}
        color: {type: string, default: red}
        size: {type: string}
";

/// A report of 30 days in which one key called both operations, with these findings.
fn report_of(base: &str, revision: &str, findings: Vec<UsageFinding>) -> UsageReport {
    let days: Vec<DayUsage> = (0..30)
        .rev()
        .map(|days| DayUsage {
            day: TODAY.checked_sub(days.days()).unwrap(),
            seen: 3,
            checked: 3,
            dropped: 0,
        })
        .collect();
    let pairs = operations::pairs(&read("base.yaml", base).root, &read("revision.yaml", revision).root);
    let operation = |pair: operations::OperationPair| OperationUsage {
        candidate: pair.candidate_digest().to_owned(),
        operation: pair.base.id,
        base: pair.base.digest,
        keys: 2,
        callers: hit("", "", "", "").keys,
        days: days.clone(),
    };
    UsageReport {
        version: VERSION,
        created_at: now(),
        since: days[0].day,
        operations: pairs.into_iter().map(operation).collect(),
        findings,
    }
}

fn now() -> Timestamp {
    TODAY.at(12, 0, 0, 0).in_tz("UTC").unwrap().timestamp()
}

fn hit(operation: &str, code: &str, pointer: &str, name: &str) -> UsageFinding {
    let key = KeyUsage {
        workspace: "acme".into(),
        workspace_name: "Acme".into(),
        key: "key_1".into(),
        key_name: "Zapier".into(),
        requests: 14,
        sampled: 5,
        first_at: "2026-02-20T10:00:00Z".parse().unwrap(),
        last_at: "2026-02-28T10:00:00Z".parse().unwrap(),
        request_id: Some("req_1".into()),
    };
    UsageFinding {
        operation: operation.into(),
        base: String::new(),
        candidate: String::new(),
        direction: Direction::Request,
        code: code.into(),
        pointer: pointer.into(),
        name: name.into(),
        reason: "is required".into(),
        keys: vec![key],
    }
}

fn settings(policy: &str) -> Settings {
    Settings::parse("openapi-gate.toml", &format!("[policies]\n{policy}")).unwrap()
}

/// Compares [`BASE`] with a revision and applies a report.
fn apply(
    revision: &str,
    edit: impl FnOnce(&mut UsageReport),
    policy: &str,
) -> anyhow::Result<ComparisonResult> {
    apply_to((BASE, revision), edit, policy)
}

/// Compares a base with a revision and applies a report.
fn apply_to(
    (base_text, revision): (&str, &str),
    edit: impl FnOnce(&mut UsageReport),
    policy: &str,
) -> anyhow::Result<ComparisonResult> {
    let (base, revision_document) = (read("base.yaml", base_text), read("revision.yaml", revision));
    let mut findings = compare(&base, &revision_document, TODAY);
    let mut report = report_of(base_text, revision, Vec::new());
    edit(&mut report);
    for hit in &mut report.findings {
        let usage = report.operations.iter().find(|usage| usage.operation == hit.operation).unwrap();
        (hit.base, hit.candidate) = (usage.base.clone(), usage.candidate.clone());
    }
    usage::apply(&report, (&base, &revision_document), &settings(policy), &mut findings, TODAY)?;
    Ok(ComparisonResult {
        base,
        revision: revision_document,
        findings,
        waiver_errors: Vec::new(),
        path_versions: None,
    })
}

/// Returns the verdicts of the breaking findings about requests, by rule.
fn verdicts(result: &ComparisonResult) -> Vec<String> {
    let breaking = result.findings.iter().filter(|finding| finding.level != Level::Info);
    let verdict = |finding: &Finding| {
        let usage = finding.usage.as_ref().map(|usage| format!("{:?}", usage.verdict));
        format!("{} {} {}", finding.id, finding.details, usage.unwrap_or_default())
    };
    breaking.map(verdict).collect()
}

#[test]
fn a_rejected_request_belongs_to_the_finding_at_the_keyword_or_its_nearest_ancestor() {
    let schema = "/components/schemas/A";
    let list = "/paths/~1a/get/parameters";
    for (old, new, rejected, expected) in [
        (
            "name: {type: string, maxLength: 10}",
            "name: {type: string, maxLength: 9, minLength: 2}",
            hit("createA", "request-body-max-length", &format!("{schema}/properties/name/maxLength"), ""),
            "request-property-max-length-decreased",
        ),
        (
            "required: [name]",
            "required: [name, note, size]",
            hit("createA", "request-body-required", &format!("{schema}/required"), "note"),
            "request-property-became-required note",
        ),
        (
            "        note: {type: string}\n        color: {type: string, default: red}\n",
            "",
            hit(
                "createA",
                "request-body-additional-properties",
                &format!("{schema}/additionalProperties"),
                "note",
            ),
            "request-property-removed note",
        ),
        (
            "enum: [a, b]",
            "enum: [a]",
            hit("listA", "request-query-enum", &format!("{list}/1/schema/enum"), "query sort"),
            "request-parameter-enum-value-removed",
        ),
        (
            "      - {in: query, name: sort, schema: {type: string, enum: [a, b]}}\n",
            "",
            hit("listA", "request-query-unknown", list, "query sort"),
            "request-parameter-removed query sort",
        ),
        (
            "name: limit,",
            "name: limit, required: true,",
            hit("listA", "request-query-required", &format!("{list}/0/required"), "query limit"),
            "request-parameter-became-required",
        ),
        (
            "      - {in: query, name: limit",
            "      - {in: query, name: page, required: true, schema: {type: string}}\n      - {in: query, name: limit",
            hit("listA", "request-query-required", &format!("{list}/0/required"), "query page"),
            "new-required-request-parameter query page",
        ),
    ] {
        assert!(BASE.contains(old), "{old}");
        let revision = BASE.replace(old, new);
        let used = apply(&revision, |report| report.findings.push(rejected.clone()), "usage = {}").unwrap();
        let verdicts = verdicts(&used);
        for verdict in &verdicts {
            let is_used = verdict.ends_with(" Used");
            assert_eq!(verdict.starts_with(expected), is_used, "{expected}: {verdicts:#?}");
        }
        assert!(verdicts.iter().any(|verdict| verdict.starts_with(expected)), "{expected}: {verdicts:#?}");
    }
}

#[test]
fn a_harmless_finding_takes_no_rejected_request_from_a_breaking_one() {
    let names = "tags: {type: object, maxProperties: 5, propertyNames: {maxLength: 40, pattern: '^a'}}";
    let base = BASE.replace("size: {type: string}", names);
    let pointer = "/components/schemas/A/properties/tags/propertyNames";
    for revision in [
        base.replace("maxLength: 40, pattern: '^a'", "maxLength: 20"),
        base.replace("maxProperties: 5, ", "").replace("maxLength: 40", "maxLength: 20"),
    ] {
        let add = |report: &mut UsageReport| {
            report.findings.push(hit("createA", "request-body-property-names", pointer, ""));
        };
        let verdicts = verdicts(&apply_to((&base, &revision), add, "usage = {}").unwrap());
        assert!(verdicts.len() == 1 && verdicts[0].ends_with(" Used"), "{verdicts:#?}");
    }
}

#[test]
fn a_keyword_behind_a_reference_belongs_to_its_finding() {
    let parameter = "{in: query, name: sort, schema: {type: string, enum: [a, b]}}";
    let base = BASE
        .replace(parameter, "{in: query, name: sort, schema: {$ref: '#/components/schemas/Sort'}}")
        + "    Sort: {type: string}\n";
    let revision = base.replace("Sort: {type: string}", "Sort: {type: boolean}");
    let add = |report: &mut UsageReport| {
        let pointer = "/paths/~1a/get/parameters/1/schema/type";
        report.findings.push(hit("listA", "request-query-type", pointer, "query sort"));
    };
    let verdicts = verdicts(&apply_to((&base, &revision), add, "usage = {}").unwrap());
    assert!(verdicts.len() == 1 && verdicts[0].ends_with(" Used"), "{verdicts:#?}");
}

#[test]
fn a_finding_about_responses_names_the_callers() {
    let revision = BASE.replace("maxLength: 5", "maxLength: 6");
    let usage = |edit: &dyn Fn(&mut UsageReport)| {
        let result = apply(&revision, edit, "usage = {}").unwrap();
        let is_about_responses = |finding: &&Finding| finding.id == "response-property-max-length-increased";
        let finding = result.findings.iter().find(is_about_responses).unwrap();
        assert_eq!(finding.level, Level::Error);
        finding.usage.as_ref().map(Usage::sentence)
    };
    assert_eq!(
        usage(&|_| {}).unwrap(),
        "unknown: requests do not show whether it breaks a client; requests of the callers: 14 from key `Zapier` of Acme, last on 2026-02-28, for example req_1"
    );
    let earlier = |report: &mut UsageReport| {
        report.operations.iter_mut().for_each(|operation| operation.callers.clear());
    };
    assert_eq!(usage(&earlier), None, "a report of an earlier release names no callers");
    let unused = |report: &mut UsageReport| {
        earlier(report);
        report.operations.iter_mut().for_each(|operation| operation.keys = 0);
    };
    assert_eq!(usage(&unused).unwrap(), "unknown: no key called it");
    let other = |report: &mut UsageReport| {
        report
            .operations
            .iter_mut()
            .filter(|usage| usage.operation == "createA")
            .for_each(|usage| usage.base = "x".into());
    };
    assert_eq!(usage(&other), None);
}

#[test]
fn only_unused_findings_about_requests_are_lowered() {
    let revision = BASE.replace("maxLength: 10", "maxLength: 9").replace("maxLength: 5", "maxLength: 6");
    let level = |result: &ComparisonResult, id: &str| {
        result.findings.iter().find(|finding| finding.id == id).unwrap().level
    };
    let (request, response) =
        ("request-property-max-length-decreased", "response-property-max-length-increased");
    let pointer = "/components/schemas/A/properties/name/maxLength";
    let rejected = || hit("createA", "request-body-max-length", pointer, "");
    let unused = apply(&revision, |_| {}, "usage = { days = 30 }").unwrap();
    assert_eq!((level(&unused, request), level(&unused, response)), (Level::Warning, Level::Error));
    let without_policy = apply(&revision, |_| {}, "").unwrap();
    assert_eq!(level(&without_policy, request), Level::Error);
    let used = apply(&revision, |report| report.findings.push(rejected()), "usage = {}").unwrap();
    assert_eq!((level(&used, request), level(&used, response)), (Level::Error, Level::Error));
    let below =
        apply(&revision, |report| report.findings.push(rejected()), "usage = { threshold = 14 }").unwrap();
    assert_eq!(level(&below, request), Level::Warning);
    let response_hit = UsageFinding { direction: Direction::Response, ..rejected() };
    let responses = apply(&revision, |report| report.findings.push(response_hit), "usage = {}").unwrap();
    assert_eq!((level(&responses, request), level(&responses, response)), (Level::Warning, Level::Error));
}

#[test]
fn a_finding_is_unknown_unless_every_request_was_checked() {
    let revision = BASE.replace("maxLength: 10", "maxLength: 9");
    let usage = |edit: &dyn Fn(&mut UsageReport)| -> Usage {
        let result = apply(&revision, edit, "usage = {}").unwrap();
        let finding = result.findings.into_iter().find(|finding| finding.is_about_requests).unwrap();
        finding.usage.unwrap()
    };
    let reason = |edit: &dyn Fn(&mut UsageReport)| {
        let usage = usage(edit);
        assert_eq!(usage.verdict, Verdict::Unknown);
        usage.reason
    };
    assert_eq!(usage(&|_| {}).sentence(), "unused: none of the requests of 2 active keys in 30 days breaks");
    assert_eq!(
        reason(&|report| report.operations[1].days[7].checked = 1),
        "2 requests of `createA` are not in the sample"
    );
    assert_eq!(
        reason(&|report| {
            report.operations[1].days[7].dropped = 1;
            report.operations[1].days[7].checked = 2;
        }),
        "1 requests of `createA` were dropped from the sample"
    );
    assert_eq!(
        reason(&|report| {
            report.operations[1].days.remove(3);
        }),
        "`createA` was observed on 29 of 30 days"
    );
    assert_eq!(
        reason(&|report| report.operations[1].candidate = "0".repeat(16)),
        "the report does not contain `createA` with these contracts"
    );
    assert_eq!(
        reason(&|report| report.findings.push(hit("createA", "request-body-type", "/paths/~1x/get/x", ""))),
        "rejected requests of `createA` belong to no breaking finding"
    );
    assert_eq!(
        reason(&|report| report.findings.push(hit("createA", "other", "", ""))),
        "rejected requests of `createA` belong to no breaking finding"
    );
    assert_eq!(reason(&|report| report.created_at -= (2 * 24).hours()), "the report ends on 2026-02-27");
}

/// A validator that rejects the type of a value does not compare the rest of it.
#[test]
fn a_rejected_request_can_hide_other_changes() {
    let revision = BASE
        .replace("name: {type: string, maxLength: 10}", "name: {type: string, maxLength: 9}")
        .replace("size: {type: string}", "size: {type: integer}");
    let pointer = "/components/schemas/A/properties/size/type";
    let rejected = hit("createA", "request-body-type", pointer, "");
    let result = apply(&revision, |report| report.findings.push(rejected), "usage = {}").unwrap();
    let of = |id: &str| {
        let finding = result.findings.iter().find(|finding| finding.id.starts_with(id)).unwrap();
        let usage = finding.usage.as_ref().unwrap();
        (usage.verdict, usage.reason.clone(), finding.level)
    };
    assert_eq!(of("request-property-type-changed"), (Verdict::Used, String::new(), Level::Error));
    let hidden = "rejected requests of `createA` can hide this change".to_owned();
    assert_eq!(of("request-property-max-length-decreased"), (Verdict::Unknown, hidden, Level::Error));
}

/// A server compares requests to v1 with the same operation of v2, and so does not see that the path of v1 is removed.
#[test]
fn a_removed_path_whose_operation_has_another_version_is_unknown() {
    let (base, revision) = (BASE.replace("/a:", "/v1/a:"), BASE.replace("/a:", "/v2/a:"));
    let result = apply_to((&base, &revision), |_| {}, "usage = {}").unwrap();
    let removed: Vec<_> = result.findings.iter().filter(|finding| usage::is_removal(&finding.id)).collect();
    assert!(!removed.is_empty());
    for finding in removed {
        let usage = finding.usage.as_ref().unwrap();
        assert!(usage.reason.ends_with("with another version in its path"), "{usage:?}");
        assert_eq!((usage.verdict, finding.level), (Verdict::Unknown, Level::Error));
    }
}

/// Requests with unknown headers are not rejected.
#[test]
fn a_removed_header_is_unknown() {
    let header = "      - {in: header, name: X-Mode, schema: {type: string}}\n";
    let base =
        BASE.replace("      - {in: query, name: limit", &format!("{header}      - {{in: query, name: limit"));
    let result = apply_to((&base, BASE), |_| {}, "usage = {}").unwrap();
    let finding = result.findings.iter().find(|finding| finding.id == "request-parameter-removed").unwrap();
    assert_eq!(finding.usage.as_ref().unwrap().verdict, Verdict::Unknown);
}

#[test]
fn a_change_that_validation_does_not_show_is_unknown() {
    let revision = BASE.replace("default: red", "default: blue");
    let result = apply(&revision, |_| {}, "usage = {}").unwrap();
    let finding = result.findings.iter().find(|finding| finding.is_about_requests).unwrap();
    assert_eq!(finding.usage.as_ref().unwrap().reason, "validation of requests does not show this change");
}

/// The server reads its contracts without resolving references to other files.
#[test]
fn digests_do_not_depend_on_how_a_document_is_read() {
    let text = include_str!("../../../openapi/v1.yaml");
    let plain = yaml::read(&Source::new("v1.yaml", text), &mut Vec::new()).unwrap();
    let pairs = operations::pairs(&plain, &read("v1.yaml", text).root);
    assert!(pairs.len() > 5);
    for pair in pairs {
        assert_eq!(pair.candidate_digest(), pair.base.digest, "{}", pair.base.id);
    }
}

#[test]
fn an_unusable_report_is_an_error() {
    let revision = BASE.replace("maxLength: 10", "maxLength: 9");
    let error = |edit: &dyn Fn(&mut UsageReport)| apply(&revision, edit, "").unwrap_err().to_string();
    let others = error(&|report| report.operations.iter_mut().for_each(|usage| usage.base.clear()));
    assert!(others.starts_with("the usage report is about other contracts"), "{others}");
    let old = error(&|report| report.created_at = "2026-01-01T00:00:00Z".parse().unwrap());
    assert!(old.starts_with("the usage report is from 2026-01-01, more than 30 days ago"), "{old}");

    let report = report_of(BASE, &revision, Vec::new());
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(UsageReport::parse("u.json", &text, now()).unwrap(), report);
    let error = |text: &str| format!("{:#}", UsageReport::parse("u.json", text, now()).unwrap_err());
    assert!(error(&text[..text.len() / 2]).starts_with("the usage report u.json is cut short"));
    assert!(error("").starts_with("the usage report u.json is cut short"));
    assert!(error("a: 1").starts_with("the usage report u.json is not JSON"));
    assert!(error("{}").starts_with("u.json is not a usage report"));
    assert!(error("{\"version\": 1}").starts_with("u.json is not a usage report"));
    assert!(error("{\"version\": 2}").contains("has version 2, but this program reads version 1"));
    let early = UsageReport::parse("u.json", &text, now() - 1.hour()).unwrap_err().to_string();
    assert!(early.contains("which is in the future"), "{early}");
}

#[test]
fn the_usage_is_rendered_in_all_formats() {
    let revision = BASE
        .replace("maxLength: 10", "maxLength: 9")
        .replace("enum: [a, b]", "enum: [a]")
        .replace("default: red", "default: blue");
    let pointer = "/components/schemas/A/properties/name/maxLength";
    let rejected = hit("createA", "request-body-max-length", pointer, "");
    let result = apply(&revision, |report| report.findings.push(rejected), "usage = {}").unwrap();
    let schema = serde_json::from_str(include_str!("../report/findings.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for line in report::breaking_changes(&result, ReportFormat::Json).lines() {
        let line = serde_json::from_str(line).unwrap();
        assert!(validator.is_valid(&line), "{line}");
    }
    for (name, format) in [
        ("usage_text", ReportFormat::Text),
        ("usage_json", ReportFormat::Json),
        ("usage_github", ReportFormat::Github),
        ("usage_markdown", ReportFormat::Markdown),
        ("usage_sarif", ReportFormat::Sarif),
    ] {
        insta::assert_snapshot!(name, report::breaking_changes(&result, format));
    }
}
