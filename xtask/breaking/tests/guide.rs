//! The migration guide: a template for each rule, and the guide between two contracts.

use std::collections::BTreeSet;

use contract::node::Node;

use super::super::catalog;
use super::super::compare::AffectedOperation;
use super::super::document::OpenApiDocument;
use super::super::finding::Finding;
use super::super::path_version;
use super::super::policies::VERSION_RULES;
use super::super::report::{self, ComparisonResult, guide_template};
use super::super::rule::{Level, SchemaSite};
use super::super::schema;
use super::{TODAY, compare, read, yaml};

/// Renders the guide between two documents.
fn guide(base: &str, revision: &str) -> String {
    let (base, revision) = (read("old.yaml", base), read("new.yaml", revision));
    let findings = compare(&base, &revision, TODAY);
    report::guide(&ComparisonResult {
        base,
        revision,
        findings,
        waiver_errors: Vec::new(),
        path_versions: None,
    })
}

/// Returns the code blocks of a guide, without their fences.
fn blocks(guide: &str) -> Vec<Vec<&str>> {
    let mut blocks = Vec::new();
    let mut lines = guide.lines();
    while let Some(line) = lines.next() {
        if let Some(fence) = line.strip_suffix("diff").filter(|fence| fence.starts_with("```")) {
            blocks.push(lines.by_ref().take_while(|line| *line != fence).collect());
        }
    }
    blocks
}

/// Returns the ids of the rules that can be breaking or report a deprecation.
fn rules_for_users() -> BTreeSet<String> {
    let rules = catalog::rules().map(|rule| (rule.id.to_owned(), rule.level));
    let schema_rules = schema::schema_rules()
        .flat_map(|rule| SchemaSite::ALL.map(|site| (site.id(rule.suffix), rule.level(site))));
    let concerns_users = |id: &str, level| {
        level > Level::Info || ["deprecated", "with-deprecation"].iter().any(|part| id.contains(part))
    };
    let rules = rules.chain(schema_rules).filter(|(id, level)| concerns_users(id, *level));
    rules.map(|(id, _)| id).filter(|id| !VERSION_RULES.contains(&id.as_str())).collect()
}

#[test]
fn every_rule_that_concerns_users_has_a_template_with_two_sentences() {
    let missing: Vec<String> =
        rules_for_users().into_iter().filter(|id| guide_template(id).is_none()).collect();
    assert!(missing.is_empty(), "add rows to report/guide/templates for {missing:#?}");
    for id in rules_for_users() {
        let advice = guide_template(&id).expect("each rule has a template").advice;
        let sentences = advice.matches(". ").count() + usize::from(advice.ends_with('.'));
        assert_eq!(sentences, 2, "{id}: {advice}");
        for owner in ["waiver", "Revert", "Keep accepting", "Keep sending"] {
            assert!(!advice.contains(owner), "{id} addresses the owner of the API: {advice}");
        }
    }
}

#[test]
fn the_template_of_every_rule_is_filled_in() {
    let contract = "openapi: 3.1.0
info: {title: T, version: 1.0.0}
paths:
  /a: {post: {operationId: a, requestBody: {content: {application/json: {schema: {}}}}}}
";
    let base = read("old.yaml", contract);
    let changed = read("new.yaml", &contract.replace("operationId: a", "operationId: b"));
    let finding = compare(&base, &changed, TODAY).remove(0);
    let places = [("", ""), ("body", "name"), ("200", "name"), ("query q", ""), ("200 header H", "")];
    for id in rules_for_users() {
        for (part, step) in places {
            let mut finding = finding.clone();
            finding.id.clone_from(&id);
            finding.level = Level::Error;
            finding.details = "query q".to_owned();
            finding.operations = vec![AffectedOperation {
                operation: "a".to_owned(),
                path: String::new(),
                part: part.to_owned(),
                steps: Some(step).filter(|step| !step.is_empty()).map(str::to_owned).into_iter().collect(),
            }];
            let result = ComparisonResult {
                base: read("old.yaml", contract),
                revision: read("new.yaml", contract),
                findings: vec![finding],
                waiver_errors: Vec::new(),
                path_versions: None,
            };
            let text = report::guide(&result);
            assert!(text.contains(&format!("<sub>`{id}`</sub>")), "{text}");
            assert!(!text.contains(['{', '}']) && !text.contains("the the "), "{text}");
        }
    }
}

