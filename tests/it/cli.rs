//! The commands: what they print where, how they fail, and their exit codes.

use insta::{assert_json_snapshot, assert_snapshot};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::dashboard_keys::told;
use crate::machine::Machine;
use crate::masks::masked;

#[tokio::test]
async fn a_new_key_has_its_secret_alone_on_stdout() {
    let machine = Machine::new().await;
    let secret = machine.key("read:courses").await;
    assert!(secret.starts_with("svc_live_") && secret.len() == 47, "{secret}");

    let words = [
        "keys",
        "create",
        "--workspace",
        "acme",
        "--name",
        "CRM",
        "--per-minute",
        "100",
        "--expires-in",
        "90d",
    ];
    let made = machine.run(&[&words[..], &["--scope", "read:students", "write:students"]].concat()).await;
    assert_eq!((made.code, made.stdout.lines().count()), (Some(0), 1));
    assert!(
        made.stderr.contains("shown this once") && !made.stderr.contains(made.stdout.trim_end()),
        "{made:?}"
    );

    let serving = machine.serve(&["serve"]).await;
    serving.key(&machine.app, &secret).get("/api/v1/courses").await.assert_status(200);
    let crm = serving.key(&machine.app, made.stdout.trim_end());
    let answer = crm.get("/api/v1/students").await.assert_status(200);
    assert_eq!(
        (answer.header("x-ratelimit-limit"), answer.header("x-ratelimit-daily-limit")),
        ("100", "1000")
    );
    assert_eq!(serving.stop().await, Some(0));
}

/// The records that a list command prints as JSON, with their times replaced once their shape is right.
pub(crate) async fn listed(machine: &Machine, words: &[&str]) -> Value {
    let ran = machine.run(&[words, &["--json"]].concat()).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut records: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert!(records.is_array(), "a list");
    without_times(&mut records);
    masked(&records)
}

fn without_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_times),
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(text) = value.as_str().filter(|_| name.ends_with("_at")) {
                    let time = text.parse::<jiff::Timestamp>().is_ok();
                    assert!(time && text.len() == 24 && text.ends_with('Z'), "{text}");
                    *value = json!("TIME");
                }
                without_times(value);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn lists_come_as_json_with_the_names_of_the_api() {
    let machine = Machine::new().await;
    let secret = machine.key("read:courses").await;
    let words =
        ["keys", "create", "--workspace", "acme", "--name", "CRM", "--expires-in", "12h", "--scope", "all"];
    let id = machine
        .run(&words)
        .await
        .stderr
        .split_whitespace()
        .find(|word| word.starts_with("key_"))
        .unwrap()
        .to_owned();
    let revoked = machine.run(&["keys", "revoke", &id]).await;
    assert_eq!((revoked.code, revoked.stdout.as_str()), (Some(0), ""));
    machine.run(&["workspaces", "set-quota", "--workspace", "acme", "--per-day", "5000"]).await;

    let mut keys = listed(&machine, &["keys", "list", "--workspace", "acme"]).await;
    for key in keys.as_array_mut().expect("a list") {
        let (prefix, last4) = (key["prefix"].take(), key["last4"].take());
        assert!(prefix.as_str().unwrap().len() == 12 && last4.as_str().unwrap().len() == 4);
        if key["name"] == "story" {
            assert_eq!((prefix.as_str(), last4.as_str()), (secret.get(..12), secret.get(43..)));
        }
    }
    assert_json_snapshot!("keys", keys);
    assert_json_snapshot!("workspaces", listed(&machine, &["workspaces", "list"]).await);
    let table = machine.run(&["keys", "list", "--workspace", "acme"]).await;
    assert_eq!(table.stdout.lines().count(), 3);
    assert!(!table.stdout.contains(&secret), "no list shows a secret");
}

