//! `creator-api backup` and `creator-api restore`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::program::{CommandOutput, TestProgram};
use crate::support::{Endpoint, skip, wait_until};

/// A program with a workspace, an API key and a backup.
struct BackedUp {
    program: TestProgram,
    secret: String,
    file: PathBuf,
}

impl BackedUp {
    /// Returns `None` on PostgreSQL.
    async fn new() -> Option<Self> {
        let program = TestProgram::new().await;
        if program.app.uses_postgres() {
            skip("SQLite only");
            return None;
        }
        let secret = program.create_key("read:courses,read:students,write:students").await;
        let server = program.serve(&["serve", "--no-worker"]).await;
        let key = server.key(&program.app, &secret);
        key.post("/api/v1/students", json!({"email": "ada@example.com"})).await.assert_status(201);
        let file = program.app.folder().join("backup.db");
        let backup = program.run(&["backup", "backup.db"]).await;
        assert_eq!(backup.code, Some(0), "{backup:?}");
        // What is written after the backup is not in it.
        key.post("/api/v1/students", json!({"email": "bob@example.com"})).await.assert_status(201);
        assert_eq!(server.stop().await, Some(0));
        Some(Self { program, secret, file })
    }

    /// Creates a data folder that contains only the master key.
    fn folder_with_key(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(self.program.app.folder().join("master.key"), folder.path().join("master.key")).unwrap();
        folder
    }

    fn command(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = self.program.command_without_config(args);
        command.env("CREATOR_API_DATA_DIR", folder);
        command
    }

    async fn restore(&self, folder: &Path, args: &[&str]) -> CommandOutput {
        let args = [&["restore", self.file.to_str().unwrap()][..], args].concat();
        self.program.run_command(self.command(folder, &args)).await
    }

