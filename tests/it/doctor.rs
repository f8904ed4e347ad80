//! `creator-api doctor`, on consistent databases and on databases with damage made by hand.

use std::fs;

use feed::{ApplyOptions, demo};
use sea_orm::{ConnectOptions, ConnectionTrait, DatabaseConnection, DbBackend, Statement, TryGetable, Value};
use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::support::program::TestProgram;
use crate::support::wait_until;

/// A program with the demo data, a webhook and an event.
struct Checked {
    program: TestProgram,
    /// A connection that does not check foreign keys.
    connection: DatabaseConnection,
}

impl Checked {
    async fn new() -> Self {
        let program = TestProgram::new().await;
        demo::load(&program.app.app, ApplyOptions::default()).await.unwrap();
        let create = ["webhooks", "create", "--workspace", "demo", "--event", "student.created"];
        let created = program.run(&[&create[..], &["--url", "https://hooks.example/a"]].concat()).await;
        assert_eq!(created.code, Some(0), "{created:?}");
        let checked = Self { connection: connect(&program.app.database_url()).await, program };
        // Events soon after a change of their webhook are not compared.
        checked.execute("UPDATE webhook_subscriptions SET updated_at = updated_at - 120000", []).await;
        let data = json!({"key": "late", "email": "late@example.com"});
        let at = jiff::Timestamp::UNIX_EPOCH.to_string();
        let change =
            json!({"change": "student.upsert", "id": "late", "workspace": "demo", "at": at, "data": data});
        let applied = checked.program.run_with_input(&["apply", "-"], &format!("{change}\n")).await;
        assert_eq!(applied.code, Some(0), "{applied:?}");
        checked
    }

    async fn execute<const N: usize>(&self, sql: &str, values: [Value; N]) -> u64 {
        let statement = Statement::from_sql_and_values(self.connection.get_database_backend(), sql, values);
        self.connection.execute_raw(statement).await.unwrap().rows_affected()
    }

    /// Returns the first column of the first row.
    async fn value<T: TryGetable>(&self, sql: &str) -> T {
        let statement = Statement::from_string(self.connection.get_database_backend(), sql);
        let row = self.connection.query_one_raw(statement).await.unwrap().unwrap();
        row.try_get_by_index(0).unwrap()
    }

    /// Runs `doctor --deep --json`, and returns its findings as `check: place: problem`.
    async fn findings(&self) -> Vec<String> {
        findings(&self.program).await
    }

    /// Changes one row, asserts that the findings are exactly these, and reverts the change. `$1` is the row's id, whose value
    /// replaces `ID` in the findings, too.
    async fn assert_found(&self, id: Uuid, damage: &str, revert: &str, expected: &[&str]) {
        assert_eq!(self.execute(damage, [id.into()]).await, 1, "{damage}");
        let findings = self.findings().await;
        assert_eq!(findings.len(), expected.len(), "{damage}: {findings:#?}");
        for (finding, expected) in findings.iter().zip(expected) {
            let expected = expected.replace("ID", &id.to_string());
            assert!(finding.contains(&expected), "{damage}: {expected:?} is not in {finding:?}");
        }
        assert_eq!(self.execute(revert, [id.into()]).await, 1, "{revert}");
    }
}

/// Opens a connection that does not check foreign keys.
async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1);
    let connection = sea_orm::Database::connect(options).await.unwrap();
    let setting = match connection.get_database_backend() {
        DbBackend::Postgres => "SET session_replication_role = replica",
        _ => "PRAGMA foreign_keys = OFF",
    };
    connection.execute_unprepared(setting).await.unwrap();
    connection
}

async fn findings(program: &TestProgram) -> Vec<String> {
    let output = program.run(&["doctor", "--deep", "--json"]).await;
    let reports = output.stdout.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let mut findings = Vec::new();
    for report in reports {
        let check = report["check"].as_str().unwrap().to_owned();
        assert_eq!(report["ok"], report["findings"].as_array().unwrap().is_empty(), "{report}");
        for finding in report["findings"].as_array().unwrap() {
            let text = |field: &str| finding[field].as_str().unwrap().to_owned();
            assert!(!text("remedy").is_empty(), "{finding}");
            findings.push(format!("{check}: {} {}: {}", text("table"), text("id"), text("problem")));
        }
    }
    assert_eq!(output.code, Some(i32::from(!findings.is_empty())), "{output:?}");
    findings
}

#[tokio::test]
async fn changes_after_the_recording_clock_are_found() {
    let checked = Checked::new().await;
    let day = 86_400_000_i64;
    let student: Uuid = checked.value("SELECT id FROM students LIMIT 1").await;
    let event: Uuid = checked.value("SELECT id FROM events ORDER BY id DESC LIMIT 1").await;
    let later = Uuid::from_u128(event.as_u128() + ((2 * day as u128) << 80));
    for (damage, values, expected) in [
        (
            "UPDATE students SET updated_at = updated_at + $2 WHERE id = $1",
            [student.into(), (400 * day).into()],
            "recording-times: students : the latest change was recorded at 20",
        ),
        (
            "UPDATE events SET id = $2 WHERE id = $1",
            [event.into(), later.into()],
            "recording-times: events evt_",
        ),
    ] {
        assert_eq!(checked.execute(damage, values).await, 1, "{damage}");
        let findings = checked.findings().await;
        assert!(findings.iter().any(|finding| finding.starts_with(expected)), "{findings:#?}");
    }
}

