//! Which commands create a data folder, and what the others say when there is none.

use std::collections::BTreeSet;
use std::path::Path;

use clap::CommandFactory;
use insta::assert_snapshot;

use crate::support::program::TestProgram;

/// What a command does when the data folder does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WithoutFolder {
    /// It creates the folder with a database.
    Creates,
    /// Like `Creates`, and it runs until it is stopped.
    CreatesAndServes,
    /// It fails and creates nothing.
    Fails,
    /// It succeeds without data, and creates nothing.
    NeedsNone,
}
use WithoutFolder::{Creates, CreatesAndServes, Fails, NeedsNone};

/// Each command with valid arguments.
const COMMANDS: &[(&str, WithoutFolder)] = &[
    ("demo --listen 127.0.0.1:0", CreatesAndServes),
    ("serve --listen 127.0.0.1:0", CreatesAndServes),
    ("worker", Fails),
    ("migrate", Creates),
    ("workspaces create --key acme --name Acme --owner-email o@acme.example", Creates),
    ("workspaces list", Fails),
    ("workspaces create-sandbox acme", Fails),
    ("workspaces reset-sandbox acme", Fails),
    ("workspaces delete-sandbox acme --yes", Fails),
    ("workspaces set-owner --workspace acme --email o@acme.example", Fails),
    ("workspaces set-quota --workspace acme", Fails),
    ("users add --workspace acme --email o@acme.example", Fails),
    ("users link --workspace acme --email o@acme.example", Fails),
    ("users list --workspace acme", Fails),
    ("users remove --workspace acme --email o@acme.example", Fails),
    ("users reset-second-factor --workspace acme --email o@acme.example", Fails),
    ("users unlink-provider --workspace acme --email o@acme.example", Fails),
    ("users set-role --workspace acme --email o@acme.example --role viewer", Fails),
    ("keys create --workspace acme --name CRM --scope all", Fails),
    ("keys list --workspace acme", Fails),
    ("keys rotate key_01khdps1znf0yt63fefph15bgz", Fails),
    ("keys revoke key_01khdps1znf0yt63fefph15bgz", Fails),
    ("keys set-quota key_01khdps1znf0yt63fefph15bgz", Fails),
    ("keys set-networks key_01khdps1znf0yt63fefph15bgz", Fails),
    ("keys extend-sunset key_01khdps1znf0yt63fefph15bgz --withdraw", Fails),
    ("master-key rotate", Fails),
    ("webhooks create --workspace acme --url https://acme.example --event student.created", Fails),
    ("webhooks list --workspace acme", Fails),
    ("webhooks deliveries whs_01khdps1znf0yt63fefph15bgz", Fails),
    ("webhooks delivery dlv_01khdps1znf0yt63fefph15bgz", Fails),
    ("webhooks dead --workspace acme", Fails),
    ("webhooks replay --all", Fails),
    ("webhooks rotate whs_01khdps1znf0yt63fefph15bgz", Fails),
    ("webhooks test whs_01khdps1znf0yt63fefph15bgz", Fails),
    ("webhooks edit whs_01khdps1znf0yt63fefph15bgz --event student.created", Fails),
    ("webhooks controls whs_01khdps1znf0yt63fefph15bgz", Fails),
    ("webhooks signing-keys --workspace acme", Fails),
    ("webhooks rotate-signing-key --workspace acme", Fails),
    ("webhooks pause whs_01khdps1znf0yt63fefph15bgz", Fails),
    ("webhooks enable whs_01khdps1znf0yt63fefph15bgz", Fails),
    ("webhooks delete whs_01khdps1znf0yt63fefph15bgz", Fails),
    ("platform-tokens create --name Sync --scope all", Fails),
    ("platform-tokens list", Fails),
    ("platform-tokens revoke ptk_01khdps1znf0yt63fefph15bgz", Fails),
    ("import -", Creates),
    ("generate --courses 1 --students 1 --orders 1", Creates),
    ("backup copy.backup", Fails),
    ("restore valid.backup", Creates),
    ("doctor", Fails),
    ("candidate report", Fails),
    ("deprecations report", Fails),
    ("config check", NeedsNone),
    ("health --listen 127.0.0.1:1", Fails),
    ("listen --example order.paid --print-only", NeedsNone),
    ("openapi", NeedsNone),
    ("completions bash", NeedsNone),
    ("man .", NeedsNone),
];

/// Returns the words that select each command, such as `keys create`.
fn command_names() -> Vec<String> {
    fn add(command: &clap::Command, name: &str, names: &mut Vec<String>) {
        if !command.has_subcommands() {
            names.push(name.trim_start().to_owned());
        }
        for subcommand in command.get_subcommands() {
            add(subcommand, &format!("{name} {}", subcommand.get_name()), names);
        }
    }
    let mut names = Vec::new();
    add(&creator_api::cli::Cli::command(), "", &mut names);
    names
}