const OLD: &str = include_str!("cases/guide-old.yaml");
const NEW: &str = include_str!("cases/guide-new.yaml");

#[test]
fn a_guide_shows_each_change_with_an_example() {
    let text = guide(OLD, NEW);
    insta::assert_snapshot!("guide", text);
    assert_eq!(text, guide(OLD, NEW), "the output is stable");
}

#[test]
fn the_first_sentence_counts_only_what_there_is() {
    let count = |old: &str, new: &str| {
        let text = guide(old, new);
        let line = text.lines().nth(2).expect("a third line").to_owned();
        line.split(". ").next().expect("a sentence").to_owned()
    };
    let removed = OLD.replace("has_more", "is_last");
    assert!(count(OLD, &removed).ends_with("can break clients"), "{}", count(OLD, &removed));
    let deprecated = OLD.replacen("operationId:", "deprecated: true\n      operationId:", 1);
    assert_eq!(count(OLD, &deprecated), "1 deprecation is new");
}

#[test]
fn a_line_before_a_removed_one_has_its_comma() {
    let text = guide(OLD, &NEW.replace("        next: {type: string}\n", ""));
    let block = blocks(&text).into_iter().find(|block| block.contains(&"-   \"has_more\": true,"));
    let block = block.unwrap_or_else(|| panic!("{text}"));
    assert!(block.contains(&"    ],"), "{block:?}");
}

#[test]
fn without_changes_the_guide_is_one_sentence() {
    let text = guide(OLD, OLD);
    assert_eq!(
        text,
        "# Shop: migration from 1.0.0 to 1.0.0\n\nClients of the old version need no changes.\n"
    );
}

#[test]
fn examples_are_short() {
    let mut count = 0;
    for file in [include_str!("cases/pairs.yaml"), include_str!("cases/verdicts.yaml")] {
        for (_, pairs) in yaml(file).as_object().expect("the groups of pairs are a mapping") {
            for pair in pairs.as_array().expect("each group is a list") {
                let document = |side| super::pairs::document(pair, side);
                let text = guide(&document("base"), &document("revision"));
                for block in blocks(&text) {
                    count += 1;
                    assert!((1..=40).contains(&block.len()), "{text}");
                    assert!(block.iter().any(|line| line.starts_with(['-', '+'])), "{text}");
                }
            }
        }
    }
    assert!(count > 100, "only {count} examples");
}