#[tokio::test]
async fn a_consistent_database_has_no_findings_and_is_not_changed() {
    let checked = Checked::new().await;
    let program = &checked.program;
    let database = program.app.folder().join("creator-api.db");
    let before = match program.app.uses_postgres() {
        true => {
            let name: String = checked.value("SELECT current_database()::text").await;
            checked
                .execute(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"), [])
                .await;
            Vec::new()
        }
        false => {
            // So that no write of the test is copied into the file later.
            checked.execute("PRAGMA wal_checkpoint(TRUNCATE)", []).await;
            fs::read(&database).unwrap()
        }
    };
    let output = program.run(&["doctor", "--deep"]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    let checks: Vec<&str> =
        output.stdout.lines().map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    let all = "disk-space file-limit clock schema master-key encrypted-values structure references recording-times events orders revenue";
    assert_eq!(checks.join(" "), all);
    assert!(output.stdout.lines().all(|line| line.starts_with("ok ")), "{}", output.stdout);
    let events =
        "1 events of 29 days with 1 deliveries = 0 delivered + 1 pending + 0 held + 0 dead + 0 missing";
    assert!(output.stdout.contains(events), "{}", output.stdout);
    let fast = program.run(&["doctor"]).await;
    assert_eq!((fast.code, fast.stdout.lines().count()), (Some(0), 6), "{fast:?}");
    if !program.app.uses_postgres() {
        assert!(fs::read(&database).unwrap() == before, "the database was changed");
        let missing = program.command_without_config(&["doctor", "--data-dir", "missing"]);
        let missing = program.run_command(missing).await;
        assert_eq!(missing.code, Some(1), "{missing:?}");
        assert!(missing.stderr.contains("there is no database at missing"), "{missing:?}");
        assert!(!program.app.folder().join("missing").exists());
    }
}

#[tokio::test]
async fn each_damage_of_an_order_is_found_and_nothing_else() {
    let checked = Checked::new().await;
    assert_eq!(checked.findings().await, Vec::<String>::new());
    let order: Uuid = checked.value("SELECT id FROM orders WHERE status = 'paid' ORDER BY id LIMIT 1").await;
    let student: Uuid =
        checked.value(&format!("SELECT student_id FROM orders WHERE id = {}", literal(order))).await;

    // An orphan: the order's own id is not the id of a student.
    checked
        .assert_found(
            order,
            "UPDATE orders SET student_id = id WHERE id = $1",
            &format!("UPDATE orders SET student_id = {} WHERE id = $1", literal(student)),
            &["references: orders id ID: student_id refers to ID, which does not exist in students"],
        )
        .await;
    checked
        .assert_found(
            order,
            "UPDATE orders SET subtotal_amount = subtotal_amount + 1 WHERE id = $1",
            "UPDATE orders SET subtotal_amount = subtotal_amount - 1 WHERE id = $1",
            &["but the items add up to"],
        )
        .await;
    checked
        .assert_found(
            order,
            "UPDATE orders SET status = 'refunded' WHERE id = $1",
            "UPDATE orders SET status = 'paid' WHERE id = $1",
            &["status is refunded, but the amounts say paid"],
        )
        .await;
    let item: Uuid = checked.value("SELECT id FROM order_items ORDER BY id LIMIT 1").await;
    checked
        .assert_found(
            item,
            "UPDATE order_items SET unit_amount = unit_amount + 1 WHERE id = $1",
            "UPDATE order_items SET unit_amount = unit_amount - 1 WHERE id = $1",
            &["1 items have a total_amount that is not quantity times unit_amount"],
        )
        .await;
    let refund: Uuid = checked.value("SELECT id FROM refunds WHERE amount > 1 ORDER BY id LIMIT 1").await;
    checked.execute("UPDATE refunds SET amount = amount - 1 WHERE id = $1", [refund.into()]).await;
    let findings = checked.findings().await;
    assert!(findings.iter().any(|finding| finding.starts_with("orders: orders ord_")), "{findings:#?}");
    assert!(findings.iter().any(|finding| finding.contains("refunded_amount +1")), "{findings:#?}");
    checked.execute("UPDATE refunds SET amount = amount + 1 WHERE id = $1", [refund.into()]).await;
    assert_eq!(checked.findings().await, Vec::<String>::new());
}

#[tokio::test]
async fn each_damage_of_secrets_sums_and_events_is_found_and_nothing_else() {
    let checked = Checked::new().await;
    let secret: Uuid = checked.value("SELECT id FROM webhook_secrets").await;
    let ciphertext: Vec<u8> = checked.value("SELECT ciphertext FROM webhook_secrets").await;
    checked.execute("UPDATE webhook_secrets SET ciphertext = $1", [vec![1_u8; 60].into()]).await;
    let findings = checked.findings().await;
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(
        findings[0].starts_with(&format!("encrypted-values: webhook_secrets {secret}: ")),
        "{findings:#?}"
    );
    checked.execute("UPDATE webhook_secrets SET ciphertext = $1", [ciphertext.into()]).await;

    for (grain, count) in [("day", 2), ("quarter", 1)] {
        let nil = literal(Uuid::nil());
        let one = format!(
            "grain = '{grain}' AND course_id = {nil} AND starts_at = (SELECT min(starts_at) FROM revenue_rollups
             WHERE grain = '{grain}')"
        );
        let changed =
            checked.execute(&format!("UPDATE revenue_rollups SET orders = orders + 1 WHERE {one}"), []).await;
        assert_eq!(changed, 1);
        let findings = checked.findings().await;
        assert_eq!(findings.len(), count, "{findings:#?}");
        assert!(
            findings.iter().all(|finding| finding.contains("workspace demo, all courses, ")),
            "{findings:#?}"
        );
        checked.execute(&format!("UPDATE revenue_rollups SET orders = orders - 1 WHERE {one}"), []).await;
    }
    assert_eq!(checked.findings().await, Vec::<String>::new());

    let event: Uuid = checked.value("SELECT event_id FROM webhook_deliveries").await;
    checked.execute("UPDATE webhook_deliveries SET event_id = id", []).await;
    let findings = checked.findings().await;
    assert_eq!(findings.len(), 2, "{findings:#?}");
    assert!(findings[0].contains("event_id refers to") && findings[0].contains("does not exist in events"));
    assert!(
        findings[1].starts_with("events: events evt_")
            && findings[1].contains("no delivery to the webhook whs_")
    );
    checked.execute("UPDATE webhook_deliveries SET event_id = $1", [event.into()]).await;
    checked.execute("DELETE FROM webhook_deliveries", []).await;
    let findings = checked.findings().await;
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(findings[0].contains("no delivery to the webhook whs_"), "{findings:#?}");
}

/// Formats an id as an SQL literal.
fn literal(id: Uuid) -> String {
    match std::env::var_os("TEST_POSTGRES_URL").is_some() {
        true => format!("'{id}'"),
        false => format!("X'{}'", id.simple()),
    }
}

#[tokio::test]
async fn problems_of_the_key_the_limits_and_the_clock_are_found() {
    let program = TestProgram::new().await;
    assert_eq!(program.serve(&["serve"]).await.stop().await, Some(0));
    let key_file = program.app.folder().join("master.key");
    let key = fs::read_to_string(&key_file).unwrap();
    fs::write(&key_file, "0f".repeat(32)).unwrap();
    let wrong = findings(&program).await;
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].starts_with("master-key: server_state master_key_fingerprint: "), "{wrong:?}");
    fs::remove_file(&key_file).unwrap();
    let missing = findings(&program).await;
    assert!(missing[0].ends_with("the master key of the data is missing"), "{missing:?}");
    fs::write(&key_file, key).unwrap();

    let limited = program.run_command(program.command_after("ulimit -n 1000", &["doctor"])).await;
    assert_eq!(limited.code, Some(1), "{limited:?}");
    assert!(limited.stdout.contains("FAILED  file-limit"), "{limited:?}");
    assert!(limited.stdout.contains("the limit on open files is 1000"), "{limited:?}");

    // The clock of the test stands still.
    let clock = domain::doctor::clock(&program.app.app).await.unwrap();
    assert_eq!(clock.findings.len(), usize::from(program.app.uses_postgres()), "{clock:?}");

    let write = program.app.begin_write().await;
    for newer in [
        "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m0099_future', 1)",
        "UPDATE server_state SET value = '99' WHERE name = 'schema_floor'",
    ] {
        write.conn().execute_unprepared(newer).await.unwrap();
    }
    write.commit().await.unwrap();
    let newer = findings(&program).await;
    assert_eq!(newer.len(), 1, "{newer:?}");
    assert!(newer[0].starts_with("schema: ") && newer[0].contains("m0099_future"), "{newer:?}");
}

#[tokio::test]
#[ignore = "slow"]
async fn a_running_server_causes_no_findings() {
    let checked = Checked::new().await;
    let program = &checked.program;
    let workspace = program.app.workspace("demo").await;
    let secret = workspace.key("read:students write:students").await.secret;
    let server = program.serve(&["serve", "--log-filter", "warn"]).await;
    let key = server.key(&program.app, &secret);
    let load = tokio::spawn(async move {
        for number in 0.. {
            let student = json!({"email": format!("student-{number}@example.com")});
            key.post("/api/v1/students", student).await.assert_status(201);
        }
    });
    let events = "SELECT count(*) FROM events";
    let before: i64 = checked.value(events).await;
    wait_until("students are created", async || checked.value::<i64>(events).await > before + 5).await;
    for _ in 0..5 {
        assert_eq!(checked.findings().await, Vec::<String>::new());
    }
    assert!(!load.is_finished(), "a request failed");
    load.abort();
    assert_eq!(server.stop().await, Some(0));
}
