//! The commands of the program: their output on stdout and stderr, their errors, and their exit codes.

use domain::scope::{Scope, Scopes};
use insta::{assert_json_snapshot, assert_snapshot};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};

use crate::ports::free_port;
use crate::support::members::audit_entries;
use crate::support::program::{TestProgram, failure_message, list_as_json};

#[tokio::test]
async fn creating_a_key_prints_only_the_secret_to_stdout() {
    let program = TestProgram::new().await;
    let secret = program.create_key("read:courses").await;
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
    let created = program.run(&[&args[..], &["--scope", "read:students", "write:students"]].concat()).await;
    assert_eq!((created.code, created.stdout.lines().count()), (Some(0), 1));
    assert!(
        created.stderr.contains("cannot be shown again")
            && !created.stderr.contains(created.stdout.trim_end()),
        "{created:?}"
    );

    let server = program.serve(&["serve"]).await;
    server.key(&program.app, &secret).get("/api/v1/courses").await.assert_status(200);
    let crm_key = server.key(&program.app, created.stdout.trim_end());
    let response = crm_key.get("/api/v1/students").await.assert_status(200);
    assert_eq!(
        (response.header("x-ratelimit-limit"), response.header("x-ratelimit-daily-limit")),
        ("100", "1000")
    );
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn lists_are_printed_as_json_with_the_field_names_of_the_api() {
    let program = TestProgram::new().await;
    let secret = program.create_key("read:courses").await;
    let args =
        ["keys", "create", "--workspace", "acme", "--name", "CRM", "--expires-in", "12h", "--scope", "all"];
    let id = program
        .run(&args)
        .await
        .stderr
        .split_whitespace()
        .find(|word| word.starts_with("key_"))
        .unwrap()
        .to_owned();
    let revoked = program.run(&["keys", "revoke", &id]).await;
    assert_eq!((revoked.code, revoked.stdout.as_str()), (Some(0), ""));
    program.run(&["workspaces", "set-quota", "--workspace", "acme", "--per-day", "5000"]).await;

    let mut keys = list_as_json(&program, &["keys", "list", "--workspace", "acme"]).await;
    for key in keys.as_array_mut().expect("a list") {
        let (prefix, last4) = (key["prefix"].take(), key["last4"].take());
        assert!(prefix.as_str().unwrap().len() == 12 && last4.as_str().unwrap().len() == 4);
        if key["name"] == "billing" {
            assert_eq!((prefix.as_str(), last4.as_str()), (secret.get(..12), secret.get(43..)));
        }
    }
    assert_json_snapshot!("keys", keys);
    assert_json_snapshot!("workspaces", list_as_json(&program, &["workspaces", "list"]).await);
    let table = program.run(&["keys", "list", "--workspace", "acme"]).await;
    assert_eq!(table.stdout.lines().count(), 3);
    assert!(!table.stdout.contains(&secret), "the list contains a secret");
}

#[tokio::test]
async fn the_operator_can_set_a_key_quota_above_the_workspace_quota() {
    let program = TestProgram::new().await;
    let secret = program.create_key("read:courses").await;
    program.run(&["workspaces", "set-quota", "--workspace", "acme", "--per-minute", "30"]).await;
    let args = ["keys", "list", "--workspace", "acme"];
    let key = async || {
        let keys = program.run(&[&args[..], &["--json"]].concat()).await;
        let keys: Value = serde_json::from_str(&keys.stdout).expect("JSON");
        keys[0].clone()
    };
    let limits = async || {
        let key = key().await;
        ["per_minute", "per_minute_source", "per_day", "per_day_source"].map(|name| key[name].clone())
    };
    let id = key().await["id"].as_str().expect("an id").to_owned();
    let set_quota = async |quota: &[&str]| {
        let output = program.run(&[&["keys", "set-quota", &*id], quota].concat()).await;
        assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{output:?}");
        output.stderr.replace(&id, "KEY")
    };

    assert_snapshot!(set_quota(&["--per-minute", "500"]).await, @"key KEY (billing): per minute: 500, per day: the workspace's limit; other processes apply this within 2 s");
    assert_eq!(limits().await, [json!(500), json!("operator"), json!(1000), json!("default")]);
    let table = program.run(&args).await.stdout;
    assert!(table.contains("500 (operator)") && table.contains("1000 (default)"), "{table}");
    let server = program.serve(&["serve"]).await;
    let response = server.key(&program.app, &secret).get("/api/v1/courses").await.assert_status(200);
    assert_eq!(response.header("x-ratelimit-limit"), "500");
    assert_eq!(server.stop().await, Some(0));

    assert_snapshot!(set_quota(&[]).await, @"key KEY (billing): per minute: the workspace's limit, per day: the workspace's limit; other processes apply this within 2 s");
    assert_eq!(limits().await, [json!(30), json!("workspace"), json!(1000), json!("default")]);
    // Repeating the command changes nothing.
    set_quota(&[]).await;
    let entries = audit_entries(&program.app.workspace("acme").await).await;
    assert_eq!(
        entries[..2],
        [
            "command line Set the quota of an API key billing (per minute: the workspace's limit, per day: the workspace's limit)",
            "command line Set the quota of an API key billing (per minute: 500, per day: the workspace's limit)",
        ]
    );
    assert_eq!(entries.iter().filter(|line| line.contains("quota of an API key")).count(), 2);
}

#[tokio::test]
async fn openapi_prints_the_contract_unchanged() {
    let program = TestProgram::new().await;
    let printed = program.run_command(program.command_without_config(&["openapi"])).await;
    assert!(printed.stdout == include_str!("../../openapi/v1.yaml"));
    let json = program.run_command(program.command_without_config(&["openapi", "--format", "json"])).await;
    assert!(json.stdout.trim_end() == include_str!("../../src/api/generated/v1.json").trim_end());
}

#[tokio::test]
async fn apply_prints_its_counts_and_rejected_lines() {
    let program = TestProgram::new().await;
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
    let folder = program.app.folder();
    std::fs::write(folder.join("changes.ndjson"), stream.join("\n")).unwrap();

    let output = program.run(&["apply", "changes.ndjson", "--rejects", "rejects.ndjson"]).await;
    assert_eq!(output.code, Some(3));
    assert_snapshot!(format!("{}---\n{}", output.stdout, output.stderr));
    let rejects = std::fs::read_to_string(folder.join("rejects.ndjson")).unwrap();
    assert_eq!(rejects, format!("{}\n", stream[2..].join("\n")));

    let repeat = program.run_with_input(&["apply", "-"], &stream[..2].join("\n")).await;
    assert_eq!((repeat.code, repeat.stdout.as_str()), (Some(0), "0 applied, 2 applied before, 0 rejected\n"));
    assert_eq!(program.app.events_of_type("student.created").await.len(), 1);
}

#[tokio::test]
async fn a_misspelled_name_is_rejected_with_a_suggestion() {
    let program = TestProgram::new().await;
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
            failure_message(&program, 2, program.command(args)).await
        ));
    }
    let mut with_variable = program.command(&["serve"]);
    with_variable.env("CREATOR_API_LISEN", "127.0.0.1:0");
    messages.push(format!(
        "$ CREATOR_API_LISEN=... creator-api serve\n{}",
        failure_message(&program, 2, with_variable).await
    ));
    std::fs::write(program.app.folder().join("creator-api.toml"), "lissten = \"127.0.0.1:0\"\n").unwrap();
    let with_file = program.command(&["serve"]);
    messages.push(format!(
        "$ creator-api serve # with lissten in creator-api.toml\n{}",
        failure_message(&program, 2, with_file).await
    ));
    assert_snapshot!(messages.join("\n"));
}

