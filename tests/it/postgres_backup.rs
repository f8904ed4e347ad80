//! Runs the commands of the section on backups of PostgreSQL in xtask/dist/OPERATIONS.md, while a server writes. PostgreSQL only.

use serde_json::json;
use tokio::task::JoinHandle;

use crate::support::program::TestProgram;
use crate::support::{Endpoint, PostgresPair, TestKey, wait_until};

/// The folder of the backups in the document.
const FOLDER: &str = "/var/backups/creator-api";

/// The options in the document that create a folder for another user. The commands of the test run as the user of the server, who may
/// have another name.
const OWNER: &str = " -o postgres -g postgres";

/// The number of students whose email address is this one.
const COUNT: &str = "SELECT count(*) FROM students WHERE email = ";

/// Returns the code blocks of the section, with another folder for the backups.
fn code_blocks(folder: &str) -> Vec<String> {
    let (_, section) =
        include_str!("../../xtask/dist/OPERATIONS.md").split_once("\n## Back up PostgreSQL\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let blocks = section.split("```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').unwrap().1.replace(FOLDER, folder)).collect()
}

/// Creates students until it is aborted.
fn start_load(key: TestKey) -> JoinHandle<()> {
    tokio::spawn(async move {
        for number in 0.. {
            let student = json!({"email": format!("student-{number}@example.com")});
            key.post("/api/v1/students", student).await.assert_status(201);
        }
    })
}

async fn create(key: &TestKey, email: &str) {
    key.post("/api/v1/students", json!({"email": email})).await.assert_status(201);
}

#[tokio::test]
async fn the_documented_commands_restore_a_dump_and_a_point_in_time() {
    let Some(mut pair) = PostgresPair::start(false).await else { return };
    let backups = pair.folder().join("backups");
    let blocks = code_blocks(backups.to_str().unwrap());
    let [folders, dump, restore, archive, base_backup, recover] = &blocks[..] else { panic!("{blocks:#?}") };
    assert!(folders.contains(OWNER), "{folders}");
    pair.primary.run_shell(&folders.replace(OWNER, ""), &[]);
    pair.primary.configure(archive);
    pair.primary.kill();
    pair.primary.start().await;

    let mut program = TestProgram::new().await;
    program.database_url = Some(pair.primary.url());
    assert_eq!(program.run(&["migrate"]).await.code, Some(0));
    let secret = program.create_key("read:students,write:students").await;
    let endpoint = Endpoint::start().await;
    let url = endpoint.url();
    let allow = ["--webhook-allow", "127.0.0.0/8"];
    let webhook = ["webhooks", "create", "--workspace", "acme", "--event", "student.created", "--url", &url];
    assert_eq!(program.run(&[&webhook[..], &allow].concat()).await.code, Some(0));
    // Events soon after a change of their webhook would not be compared with their deliveries.
    pair.primary.execute("UPDATE webhook_subscriptions SET updated_at = updated_at - 120000").await;
    let quota = ["--default-per-minute", "1000000", "--default-per-day", "1000000", "--log-filter", "warn"];
    let server = program.serve(&[&["serve"][..], &allow, &quota].concat()).await;
    let key = server.key(&program.app, &secret);
    let load = start_load(key.clone());
    wait_until("events are delivered", async || !endpoint.requests().is_empty()).await;

    create(&key, "before@example.com").await;
    pair.primary.run_shell(dump, &[("DATABASE_URL", &pair.primary.url())]);
    pair.primary.run_shell(base_backup, &[("REPLICATION_URL", &pair.primary.superuser_url())]);
    create(&key, "between@example.com").await;
    let target_time: String = pair.primary.query("SELECT clock_timestamp()::text").await;
    create(&key, "after@example.com").await;
    assert!(!load.is_finished(), "a request failed");
    load.abort();
    // Archives the current file, as `archive_timeout` does within a minute.
    pair.primary.execute("SELECT pg_switch_wal()").await;
    let archived =
        "SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 16777216) FROM pg_stat_archiver";
    wait_until("the file is archived", async || {
        pair.primary.query::<Option<bool>>(archived).await.unwrap_or_default()
    })
    .await;
    assert_eq!(server.stop().await, Some(0));

    pair.primary.execute("CREATE DATABASE restored OWNER creator").await;
    let url = pair.primary.url();
    let restored_url = format!("{}restored", url.strip_suffix("creator").unwrap());
    pair.primary.run_shell(restore, &[("RESTORED_URL", &restored_url)]);
    program.database_url = Some(restored_url);
    assert_clean(&program).await;

    pair.primary.kill();
    let mut recovered = pair.further_server();
    recovered.run_shell(recover, &[("TARGET_TIME", &target_time)]);
    recovered.start().await;
    wait_until("PostgreSQL accepts writes", async || {
        !recovered.query::<bool>("SELECT pg_is_in_recovery()").await
    })
    .await;
    for (email, count) in [("before", 1), ("between", 1), ("after", 0)] {
        let sql = format!("{COUNT}'{email}@example.com'");
        assert_eq!(recovered.query::<i64>(&sql).await, count, "{email}");
    }
    program.database_url = Some(recovered.url());
    assert_clean(&program).await;
    let server = program.serve(&["serve", "--no-worker", "--log-filter", "warn"]).await;
    create(&server.key(&program.app, &secret), "after@example.com").await;
    assert_eq!(server.stop().await, Some(0));
}

/// Asserts that `doctor --deep` has no findings, and has compared events with their deliveries.
async fn assert_clean(program: &TestProgram) {
    let doctor = program.run(&["doctor", "--deep"]).await;
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
    assert!(!doctor.stdout.contains(" 0 events") && doctor.stdout.contains("+ 0 missing"), "{doctor:?}");
}