    /// Asserts that a restore fails with this message and leaves nothing behind.
    async fn assert_refused(&self, folder: &Path, message: &str) {
        let before = names(folder);
        let refused = self.restore(folder, &[]).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(message), "{message:?} is not in {refused:?}");
        assert_eq!(names(folder), before);
    }

    /// Changes the manifest of the backup.
    fn edit_manifest(&self, edit: impl FnOnce(&mut Value)) {
        let bytes = fs::read(&self.file).unwrap();
        let end = bytes.len() - 1;
        let start = bytes[..end].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        let mut manifest: Value = serde_json::from_slice(&bytes[start..end]).unwrap();
        edit(&mut manifest);
        let line = format!("{manifest}\n");
        fs::write(&self.file, [&bytes[..start], line.as_bytes()].concat()).unwrap();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_backup_of_a_running_server_is_restored_into_an_empty_folder() {
    let Some(backed_up) = BackedUp::new().await else { return };
    let mode = fs::metadata(&backed_up.file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let folder = backed_up.folder_with_key();
    let restored = backed_up.restore(folder.path(), &[]).await;
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert_eq!(names(folder.path()), ["creator-api.db", "master.key"]);

    let mut serve = backed_up.command(folder.path(), &["serve", "--no-worker"]);
    serve.env("CREATOR_API_LISTEN", "127.0.0.1:0");
    let server = backed_up.program.start_server(serve).await;
    let key = server.key(&backed_up.program.app, &backed_up.secret);
    let students = key.get("/api/v1/students").await.assert_status(200).json();
    let emails: Vec<&str> =
        students["data"].as_array().unwrap().iter().map(|row| row["email"].as_str().unwrap()).collect();
    assert_eq!(emails, ["ada@example.com"]);
    assert_eq!(server.stop().await, Some(0));

    let refusal = "already exists; specify an empty folder";
    backed_up.assert_refused(folder.path(), refusal).await;
    // SQLite would apply the journal of a killed process to the restored database.
    fs::rename(folder.path().join("creator-api.db"), folder.path().join("creator-api.db-wal")).unwrap();
    backed_up.assert_refused(folder.path(), refusal).await;
}

#[tokio::test]
async fn a_damaged_backup_or_one_with_another_key_restores_nothing() {
    let Some(backed_up) = BackedUp::new().await else { return };
    let content = fs::read(&backed_up.file).unwrap();
    let folder = backed_up.folder_with_key();
    for length in [0, 1, 100, content.len() / 2, content.len() - 100, content.len() - 1] {
        fs::write(&backed_up.file, &content[..length]).unwrap();
        backed_up.assert_refused(folder.path(), "is not a backup, or was cut short").await;
    }
    let mut damaged = content.clone();
    damaged[content.len() / 3] ^= 1;
    fs::write(&backed_up.file, &damaged).unwrap();
    backed_up.assert_refused(folder.path(), "the checksum of its database differs").await;
    fs::write(&backed_up.file, &content[4096..]).unwrap();
    backed_up.assert_refused(folder.path(), "the length of its database differs").await;
    fs::write(&backed_up.file, &content).unwrap();
    backed_up.edit_manifest(|manifest| manifest["format"] = json!(2));
    backed_up.assert_refused(folder.path(), "has the format 2").await;
    fs::write(&backed_up.file, &content).unwrap();
    backed_up.edit_manifest(|manifest| {
        manifest["migrations"].as_array_mut().unwrap().push(json!("m9999_later"));
    });
    backed_up.assert_refused(folder.path(), "is newer than this one (migration m9999_later)").await;
    backed_up.edit_manifest(|manifest| manifest["migrations"][0] = json!("m0036_requested_links"));
    backed_up.assert_refused(folder.path(), "a development version before the first release").await;

    fs::write(&backed_up.file, &content).unwrap();
    let without_key = tempfile::tempdir().unwrap();
    backed_up.assert_refused(without_key.path(), "the master key is missing").await;
    fs::write(without_key.path().join("master.key"), "ab".repeat(32)).unwrap();
    backed_up.assert_refused(without_key.path(), "was encrypted with another master key").await;
    fs::remove_file(&backed_up.file).unwrap();
    backed_up.assert_refused(folder.path(), "cannot be read: No such file or directory").await;
}

#[tokio::test]
async fn restored_deliveries_can_be_held() {
    let Some(backed_up) = BackedUp::new().await else { return };
    let program = &backed_up.program;
    let create = [
        "webhooks",
        "create",
        "--workspace",
        "acme",
        "--url",
        "https://hooks.example/a",
        "--event",
        "student.created",
    ];
    let created = program.run(&create).await;
    assert_eq!(created.code, Some(0), "{created:?}");
    fs::remove_file(&backed_up.file).unwrap();
    assert_eq!(program.run(&["backup", "backup.db"]).await.code, Some(0));
    for (args, state) in [(&[][..], "enabled"), (&["--hold-deliveries"], "paused")] {
        let folder = backed_up.folder_with_key();
        let restored = backed_up.restore(folder.path(), args).await;
        assert_eq!(restored.code, Some(0), "{restored:?}");
        assert_eq!(restored.stderr.contains("1 webhook is paused"), state == "paused", "{restored:?}");
        let list = ["webhooks", "list", "--workspace", "acme", "--json"];
        let listed = program.run_command(backed_up.command(folder.path(), &list)).await;
        let subscriptions: Value = serde_json::from_str(&listed.stdout).unwrap();
        assert_eq!(subscriptions[0]["state"], state, "{subscriptions}");
    }
}

#[tokio::test]
async fn restored_subscriptions_keep_their_delivery_controls() {
    let Some(backed_up) = BackedUp::new().await else { return };
    let (program, endpoint) = (&backed_up.program, Endpoint::start().await);
    let run = async |args: &[&str]| {
        let mut command = program.command(args);
        command.env("CREATOR_API_WEBHOOK_ALLOW", "127.0.0.0/8");
        let output = program.run_command(command).await;
        assert_eq!(output.code, Some(0), "{output:?}");
        output.stdout
    };
    let url = endpoint.url();
    run(&["webhooks", "create", "--workspace", "acme", "--url", &url, "--event", "student.created"]).await;
    let listed: Value =
        serde_json::from_str(&run(&["webhooks", "list", "--workspace", "acme", "--json"]).await).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    let header = "X-Team: s3cr3t: value";
    run(&["webhooks", "controls", id, "--header", header, "--rate", "5", "--ed25519", "true"]).await;
    let shown = [&["webhooks", "controls", id][..], &["webhooks", "signing-keys", "--workspace", "acme"]];
    let before = [run(shown[0]).await, run(shown[1]).await];
    assert!(before[0].contains("x-team: ****") && before[1].contains("wsk_"), "{before:?}");
    fs::remove_file(&backed_up.file).unwrap();
    run(&["backup", "backup.db"]).await;
    assert!(!fs::read(&backed_up.file).unwrap().windows(6).any(|bytes| bytes == b"s3cr3t"), "it is sealed");

    let folder = backed_up.folder_with_key();
    let restored = backed_up.restore(folder.path(), &[]).await;
    assert_eq!(restored.code, Some(0), "{restored:?}");
    for (args, before) in shown.into_iter().zip(before) {
        let after = program.run_command(backed_up.command(folder.path(), args)).await;
        assert_eq!(after.stdout, before, "{after:?}");
    }
    let mut serve = backed_up.command(folder.path(), &["serve"]);
    serve.env("CREATOR_API_LISTEN", "127.0.0.1:0").env("CREATOR_API_WEBHOOK_ALLOW", "127.0.0.0/8");
    let server = program.start_server(serve).await;
    let key = server.key(&program.app, &backed_up.secret);
    key.post("/api/v1/students", json!({"email": "cleo@example.com"})).await.assert_status(201);
    wait_until("the delivery arrived", async || !endpoint.requests().is_empty()).await;
    let request = endpoint.requests().remove(0);
    assert_eq!(request.header("x-team"), "s3cr3t: value");
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn a_backup_that_cannot_be_written_leaves_nothing() {
    let program = TestProgram::new().await;
    if program.app.uses_postgres() {
        let refused = program.run(&["backup", "backup.db"]).await;
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("use pg_dump and pg_restore"), "{refused:?}");
        return;
    }
    let before = names(program.app.folder());
    let missing = program.run(&["backup", "missing/backup.db"]).await;
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.stderr.contains("cannot write to missing: No such file"), "{missing:?}");
    // As on a full disk.
    let full = program.command_after("ulimit -f 64 && trap '' XFSZ", &["backup", "backup.db"]);
    let full = program.run_command(full).await;
    assert_eq!(full.code, Some(1), "{full:?}");
    assert!(full.stderr.contains("disk is full") || full.stderr.contains("disk I/O error"), "{full:?}");
    let refused = program.run(&["backup", "creator-api.db"]).await;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("creator-api.db already exists"), "{refused:?}");
    assert_eq!(names(program.app.folder()), before);
    let elsewhere = program.command_without_config(&["backup", "backup.db", "--data-dir", "elsewhere"]);
    let elsewhere = program.run_command(elsewhere).await;
    assert_eq!(elsewhere.code, Some(1), "{elsewhere:?}");
    assert!(elsewhere.stderr.contains("there is no database at elsewhere/creator-api.db"), "{elsewhere:?}");
    assert_eq!(names(program.app.folder()), before);
}