#[tokio::test]
async fn the_operator_can_extend_removed_operations_for_a_key() {
    let program = TestProgram::new().await;
    program.create_key("read:courses").await;
    let key = async || {
        let keys = program.run(&["keys", "list", "--workspace", "acme", "--json"]).await;
        let keys: Value = serde_json::from_str(&keys.stdout).expect("JSON");
        keys[0].clone()
    };
    let id = key().await["id"].as_str().expect("an id").to_owned();
    let extend = async |args: &[&str]| {
        let output = program.run(&[&["keys", "extend-sunset", &*id], args].concat()).await;
        (output.code, output.stderr.replace(&id, "KEY"))
    };
    let (code, message) = extend(&["--until", "2099-03-01"]).await;
    assert_eq!(code, Some(0));
    assert_snapshot!(message, @"key KEY (billing): removed operations work before 2099-03-01; other processes apply this within 2 s");
    assert_eq!(key().await["sunset_extended_until"], "2099-03-01T00:00:00.000Z");
    let (code, message) = extend(&["--until", "2020-03-01"]).await;
    assert_eq!(code, Some(2));
    assert_snapshot!(message, @"error: --until: expected a day in the future, such as 2027-03-01");
    assert_eq!(extend(&["--until", "9999-12-31"]).await.0, Some(2), "beyond the last time");
    assert_eq!(extend(&["--withdraw"]).await.0, Some(0));
    assert_eq!(key().await["sunset_extended_until"], Value::Null);
    assert_eq!(extend(&[]).await.0, Some(2), "neither a day nor --withdraw");
}

