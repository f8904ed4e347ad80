//! Tests that changes and direct inserts create the same records.

use jiff::Timestamp;

use super::{FeedFixture, time};
use crate::generate::{Spec, WORKSPACE, write_changes, write_to_database};
use domain::analytics::{self, AnalyticsFigures, AnalyticsQuery, Interval};
use domain::workspaces;

/// The tables whose numbers of rows are compared.
const TABLES: [&str; 10] = [
    "courses",
    "lessons",
    "students",
    "student_tags",
    "orders",
    "order_items",
    "enrollments",
    "entitlements",
    "lesson_completions",
    "certificates",
];

fn spec(courses: u32, students: u32, orders: u32) -> Spec {
    Spec { courses, students, orders, seed: 7, until: time("2026-06-01T00:00:00Z") }
}

/// Returns the figures of the year, by month.
async fn figures(fixture: &FeedFixture) -> Vec<(Timestamp, AnalyticsFigures)> {
    let workspace = workspaces::by_key(&fixture.app, WORKSPACE).await.unwrap().id;
    let query = AnalyticsQuery {
        from: Some(time("2025-06-01T00:00:00Z")),
        to: Some(time("2026-06-01T00:00:00Z")),
        interval: Some(Interval::Month),
        ..AnalyticsQuery::default()
    };
    let summary = analytics::summarize(&fixture.app, workspace, query).await.unwrap();
    summary.series.into_iter().map(|point| (point.starts_at, point.figures)).collect()
}

#[tokio::test]
#[ignore = "slow"]
async fn changes_and_inserts_create_the_same_records_and_sums() {
    for spec in [spec(30, 100, 900), spec(3, 40, 200), spec(1, 5, 20)] {
        for fixture in FeedFixture::on_all_databases().await {
            let imported = FeedFixture::sqlite().await;
            let mut changes = Vec::new();
            let expected = write_changes(&spec, &mut changes, &mut |_| ()).unwrap();
            let (outcome, reasons) = imported.apply(std::str::from_utf8(&changes).unwrap()).await;
            assert_eq!((outcome.rejected, reasons), (0, Vec::new()));
            let mut last_progress = 0;
            let counts =
                write_to_database(&fixture.app, &spec, &mut |done| last_progress = done).await.unwrap();
            assert_eq!((counts, last_progress), (expected, u64::from(spec.students + spec.orders)));
            for table in TABLES {
                assert_eq!(fixture.count(table).await, imported.count(table).await, "{table}");
            }
            assert_eq!(fixture.count("enrollments").await, counts.enrollments as i64);
            assert_eq!(figures(&fixture).await, figures(&imported).await);
        }
    }
}

#[tokio::test]
async fn the_same_spec_creates_the_same_changes() {
    let text = |spec| {
        let mut text = Vec::new();
        write_changes(&spec, &mut text, &mut |_| ()).unwrap();
        text
    };
    assert_eq!(text(spec(4, 10, 50)), text(spec(4, 10, 50)));
    assert_ne!(text(spec(4, 10, 50)), text(Spec { seed: 8, ..spec(4, 10, 50) }));
}

#[tokio::test]
async fn a_year_that_has_not_ended_is_rejected_before_any_write() {
    for fixture in FeedFixture::on_all_databases().await {
        let unfinished = Spec { until: time("2026-06-01T12:00:01Z"), ..spec(2, 3, 4) };
        let error = write_to_database(&fixture.app, &unfinished, &mut |_| ()).await.unwrap_err();
        assert!(error.to_string().contains("2026-06-01T12:00:00Z; pass an earlier --until"), "{error}");
        write_to_database(&fixture.app, &spec(2, 3, 4), &mut |_| ()).await.unwrap();
        assert_eq!(fixture.count("orders").await, 4);
    }
}

#[tokio::test]
async fn an_existing_workspace_is_not_generated_again() {
    let fixture = FeedFixture::sqlite().await;
    write_to_database(&fixture.app, &spec(2, 3, 4), &mut |_| ()).await.unwrap();
    let error = write_to_database(&fixture.app, &spec(2, 3, 4), &mut |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("is already complete"), "{error}");
    let error = write_to_database(&fixture.app, &spec(2, 3, 5), &mut |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("--orders 4"), "{error}");
    let error = write_to_database(&fixture.app, &spec(2, 0, 5), &mut |_| ()).await.unwrap_err();
    assert!(error.to_string().contains("--students"), "{error}");
}
