//! The commands: what they print to stdout and stderr, how they fail, and their exit codes.

use insta::{assert_json_snapshot, assert_snapshot};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use crate::dashboard_keys::audit_entries;
use crate::machine::Machine;
use crate::masks::masked;

#[tokio::test]
async fn creating_a_key_prints_only_the_secret_to_stdout() {
    let machine = Machine::new().await;
    let secret = machine.key("read:courses").await;
    assert!(secret.starts_with("svc_live_") && secret.len() == 47, "{secret}");

    let args = [
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
    let created = machine.run(&[&args[..], &["--scope", "read:students", "write:students"]].concat()).await;
    assert_eq!((created.code, created.stdout.lines().count()), (Some(0), 1));
    assert!(
        created.stderr.contains("cannot be shown again")
            && !created.stderr.contains(created.stdout.trim_end()),
        "{created:?}"
    );

    let serving = machine.serve(&["serve"]).await;
    serving.key(&machine.app, &secret).get("/api/v1/courses").await.assert_status(200);
    let crm = serving.key(&machine.app, created.stdout.trim_end());
    let response = crm.get("/api/v1/students").await.assert_status(200);
    assert_eq!(
        (response.header("x-ratelimit-limit"), response.header("x-ratelimit-daily-limit")),
        ("100", "1000")
    );
    assert_eq!(serving.stop().await, Some(0));
}

/// Returns the records that a list command prints as JSON, with times replaced after their format is checked.
pub(crate) async fn list_as_json(machine: &Machine, args: &[&str]) -> Value {
    let output = machine.run(&[args, &["--json"]].concat()).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    let mut records: Value = serde_json::from_str(&output.stdout).expect("JSON");
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
async fn lists_are_printed_as_json_with_the_field_names_of_the_api() {
    let machine = Machine::new().await;
    let secret = machine.key("read:courses").await;
    let args =
        ["keys", "create", "--workspace", "acme", "--name", "CRM", "--expires-in", "12h", "--scope", "all"];
    let id = machine
        .run(&args)
        .await
        .stderr
        .split_whitespace()
        .find(|word| word.starts_with("key_"))
        .unwrap()
        .to_owned();
    let revoked = machine.run(&["keys", "revoke", &id]).await;
    assert_eq!((revoked.code, revoked.stdout.as_str()), (Some(0), ""));
    machine.run(&["workspaces", "set-quota", "--workspace", "acme", "--per-day", "5000"]).await;

    let mut keys = list_as_json(&machine, &["keys", "list", "--workspace", "acme"]).await;
    for key in keys.as_array_mut().expect("a list") {
        let (prefix, last4) = (key["prefix"].take(), key["last4"].take());
        assert!(prefix.as_str().unwrap().len() == 12 && last4.as_str().unwrap().len() == 4);
        if key["name"] == "story" {
            assert_eq!((prefix.as_str(), last4.as_str()), (secret.get(..12), secret.get(43..)));
        }
    }
    assert_json_snapshot!("keys", keys);
    assert_json_snapshot!("workspaces", list_as_json(&machine, &["workspaces", "list"]).await);
    let table = machine.run(&["keys", "list", "--workspace", "acme"]).await;
    assert_eq!(table.stdout.lines().count(), 3);
    assert!(!table.stdout.contains(&secret), "a list contains no secret");
}

#[tokio::test]
async fn the_operator_can_set_a_key_quota_above_the_workspace_quota() {
    let machine = Machine::new().await;
    let secret = machine.key("read:courses").await;
    machine.run(&["workspaces", "set-quota", "--workspace", "acme", "--per-minute", "30"]).await;
    let args = ["keys", "list", "--workspace", "acme"];
    let key = async || {
        let keys = machine.run(&[&args[..], &["--json"]].concat()).await;
        let keys: Value = serde_json::from_str(&keys.stdout).expect("JSON");
        keys[0].clone()
    };
    let limits = async || {
        let key = key().await;
        ["per_minute", "per_minute_source", "per_day", "per_day_source"].map(|name| key[name].clone())
    };
    let id = key().await["id"].as_str().expect("an id").to_owned();
    let set = async |quota: &[&str]| {
        let output = machine.run(&[&["keys", "set-quota", &*id], quota].concat()).await;
        assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{output:?}");
        output.stderr.replace(&id, "KEY")
    };

    assert_snapshot!(set(&["--per-minute", "500"]).await, @"key KEY (story): per minute: 500, per day: the workspace's limit; other processes apply this within 2 s");
    assert_eq!(limits().await, [json!(500), json!("operator"), json!(1000), json!("default")]);
    let table = machine.run(&args).await.stdout;
    assert!(table.contains("500 (operator)") && table.contains("1000 (default)"), "{table}");
    let serving = machine.serve(&["serve"]).await;
    let response = serving.key(&machine.app, &secret).get("/api/v1/courses").await.assert_status(200);
    assert_eq!(response.header("x-ratelimit-limit"), "500");
    assert_eq!(serving.stop().await, Some(0));

    assert_snapshot!(set(&[]).await, @"key KEY (story): per minute: the workspace's limit, per day: the workspace's limit; other processes apply this within 2 s");
    assert_eq!(limits().await, [json!(30), json!("workspace"), json!(1000), json!("default")]);
    // Repeating the command changes nothing.
    set(&[]).await;
    let entries = audit_entries(&machine.app.workspace("acme").await).await;
    assert_eq!(
        entries[..2],
        [
            "command line Set the quota of an API key story (per minute: the workspace's limit, per day: the workspace's limit)",
            "command line Set the quota of an API key story (per minute: 500, per day: the workspace's limit)",
        ]
    );
    assert_eq!(entries.iter().filter(|line| line.contains("quota of an API key")).count(), 2);
}

#[tokio::test]
async fn openapi_prints_the_contract_unchanged() {
    let machine = Machine::new().await;
    let printed = machine.run_to_end(machine.command_without_config(&["openapi"])).await;
    assert!(printed.stdout == include_str!("../../openapi/v1.yaml"));
    let json = machine.run_to_end(machine.command_without_config(&["openapi", "--format", "json"])).await;
    assert!(json.stdout.trim_end() == include_str!("../../src/api/generated/v1.json").trim_end());
}

#[tokio::test]
async fn apply_prints_its_counts_and_rejected_lines() {
    let machine = Machine::new().await;
    let line = |id: &str, change: &str, data: Value| {
        json!({"change": change, "id": id, "workspace": "acme", "at": "2026-03-01T10:00:00Z", "data": data})
            .to_string()
    };
    let workspace = json!({"key": "acme", "name": "Acme", "owner_email": "o@acme.example"});
    let stream = [
        line("1", "workspace.upsert", workspace),
        line("2", "student.upsert", json!({"key": "ada", "email": "ada@example.com"})),
        line("3", "student.upsert", json!({"key": "bob", "email": "no at sign", "color": "red"})),
        "nonsense".to_owned(),
        line("4", "student.delete", json!({"student": "eve"})),
    ];
    let folder = machine.app.folder();
    std::fs::write(folder.join("changes.ndjson"), stream.join("\n")).unwrap();

    let output = machine.run(&["apply", "changes.ndjson", "--rejects", "rejects.ndjson"]).await;
    assert_eq!(output.code, Some(3));
    assert_snapshot!(format!("{}---\n{}", output.stdout, output.stderr));
    let rejects = std::fs::read_to_string(folder.join("rejects.ndjson")).unwrap();
    assert_eq!(rejects, format!("{}\n", stream[2..].join("\n")));

    let repeat = machine.run_with_input(&["apply", "-"], &stream[..2].join("\n")).await;
    assert_eq!((repeat.code, repeat.stdout.as_str()), (Some(0), "0 applied, 2 applied before, 0 rejected\n"));
    assert_eq!(machine.app.events_of("student.created").await.len(), 1);
}

/// Runs a command that must fail with this code and print nothing to stdout, and returns its standard error.
pub(crate) async fn failure_message(
    machine: &Machine,
    code: i32,
    command: tokio::process::Command,
) -> String {
    let output = machine.run_to_end(command).await;
    assert_eq!((output.code, output.stdout.as_str()), (Some(code), ""), "{}", output.stderr);
    output.stderr
}

#[tokio::test]
async fn a_misspelled_name_is_rejected_with_a_suggestion() {
    let machine = Machine::new().await;
    let mut messages = Vec::new();
    for args in [
        &["serv"][..],
        &["serve", "--lisen", "127.0.0.1:0"],
        &["serve", "--listen", "localhost"],
        &["keys", "create", "--workspace", "acme", "--name", "x"],
        &["keys", "create", "--workspace", "acme", "--name", "x", "--scope", "read:course"],
        &["keys", "create", "--workspace", "acme", "--name", "x", "--scope", "all", "--expires-in", "-1d"],
        &["keys", "revoke", "ord_01khdps1znf0yt63fefph15bgz"],
    ] {
        messages.push(format!(
            "$ creator-api {}\n{}",
            args.join(" "),
            failure_message(&machine, 2, machine.command(args)).await
        ));
    }
    let mut variable = machine.command(&["serve"]);
    variable.env("CREATOR_API_LISEN", "127.0.0.1:0");
    messages.push(format!(
        "$ CREATOR_API_LISEN=... creator-api serve\n{}",
        failure_message(&machine, 2, variable).await
    ));
    std::fs::write(machine.app.folder().join("creator-api.toml"), "lissten = \"127.0.0.1:0\"\n").unwrap();
    let file = machine.command(&["serve"]);
    messages.push(format!(
        "$ creator-api serve # with lissten in creator-api.toml\n{}",
        failure_message(&machine, 2, file).await
    ));
    assert_snapshot!(messages.join("\n"));
}

#[tokio::test]
async fn a_failed_command_prints_one_sentence_with_the_remedy() {
    let machine = Machine::new().await;
    let mut messages = Vec::new();
    for args in [
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
        messages.push(format!(
            "$ creator-api {}\n{}",
            args.join(" "),
            failure_message(&machine, 1, machine.command(args)).await
        ));
    }
    assert_snapshot!(messages.join("\n"));
}

#[tokio::test]
async fn a_port_in_use_is_reported() {
    let machine = Machine::new().await;
    let occupied = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = occupied.local_addr().unwrap().to_string();
    for command in ["serve", "demo"] {
        let message = failure_message(&machine, 1, machine.command(&[command, "--listen", &address]))
            .await
            .replace(&address, "ADDRESS");
        assert_eq!(
            message,
            "error: ADDRESS is in use; stop the process that listens on it, or choose a free port with `--listen 127.0.0.1:0`\n"
        );
    }
}

#[tokio::test]
async fn a_read_only_data_folder_is_reported() {
    let machine = Machine::new().await;
    // A folder below a file cannot be created, not even by the administrator.
    std::fs::write(machine.app.folder().join("file"), "").unwrap();
    let folder = machine.app.folder().join("file/data").display().to_string();
    let mut command = machine.command(&["serve", "--data-dir", &folder, "--listen", "127.0.0.1:0"]);
    if !machine.app.has_many_writers() {
        command.env_remove("DATABASE_URL");
    }
    let message = failure_message(&machine, 1, command).await;
    assert!(message.starts_with("error: cannot ") && message.contains("FOLDER/file/data"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_not_changed() {
    let machine = Machine::new().await;
    let write = machine.app.write().await;
    let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m0099_future', 1)";
    write.conn().execute_unprepared(newer).await.unwrap();
    write.commit().await.unwrap();
    let mut messages = Vec::new();
    for args in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["migrate"], &["keys", "list", "--workspace", "acme"]]
    {
        messages.push(failure_message(&machine, 1, machine.command(args)).await);
    }
    assert!(messages.iter().all(|sentence| *sentence == messages[0]), "{messages:?}");
    assert_snapshot!(messages[0], @"error: the database was migrated by another version, probably a newer one (migration m0099_future); use that version, or restore an older backup");
}

#[tokio::test]
async fn a_different_master_key_is_rejected() {
    let machine = Machine::new().await;
    let key = machine.app.folder().join("master.key");
    let serving = machine.serve(&["serve"]).await;
    assert_eq!(serving.stop().await, Some(0));
    use std::os::unix::fs::PermissionsExt;
    let first = std::fs::read_to_string(&key).unwrap();
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);

    let mut messages = Vec::new();
    let mut with_variable = machine.command(&["serve", "--listen", "127.0.0.1:0"]);
    with_variable.env("CREATOR_API_MASTER_KEY", "0f".repeat(32));
    messages.push(failure_message(&machine, 1, with_variable).await);
    std::fs::write(&key, "0f".repeat(32)).unwrap();
    messages.push(failure_message(&machine, 1, machine.command(&["serve", "--listen", "127.0.0.1:0"])).await);
    std::fs::write(&key, "nonsense").unwrap();
    messages.push(failure_message(&machine, 1, machine.command(&["serve", "--listen", "127.0.0.1:0"])).await);
    std::fs::remove_file(&key).unwrap();
    messages.push(failure_message(&machine, 1, machine.command(&["serve", "--listen", "127.0.0.1:0"])).await);
    assert!(
        messages.iter().all(|sentence| !sentence.contains("0f0f") && !sentence.contains(first.trim_end()))
    );
    assert_snapshot!(messages.join(""));

    // The right key, specified by variable.
    let mut right = machine.command(&["serve", "--listen", "127.0.0.1:0"]);
    right.env("CREATOR_API_MASTER_KEY", first.trim_end());
    assert_eq!(machine.listen(right).await.stop().await, Some(0));
}

#[tokio::test]
async fn the_configuration_is_printed_without_its_secrets() {
    let machine = Machine::new().await;
    let mut command = machine.command_without_config(&["config", "check", "--listen", "127.0.0.1:9"]);
    command
        .env("DATABASE_URL", "postgres://ada:lovelace@db.example/app")
        .env("CREATOR_API_MASTER_KEY", "0f".repeat(32));
    let output = machine.run_to_end(command).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(!output.stdout.contains("lovelace") && !output.stdout.contains("0f0f"), "{}", output.stdout);
    assert!(
        output.stdout.contains("listen = \"127.0.0.1:9\"") && output.stdout.contains("--listen"),
        "{}",
        output.stdout
    );

    let mut soon = machine.command_without_config(&["config", "check"]);
    soon.env("CREATOR_API_DEPRECATION_AT", "2026-03-01T00:00:00Z")
        .env("CREATOR_API_SUNSET_AT", "2026-08-31T00:00:00Z");
    let message = failure_message(&machine, 2, soon).await;
    assert!(message.contains("less than 6 months"), "{message}");
}

#[tokio::test]
async fn a_closed_pipe_is_no_error_and_a_full_disk_is_reported() {
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
    assert_eq!(full, (Some(1), "error: the disk is full; free some space and try again\n".to_owned()));
}