#[tokio::test]
async fn a_key_can_be_limited_to_networks() {
    let program = TestProgram::new().await;
    let create = ["keys", "create", "--workspace", "acme", "--name", "x", "--scope", "read:courses"];
    program.create_key("read:courses").await;
    let limited = program
        .run(&[&create[..], &["--allow-from", "192.0.2.0/24", "--allow-from", "2001:db8::/32"]].concat())
        .await;
    assert_eq!(limited.code, Some(0), "{limited:?}");
    let malformed = program.run(&[&create[..], &["--allow-from", "192.0.2.0/33"]].concat()).await;
    assert_eq!(malformed.code, Some(2), "{malformed:?}");
    assert!(malformed.stderr.contains("expected a network such as 203.0.113.0/24"), "{malformed:?}");
    let keys = program.run(&["keys", "list", "--workspace", "acme", "--json"]).await;
    let keys: Value = serde_json::from_str(&keys.stdout).expect("JSON");
    assert_eq!(keys[0]["networks"], json!(["192.0.2.0/24", "2001:db8::/32"]));
    let id = keys[0]["id"].as_str().expect("an id");

    let secret = limited.stdout.trim();
    let server = program.serve(&["serve"]).await;
    let key = server.key(&program.app, secret);
    let error = key.get("/api/v1/courses").await.assert_status(403).json();
    assert_eq!(error["error"]["code"], "forbidden");
    assert_snapshot!(error["error"]["message"].as_str().expect("a message"), @"This key may not be used from the address 127.0.0.1.");
    assert_eq!(server.stop().await, Some(0));
    assert_eq!(
        audit_entries(&program.app.workspace("acme").await).await[0],
        "command line Created an API key x (may be used from 192.0.2.0/24, 2001:db8::/32)"
    );
    let set = program.run(&["keys", "set-networks", id, "--allow-from", "127.0.0.0/8"]).await;
    assert_snapshot!(set.stderr.replace(id, "KEY"), @"key KEY (x): may be used from 127.0.0.0/8; other processes apply this within 2 s");
    let server = program.serve(&["serve"]).await;
    server.key(&program.app, secret).get("/api/v1/courses").await.assert_status(200);
    assert_eq!(server.stop().await, Some(0));
    let set = program.run(&["keys", "set-networks", id]).await;
    assert_snapshot!(set.stderr.replace(id, "KEY"), @"key KEY (x): may be used from everywhere; other processes apply this within 2 s");
}

