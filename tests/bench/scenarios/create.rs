//! `createStudent`, compared with commits of the same statements on the bare database.

use anyhow::Result;

use crate::bare::{BareDatabase, writes};
use crate::bench::Bench;
use crate::compare::{CONNECTIONS, HttpLoad, compare};
use crate::http::write_post;
use crate::load::RequestScript;
use crate::measurement::Measurement;
use crate::report::{Goal, ResultRow, describe};
use crate::site::{BenchSite, WRITE_WORKSPACE};

pub const NAME: &str = "create";

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let key = site.create_workspace(WRITE_WORKSPACE).await?;
    let workspace = site.workspace_id(WRITE_WORKSPACE).await?;
    let server = site.serve().await?;
    let mut limit = writes::BareWrites::new(BareDatabase::open(site).await?, workspace);
    let script = |number: usize| -> Box<dyn RequestScript> {
        Box::new(CreateStudents { key: key.clone(), number, students: 0 })
    };
    let mut ours = HttpLoad { server: &server, connections: CONNECTIONS, status: 201, script };
    let (bare, ours) = compare(bench, Measurement::per_second, &mut limit, &mut ours).await?;
    let row = ResultRow::new(
        NAME,
        format!("createStudent, {}", site.kind.name()),
        (ours.per_second(), "req/s"),
        Some(("the same statements, bare database", bare.per_second())),
        Goal::AtLeast(0.5),
    );
    bench.report(row.detail(describe(&ours, None)));
    server.stop().await
}

/// Creates one student after the other, each with a different email address.
struct CreateStudents {
    key: String,
    /// The number of the connection.
    number: usize,
    /// The number of students so far.
    students: u64,
}

impl RequestScript for CreateStudents {
    fn request(&mut self, request: &mut Vec<u8>) {
        self.students += 1;
        let body = format!(
            r#"{{"email":"student-{}-{}@example.com","name":"A Student","tags":["newsletter","spring"]}}"#,
            self.number, self.students
        );
        write_post(request, "/api/v1/students", &self.key, body.as_bytes());
    }
}
