//! The log of API requests: its pages and filters, its sums, its end.

use entity::api_requests::{self, Column, Model, RequestFilter};
use entity::{Keyset, Span, StringMap, api_request_days};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sea_orm::DatabaseConnection;
use uuid::Uuid;

use crate::support::{OURS, THEIRS, databases, id};

const DAY_MS: i64 = 86_400_000;

fn request(number: u128) -> Model {
    Model {
        id: id(number),
        workspace_id: OURS,
        key_id: id(7),
        request_id: format!("req-{number}"),
        operation: Some("listCourses".to_owned()),
        method: "GET".to_owned(),
        target: "/api/v1/courses?limit=2".to_owned(),
        status: 200,
        duration_us: 1234,
        address: "192.0.2.7".to_owned(),
        headers: StringMap([("accept".to_owned(), "\"ä\"".to_owned())].into()),
        error: None,
        received_at: 50,
    }
}

fn newest(limit: u64) -> Keyset<Column> {
    Keyset {
        column: Column::ReceivedAt,
        descending: true,
        after: None,
        to: None,
        limit,
        below_updated_at: None,
    }
}

#[tokio::test]
async fn a_request_comes_back_as_it_went_and_stays_in_its_workspace() {
    for database in databases().await {
        let failed =
            Model { status: 422, error: Some(b"{\"error\":\0}".to_vec()), operation: None, ..request(10) };
        api_requests::insert_many(&database, vec![failed.clone(), request(11)]).await.unwrap();
        let (ours, theirs) = (api_requests::in_workspace(OURS), api_requests::in_workspace(THEIRS));
        assert_eq!(ours.by_id(&database, id(10)).await.unwrap(), Some(failed.clone()));
        assert_eq!(ours.by_request_id(&database, "req-10").await.unwrap(), Some(failed.clone()));
        let all = RequestFilter::default();
        assert_eq!(ours.page(&database, &all, newest(9)).await.unwrap(), [request(11), failed]);
        assert_eq!(theirs.by_id(&database, id(10)).await.unwrap(), None);
        assert_eq!(theirs.by_request_id(&database, "req-10").await.unwrap(), None);
        for filter in [all, RequestFilter { key_id: Some(id(7)), ..RequestFilter::default() }] {
            assert_eq!(theirs.page(&database, &filter, newest(9)).await.unwrap(), []);
        }
    }
}

#[tokio::test]
async fn the_latest_of_a_repeated_request_id_is_found() {
    for database in databases().await {
        let same = |number, received_at| Model { request_id: "mine".into(), received_at, ..request(number) };
        api_requests::insert_many(&database, vec![same(10, 5), same(11, 7), same(12, 6)]).await.unwrap();
        let found = api_requests::in_workspace(OURS).by_request_id(&database, "mine").await.unwrap();
        assert_eq!(found.map(|row| row.id), Some(id(11)));
    }
}

#[tokio::test]
async fn what_is_old_goes_in_steps() {
    for database in databases().await {
        api_requests::insert_many(&database, (10..15).map(request).collect()).await.unwrap();
        assert_eq!(api_requests::prune(&database, id(14), 3).await.unwrap(), 3);
        assert_eq!(api_requests::prune(&database, id(14), 3).await.unwrap(), 1);
        assert_eq!(api_requests::prune(&database, id(14), 3).await.unwrap(), 0);
        let all = RequestFilter::default();
        let left = api_requests::in_workspace(OURS).page(&database, &all, newest(9)).await.unwrap();
        assert_eq!(left, [request(14)]);
    }
}

#[tokio::test]
async fn the_days_add_up() {
    for database in databases().await {
        let day = |workspace_id, day: i64, succeeded| api_request_days::Model {
            workspace_id,
            day: day * DAY_MS,
            succeeded,
            refused: 1,
            limited: 2,
            failed: 3,
        };
        api_request_days::add(&database, vec![day(OURS, 2, 10), day(THEIRS, 2, 5), day(OURS, 1, 7)])
            .await
            .unwrap();
        api_request_days::add(&database, vec![day(OURS, 2, 1)]).await.unwrap();
        let of = |span| api_request_days::of_workspace(&database, OURS, span);
        let second =
            api_request_days::Model { succeeded: 11, refused: 2, limited: 4, failed: 6, ..day(OURS, 2, 0) };
        assert_eq!(of(Span::default()).await.unwrap(), [day(OURS, 1, 7), second.clone()]);
        assert_eq!(of(Span::between(0, 2 * DAY_MS)).await.unwrap(), [day(OURS, 1, 7)]);
        assert_eq!(api_request_days::delete_before(&database, 2 * DAY_MS).await.unwrap(), 1);
        assert_eq!(of(Span::default()).await.unwrap(), [second]);
    }
}

