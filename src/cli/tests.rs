//! Tests of the command line: commands, flags and help.

use clap::CommandFactory;

use super::*;

#[test]
fn the_command_line_is_consistent() {
    help::grouped(Cli::command()).debug_assert();
}

#[test]
fn every_command_is_in_one_group_of_the_help() {
    let grouped: Vec<&str> = help::GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let command = Cli::command();
    let all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let sorted = |mut names: Vec<&'static str>| {
        names.sort_unstable();
        names
    };
    let all = all
        .into_iter()
        .map(|name| grouped.iter().copied().find(|grouped_name| *grouped_name == name).unwrap_or("missing"));
    assert_eq!(sorted(all.collect()), sorted(grouped.clone()));
}

#[test]
fn the_readme_lists_every_command() {
    let readme = include_str!("../../README.md");
    let mut cli = Cli::command();
    cli.build();
    let commands = cli.get_subcommands().filter(|command| command.get_name() != "help").flat_map(|command| {
        let subcommands = command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help");
        let paths: Vec<_> = subcommands
            .map(|subcommand| format!("{} {}", command.get_name(), subcommand.get_name()))
            .collect();
        if paths.is_empty() { vec![command.get_name().to_owned()] } else { paths }
    });
    for command in commands {
        let is_listed = ["`", " "].iter().any(|end| readme.contains(&format!("`{command}{end}")));
        assert!(is_listed, "README.md does not list `{command}`");
    }
}

#[test]
fn the_help_shows_groups_and_exit_codes() {
    let help = help::grouped(Cli::command()).render_help().to_string();
    for part in [
        "Run:\n  demo ",
        "Administer:\n",
        "Data:\n",
        "Inspect:\n",
        "Develop:\n",
        "Exit codes: 0 success, 1 failure, 2 ",
        "--data-dir <DIR>",
    ] {
        assert!(help.contains(part), "{part:?} is missing in\n{help}");
    }
    assert!(!help.contains("--listen"), "only flags that every command accepts are in this help");
}

#[test]
fn a_setting_can_precede_or_follow_the_command() {
    for arguments in
        [["creator-api", "--data-dir", "x", "migrate"], ["creator-api", "migrate", "--data-dir", "x"]]
    {
        let matches = Cli::command().try_get_matches_from(arguments).unwrap();
        assert_eq!(flag_values(&matches), [("data_dir", "x".to_owned())]);
    }
}

#[test]
fn serve_and_config_check_accept_server_flags_and_migrate_does_not() {
    assert!(Cli::try_parse_from(["creator-api", "serve", "--listen", "127.0.0.1:0"]).is_ok());
    assert!(Cli::try_parse_from(["creator-api", "migrate", "--listen", "127.0.0.1:0"]).is_err());
    assert!(Cli::try_parse_from(["creator-api", "config", "check", "--listen", "127.0.0.1:0"]).is_ok());
}

#[test]
fn commands_that_create_links_accept_the_flags_that_links_depend_on() {
    let user = ["--workspace", "acme", "--email", "ada@acme.example"];
    let owner = ["--key", "acme", "--name", "Acme", "--owner-email", "ada@acme.example"];
    let flags =
        ["--public-url", "https://acme.example", "--listen", "0.0.0.0:80", "--mail-from", "a@acme.example"];
    for command in [
        [&["users", "add"][..], &user].concat(),
        [&["users", "link"][..], &user].concat(),
        [&["workspaces", "create"][..], &owner].concat(),
    ] {
        let arguments = [&["creator-api"][..], &command, &flags].concat();
        let matches = Cli::command().try_get_matches_from(&arguments).unwrap();
        let keys: Vec<&str> = flag_values(&matches).iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["listen", "public_url", "mail_from"], "{arguments:?}");
    }
    assert!(
        Cli::try_parse_from(["creator-api", "users", "list", "--workspace", "acme", "--listen", "[::]:80"])
            .is_err()
    );
}