#[tokio::test]
async fn a_key_is_rotated_with_an_overlap() {
    let program = TestProgram::new().await;
    let old = program.create_key("read:courses").await;
    let key = async || {
        let keys = program.run(&["keys", "list", "--workspace", "acme", "--json"]).await;
        let keys: Value = serde_json::from_str(&keys.stdout).expect("JSON");
        keys[0].clone()
    };
    let id = key().await["id"].as_str().expect("an id").to_owned();
    assert_eq!(key().await["old_secret"], Value::Null);
    let rotated = program.run(&["keys", "rotate", &id, "--overlap", "2h"]).await;
    assert_eq!(rotated.code, Some(0), "{rotated:?}");
    let new = rotated.stdout.trim_end().to_owned();
    let time = regex::Regex::new(r"\d{4}-\d\d-\d\dT[0-9:.]+Z").unwrap();
    let masked = |text: &str| time.replace_all(&text.replace(&id, "KEY"), "TIME").into_owned();
    assert_snapshot!(masked(&rotated.stderr), @r"
    key KEY (billing): the old secret ends at TIME
    the secret on stdout cannot be shown again; store it in a secret manager
    ");
    let listed = key().await;
    assert_eq!((&listed["prefix"], &listed["last4"]), (&json!(new[..12]), &json!(new[43..])));
    let shown = &listed["old_secret"];
    assert_eq!((&shown["prefix"], &shown["last4"]), (&json!(old[..12]), &json!(old[43..])));

    let server = program.serve(&["serve"]).await;
    for secret in [&old, &new] {
        server.key(&program.app, secret).get("/api/v1/courses").await.assert_status(200);
    }
    assert_eq!(server.stop().await, Some(0));
    let third = program.run(&["keys", "rotate", &id]).await;
    assert_eq!((third.code, third.stdout.as_str()), (Some(1), ""));
    assert_snapshot!(masked(&third.stderr), @"error: key: has two valid secrets; the old one ends at TIME");
    let too_long = program.run(&["keys", "rotate", &id, "--overlap", "8d"]).await;
    assert_snapshot!(too_long.stderr, @"error: overlap: must be 0 to 7 days");
    let entries = audit_entries(&program.app.workspace("acme").await).await;
    assert_snapshot!(masked(&entries[0]), @"command line Rotated the secret of an API key billing (the old secret ends at TIME)");
}

#[tokio::test]
async fn all_scopes_are_those_of_v1() {
    let program = TestProgram::new().await;
    program.create_key("all").await;
    let keys = program.run(&["keys", "list", "--workspace", "acme", "--json"]).await;
    let keys: Value = serde_json::from_str(&keys.stdout).expect("JSON");
    let scopes: Vec<&str> = Scopes::v1().iter().map(Scope::as_str).collect();
    assert_eq!((keys[0]["scopes"].clone(), scopes.len()), (json!(scopes), 6));
}

#[tokio::test]
async fn a_failed_command_prints_one_sentence_with_the_remedy() {
    let program = TestProgram::new().await;
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
            failure_message(&program, 1, program.command(args)).await
        ));
    }
    assert_snapshot!(messages.join("\n"));
}

