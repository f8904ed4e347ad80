//! Tests of the reference of all metrics.

use super::*;

#[test]
fn the_documentation_lists_every_metric() {
    let mut table = String::from("| metric | type | labels | description |\n|---|---|---|---|\n");
    for metric in METRICS {
        let labels = metric.labels.iter().map(|(label, values)| match values {
            [] => format!("`{label}`"),
            values => format!("`{label}`: `{}`", values.join("`, `")),
        });
        let labels = labels.collect::<Vec<String>>().join("; ");
        let place = if metric.is_in(ProcessKind::Worker) { "" } else { " Servers only." };
        let Metric { name, kind, description, .. } = metric;
        table.push_str(&format!("| `{name}` | {} | {labels} | {description}{place} |\n", kind.name()));
    }
    let operations = include_str!("../../../../xtask/dist/OPERATIONS.md");
    assert!(operations.contains(&table), "xtask/dist/OPERATIONS.md does not contain this table:\n{table}");
}

#[test]
fn names_follow_the_conventions_of_prometheus() {
    for Metric { name, kind, .. } in METRICS {
        let is_valid = |character: char| character.is_ascii_lowercase() || character == '_';
        assert!(name.chars().all(is_valid), "{name}");
        assert_eq!(name.ends_with("_total"), *kind == MetricKind::Counter, "{name}");
        assert!(*kind != MetricKind::Histogram || name.ends_with("_seconds"), "{name}");
    }
}