#[test]
fn names_and_examples_cannot_end_a_code_block_or_a_paragraph() {
    let name = "a`b``` \\n```\\n# h\\n<img src=x> **b** [c](d) | {what} {sunset}";
    let contract = format!(
        "openapi: 3.1.0
info: {{title: \"{name}\", version: \"{name}\"}}
paths:
  \"/{name}\":
    post:
      operationId: \"{name}\"
      parameters: [{{in: query, name: \"{name}\", required: false, schema: {{type: string}}}}]
      requestBody:
        content:
          application/json:
            example: {{\"{name}\": \"{name}\"}}
            schema: {{type: object, properties: {{\"{name}\": {{type: string}}}}, required: [\"{name}\"]}}
      responses: {{'200': {{description: \"\", headers: {{\"{name}\": {{required: true, schema: {{}}}}}}}}}}
"
    );
    let revisions = [
        contract.replace("type: string", "type: integer"),
        contract.replace("required: false", "required: true"),
        contract.replace("\"/", "\"/x"),
        contract.replace("headers:", "x-headers:"),
        contract.replace("      operationId", "      deprecated: true\n      operationId"),
    ];
    for revision in revisions {
        let text = guide(&contract, &revision);
        let mut outside = text.clone();
        for block in blocks(&text) {
            assert!(
                block.len() <= 40
                    && block.iter().all(|line| line.is_empty() || line.starts_with([' ', '-', '+'])),
                "{text}"
            );
            outside = outside.replace(&block.join("\n"), "");
        }
        assert!(!outside.contains("\n# h"), "{text}");
        for line in outside.lines().skip(1).filter(|line| !line.starts_with("```")) {
            let line = line.replace("<sub>", "").replace("</sub>", "");
            assert!(is_without_html(&line), "{line}\n{text}");
        }
    }
}

/// Whether each `<` of a line is escaped or in code, and each delimiter of code has a counterpart.
fn is_without_html(line: &str) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find(['\\', '`', '<']) {
        let run = rest[at..].bytes().take_while(|byte| *byte == b'`').count();
        rest = match &rest[at..=at] {
            "\\" => rest.get(at + 2..).unwrap_or(""),
            "<" => return false,
            _ => {
                let after = &rest[at + run..];
                let fence = "`".repeat(run);
                let mut ends = after.match_indices(&fence).map(|(end, _)| end);
                let is_end =
                    |end: &usize| !after[..*end].ends_with('`') && !after[*end + run..].starts_with('`');
                let Some(end) = ends.find(is_end) else { return false };
                &after[end + run..]
            }
        };
    }
    true
}

#[test]
fn paths_are_only_aligned_if_all_of_them_have_one_version() {
    let document = |paths: &[&str]| {
        let paths: Vec<String> = paths.iter().map(|path| format!("\"{path}\": {{}}")).collect();
        let info = "{title: T, version: 1.0.0}";
        read("a.yaml", &format!("openapi: 3.1.0\ninfo: {info}\npaths: {{{}}}\n", paths.join(", ")))
    };
    let aligned = |base: &[&str], revision: &[&str]| {
        let mut base: OpenApiDocument = document(base);
        let versions = path_version::align(&mut base.root, &document(revision).root);
        let paths = base.root.get("paths").and_then(Node::entries).unwrap_or_default().iter();
        (versions.is_some(), paths.map(|path| path.key.text.clone()).collect::<Vec<_>>().join(" "))
    };
    let check = |base: &[&str], revision: &[&str], expected: (bool, &str)| {
        let (is_aligned, paths) = aligned(base, revision);
        assert_eq!((is_aligned, paths.as_str()), expected, "{base:?} {revision:?}");
    };
    check(&["/api/v1/a", "/api/v1/b/{id}"], &["/api/v2/a"], (true, "/api/v2/a /api/v2/b/{id}"));
    check(&["/v1/a"], &["/rest/v10/a"], (true, "/rest/v10/a"));
    check(&["/v1/a", "/v2/a"], &["/v2/a"], (false, "/v1/a /v2/a"));
    check(&["/v1/a"], &["/v1/a", "/v2/a"], (false, "/v1/a"));
    check(&["/v1/a"], &["/v1/b"], (false, "/v1/a"));
    check(&["/a"], &["/v1/a"], (false, "/a"));
}

/// Returns a contract with the operations `a` and `b`, with the same responses.
fn two_operations(response: &str, rest: &str) -> String {
    let operation = |name: &str| {
        let schema = "{type: object, required: [itemCount], properties: {itemCount: {type: integer}}}";
        let body = format!("content: {{application/json: {{schema: {schema}}}}}");
        let responses =
            ["200", "404"].map(|status| format!("'{status}': {{description: '', {response}, {body}}}"));
        format!("  /{name}: {{get: {{operationId: {name}, responses: {{{}}}}}}}\n", responses.join(", "))
    };
    format!(
        "openapi: 3.1.0\ninfo: {{title: T, version: 1.0.0}}\npaths:\n{}{}{rest}",
        operation("a"),
        operation("b")
    )
}

/// Returns the titles of the entries of a guide.
fn titles(guide: &str) -> Vec<&str> {
    guide.lines().filter(|line| line.starts_with("**")).collect()
}

#[test]
fn a_header_that_all_responses_lost_is_one_entry() {
    let old = two_operations("headers: {X-A: {schema: {}}, X-B: {required: true, schema: {}}}", "");
    let text = guide(&old, &two_operations("x-headers: 1", ""));
    let ids = "<sub>`optional-response-header-removed`, `required-response-header-removed`</sub>";
    assert_eq!(titles(&text), [format!("**The headers `X-A` and `X-B` are no longer described** {ids}")]);
    assert!(text.contains("\n### All operations\n"), "{text}");
    assert!(text.contains("\nIn responses 200, 404.\n") && text.contains("may still send"), "{text}");
}

#[test]
fn a_contract_without_webhooks_is_one_entry() {
    let webhooks = "webhooks: {x: {post: {responses: {}}}, y: {post: {responses: {}}}}\n";
    let text = guide(&two_operations("x-a: 1", webhooks), &two_operations("x-a: 1", ""));
    assert_eq!(titles(&text), ["**The new contract documents no webhooks** <sub>`webhook-removed`</sub>"]);
    let one = webhooks.replace(", y: {post: {responses: {}}}", "");
    let text = guide(&two_operations("x-a: 1", webhooks), &two_operations("x-a: 1", &one));
    assert_eq!(titles(&text), ["**The webhook `y` was removed** <sub>`webhook-removed`</sub>"]);
}

#[test]
fn a_member_is_renamed_only_if_its_type_is_the_same() {
    let old = two_operations("x-a: 1", "");
    let id = "<sub>`response-required-property-removed`</sub>";
    let renamed = guide(&old, &old.replace("itemCount", "item_count"));
    assert_eq!(
        titles(&renamed),
        [format!("**`itemCount` was renamed to `item_count` (same type)** {id}")],
        "{renamed}"
    );
    let replaced = guide(
        &old,
        &old.replace("itemCount: {type: integer}", "item_count: {type: string}")
            .replace("itemCount", "item_count"),
    );
    assert_eq!(titles(&replaced), [format!("**The field `itemCount` was removed** {id}")], "{replaced}");
    assert!(replaced.contains("Added in the same object: `item_count` (string)."), "{replaced}");
}

#[test]
fn only_a_replaced_type_hides_the_changes_of_its_constraints() {
    let old = two_operations("x-a: 1", "").replace("{type: integer}", "{type: integer, maximum: 5}");
    let replaced = old.replace("{type: integer, maximum: 5}", "{type: string}");
    assert_eq!(titles(&guide(&old, &replaced)).len(), 1);
    let widened = old.replace("{type: integer, maximum: 5}", "{type: number}");
    assert_eq!(titles(&guide(&old, &widened)).len(), 2);
}

#[test]
fn no_change_is_left_out() {
    let mut count = 0;
    for file in [include_str!("cases/pairs.yaml"), include_str!("cases/verdicts.yaml")] {
        for (_, pairs) in yaml(file).as_object().expect("the groups of pairs are a mapping") {
            for pair in pairs.as_array().expect("each group is a list") {
                let [base, revision] = ["base", "revision"].map(|side| super::pairs::document(pair, side));
                let text = guide(&base, &revision);
                let findings = compare(&read("old.yaml", &base), &read("new.yaml", &revision), TODAY);
                let breaking = findings.iter().filter(|finding| finding.level > Level::Info);
                // Changes of the schema of a replaced type are left out.
                let is_retyped = findings.iter().any(|finding| finding.id.ends_with("-type-changed"));
                let is_echo = |finding: &Finding| is_retyped && finding.is_about_schema;
                let breaking = breaking.filter(|finding| !is_echo(finding));
                for finding in breaking.filter(|finding| !VERSION_RULES.contains(&finding.id.as_str())) {
                    count += 1;
                    assert!(text.contains(&format!("`{}`", finding.id)), "{} in {text}", finding.id);
                }
            }
        }
    }
    assert!(count > 100, "only {count} changes");
}

#[test]
fn a_header_that_a_response_with_another_type_lost_is_named() {
    let contract = |headers: &str, schema: &str| {
        format!(
            "openapi: 3.1.0
info: {{title: T, version: 1.0.0}}
paths:
  /a:
    get:
      operationId: listA
      responses:
        '200':
          description: Fine.
          headers: {headers}
          content: {{application/json: {{schema: {schema}}}}}
"
        )
    };
    let base =
        contract("{Link: {required: true, schema: {type: string}}}", "{type: array, items: {type: string}}");
    let revision = contract("{}", "{type: object, required: [data], properties: {data: {type: array}}}");
    let text = guide(&base, &revision);
    assert!(text.contains("`Link`") && text.contains("response-body-type-changed"), "{text}");
}
