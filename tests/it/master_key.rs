//! `creator-api master-key rotate`, with servers under load.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use domain::webhooks;
use entity::{server_state, webhook_secrets};
use foundation::clock::Clock;
use foundation::database::Write;
use foundation::id::{Secret, SubscriptionId};
use foundation::secret::{MasterKeys, Purpose, Seal};
use serde_json::json;
use tokio::sync::{RwLock, watch};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{Endpoint, TestKey, TestWorkspace, skip, wait_until};

/// The key before the rotation, the key after it, and a third one.
const OLD: &str = "0101010101010101010101010101010101010101010101010101010101010101";
const NEW: &str = "0202020202020202020202020202020202020202020202020202020202020202";
const OTHER: &str = "0303030303030303030303030303030303030303030303030303030303030303";

/// How often a rotation is killed.
const KILLS: usize = 20;

/// A program whose data is encrypted with [`OLD`], and the secret of a webhook.
struct Rotated {
    program: TestProgram,
    endpoint: Endpoint,
    subscription: SubscriptionId,
    secret: String,
}

impl Rotated {
    async fn new() -> Self {
        let program = TestProgram::new().await;
        write_keys(&program, &[OLD]);
        program.app.workspace("acme").await;
        let endpoint = Endpoint::start().await;
        let url = endpoint.url();
        let create =
            ["webhooks", "create", "--workspace", "acme", "--event", "student.created", "--url", &url];
        let created = program.run(&[&create[..], &["--webhook-allow", "127.0.0.0/8"]].concat()).await;
        assert_eq!(created.code, Some(0), "{created:?}");
        let secret = created.stdout.trim_end().to_owned();
        let workspace = program.app.workspace("acme").await;
        let subscription = webhooks::list(&program.app.app, workspace.id).await.unwrap().remove(0).id;
        Self { program, endpoint, subscription, secret }
    }

    async fn workspace(&self) -> TestWorkspace<'_> {
        self.program.app.workspace("acme").await
    }

    /// Starts a server with these keys in the key file.
    async fn serve(&self, keys: &[&str]) -> ServerProcess {
        write_keys(&self.program, keys);
        // The test does not read the log, and a full pipe would stop the server.
        self.program.serve(&["serve", "--webhook-allow", "127.0.0.0/8", "--log-filter", "warn"]).await
    }

    /// Runs `master-key rotate` with these keys in the key file. Returns the exit code and both outputs.
    async fn rotate(&self, keys: &[&str]) -> (Option<i32>, String) {
        write_keys(&self.program, keys);
        let output = self.program.run(&["master-key", "rotate"]).await;
        (output.code, output.stdout + &output.stderr)
    }

    /// Asserts that a command fails with exit code 1, and returns its message.
    async fn refusal(&self, keys: &[&str], args: &[&str]) -> String {
        write_keys(&self.program, keys);
        let output = self.program.run(args).await;
        assert_eq!(output.code, Some(1), "{args:?}: {output:?}");
        output.stderr
    }

    /// Returns the message with which a server with these keys refuses to start.
    async fn start_refusal(&self, keys: &[&str]) -> String {
        self.refusal(keys, &["serve", "--listen", "127.0.0.1:0"]).await
    }

    /// Adds secrets that are encrypted with [`OLD`] to a webhook. Returns their plaintexts by id.
    async fn add_secrets(&self, subscription: Uuid, count: usize) -> HashMap<Uuid, String> {
        let workspace = self.workspace().await.id.uuid();
        let write = self.program.app.begin_write().await;
        let mut secrets = HashMap::new();
        for number in 0..count {
            let secret = format!("whsec_{number}");
            secrets.insert(self.add_secret(&write, workspace, subscription, &secret).await, secret);
        }
        write.commit().await.unwrap();
        secrets
    }

    /// Adds a secret that is encrypted with [`OLD`] to a webhook. Returns its id.
    async fn add_secret(&self, write: &Write, workspace: Uuid, subscription: Uuid, secret: &str) -> Uuid {
        let app = &self.program.app;
        let id = app.app.ids.next::<Secret>(app.clock.now()).uuid();
        let row = webhook_secrets::Model {
            id,
            workspace_id: workspace,
            subscription_id: subscription,
            ciphertext: seal(OLD).encrypt(secret.as_bytes(), subscription.as_bytes()).unwrap(),
            created_at: write.now_ms(),
            expires_at: None,
        };
        webhook_secrets::in_workspace(workspace).insert(write.conn(), row).await.unwrap();
        id
    }

    /// Asserts that this key alone decrypts each of these secrets and that of the webhook.
    async fn assert_readable(&self, key: &str, secrets: &HashMap<Uuid, String>) {
        let (seal, mut after, mut seen) = (seal(key), Uuid::nil(), Vec::new());
        loop {
            let rows = webhook_secrets::page(self.program.app.app.db.read(), after, 1000).await.unwrap();
            let Some(last) = rows.last() else { break };
            after = last.id;
            for row in &rows {
                let secret = seal.decrypt(&row.ciphertext, row.subscription_id.as_bytes()).expect("readable");
                let expected = secrets.get(&row.id).unwrap_or(&self.secret);
                assert_eq!(secret.as_slice(), expected.as_bytes(), "{}", row.id);
                seen.push(row.id);
            }
        }
        assert_eq!(seen.len(), secrets.len() + 1);
    }
}

