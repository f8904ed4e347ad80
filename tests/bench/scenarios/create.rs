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
        Box::new(CreateStudents::new(key.clone(), number.to_string()))
    };
    let mut ours = HttpLoad { server: &server, connections: CONNECTIONS, status: 201, script };
    let (bare, ours) = compare(bench, Measurement::per_second, &mut limit, &mut ours).await?;
    let row = ResultRow::new(
        NAME,
        format!("createStudent, {}", site.kind.name()),
        (ours.per_second(), "req/s"),
        Some(("the same statements, bare database", bare.per_second())),
        Goal::AtLeast(site.kind.choose(0.8, 0.75)),
    );
    bench.report(row.detail(describe(&ours, None)));
    server.stop().await
}

/// Creates one student after the other, each with a different email address.
pub struct CreateStudents {
    key: String,
    /// Identifies the connection.
    connection: String,
    /// The number of students so far.
    students: u64,
}

impl CreateStudents {
    /// Creates the script of a connection. No two connections have the same name.
    pub fn new(key: String, connection: String) -> Self {
        Self { key, connection, students: 0 }
    }
}

impl RequestScript for CreateStudents {
    fn request(&mut self, request: &mut Vec<u8>) {
        self.students += 1;
        let body = format!(
            r#"{{"email":"student-{}-{}@example.com","name":"A Student","tags":["newsletter","spring"]}}"#,
            self.connection, self.students
        );
        write_post(request, "/api/v1/students", &self.key, body.as_bytes());
    }
}
