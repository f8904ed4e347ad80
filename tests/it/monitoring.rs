//! The alert rules, their tests, the Grafana dashboard and the runbook refer to metrics, alerts and sections that exist.

use std::collections::BTreeSet;

use foundation::telemetry::metrics::{METRICS, Metric, MetricKind};
use promql_parser::label::{MatchOp, Matcher};
use promql_parser::parser::{BinModifier, Expr, LabelModifier, VectorSelector, parse};
use regex::Regex;
use saphyr::{LoadableYamlNode, Yaml};
use serde_json::Value;

const RULES: &str = include_str!("../../xtask/dist/alerts.yaml");
const RULE_TESTS: &str = include_str!("../../xtask/dist/alerts_test.yaml");
const DASHBOARD: &str = include_str!("../../xtask/dist/grafana.json");
const RUNBOOK: &str = include_str!("../../xtask/dist/RUNBOOK.md");

/// Labels that Prometheus adds to every series.
const TARGET_LABELS: [&str; 2] = ["job", "instance"];

/// The values of `job`, as the head of the rules defines them.
const JOBS: [&str; 2] = ["creator-api", "creator-api-worker"];

/// An alert rule.
struct Alert<'a> {
    name: &'a str,
    expression: &'a str,
    rule: &'a Yaml<'a>,
}

fn documents(text: &str) -> Vec<Yaml<'_>> {
    Yaml::load_from_str(text).expect("valid YAML")
}

fn alerts<'a>(documents: &'a [Yaml<'a>]) -> Vec<Alert<'a>> {
    let groups = documents[0]["groups"].as_vec().expect("groups");
    let rules = groups.iter().flat_map(|group| group["rules"].as_vec().expect("rules"));
    rules
        .map(|rule| Alert {
            name: rule["alert"].as_str().expect("a name"),
            expression: rule["expr"].as_str().expect("an expression"),
            rule,
        })
        .collect()
}

/// Returns the values of all keys `expr` and of the queries of variables, at any depth.
fn dashboard_expressions(value: &Value, expressions: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if name == "expr" => expressions.push(text.clone()),
                    _ => dashboard_expressions(field, expressions),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| dashboard_expressions(item, expressions)),
        _ => {}
    }
}