fn write_keys(program: &TestProgram, keys: &[&str]) {
    fs::write(program.app.folder().join("master.key"), keys.join("\n") + "\n").unwrap();
}

fn seal(key: &str) -> Seal {
    Seal::new(&MasterKeys::parse(key, "the test").unwrap(), Purpose::WebhookSecrets)
}

fn fingerprint(key: &str) -> String {
    MasterKeys::parse(key, "the test").unwrap().fingerprint()
}

/// Sends requests to the current server until it is stopped.
struct Load {
    server: Arc<RwLock<String>>,
    stop: watch::Sender<bool>,
    task: JoinHandle<usize>,
}

impl Load {
    fn start(key: TestKey) -> Self {
        let server = Arc::new(RwLock::new(key.base_url.clone()));
        let (stop, stopped) = watch::channel(false);
        let current = Arc::clone(&server);
        let task = tokio::spawn(async move {
            let mut number = 0;
            while !*stopped.borrow() {
                // Held until both responses are read, so that the server is not stopped before it gets the requests.
                let server = current.read().await;
                let key = TestKey { base_url: server.clone(), ..key.clone() };
                let email = json!({"email": format!("student-{number}@example.com")});
                key.post("/api/v1/students", email).await.assert_status(201);
                key.get("/api/v1/students?limit=2").await.assert_status(200);
                drop(server);
                number += 1;
                // Leaves time for the commands of the test on a machine with few cores.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            number
        });
        Self { server, stop, task }
    }

    /// Sends the next requests to another server, and stops the previous one.
    async fn switch(&self, from: ServerProcess, to: &ServerProcess) {
        self.server.write().await.clone_from(&to.base_url);
        assert_eq!(from.stop().await, Some(0));
    }

    /// Stops the load, and returns the number of students that were created. Panics if a request failed.
    async fn stop(self) -> usize {
        self.stop.send_replace(true);
        self.task.await.expect("no request failed")
    }
}

#[tokio::test]
#[ignore = "slow"]
async fn the_master_key_is_replaced_while_servers_run_and_rotations_are_killed() {
    let rotated = Rotated::new().await;
    let (program, app) = (&rotated.program, &rotated.program.app);
    let workspace = rotated.workspace().await;
    let create = ["webhooks", "create", "--workspace", "acme", "--event", "enrollment.revoked"];
    let created = program.run(&[&create[..], &["--url", "https://hooks.example/a"]].concat()).await;
    let subscriptions = webhooks::list(&app.app, workspace.id).await.unwrap();
    let other = subscriptions.iter().map(|row| row.id).find(|id| *id != rotated.subscription).unwrap().uuid();
    let own = webhook_secrets::page(app.app.db.read(), Uuid::nil(), 10).await.unwrap();
    let own = own.iter().find(|row| row.subscription_id == other).unwrap();
    let mut secrets = HashMap::from([(own.id, created.stdout.trim_end().to_owned())]);
    secrets.extend(rotated.add_secrets(other, 400).await);

    let key = workspace.key("read:students write:students").await;
    let first = rotated.serve(&[OLD]).await;
    let load = Load::start(first.key(app, &key.secret));
    let second = rotated.serve(&[OLD, NEW]).await;
    load.switch(first, &second).await;
    let on_second = second.key(app, &key.secret);
    wait_until("there are several pages", async || {
        on_second.get("/api/v1/students?limit=2").await.cursor().is_some()
    })
    .await;
    let cursor = on_second.get("/api/v1/students?limit=2").await.cursor().unwrap();
    let next_page = format!("/api/v1/students?limit=2&cursor={cursor}");
    let third = rotated.serve(&[NEW, OLD]).await;
    load.switch(second, &third).await;

    let (mut kills, mut tries) = (0, 0);
    while kills < KILLS {
        tries += 1;
        assert!(tries < 10 * KILLS, "rotations end before they are killed");
        // As before the rotation, so that it has something to do.
        let write = app.begin_write().await;
        server_state::put(write.conn(), "master_key_fingerprint", &fingerprint(OLD)).await.unwrap();
        server_state::put(write.conn(), "master_key_next", &fingerprint(NEW)).await.unwrap();
        server_state::delete(write.conn(), "master_key_previous").await.unwrap();
        write.commit().await.unwrap();
        secrets.extend(rotated.add_secrets(other, 100).await);
        let mut rotation = program.command(&["master-key", "rotate"]).spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(rand::random_range(0..400))).await;
        if rotation.try_wait().unwrap().is_none() {
            rotation.kill().await.unwrap();
            kills += 1;
        }
    }
    third.key(app, &key.secret).get(&next_page).await.assert_status(200);
    let (code, output) = rotated.rotate(&[NEW, OLD]).await;
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("webhook_secrets: ") && output.contains("remove the other keys"), "{output}");
    rotated.assert_readable(NEW, &secrets).await;
    let (code, repeated) = rotated.rotate(&[NEW, OLD]).await;
    assert_eq!(code, Some(0), "{repeated}");
    let all = secrets.len() + 1;
    assert!(repeated.contains(&format!("0 encrypted with the new key, {all} were already")), "{repeated}");

    let fourth = rotated.serve(&[NEW]).await;
    let on_third = third.key(app, &key.secret);
    on_third.get(&next_page).await.assert_status(200);
    load.switch(third, &fourth).await;
    fourth.key(app, &key.secret).get(&next_page).await.assert_status(422);
    let created = load.stop().await;
    wait_until("all events are received", async || rotated.endpoint.requests().len() >= created).await;
    let now = Clock::system().now().as_second();
    assert!(rotated.endpoint.requests().iter().all(|request| request.is_signed(&rotated.secret, now)));
    assert_eq!(fourth.stop().await, Some(0));
}