#[tokio::test]
async fn a_port_in_use_is_reported() {
    let program = TestProgram::new().await;
    let occupied = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = occupied.local_addr().unwrap().to_string();
    for command in ["serve", "demo"] {
        let message = failure_message(&program, 1, program.command(&[command, "--listen", &address]))
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
    let program = TestProgram::new().await;
    // No user can create a folder below a file, not even root.
    std::fs::write(program.app.folder().join("file"), "").unwrap();
    let folder = program.app.folder().join("file/data").display().to_string();
    let mut command = program.command(&["serve", "--data-dir", &folder, "--listen", "127.0.0.1:0"]);
    if !program.app.uses_postgres() {
        command.env_remove("DATABASE_URL");
    }
    let message = failure_message(&program, 1, command).await;
    let cause = "FOLDER/file is not a folder; specify another one with --data-dir";
    assert_eq!(message, format!("error: cannot use the data folder FOLDER/file/data: {cause}\n"));
}

#[tokio::test]
async fn a_data_folder_that_cannot_be_used_is_reported_with_its_cause() {
    let program = TestProgram::new().await;
    std::fs::write(program.app.folder().join("file"), "").unwrap();
    let mut messages = Vec::new();
    for folder in ["file", "file/a/b", "/proc/data", "/proc/a/b", "/proc"] {
        let folder = program.app.folder().join(folder).display().to_string();
        let message = async |args: &[&str]| {
            let mut command = program.command(&[args, &["--data-dir", &folder]].concat());
            command.env_remove("DATABASE_URL");
            failure_message(&program, 1, command).await
        };
        let of_server = message(&["serve", "--listen", "127.0.0.1:0"]).await;
        assert_eq!(message(&["demo", "--listen", "127.0.0.1:0"]).await, of_server);
        messages.push(of_server);
    }
    assert_snapshot!(messages.concat(), @r"
    error: cannot use the data folder FOLDER/file: it is not a folder; specify a folder with --data-dir
    error: cannot use the data folder FOLDER/file/a/b: FOLDER/file is not a folder; specify another one with --data-dir
    error: cannot use the data folder /proc/data: the file system of /proc does not allow new files and folders; specify another one with --data-dir
    error: cannot use the data folder /proc/a/b: the file system of /proc does not allow new files and folders; specify another one with --data-dir
    error: cannot use the data folder /proc: the file system of /proc does not allow new files and folders; specify another one with --data-dir
    ");
}

#[tokio::test]
#[ignore = "slow"]
async fn the_last_attempt_to_connect_to_postgres_is_reported_without_the_password() {
    let program = TestProgram::new().await;
    let port = free_port().expect("a free port");
    let mut messages = Vec::new();
    for hosts in [format!("127.0.0.1:{port}"), format!("127.0.0.1:{port},127.0.0.1:{port}")] {
        let url = format!("postgres://ada:secret@{hosts}/school");
        let command = program.command(&["serve", "--database-url", &url, "--listen", "127.0.0.1:0"]);
        messages.push(failure_message(&program, 1, command).await.replace(&port.to_string(), "PORT"));
    }
    // A server that accepts connections and never responds.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://ada:secret@{}/school", silent.local_addr().unwrap());
    let command = program.command(&["serve", "--database-url", &url, "--listen", "127.0.0.1:0"]);
    let port = silent.local_addr().unwrap().port().to_string();
    messages.push(failure_message(&program, 1, command).await.replace(&port, "PORT"));
    assert_snapshot!(messages.concat(), @r"
    error: cannot connect to PostgreSQL at 127.0.0.1:PORT/school: Connection refused (os error 111); check that it is running and that --database-url is correct
    error: cannot connect to PostgreSQL at 127.0.0.1:PORT,127.0.0.1:PORT/school: no server accepts writes: 127.0.0.1:PORT: Connection refused (os error 111); 127.0.0.1:PORT: Connection refused (os error 111); check that it is running and that --database-url is correct
    error: cannot connect to PostgreSQL at 127.0.0.1:PORT/school: no response within 1 s; check that it is running and that --database-url is correct
    ");
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_not_changed() {
    let program = TestProgram::new().await;
    let write = program.app.begin_write().await;
    for newer in [
        "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m0099_future', 1)",
        "UPDATE server_state SET value = '99' WHERE name = 'schema_floor'",
    ] {
        write.conn().execute_unprepared(newer).await.unwrap();
    }
    write.commit().await.unwrap();
    let mut messages = Vec::new();
    for args in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["migrate"], &["keys", "list", "--workspace", "acme"]]
    {
        messages.push(failure_message(&program, 1, program.command(args)).await);
    }
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:?}");
    assert_snapshot!(messages[0], @"error: the database was migrated by another version, probably a newer one (migration m0099_future); use that version, or restore an older backup");
}

#[tokio::test]
async fn a_database_of_a_development_version_is_not_changed() {
    let program = TestProgram::new().await;
    let write = program.app.begin_write().await;
    let older = "UPDATE seaql_migrations SET version = 'm0036_requested_links' WHERE version LIKE 'm0037%'";
    write.conn().execute_unprepared(older).await.unwrap();
    write.commit().await.unwrap();
    let stored = async || {
        let rows = "SELECT (SELECT count(*) FROM server_state) || ' values, ' || (SELECT count(*) FROM processes) || ' processes, '
                || (SELECT count(*) FROM workspaces) || ' workspaces, ' || (SELECT count(*) FROM audit_entries) || ' entries'";
        let rows = Statement::from_string(program.app.app.db.backend(), rows);
        let rows = program.app.app.db.read().query_one_raw(rows).await.unwrap().expect("a row");
        let rows: String = rows.try_get_by_index(0).unwrap();
        (program.app.app.db.applied_migrations().await.unwrap(), rows)
    };
    let before = stored().await;
    let mut messages = Vec::new();
    for args in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["serve", "--listen", "127.0.0.1:0", "--wait-for-migrations"],
        &["worker"],
        &["demo", "--listen", "127.0.0.1:0"],
        &["migrate"],
        &["migrate", "--phase", "expand"],
        &["keys", "list", "--workspace", "acme"],
    ] {
        messages.push(failure_message(&program, 1, program.command(args)).await);
    }
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:?}");
    assert_snapshot!(messages[0], @"error: the database was created by a development version before the first release (migration m0036_requested_links), and cannot be migrated; create a new database, and import the data again");
    let doctor = program.run(&["doctor"]).await;
    let message = messages[0].trim_start_matches("error: ").trim_end();
    assert!(doctor.code == Some(1) && doctor.stdout.contains(message), "{doctor:?}");
    assert_eq!(stored().await, before);
}

