//! The log of API requests: pages, filters, daily counts and pruning.

use entity::api_requests::{self, Column, Model, RequestRowFilter};
use entity::{Keyset, SpanMs, StringMap, api_request_days};
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

/// Returns the first page of the log, newest first.
fn newest(limit: u64) -> Keyset<Column> {
    Keyset {
        column: Column::ReceivedAt,
        descending: true,
        after: None,
        to: None,
        limit,
        updated_before: None,
    }
}

#[tokio::test]
async fn a_request_is_stored_unchanged_and_visible_only_in_its_workspace() {
    for database in databases().await {
        let failed =
            Model { status: 422, error: Some(b"{\"error\":\0}".to_vec()), operation: None, ..request(10) };
        api_requests::insert_many(&database, vec![failed.clone(), request(11)]).await.unwrap();
        let (ours, theirs) = (api_requests::in_workspace(OURS), api_requests::in_workspace(THEIRS));
        assert_eq!(ours.by_id(&database, id(10)).await.unwrap(), Some(failed.clone()));
        assert_eq!(ours.by_request_id(&database, "req-10").await.unwrap(), Some(failed.clone()));
        let all = RequestRowFilter::default();
        assert_eq!(ours.page(&database, &all, newest(9)).await.unwrap(), [request(11), failed]);
        assert_eq!(theirs.by_id(&database, id(10)).await.unwrap(), None);
        assert_eq!(theirs.by_request_id(&database, "req-10").await.unwrap(), None);
        for filter in [all, RequestRowFilter { key_id: Some(id(7)), ..RequestRowFilter::default() }] {
            assert_eq!(theirs.page(&database, &filter, newest(9)).await.unwrap(), []);
        }
    }
}

#[tokio::test]
async fn a_repeated_request_id_finds_the_latest_request() {
    for database in databases().await {
        let repeated =
            |number, received_at| Model { request_id: "mine".into(), received_at, ..request(number) };
        api_requests::insert_many(&database, vec![repeated(10, 5), repeated(11, 7), repeated(12, 6)])
            .await
            .unwrap();
        let request = api_requests::in_workspace(OURS).by_request_id(&database, "mine").await.unwrap();
        assert_eq!(request.map(|row| row.id), Some(id(11)));
    }
}

#[tokio::test]
async fn old_requests_are_pruned_in_batches() {
    for database in databases().await {
        api_requests::insert_many(&database, (10..15).map(request).collect()).await.unwrap();
        assert_eq!(api_requests::prune(&database, id(14), i64::MAX, 3).await.unwrap(), 3);
        assert_eq!(api_requests::prune(&database, id(14), i64::MAX, 3).await.unwrap(), 1);
        assert_eq!(api_requests::prune(&database, id(14), i64::MAX, 3).await.unwrap(), 0);
        let all = RequestRowFilter::default();
        let remaining = api_requests::in_workspace(OURS).page(&database, &all, newest(9)).await.unwrap();
        assert_eq!(remaining, [request(14)]);
    }
}

#[tokio::test]
async fn daily_counts_add_up_per_workspace() {
    for database in databases().await {
        let day = |workspace_id, day: i64, succeeded| api_request_days::Model {
            workspace_id,
            starts_at: day * DAY_MS,
            succeeded,
            rejected: 1,
            rate_limited: 2,
            failed: 3,
        };
        api_request_days::add(&database, vec![day(OURS, 2, 10), day(THEIRS, 2, 5), day(OURS, 1, 7)])
            .await
            .unwrap();
        api_request_days::add(&database, vec![day(OURS, 2, 1)]).await.unwrap();
        let of_ours = |span| api_request_days::of_workspace(&database, OURS, span);
        let second_day = api_request_days::Model {
            succeeded: 11,
            rejected: 2,
            rate_limited: 4,
            failed: 6,
            ..day(OURS, 2, 0)
        };
        assert_eq!(of_ours(SpanMs::default()).await.unwrap(), [day(OURS, 1, 7), second_day.clone()]);
        assert_eq!(of_ours(SpanMs::between(0, 2 * DAY_MS)).await.unwrap(), [day(OURS, 1, 7)]);
        assert_eq!(api_request_days::delete_before(&database, 2 * DAY_MS).await.unwrap(), 1);
        assert_eq!(of_ours(SpanMs::default()).await.unwrap(), [second_day]);
    }
}

