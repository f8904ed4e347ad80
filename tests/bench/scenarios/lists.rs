//! `listStudents` and `listOrders` with random pages, compared with reading the same rows from the bare database.

use anyhow::Result;

use super::fetch_json;
use super::walk::ListSource;
use crate::bare::{BareDatabase, reads};
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, HttpLoad, compare};
use crate::measurement::Measurement;
use crate::process::BenchServer;
use crate::report::{Goal, ResultRow, describe};
use crate::site::{BenchSite, DatabaseKind, GENERATED_WORKSPACE};

pub const NAME: &str = "lists";

/// Items per page.
const PAGE_SIZE: u32 = 25;

/// The operations and their paths.
const OPERATIONS: [(&str, &str); 2] =
    [("listStudents", "/api/v1/students"), ("listOrders", "/api/v1/orders")];

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let key = site.generate_workspace(bench.scale().large_students()).await?;
    let server = site.serve().await?;
    for (operation, path) in OPERATIONS {
        measure(bench, site, &server, operation, ListSource::new(&server, path, &key).await?).await?;
    }
    server.stop().await
}

async fn measure(
    bench: &mut Bench,
    site: &BenchSite,
    server: &BenchServer,
    operation: &str,
    list: ListSource,
) -> Result<()> {
    let page_contents = page_contents(server, &list).await?;
    let workspace = site.workspace_id(GENERATED_WORKSPACE).await?;
    let statements = if operation == "listStudents" { reads::STUDENTS } else { reads::ORDERS };
    let mut limit =
        reads::BareReads::new(BareDatabase::open(site).await?, statements, list.clone(), workspace);
    let script = |number: usize| list.page_walk(number, PAGE_SIZE);
    let mut ours = HttpLoad { server, connections: CONNECTIONS, status: 200, script };
    let (bare, ours) = compare(bench, Measurement::per_second, &mut limit, &mut ours).await?;
    let row = ResultRow::new(
        NAME,
        title(operation, site.kind),
        (ours.per_second(), "req/s"),
        Some(("the same rows, bare database", bare.per_second())),
        goal(operation, site.kind),
    );
    bench.report(row.detail(format!("{page_contents}; {}", describe(&ours, None))));
    Ok(())
}

/// Returns the goal of an operation. On PostgreSQL, a list of students runs more statements than the bare database.
fn goal(operation: &str, kind: DatabaseKind) -> Goal {
    match (operation, kind) {
        ("listStudents", DatabaseKind::Postgres) => Goal::AtLeast(0.6),
        _ => Goal::AtLeast(0.75),
    }
}

fn title(operation: &str, kind: DatabaseKind) -> String {
    format!("{operation}, {}", kind.name())
}

/// Describes the average number of child rows of an item, from 100 items in the middle of the list.
async fn page_contents(server: &BenchServer, list: &ListSource) -> Result<String> {
    let middle = foundation::clock::from_ms(i64::midpoint(list.created_range_ms.0, list.created_range_ms.1));
    let page =
        fetch_json(server, &format!("{}?limit=100&created_before={middle}", list.path), &list.key).await?;
    let items = page["data"].as_array().map_or(&[][..], Vec::as_slice);
    let mut counts = Vec::new();
    for part in ["enrollments", "items", "refunds", "entitlements"] {
        let count: usize = items.iter().filter_map(|item| item[part].as_array()).map(Vec::len).sum();
        if items.iter().any(|item| item[part].is_array()) {
            counts.push(format!("{:.1} {part}", count as f64 / items.len() as f64));
        }
    }
    Ok(format!("{} each", counts.join(", ")))
}

/// Returns the rows that compare SQLite with PostgreSQL, if both were measured.
pub fn compare_databases(rows: &[ResultRow]) -> Vec<ResultRow> {
    let figure = |name: &str| rows.iter().find(|row| row.name == name).map(|row| row.figure);
    let pair = |(operation, _): &(&str, &str)| {
        let [sqlite, postgres] =
            [DatabaseKind::Sqlite, DatabaseKind::Postgres].map(|kind| figure(&title(operation, kind)));
        let name = format!("{operation}, SQLite compared with PostgreSQL");
        Some(ResultRow::new(
            NAME,
            name,
            (sqlite?, "req/s"),
            Some(("PostgreSQL", postgres?)),
            Goal::AtLeast(1.0),
        ))
    };
    OPERATIONS.iter().filter_map(pair).collect()
}