#[tokio::test]
#[ignore = "slow"]
async fn only_a_few_commands_create_a_data_folder() {
    for name in command_names() {
        let rows = COMMANDS
            .iter()
            .filter(|(command, _)| *command == name || command.starts_with(&format!("{name} ")));
        assert_eq!(rows.count(), 1, "does `{name}` create a data folder? Add it to COMMANDS");
    }
    let program = TestProgram::new().await;
    let folder = program.app.folder();
    // A backup without a master key, which a restored database needs in its folder.
    for args in [&["migrate", "--data-dir", "empty"][..], &["backup", "valid.backup", "--data-dir", "empty"]]
    {
        let output = program.run_command(program.command_without_config(args)).await;
        assert_eq!(output.code, Some(0), "{output:?}");
    }
    let mut wrong = Vec::new();
    for (number, &(text, expected)) in COMMANDS.iter().enumerate() {
        let data = format!("missing{number}");
        let args: Vec<&str> = text.split(' ').chain(["--data-dir", &data]).collect();
        let command = program.command_without_config(&args);
        let (code, stderr) = match expected {
            CreatesAndServes => (program.start_server(command).await.stop().await, String::new()),
            _ => {
                let output = program.run_command(command).await;
                (output.code, output.stderr)
            }
        };
        let creates = matches!(expected, Creates | CreatesAndServes);
        let created = folder.join(&data).exists();
        let expected_code = if expected == Fails { Some(1) } else { Some(0) };
        let names_folder = stderr.contains(&data) && stderr.contains("--data-dir");
        let must_name = expected == Fails && !text.starts_with("health");
        if created != creates || code != expected_code || (must_name && !names_folder) {
            wrong.push(format!("{text}: expected {expected:?}, created: {created}, code {code:?}, {stderr}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} commands:\n{}", wrong.len(), COMMANDS.len(), wrong.join("\n"));
}

#[tokio::test]
async fn a_missing_database_is_reported_with_the_remedy() {
    let program = TestProgram::new().await;
    let message = async |variable: &[(&str, &str)], args: &[&str]| {
        let mut command = program.command_without_config(args);
        command.envs(variable.iter().copied());
        let output = program.run_command(command).await;
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
        output.stderr
    };
    assert_snapshot!(message(&[], &["workspaces", "list", "--data-dir", "no/data"]).await, @"error: there is no database at no/data/creator-api.db; correct --data-dir, or create a database there with `creator-api serve` or `creator-api demo`");
    let url = [("DATABASE_URL", "sqlite:no/file.db")];
    assert_snapshot!(message(&url, &["workspaces", "list"]).await, @"error: there is no database at no/file.db; correct --database-url, or create a database there with `creator-api serve` or `creator-api demo`");
    assert!(!Path::new(&program.app.folder().join("no")).exists());
    // A database that cannot be looked for is not missing. Root has every permission, but cannot follow a link to itself.
    std::fs::write(program.app.folder().join("file"), "").unwrap();
    assert_snapshot!(message(&[], &["workspaces", "list", "--data-dir", "file"]).await, @"error: cannot use the data folder file: it is not a folder; specify a folder with --data-dir");
    std::fs::create_dir(program.app.folder().join("linked")).unwrap();
    std::os::unix::fs::symlink("creator-api.db", program.app.folder().join("linked/creator-api.db")).unwrap();
    assert_snapshot!(message(&[], &["workspaces", "list", "--data-dir", "linked"]).await, @"error: cannot use the data folder linked: Too many levels of symbolic links (os error 40); specify another one with --data-dir");
}

/// The database exists, but the master key would be created in the folder.
#[tokio::test]
async fn only_servers_create_a_master_key() {
    let program = TestProgram::new().await;
    program.app.workspace("acme").await;
    let folder = program.app.folder();
    std::fs::create_dir(folder.join("empty")).unwrap();
    let mut messages = BTreeSet::new();
    let webhook = ["--workspace", "acme", "--url", "https://acme.example", "--event", "student.created"];
    for args in
        [&["worker"][..], &[&["webhooks", "create"][..], &webhook].concat(), &["master-key", "rotate"]]
    {
        for data in ["missing", "empty"] {
            let output = program.run(&[args, &["--data-dir", data]].concat()).await;
            assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{args:?}: {output:?}");
            messages.insert(output.stderr.replace(data, "DATA"));
        }
    }
    assert_snapshot!(Vec::from_iter(messages).concat(), @"error: there is no master key at DATA/master.key; correct --data-dir, start `creator-api serve` first, or specify the key with --master-key-file");
    assert!(!folder.join("missing").exists());
    assert_eq!(std::fs::read_dir(folder.join("empty")).unwrap().count(), 0);
    // `serve` creates it.
    let server = program.serve(&["serve", "--data-dir", "missing"]).await;
    assert_eq!(server.stop().await, Some(0));
    assert!(program.app.folder().join("missing/master.key").exists());
}