/// Asserts that the metrics of an expression exist, with the labels and the label values that it uses.
fn check(expression: &str, names: &BTreeSet<&str>) {
    let parsed = parse(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
    let mut known = BTreeSet::from(TARGET_LABELS);
    check_metrics(&parsed, expression, names, &mut known);
    check_groupings(&parsed, expression, &known);
}

/// Asserts that the selected metrics exist, and adds their labels to `known`.
fn check_metrics(expr: &Expr, text: &str, alerts: &BTreeSet<&str>, known: &mut BTreeSet<&'static str>) {
    match expr {
        Expr::VectorSelector(selector) => check_selector(selector, text, alerts, known),
        Expr::MatrixSelector(matrix) => check_selector(&matrix.vs, text, alerts, known),
        other => children(other).into_iter().for_each(|child| check_metrics(child, text, alerts, known)),
    }
}

fn check_selector(
    selector: &VectorSelector,
    text: &str,
    alerts: &BTreeSet<&str>,
    known: &mut BTreeSet<&'static str>,
) {
    let name = selector.name.as_deref().unwrap_or_else(|| panic!("a selector without a name in {text}"));
    assert!(selector.matchers.or_matchers.is_empty(), "{text}");
    let matchers = &selector.matchers.matchers;
    let labels: Vec<(&'static str, Vec<&str>)> = match name {
        "up" => Vec::new(),
        "ALERTS" => {
            vec![("alertname", alerts.iter().copied().collect()), ("alertstate", vec!["pending", "firing"])]
        }
        _ => {
            let metric = METRICS.iter().find(|metric| is_series_of(name, metric));
            let metric = metric.unwrap_or_else(|| panic!("the metric {name} does not exist: {text}"));
            let labels = metric.labels.iter().map(|(label, values)| (*label, values.to_vec()));
            labels.chain(name.ends_with("_bucket").then(|| ("le", vec!["1"]))).collect()
        }
    };
    for matcher in matchers {
        let values = match matcher.name.as_str() {
            "job" => JOBS.to_vec(),
            "instance" => continue,
            label => {
                let found = labels.iter().find(|(known, _)| *known == label);
                found.unwrap_or_else(|| panic!("{name} has no label {label}: {text}")).1.clone()
            }
        };
        let is_known = |wanted: &Regex| values.iter().any(|value| wanted.is_match(value));
        let unknown = wanted(matcher).into_iter().find(|wanted| !values.is_empty() && !is_known(wanted));
        assert!(unknown.is_none(), "{name} has no such value of the label {}: {text}", matcher.name);
    }
    known.extend(labels.iter().map(|(label, _)| *label));
}

/// Returns whether a metric has series of this name.
fn is_series_of(name: &str, metric: &Metric) -> bool {
    let is_histogram = metric.kind == MetricKind::Histogram;
    name.strip_prefix(metric.name).is_some_and(|suffix| match suffix {
        "_bucket" | "_sum" | "_count" => is_histogram,
        suffix => suffix.is_empty() && !is_histogram,
    })
}

/// Adds the names that an expression selects.
fn add_selected(expr: &Expr, names: &mut BTreeSet<String>) {
    match expr {
        Expr::VectorSelector(selector) => names.extend(selector.name.clone()),
        Expr::MatrixSelector(matrix) => names.extend(matrix.vs.name.clone()),
        other => children(other).into_iter().for_each(|child| add_selected(child, names)),
    }
}

/// Returns the values that a matcher selects or excludes, as expressions. Each alternative of an expression is one.
fn wanted(matcher: &Matcher) -> Vec<Regex> {
    let expression = |text: &str| Regex::new(&format!("^(?:{text})$")).expect("a valid expression");
    match matcher.op {
        MatchOp::Equal | MatchOp::NotEqual => vec![expression(&regex::escape(&matcher.value))],
        MatchOp::Re(_) | MatchOp::NotRe(_) => matcher.value.split('|').map(expression).collect(),
    }
}

/// Asserts that the labels of `by`, `without`, `on`, `ignoring` and `label_values` exist.
fn check_groupings(expr: &Expr, text: &str, known: &BTreeSet<&str>) {
    let modifier = match expr {
        Expr::Aggregate(aggregate) => aggregate.modifier.as_ref(),
        Expr::Binary(binary) => {
            binary.modifier.as_ref().and_then(|BinModifier { matching, .. }| matching.as_ref())
        }
        _ => None,
    };
    for label in modifier.iter().flat_map(|modifier| match modifier {
        LabelModifier::Include(labels) | LabelModifier::Exclude(labels) => &labels.labels,
    }) {
        assert!(known.contains(label.as_str()), "no metric has the label {label}: {text}");
    }
    children(expr).into_iter().for_each(|child| check_groupings(child, text, known));
}

fn children(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Aggregate(aggregate) => {
            aggregate.param.iter().chain([&aggregate.expr]).map(AsRef::as_ref).collect()
        }
        Expr::Unary(unary) => vec![&unary.expr],
        Expr::Binary(binary) => vec![&binary.lhs, &binary.rhs],
        Expr::Paren(paren) => vec![&paren.expr],
        Expr::Subquery(subquery) => vec![&subquery.expr],
        Expr::Call(call) => call.args.args.iter().map(AsRef::as_ref).collect(),
        Expr::NumberLiteral(_)
        | Expr::StringLiteral(_)
        | Expr::VectorSelector(_)
        | Expr::MatrixSelector(_) => Vec::new(),
        Expr::Extension(_) => panic!("an unknown kind of expression"),
    }
}

