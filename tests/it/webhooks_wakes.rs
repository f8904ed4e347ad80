//! Servers and workers in separate processes on PostgreSQL: workers notice new deliveries without waiting for a poll.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::program::TestProgram;
use crate::support::{Endpoint, skip};

#[tokio::test]
async fn a_worker_process_sends_soon_after_a_server_without_a_worker_commits() {
    const STUDENTS: usize = 20;
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only: on SQLite, workers in other processes poll");
    }
    let secret = program.create_key("write:students").await;
    let endpoint = Endpoint::start().await;
    let (hook, allow) = (endpoint.url(), ["--webhook-allow", "127.0.0.0/8"]);
    let create = ["webhooks", "create", "--workspace", "acme", "--url", &hook, "--event", "student.created"];
    assert_eq!(program.run(&[&create[..], &allow].concat()).await.code, Some(0));
    let server = program.serve(&["serve", "--no-worker"]).await;
    let mut worker = program.command(&[&["worker"][..], &allow].concat()).spawn().expect("the worker starts");
    let key = server.key(&program.app, &secret);

    let mut fast = 0;
    for number in 0..=STUDENTS {
        let body = json!({"email": format!("s{number}@example.com")});
        key.post("/api/v1/students", body).await.assert_status(201);
        let created = Instant::now();
        while endpoint.requests().len() <= number {
            assert!(created.elapsed() < Duration::from_secs(20), "the worker does not send");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        // The worker may still be starting when the first student is created.
        fast += usize::from(number > 0 && created.elapsed() < Duration::from_secs(1));
    }
    // Polls are 5 s apart, so without notifications only one out of five is as fast.
    assert!(fast >= STUDENTS - 2, "{fast} of {STUDENTS} within a second");
    worker.kill().await.expect("the worker is killed");
    assert_eq!(server.stop().await, Some(0));
}
