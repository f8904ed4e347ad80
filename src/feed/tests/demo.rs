//! Tests that the demo workspace is applied completely, only once, and ends today.

use std::time::Duration;

use entity::{SpanMs, orders};

use super::FeedFixture;
use crate::{ApplyOptions, demo};
use domain::analytics::{self, AnalyticsQuery};
use domain::outbox::EVENT_TYPES;
use domain::workspaces;

#[tokio::test]
async fn the_demo_is_applied_completely_and_has_data_in_the_last_thirty_days() {
    for fixture in FeedFixture::on_all_databases().await {
        let mut reasons = Vec::new();
        let options = ApplyOptions {
            on_rejected: Box::new(|rejected| reasons.push(rejected.to_string())),
            ..ApplyOptions::default()
        };
        let outcome = demo::load(&fixture.app, options).await.unwrap();
        assert_eq!((reasons, outcome.applied), (Vec::new(), demo::change_count() as u64));
        let workspace = workspaces::by_key(&fixture.app, demo::WORKSPACE).await.unwrap().id;
        let summary = analytics::summarize(&fixture.app, workspace, AnalyticsQuery::default()).await.unwrap();
        let currencies: Vec<&str> =
            summary.figures.revenue.iter().map(|revenue| revenue.currency.as_str()).collect();
        assert_eq!(currencies, ["EUR", "USD"]);
        assert!(summary.figures.completed > 0 && summary.figures.students_new > 0, "{:?}", summary.figures);
        let rows = orders::in_workspace(workspace.uuid());
        let rows = rows.paid_in(fixture.app.db.read(), None, SpanMs::default()).await.unwrap();
        let newest = rows.iter().map(|order| order.paid_at).max().unwrap();
        let age_ms = fixture.app.clock.now_ms() - newest;
        assert!((0..86_400_000).contains(&age_ms), "{age_ms}");
        for event_type in EVENT_TYPES {
            let sql = format!("(SELECT 1 FROM events WHERE type = '{event_type}') AS found");
            assert!(fixture.count(&sql).await > 0, "{event_type}");
        }
    }
}

#[tokio::test]
async fn a_later_run_of_the_demo_skips_every_change() {
    let fixture = FeedFixture::sqlite().await;
    let first = demo::load(&fixture.app, ApplyOptions::default()).await.unwrap();
    let events = fixture.count("events").await;
    fixture.app.clock.advance(Duration::from_secs(9 * 86_400));
    let second = demo::load(&fixture.app, ApplyOptions::default()).await.unwrap();
    assert_eq!((second.applied, second.repeated, second.rejected), (0, first.applied, 0));
    assert_eq!(fixture.count("events").await, events);
}