/// Returns the anchors of the headings, as GitHub creates them.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let headings = markdown.lines().filter_map(|line| line.strip_prefix('#'));
    let anchor = |heading: &str| {
        let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        text.chars().filter(|character| character.is_alphanumeric() || *character == '-').collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn the_alert_rules_use_metrics_of_the_reference() {
    let documents = documents(RULES);
    let alerts = alerts(&documents);
    let names = alerts.iter().map(|alert| alert.name).collect();
    for alert in &alerts {
        check(alert.expression, &names);
    }
}

#[test]
fn the_dashboard_uses_metrics_of_the_reference() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).expect("valid JSON");
    let mut expressions = Vec::new();
    dashboard_expressions(&dashboard, &mut expressions);
    assert!(expressions.len() > 20, "{expressions:?}");
    let documents = documents(RULES);
    let names = alerts(&documents).iter().map(|alert| alert.name).collect();
    let mut shown = BTreeSet::new();
    for expression in &expressions {
        let expression = expression.replace("$__rate_interval", "5m");
        check(&expression, &names);
        add_selected(&parse(&expression).expect("a valid expression"), &mut shown);
    }
    // The size of the address space is not useful to an operator.
    for metric in METRICS.iter().filter(|metric| !metric.name.starts_with("process_virtual_memory")) {
        let is_shown = shown.iter().any(|name| is_series_of(name, metric));
        assert!(is_shown, "the dashboard does not show {}", metric.name);
    }
}

#[test]
fn an_expression_with_an_unknown_metric_label_or_value_is_found() {
    for (expression, error) in [
        ("sum(rate(webhook_attempt_total[5m]))", "the metric webhook_attempt_total does not exist"),
        ("webhook_attempt_seconds > 1", "the metric webhook_attempt_seconds does not exist"),
        ("mail_queue_length{state=\"dead\"} > 1", "mail_queue_length has no label state"),
        ("webhook_deliveries{state=\"lost\"} > 1", "webhook_deliveries has no such value"),
        ("webhook_deliveries{state=~\"held|lost\"} > 1", "webhook_deliveries has no such value"),
        ("up{job=\"api\"} == 0", "up has no such value"),
        ("max by (state) (mail_queue_length)", "no metric has the label state"),
        ("max(mail_queue_length) unless on (state) up", "no metric has the label state"),
        ("up unless ALERTS{alertname=\"Unknown\"}", "ALERTS has no such value"),
    ] {
        let names = BTreeSet::from(["CreatorApiDatabaseDown"]);
        let panic = std::panic::catch_unwind(|| check(expression, &names)).expect_err(expression);
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains(error), "{expression}: {message}");
    }
}

#[test]
fn each_alert_has_a_test_and_a_section_in_the_runbook() {
    let documents = documents(RULES);
    let anchors = anchors(RUNBOOK);
    let mut names = BTreeSet::new();
    for Alert { name, rule, .. } in alerts(&documents) {
        assert!(names.insert(name), "{name} exists twice");
        let severity = rule["labels"]["severity"].as_str();
        assert!(matches!(severity, Some("critical" | "warning")), "{name}: {severity:?}");
        for annotation in ["summary", "cause", "first_step"] {
            let text = rule["annotations"][annotation].as_str();
            assert!(text.is_some_and(|text| text.ends_with('.')), "{name}: {annotation}: {text:?}");
        }
        let runbook = rule["annotations"]["runbook"].as_str().expect("a section of the runbook");
        let anchor = runbook.strip_prefix("RUNBOOK.md#").unwrap_or_else(|| panic!("{name}: {runbook}"));
        assert!(anchors.contains(anchor), "{name}: the runbook has no section {anchor}: {anchors:?}");
        assert!(RUNBOOK.contains(&format!("`{name}`")), "the runbook does not mention {name}");
        let fires = format!("'{{alertname=\"{name}\"}}'");
        assert!(RULE_TESTS.contains(&fires), "no test of alerts.yaml makes {name} fire");
    }
}