#[tokio::test]
async fn the_operator_gives_a_key_more_than_its_workspace_has() {
    let machine = Machine::new().await;
    let secret = machine.key("read:courses").await;
    machine.run(&["workspaces", "set-quota", "--workspace", "acme", "--per-minute", "30"]).await;
    let words = ["keys", "list", "--workspace", "acme"];
    let key = async || {
        let keys = machine.run(&[&words[..], &["--json"]].concat()).await;
        let keys: Value = serde_json::from_str(&keys.stdout).expect("JSON");
        keys[0].clone()
    };
    let limits = async || {
        let key = key().await;
        ["per_minute", "per_minute_source", "per_day", "per_day_source"].map(|name| key[name].clone())
    };
    let id = key().await["id"].as_str().expect("an id").to_owned();
    let set = async |quota: &[&str]| {
        let ran = machine.run(&[&["keys", "set-quota", &*id], quota].concat()).await;
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
        ran.stderr.replace(&id, "KEY")
    };

    assert_snapshot!(set(&["--per-minute", "500"]).await, @"key KEY (story): per minute: 500, per day: the workspace's limit; other processes apply this within 2 s");
    assert_eq!(limits().await, [json!(500), json!("operator"), json!(1000), json!("default")]);
    let table = machine.run(&words).await.stdout;
    assert!(table.contains("500 (operator)") && table.contains("1000 (default)"), "{table}");
    let serving = machine.serve(&["serve"]).await;
    let answer = serving.key(&machine.app, &secret).get("/api/v1/courses").await.assert_status(200);
    assert_eq!(answer.header("x-ratelimit-limit"), "500");
    assert_eq!(serving.stop().await, Some(0));

    assert_snapshot!(set(&[]).await, @"key KEY (story): per minute: the workspace's limit, per day: the workspace's limit; other processes apply this within 2 s");
    assert_eq!(limits().await, [json!(30), json!("workspace"), json!(1000), json!("default")]);
    // Once more changes nothing.
    set(&[]).await;
    let told = told(&machine.app.workspace("acme").await).await;
    assert_eq!(
        told[..2],
        [
            "command line Set the quota of an API key story (per minute: the workspace's limit, per day: the workspace's limit)",
            "command line Set the quota of an API key story (per minute: 500, per day: the workspace's limit)",
        ]
    );
    assert_eq!(told.iter().filter(|line| line.contains("quota of an API key")).count(), 2);
}

#[tokio::test]
async fn the_contract_is_printed_as_it_is() {
    let machine = Machine::new().await;
    let printed = machine.end(machine.bare(&["openapi"])).await;
    assert!(printed.stdout == include_str!("../../openapi/v1.yaml"));
    let json = machine.end(machine.bare(&["openapi", "--format", "json"])).await;
    assert!(json.stdout.trim_end() == include_str!("../../src/api/generated/v1.json").trim_end());
}

#[tokio::test]
async fn apply_tells_what_came_of_the_lines() {
    let machine = Machine::new().await;
    let line = |id: &str, change: &str, data: Value| {
        json!({"change": change, "id": id, "workspace": "acme", "at": "2026-03-01T10:00:00Z", "data": data})
            .to_string()
    };
    let workspace = json!({"key": "acme", "name": "Acme", "owner_email": "o@acme.example"});
    let stream = [
        line("1", "workspace.upsert", workspace),
        line("2", "student.upsert", json!({"key": "ada", "email": "ada@example.com"})),
        line("3", "student.upsert", json!({"key": "bob", "email": "no at sign", "colour": "red"})),
        "nonsense".to_owned(),
        line("4", "student.delete", json!({"student": "eve"})),
    ];
    let folder = machine.app.folder();
    std::fs::write(folder.join("changes.ndjson"), stream.join("\n")).unwrap();

    let ran = machine.run(&["apply", "changes.ndjson", "--rejects", "rejects.ndjson"]).await;
    assert_eq!(ran.code, Some(3));
    assert_snapshot!(format!("{}---\n{}", ran.stdout, ran.stderr));
    let rejects = std::fs::read_to_string(folder.join("rejects.ndjson")).unwrap();
    assert_eq!(rejects, format!("{}\n", stream[2..].join("\n")));

    let again = machine.fed(&["apply", "-"], &stream[..2].join("\n")).await;
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), "0 applied, 2 applied before, 0 rejected\n"));
    assert_eq!(machine.app.events_of("student.created").await.len(), 1);
}