/// What a log may hold, and what somebody may look for in it.
#[derive(Clone, Debug)]
struct Look {
    log: Vec<(i64, u128, i32, bool)>,
    key: Option<u128>,
    statuses: Option<(i32, i32)>,
    listing: Option<bool>,
    from: Option<i64>,
    until: Option<i64>,
    limit: u64,
}

fn looks() -> impl Strategy<Value = Look> {
    let status = prop::sample::select(vec![200, 201, 404, 429, 500]);
    let statuses = prop::sample::select(vec![(200, 300), (400, 500), (404, 405), (500, 600)]);
    let log = prop::collection::vec((0_i64..8, 1_u128..4, status, any::<bool>()), 0..30);
    let filters = (
        prop::option::of(1_u128..4),
        prop::option::of(statuses),
        prop::option::of(any::<bool>()),
        prop::option::of(0_i64..8),
        prop::option::of(0_i64..8),
    );
    (log, filters, 1_u64..6).prop_map(|(log, (key, statuses, listing, from, until), limit)| Look {
        log,
        key,
        statuses,
        listing,
        from,
        until,
        limit,
    })
}

fn operation(listing: bool) -> Option<String> {
    Some(if listing { "listCourses" } else { "getCourse" }.to_owned())
}

/// The ids page after page.
async fn walk(database: &DatabaseConnection, workspace: Uuid, look: &Look) -> Vec<Uuid> {
    let filter = RequestFilter {
        key_id: look.key.map(id),
        statuses: look.statuses,
        operation: look.listing.and_then(operation),
        received: Span { from: look.from, until: look.until },
    };
    let (mut keyset, mut seen) = (newest(look.limit), Vec::new());
    loop {
        let page = api_requests::in_workspace(workspace).page(database, &filter, keyset).await.unwrap();
        assert!(page.len() as u64 <= look.limit);
        let Some(last) = page.last() else { return seen };
        keyset.after = Some((last.received_at, last.id));
        seen.extend(page.iter().map(|row| row.id));
    }
}

/// The same, found by looking at every request.
fn expected(rows: &[Model], look: &Look) -> Vec<Uuid> {
    let mut found: Vec<&Model> = rows
        .iter()
        .filter(|row| look.key.is_none_or(|key| row.key_id == id(key)))
        .filter(|row| look.statuses.is_none_or(|(from, until)| (from..until).contains(&row.status)))
        .filter(|row| look.listing.is_none_or(|listing| row.operation == operation(listing)))
        .filter(|row| look.from.is_none_or(|from| row.received_at >= from))
        .filter(|row| look.until.is_none_or(|until| row.received_at < until))
        .collect();
    found.sort_by_key(|row| std::cmp::Reverse((row.received_at, row.id)));
    found.iter().map(|row| row.id).collect()
}

#[allow(clippy::result_large_err, reason = "the error is proptest's own")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_under_any_filter_hold_each_request_once_newest_first() {
    for database in databases().await {
        let handle = tokio::runtime::Handle::current();
        let turn = std::cell::Cell::new(0);
        let mut runner =
            TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
        let outcome = tokio::task::block_in_place(|| {
            runner.run(&looks(), |look| {
                // A workspace of its own for each case.
                turn.set(turn.get() + 1);
                let workspace = id(1_000_000 + turn.get());
                let rows: Vec<Model> = (0_u128..)
                    .zip(&look.log)
                    .map(|(number, &(received_at, key, status, listing))| Model {
                        id: id(turn.get() * 1000 + number),
                        workspace_id: workspace,
                        key_id: id(key),
                        operation: operation(listing),
                        status,
                        received_at,
                        ..request(1)
                    })
                    .collect();
                let seen = handle.block_on(async {
                    api_requests::insert_many(&database, rows.clone()).await.unwrap();
                    walk(&database, workspace, &look).await
                });
                prop_assert_eq!(seen, expected(&rows, &look));
                Ok(())
            })
        });
        outcome.unwrap();
    }
}
