//! Both ways of generating leave the same.

use jiff::Timestamp;

use super::{Place, time};
use crate::generate::{Spec, WORKSPACE, into_database, write_changes};
use domain::analytics::{self, AnalyticsQuery, Figures, Interval};
use domain::workspaces;

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

/// The figures of the year, by month.
async fn figures(place: &Place) -> Vec<(Timestamp, Figures)> {
    let workspace = workspaces::by_key(&place.app, WORKSPACE).await.unwrap().id;
    let query = AnalyticsQuery {
        from: Some(time("2025-06-01T00:00:00Z")),
        to: Some(time("2026-06-01T00:00:00Z")),
        interval: Some(Interval::Month),
        ..AnalyticsQuery::default()
    };
    let summary = analytics::summary(&place.app, workspace, query).await.unwrap();
    summary.series.into_iter().map(|point| (point.starts_at, point.figures)).collect()
}

#[tokio::test]
async fn both_ways_leave_the_same_records_and_sums() {
    for spec in [spec(30, 100, 900), spec(3, 40, 200), spec(1, 5, 20)] {
        for place in Place::all().await {
            let other = Place::sqlite().await;
            let mut changes = Vec::new();
            let told = write_changes(&spec, &mut changes, &mut |_| ()).unwrap();
            let (outcome, reasons) = other.apply(std::str::from_utf8(&changes).unwrap()).await;
            assert_eq!((outcome.rejected, reasons), (0, Vec::new()));
            let mut reached = 0;
            let counts = into_database(&place.app, &spec, &mut |done| reached = done).await.unwrap();
            assert_eq!((counts, reached), (told, u64::from(spec.students + spec.orders)));
            for table in TABLES {
                assert_eq!(place.count(table).await, other.count(table).await, "{table}");
            }
            assert_eq!(place.count("enrollments").await, counts.enrollments as i64);
            assert_eq!(figures(&place).await, figures(&other).await);
        }
    }
}

#[tokio::test]
async fn the_same_spec_gives_the_same_text() {
    let text = |spec| {
        let mut text = Vec::new();
        write_changes(&spec, &mut text, &mut |_| ()).unwrap();
        text
    };
    assert_eq!(text(spec(4, 10, 50)), text(spec(4, 10, 50)));
    assert_ne!(text(spec(4, 10, 50)), text(Spec { seed: 8, ..spec(4, 10, 50) }));
}

#[tokio::test]
async fn a_year_that_has_not_ended_leaves_nothing_behind() {
    for place in Place::all().await {
        let soon = Spec { until: time("2026-06-01T12:00:01Z"), ..spec(2, 3, 4) };
        let refused = into_database(&place.app, &soon, &mut |_| ()).await.unwrap_err();
        assert!(refused.to_string().contains("2026-06-01T12:00:00Z; give an earlier --until"), "{refused}");
        into_database(&place.app, &spec(2, 3, 4), &mut |_| ()).await.unwrap();
        assert_eq!(place.count("orders").await, 4);
    }
}

#[tokio::test]
async fn a_workspace_that_is_there_is_not_made_twice() {
    let place = Place::sqlite().await;
    into_database(&place.app, &spec(2, 3, 4), &mut |_| ()).await.unwrap();
    let again = into_database(&place.app, &spec(2, 3, 4), &mut |_| ()).await.unwrap_err();
    assert!(again.to_string().contains("is complete"), "{again}");
    let other = into_database(&place.app, &spec(2, 3, 5), &mut |_| ()).await.unwrap_err();
    assert!(other.to_string().contains("--orders 4"), "{other}");
    let nobody = into_database(&place.app, &spec(2, 0, 5), &mut |_| ()).await.unwrap_err();
    assert!(nobody.to_string().contains("--students"), "{nobody}");
}