#[tokio::test]
async fn a_different_master_key_is_rejected() {
    let program = TestProgram::new().await;
    let key_file = program.app.folder().join("master.key");
    let server = program.serve(&["serve"]).await;
    assert_eq!(server.stop().await, Some(0));
    use std::os::unix::fs::PermissionsExt;
    let original_key = std::fs::read_to_string(&key_file).unwrap();
    assert_eq!(std::fs::metadata(&key_file).unwrap().permissions().mode() & 0o777, 0o600);

    let mut messages = Vec::new();
    let mut with_variable = program.command(&["serve", "--listen", "127.0.0.1:0"]);
    with_variable.env("CREATOR_API_MASTER_KEY", "0f".repeat(32));
    messages.push(failure_message(&program, 1, with_variable).await);
    std::fs::write(&key_file, "0f".repeat(32)).unwrap();
    messages.push(failure_message(&program, 1, program.command(&["serve", "--listen", "127.0.0.1:0"])).await);
    std::fs::write(&key_file, "nonsense").unwrap();
    messages.push(failure_message(&program, 1, program.command(&["serve", "--listen", "127.0.0.1:0"])).await);
    std::fs::remove_file(&key_file).unwrap();
    messages.push(failure_message(&program, 1, program.command(&["serve", "--listen", "127.0.0.1:0"])).await);
    assert!(
        messages
            .iter()
            .all(|message| !message.contains("0f0f") && !message.contains(original_key.trim_end()))
    );
    assert_snapshot!(messages.join(""));

    // The original key, specified by an environment variable.
    let mut with_original_key = program.command(&["serve", "--listen", "127.0.0.1:0"]);
    with_original_key.env("CREATOR_API_MASTER_KEY", original_key.trim_end());
    assert_eq!(program.start_server(with_original_key).await.stop().await, Some(0));
}

#[tokio::test]
async fn the_configuration_is_printed_without_its_secrets() {
    let program = TestProgram::new().await;
    let mut command = program.command_without_config(&["config", "check", "--listen", "127.0.0.1:9"]);
    command
        .env("DATABASE_URL", "postgres://ada:lovelace@db.example/app")
        .env("CREATOR_API_MASTER_KEY", "0f".repeat(32));
    let output = program.run_command(command).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(!output.stdout.contains("lovelace") && !output.stdout.contains("0f0f"), "{}", output.stdout);
    assert!(
        output.stdout.contains("listen = \"127.0.0.1:9\"") && output.stdout.contains("--listen"),
        "{}",
        output.stdout
    );

    let mut early_sunset = program.command_without_config(&["config", "check"]);
    early_sunset
        .env("CREATOR_API_DEPRECATION_AT", "2026-03-01T00:00:00Z")
        .env("CREATOR_API_SUNSET_AT", "2026-08-31T00:00:00Z");
    let message = failure_message(&program, 2, early_sunset).await;
    assert!(message.contains("less than 6 months"), "{message}");
}

#[tokio::test]
async fn a_closed_pipe_is_no_error_and_a_full_disk_is_reported() {
    let program = TestProgram::new().await;
    let sh = async |script: &str| {
        let mut shell = tokio::process::Command::new("sh");
        shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_creator-api")]).current_dir(program.app.folder());
        let output = shell.output().await.expect("the shell runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(
        sh("{ \"$1\" openapi; echo $? >code; } | head -n 1 >/dev/null; exit $(cat code)").await,
        (Some(0), String::new())
    );
    let full_disk = sh("\"$1\" openapi >/dev/full").await;
    assert_eq!(full_disk, (Some(1), "error: the disk is full; free some space and try again\n".to_owned()));
}