/// Makes a folder and its files read-only, and returns a command that runs the program with these arguments on them. Since
/// permissions do not apply to root, root runs it as another user.
fn command_on_read_only(backed_up: &BackedUp, folder: &Path, args: &[&str]) -> Command {
    for entry in fs::read_dir(folder).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o444)).unwrap();
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = backed_up.command(folder, args);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    command
}

#[tokio::test]
async fn doctor_and_backup_work_on_a_read_only_folder_or_say_what_they_need() {
    let Some(backed_up) = BackedUp::new().await else { return };
    let source = backed_up.program.app.folder();
    let server = backed_up.program.serve(&["serve", "--no-worker"]).await;
    let copy = |names: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::copy(source.join(name), folder.path().join(name)).unwrap();
        }
        folder
    };
    const OPEN: [&str; 4] = ["creator-api.db", "creator-api.db-wal", "creator-api.db-shm", "master.key"];
    let in_use = copy(&OPEN);
    let without_index = copy(&[OPEN[0], OPEN[1], OPEN[3]]);
    assert_eq!(server.stop().await, Some(0));
    let closed = copy(&[OPEN[0], OPEN[3]]);
    let with_empty_journal = copy(&[OPEN[0], OPEN[3]]);
    fs::write(with_empty_journal.path().join(OPEN[1]), "").unwrap();

    let target = tempfile::tempdir().unwrap();
    fs::set_permissions(target.path(), fs::Permissions::from_mode(0o777)).unwrap();
    for (number, folder) in [&in_use, &closed, &with_empty_journal].into_iter().enumerate() {
        let doctor = command_on_read_only(&backed_up, folder.path(), &["doctor", "--deep"]);
        let doctor = backed_up.program.run_command(doctor).await;
        assert_eq!((doctor.code, doctor.stderr.as_str()), (Some(0), ""), "{number}: {doctor:?}");
        let file = target.path().join(format!("{number}.db"));
        let args = ["backup", file.to_str().unwrap()];
        let backup =
            backed_up.program.run_command(command_on_read_only(&backed_up, folder.path(), &args)).await;
        assert_eq!(backup.code, Some(0), "{number}: {backup:?}");
        let restored = tempfile::tempdir().unwrap();
        fs::copy(source.join("master.key"), restored.path().join("master.key")).unwrap();
        let restore = backed_up.command(restored.path(), &["restore", file.to_str().unwrap()]);
        let restore = backed_up.program.run_command(restore).await;
        assert_eq!(restore.code, Some(0), "{number}: {restore:?}");
    }
    let journal = without_index.path().join(OPEN[1]);
    for args in [&["doctor"][..], &["backup", target.path().join("none.db").to_str().unwrap()]] {
        let refused = command_on_read_only(&backed_up, without_index.path(), args);
        let refused = backed_up.program.run_command(refused).await;
        let expected = format!(
            "error: {} contains changes that can be read only where files can be created, but its folder is read-only; copy \
             the folder to a writable place, and specify that with --data-dir\n",
            journal.display()
        );
        assert_eq!((refused.code, refused.stderr), (Some(1), expected));
    }
}