/// What a command says on stderr, which fails with this code and prints nothing.
pub(crate) async fn refusal(machine: &Machine, code: i32, command: tokio::process::Command) -> String {
    let ran = machine.end(command).await;
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "{}", ran.stderr);
    ran.stderr
}

#[tokio::test]
async fn what_is_misspelt_is_refused_with_the_nearest_name() {
    let machine = Machine::new().await;
    let mut said = Vec::new();
    for words in [
        &["serv"][..],
        &["serve", "--lisen", "127.0.0.1:0"],
        &["serve", "--listen", "localhost"],
        &["keys", "create", "--workspace", "acme", "--name", "x"],
        &["keys", "create", "--workspace", "acme", "--name", "x", "--scope", "read:course"],
        &["keys", "create", "--workspace", "acme", "--name", "x", "--scope", "all", "--expires-in", "-1d"],
        &["keys", "revoke", "ord_01khdps1znf0yt63fefph15bgz"],
    ] {
        said.push(format!(
            "$ creator-api {}\n{}",
            words.join(" "),
            refusal(&machine, 2, machine.command(words)).await
        ));
    }
    let mut variable = machine.command(&["serve"]);
    variable.env("CREATOR_API_LISEN", "127.0.0.1:0");
    said.push(format!("$ CREATOR_API_LISEN=... creator-api serve\n{}", refusal(&machine, 2, variable).await));
    std::fs::write(machine.app.folder().join("creator-api.toml"), "lissten = \"127.0.0.1:0\"\n").unwrap();
    let file = machine.command(&["serve"]);
    said.push(format!(
        "$ creator-api serve # with lissten in creator-api.toml\n{}",
        refusal(&machine, 2, file).await
    ));
    assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn what_cannot_be_done_is_told_in_a_sentence_with_the_remedy() {
    let machine = Machine::new().await;
    let mut said = Vec::new();
    for words in [
        &["keys", "create", "--workspace", "nowhere", "--name", "x", "--scope", "all"][..],
        &["keys", "list", "--workspace", "nowhere"],
        &["keys", "revoke", "key_01khdps1znf0yt63fefph15bgz"],
        &["keys", "set-quota", "key_01khdps1znf0yt63fefph15bgz", "--per-day", "5"],
        &["workspaces", "set-quota", "--workspace", "nowhere"],
        &["workspaces", "create", "--key", "x", "--name", "X", "--owner-email", "nobody"],
        &["apply", "nothing.ndjson"],
        &["apply", "."],
        &["apply", "-", "--rejects", "no/such/folder"],
    ] {
        said.push(format!(
            "$ creator-api {}\n{}",
            words.join(" "),
            refusal(&machine, 1, machine.command(words)).await
        ));
    }
    assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn a_port_in_use_is_told() {
    let machine = Machine::new().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for command in ["serve", "demo"] {
        let said = refusal(&machine, 1, machine.command(&[command, "--listen", &address]))
            .await
            .replace(&address, "ADDRESS");
        assert_eq!(
            said,
            "error: ADDRESS is in use; stop what listens there, or take a free port with `--listen 127.0.0.1:0`\n"
        );
    }
}

#[tokio::test]
async fn a_data_folder_that_cannot_be_written_is_told() {
    let machine = Machine::new().await;
    // A folder below a file cannot be made, not even by the administrator.
    std::fs::write(machine.app.folder().join("file"), "").unwrap();
    let folder = machine.app.folder().join("file/data").display().to_string();
    let mut command = machine.command(&["serve", "--data-dir", &folder, "--listen", "127.0.0.1:0"]);
    if !machine.app.has_many_writers() {
        command.env_remove("DATABASE_URL");
    }
    let said = refusal(&machine, 1, command).await;
    assert!(said.starts_with("error: cannot ") && said.contains("FOLDER/file/data"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let machine = Machine::new().await;
    let write = machine.app.write().await;
    let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m0099_future', 1)";
    write.conn().execute_unprepared(newer).await.unwrap();
    write.commit().await.unwrap();
    let mut said = Vec::new();
    for words in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["migrate"], &["keys", "list", "--workspace", "acme"]]
    {
        said.push(refusal(&machine, 1, machine.command(words)).await);
    }
    assert!(said.iter().all(|sentence| *sentence == said[0]), "{said:?}");
    assert_snapshot!(said[0], @"error: the database was changed by another version, most likely a newer one (step m0099_future); run that version, or restore an older backup");
}

#[tokio::test]
async fn another_master_key_than_the_data_s_is_refused() {
    let machine = Machine::new().await;
    let key = machine.app.folder().join("master.key");
    let serving = machine.serve(&["serve"]).await;
    assert_eq!(serving.stop().await, Some(0));
    use std::os::unix::fs::PermissionsExt;
    let first = std::fs::read_to_string(&key).unwrap();
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);

    let mut said = Vec::new();
    let mut given = machine.command(&["serve", "--listen", "127.0.0.1:0"]);
    given.env("CREATOR_API_MASTER_KEY", "0f".repeat(32));
    said.push(refusal(&machine, 1, given).await);
    std::fs::write(&key, "0f".repeat(32)).unwrap();
    said.push(refusal(&machine, 1, machine.command(&["serve", "--listen", "127.0.0.1:0"])).await);
    std::fs::write(&key, "nonsense").unwrap();
    said.push(refusal(&machine, 1, machine.command(&["serve", "--listen", "127.0.0.1:0"])).await);
    std::fs::remove_file(&key).unwrap();
    said.push(refusal(&machine, 1, machine.command(&["serve", "--listen", "127.0.0.1:0"])).await);
    assert!(said.iter().all(|sentence| !sentence.contains("0f0f") && !sentence.contains(first.trim_end())));
    assert_snapshot!(said.join(""));

    // The right one, given.
    let mut right = machine.command(&["serve", "--listen", "127.0.0.1:0"]);
    right.env("CREATOR_API_MASTER_KEY", first.trim_end());
    assert_eq!(machine.listen(right).await.stop().await, Some(0));
}

#[tokio::test]
async fn the_configuration_is_printed_without_its_secrets() {
    let machine = Machine::new().await;
    let mut command = machine.bare(&["config", "check", "--listen", "127.0.0.1:9"]);
    command
        .env("DATABASE_URL", "postgres://ada:lovelace@db.example/app")
        .env("CREATOR_API_MASTER_KEY", "0f".repeat(32));
    let ran = machine.end(command).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.stdout.contains("lovelace") && !ran.stdout.contains("0f0f"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("listen = \"127.0.0.1:9\"") && ran.stdout.contains("--listen"),
        "{}",
        ran.stdout
    );

    let mut soon = machine.bare(&["config", "check"]);
    soon.env("CREATOR_API_DEPRECATION_AT", "2026-03-01T00:00:00Z")
        .env("CREATOR_API_SUNSET_AT", "2026-08-31T00:00:00Z");
    let said = refusal(&machine, 2, soon).await;
    assert!(said.contains("less than 6 months"), "{said}");
}

#[tokio::test]
async fn nobody_reading_is_no_error_and_a_full_disk_is_told() {
    let machine = Machine::new().await;
    let sh = async |script: &str| {
        let mut shell = tokio::process::Command::new("sh");
        shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_creator-api")]).current_dir(machine.app.folder());
        let output = shell.output().await.expect("a shell");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(
        sh("{ \"$1\" openapi; echo $? >code; } | head -n 1 >/dev/null; exit $(cat code)").await,
        (Some(0), String::new())
    );
    let full = sh("\"$1\" openapi >/dev/full").await;
    assert_eq!(full, (Some(1), "error: the disk is full; make room and start again\n".to_owned()));
}