/// A request log and a filtered list of it.
#[derive(Clone, Debug)]
struct LogSearch {
    /// Of each request: the time of receipt, the key, the status, and whether the operation is `listCourses`.
    log: Vec<(i64, u128, i32, bool)>,
    key: Option<u128>,
    /// The first status, and the status after the last one.
    statuses: Option<(i32, i32)>,
    /// The operation of the filter: `listCourses` if true, `getCourse` if false.
    is_list: Option<bool>,
    from: Option<i64>,
    until: Option<i64>,
    limit: u64,
}

fn log_searches() -> impl Strategy<Value = LogSearch> {
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
    (log, filters, 1_u64..6).prop_map(|(log, (key, statuses, is_list, from, until), limit)| LogSearch {
        log,
        key,
        statuses,
        is_list,
        from,
        until,
        limit,
    })
}

fn operation(is_list: bool) -> Option<String> {
    Some(if is_list { "listCourses" } else { "getCourse" }.to_owned())
}

/// Reads all pages of the search.
async fn read_all_pages(database: &DatabaseConnection, workspace: Uuid, search: &LogSearch) -> Vec<Uuid> {
    let filter = RequestRowFilter {
        key_id: search.key.map(id),
        statuses: search.statuses,
        operation: search.is_list.and_then(operation),
        received: SpanMs { from: search.from, until: search.until },
    };
    let (mut keyset, mut ids) = (newest(search.limit), Vec::new());
    loop {
        let page = api_requests::in_workspace(workspace).page(database, &filter, keyset).await.unwrap();
        assert!(page.len() as u64 <= search.limit);
        let Some(last) = page.last() else { return ids };
        keyset.after = Some((last.received_at, last.id));
        ids.extend(page.iter().map(|row| row.id));
    }
}

/// Returns the expected ids, by checking every request.
fn expected_ids(rows: &[Model], search: &LogSearch) -> Vec<Uuid> {
    let mut matching: Vec<&Model> = rows
        .iter()
        .filter(|row| search.key.is_none_or(|key| row.key_id == id(key)))
        .filter(|row| search.statuses.is_none_or(|(from, until)| (from..until).contains(&row.status)))
        .filter(|row| search.is_list.is_none_or(|is_list| row.operation == operation(is_list)))
        .filter(|row| search.from.is_none_or(|from| row.received_at >= from))
        .filter(|row| search.until.is_none_or(|until| row.received_at < until))
        .collect();
    matching.sort_by_key(|row| std::cmp::Reverse((row.received_at, row.id)));
    matching.iter().map(|row| row.id).collect()
}

#[allow(clippy::result_large_err, reason = "the error is proptest's own")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_with_any_filter_contain_each_request_once_newest_first() {
    for database in databases().await {
        let handle = tokio::runtime::Handle::current();
        let case_number = std::cell::Cell::new(0);
        let mut runner =
            TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
        let outcome = tokio::task::block_in_place(|| {
            runner.run(&log_searches(), |search| {
                // A separate workspace for each case.
                case_number.set(case_number.get() + 1);
                let workspace = id(1_000_000 + case_number.get());
                let rows: Vec<Model> = (0_u128..)
                    .zip(&search.log)
                    .map(|(number, &(received_at, key, status, is_list))| Model {
                        id: id(case_number.get() * 1000 + number),
                        workspace_id: workspace,
                        key_id: id(key),
                        operation: operation(is_list),
                        status,
                        received_at,
                        ..request(1)
                    })
                    .collect();
                let ids = handle.block_on(async {
                    api_requests::insert_many(&database, rows.clone()).await.unwrap();
                    read_all_pages(&database, workspace, &search).await
                });
                prop_assert_eq!(ids, expected_ids(&rows, &search));
                Ok(())
            })
        });
        outcome.unwrap();
    }
}