#[tokio::test]
async fn steps_in_the_wrong_order_are_refused_with_a_remedy() {
    let rotated = Rotated::new().await;
    let create = [
        "webhooks",
        "create",
        "--workspace",
        "acme",
        "--event",
        "student.created",
        "--url",
        "https://a.example",
    ];
    let mut messages = vec![
        rotated.rotate(&[OLD]).await.1,
        rotated.rotate(&[OLD, NEW]).await.1,
        rotated.rotate(&[NEW, OLD]).await.1,
        rotated.refusal(&[NEW, OLD], &create).await,
        rotated.start_refusal(&[NEW]).await,
    ];
    let server = rotated.serve(&[NEW, OLD]).await;
    assert_eq!(server.stop().await, Some(0));
    messages.extend([
        rotated.start_refusal(&[NEW]).await,
        rotated.start_refusal(&[OLD]).await,
        rotated.start_refusal(&[OTHER, OLD, NEW]).await,
        rotated.start_refusal(&[OTHER]).await,
    ]);
    let (code, output) = rotated.rotate(&[NEW, OLD]).await;
    assert_eq!(code, Some(0), "{output}");
    messages.extend([
        rotated.start_refusal(&[OLD, NEW]).await,
        rotated.start_refusal(&[OLD]).await,
        rotated.rotate(&[NEW]).await.1,
    ]);
    insta::assert_snapshot!(messages.join(""));
    assert_eq!(rotated.serve(&[NEW]).await.stop().await, Some(0));
}

#[tokio::test]
async fn a_new_key_is_refused_while_a_running_server_does_not_have_it() {
    let rotated = Rotated::new().await;
    if !rotated.program.app.uses_postgres() {
        return skip("PostgreSQL only: on SQLite, processes do not know each other");
    }
    let old = rotated.serve(&[OLD]).await;
    let refusal = rotated.start_refusal(&[NEW, OLD]).await;
    assert!(refusal.contains("which 1 running server or worker does not have yet"), "{refusal}");
    let both = rotated.serve(&[OLD, NEW]).await;
    assert_eq!(old.stop().await, Some(0));
    let promoted = rotated.serve(&[NEW, OLD]).await;
    let (code, output) = rotated.rotate(&[NEW, OLD]).await;
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("1 running server or worker does not use the first key"), "{output}");
    assert_eq!(both.stop().await, Some(0));
    let (code, output) = rotated.rotate(&[NEW, OLD]).await;
    assert_eq!(code, Some(0), "{output}");
    assert_eq!(promoted.stop().await, Some(0));
}

