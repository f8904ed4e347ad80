//! `listStudents` and `listOrders`, always other pages, beside the same rows read from the bare database.

use anyhow::Result;

use super::fetch_json;
use super::walk::List;
use crate::bare::{Bare, reads};
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, Http, compare};
use crate::measured::Measured;
use crate::process::Server;
use crate::report::{Goal, Row, describe};
use crate::site::{Kind, SYNTHETIC, Site};

pub const NAME: &str = "lists";

/// Items of a page.
const LIMIT: u32 = 25;

const OPERATIONS: [(&str, &str); 2] =
    [("listStudents", "/api/v1/students"), ("listOrders", "/api/v1/orders")];

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let key = site.generated(bench.scale().large()).await?;
    let server = site.serve().await?;
    for (operation, path) in OPERATIONS {
        measure(bench, site, &server, operation, List::new(&server, path, &key).await?).await?;
    }
    server.stop().await
}

async fn measure(bench: &mut Bench, site: &Site, server: &Server, operation: &str, list: List) -> Result<()> {
    let shape = shape(server, &list).await?;
    let workspace = site.workspace_id(SYNTHETIC).await?;
    let statements = if operation == "listStudents" { reads::STUDENTS } else { reads::ORDERS };
    let mut limit = reads::Reads::new(Bare::open(site).await?, statements, list.clone(), workspace);
    let script = |number: usize| list.walk(number, LIMIT);
    let mut ours = Http { server, connections: CONNECTIONS, status: 200, script };
    let (bare, ours) = compare(bench, Measured::per_second, &mut limit, &mut ours).await?;
    let row = Row::new(
        NAME,
        title(operation, site.kind),
        (ours.per_second(), "req/s"),
        Some(("the same rows, bare database", bare.per_second())),
        Goal::Without("2 x Fastify + pg (measured elsewhere)"),
    );
    bench.report(row.detail(format!("{shape}; {}", describe(&ours, None))));
    Ok(())
}

fn title(operation: &str, kind: Kind) -> String {
    format!("{operation}, {}", kind.name())
}

/// What hangs on the items of a page, and how large the page is.
async fn shape(server: &Server, list: &List) -> Result<String> {
    let middle = foundation::clock::from_ms(i64::midpoint(list.made.0, list.made.1));
    let page =
        fetch_json(server, &format!("{}?limit=100&created_before={middle}", list.path), &list.key).await?;
    let items = page["data"].as_array().map_or(&[][..], Vec::as_slice);
    let mut words = Vec::new();
    for part in ["enrollments", "items", "refunds", "entitlements"] {
        let count: usize = items.iter().filter_map(|item| item[part].as_array()).map(Vec::len).sum();
        if items.iter().any(|item| item[part].is_array()) {
            words.push(format!("{:.1} {part}", count as f64 / items.len() as f64));
        }
    }
    Ok(format!("{} each", words.join(", ")))
}

/// The rows that set SQLite beside PostgreSQL, when both were measured.
pub fn beside_each_other(rows: &[Row]) -> Vec<Row> {
    let figure = |what: &str| rows.iter().find(|row| row.what == what).map(|row| row.figure);
    let pair = |(operation, _): &(&str, &str)| {
        let [sqlite, postgres] = [Kind::Sqlite, Kind::Postgres].map(|kind| figure(&title(operation, kind)));
        let what = format!("{operation}, SQLite beside PostgreSQL");
        Some(Row::new(NAME, what, (sqlite?, "req/s"), Some(("PostgreSQL", postgres?)), Goal::AtLeast(1.0)))
    };
    OPERATIONS.iter().filter_map(pair).collect()
}
