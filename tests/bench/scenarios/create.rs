//! `createStudent` beside the commits of the bare database with the same statements.

use anyhow::Result;

use crate::bare::{Bare, writes};
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, Http, compare};
use crate::http::write_post;
use crate::load::Script;
use crate::measured::Measured;
use crate::report::{Goal, Row, describe};
use crate::site::{Site, WRITES};

pub const NAME: &str = "create";

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let key = site.empty(WRITES).await?;
    let workspace = site.workspace_id(WRITES).await?;
    let server = site.serve().await?;
    let mut limit = writes::Writes::new(Bare::open(site).await?, workspace);
    let script =
        |number: usize| -> Box<dyn Script> { Box::new(Create { key: key.clone(), number, next: 0 }) };
    let mut ours = Http { server: &server, connections: CONNECTIONS, status: 201, script };
    let (bare, ours) = compare(bench, Measured::per_second, &mut limit, &mut ours).await?;
    let row = Row::new(
        NAME,
        format!("createStudent, {}", site.kind.name()),
        (ours.per_second(), "req/s"),
        Some(("the same statements, bare database", bare.per_second())),
        Goal::AtLeast(0.5),
    );
    bench.report(row.detail(describe(&ours, None)));
    server.stop().await
}

/// Creates one student after the other, each with an address of its own.
struct Create {
    key: String,
    number: usize,
    next: u64,
}

impl Script for Create {
    fn request(&mut self, request: &mut Vec<u8>) {
        self.next += 1;
        let body = format!(
            r#"{{"email":"student-{}-{}@example.com","name":"A Student","tags":["newsletter","spring"]}}"#,
            self.number, self.next
        );
        write_post(request, "/api/v1/students", &self.key, body.as_bytes());
    }
}
