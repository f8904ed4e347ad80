//! The demo workspace comes in whole, once, and ends today.

use std::time::Duration;

use entity::{Span, orders};

use super::Place;
use crate::{Options, demo};
use domain::analytics::{self, AnalyticsQuery};
use domain::outbox::KINDS;
use domain::workspaces;

#[tokio::test]
async fn the_demo_comes_in_whole_and_shows_the_last_thirty_days() {
    for place in Place::all().await {
        let mut reasons = Vec::new();
        let options =
            Options { rejected: Box::new(|reject| reasons.push(reject.to_string())), ..Options::default() };
        let outcome = demo::load(&place.app, options).await.unwrap();
        assert_eq!((reasons, outcome.applied), (Vec::new(), demo::len() as u64));
        let workspace = workspaces::by_key(&place.app, demo::WORKSPACE).await.unwrap().id;
        let summary = analytics::summary(&place.app, workspace, AnalyticsQuery::default()).await.unwrap();
        let currencies: Vec<&str> =
            summary.figures.revenue.iter().map(|revenue| revenue.currency.as_str()).collect();
        assert_eq!(currencies, ["EUR", "USD"]);
        assert!(summary.figures.completed > 0 && summary.figures.students_new > 0, "{:?}", summary.figures);
        let rows = orders::in_workspace(workspace.uuid());
        let rows = rows.paid_in(place.app.db.read(), None, Span::default()).await.unwrap();
        let newest = rows.iter().map(|order| order.paid_at).max().unwrap();
        let age_ms = place.app.clock.now_ms() - newest;
        assert!((0..86_400_000).contains(&age_ms), "{age_ms}");
        for kind in KINDS {
            let sql = format!("(SELECT 1 FROM events WHERE type = '{kind}') AS found");
            assert!(place.count(&sql).await > 0, "{kind}");
        }
    }
}

#[tokio::test]
async fn a_later_demo_finds_everything_applied() {
    let place = Place::sqlite().await;
    let first = demo::load(&place.app, Options::default()).await.unwrap();
    let events = place.count("events").await;
    place.app.clock.advance(Duration::from_secs(9 * 86_400));
    let second = demo::load(&place.app, Options::default()).await.unwrap();
    assert_eq!((second.applied, second.repeated, second.rejected), (0, first.applied, 0));
    assert_eq!(place.count("events").await, events);
}