#[tokio::test]
async fn the_end_of_a_rotation_waits_for_writes_that_encrypted_with_the_replaced_key() {
    let rotated = Rotated::new().await;
    let app = &rotated.program.app;
    if !app.uses_postgres() {
        return skip("PostgreSQL only: SQLite has only one writer");
    }
    assert_eq!(rotated.serve(&[NEW, OLD]).await.stop().await, Some(0));
    let (workspace, subscription) = (rotated.workspace().await.id.uuid(), rotated.subscription.uuid());
    let write = app.begin_write().await;
    server_state::get_for_share(write.conn(), "master_key_fingerprint").await.unwrap();
    let id = rotated.add_secret(&write, workspace, subscription, "whsec_late").await;
    let commit = async {
        wait_until("the rotation waits for the write", async || app.has_blocked_session().await).await;
        write.commit().await.unwrap();
    };
    let ((code, output), ()) = tokio::join!(rotated.rotate(&[NEW, OLD]), commit);
    assert_eq!(code, Some(0), "{output}");
    rotated.assert_readable(NEW, &HashMap::from([(id, "whsec_late".to_owned())])).await;
}

#[tokio::test]
async fn a_secret_that_no_key_decrypts_is_named_and_prevents_the_end_of_a_rotation() {
    let rotated = Rotated::new().await;
    assert_eq!(rotated.serve(&[NEW, OLD]).await.stop().await, Some(0));
    let app = &rotated.program.app.app;
    let row = webhook_secrets::page(app.db.read(), Uuid::nil(), 10).await.unwrap().remove(0);
    let foreign = seal(OTHER).encrypt(b"whsec_a", row.subscription_id.as_bytes()).unwrap();
    let write = rotated.program.app.begin_write().await;
    webhook_secrets::replace_ciphertext(write.conn(), row.id, row.ciphertext, foreign).await.unwrap();
    write.commit().await.unwrap();
    let (code, output) = rotated.rotate(&[NEW, OLD]).await;
    assert_eq!(code, Some(1), "{output}");
    let place = format!("webhook_secrets {} (subscription {})", row.id, rotated.subscription);
    assert!(output.contains(&place) && output.contains("previous key is still needed"), "{output}");
    let refusal = rotated.start_refusal(&[NEW]).await;
    assert!(refusal.contains("add the previous key"), "{refusal}");
    write_keys(&rotated.program, &[NEW, OLD]);
    let replace = ["webhooks", "rotate", &rotated.subscription.to_string(), "--overlap", "0s"];
    let replaced = rotated.program.run(&replace).await;
    assert_eq!(replaced.code, Some(0), "{replaced:?}");
    let (code, output) = rotated.rotate(&[NEW, OLD]).await;
    assert_eq!(code, Some(0), "{output}");
}

#[tokio::test]
async fn doctor_finds_secrets_with_the_replaced_key_only_after_a_rotation() {
    let rotated = Rotated::new().await;
    assert_eq!(rotated.serve(&[NEW, OLD]).await.stop().await, Some(0));
    let doctor = async || rotated.program.run(&["doctor"]).await;
    let during = doctor().await;
    assert_eq!(during.code, Some(0), "{during:?}");
    assert!(during.stdout.contains("1 encrypted values, 1 of them with another key"), "{during:?}");
    let (code, output) = rotated.rotate(&[NEW, OLD]).await;
    assert_eq!(code, Some(0), "{output}");
    rotated.add_secrets(rotated.subscription.uuid(), 1).await;
    let after = doctor().await;
    assert_eq!(after.code, Some(1), "{after:?}");
    assert!(after.stdout.contains("1 values are not encrypted with the current key"), "{after:?}");
    let (code, output) = rotated.rotate(&[NEW, OLD]).await;
    assert!(code == Some(0) && output.contains("1 encrypted with the new key, 1 were already"), "{output}");
    assert_eq!(doctor().await.code, Some(0));
}

#[tokio::test]
async fn a_backup_from_a_rotation_needs_both_keys() {
    let rotated = Rotated::new().await;
    if rotated.program.app.uses_postgres() {
        return skip("SQLite only");
    }
    assert_eq!(rotated.serve(&[NEW, OLD]).await.stop().await, Some(0));
    assert_eq!(rotated.program.run(&["backup", "backup.db"]).await.code, Some(0));
    let file = rotated.program.app.folder().join("backup.db");
    for (keys, refusal) in [
        (&[OLD][..], Some("the newer one first")),
        (&[NEW], Some("encrypted with another master key")),
        (&[NEW, OLD], None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("master.key"), keys.join("\n")).unwrap();
        let mut restore = rotated.program.command_without_config(&["restore", file.to_str().unwrap()]);
        restore.env("CREATOR_API_DATA_DIR", folder.path());
        let restored = rotated.program.run_command(restore).await;
        match refusal {
            Some(refusal) => assert!(restored.stderr.contains(refusal), "{restored:?}"),
            None => assert_eq!(restored.code, Some(0), "{restored:?}"),
        }
    }
}
