//! The command line as a whole.

use clap::CommandFactory;

use super::*;

#[test]
fn the_command_line_holds_together() {
    help::grouped(Cli::command()).debug_assert();
}

#[test]
fn every_command_stands_in_one_group_of_the_help() {
    let grouped: Vec<&str> = help::GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let command = Cli::command();
    let all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let sorted = |mut names: Vec<&'static str>| {
        names.sort_unstable();
        names
    };
    let all =
        all.into_iter().map(|name| grouped.iter().copied().find(|known| *known == name).unwrap_or("missing"));
    assert_eq!(sorted(all.collect()), sorted(grouped.clone()));
}

#[test]
fn the_help_shows_groups_and_exit_codes() {
    let help = help::grouped(Cli::command()).render_help().to_string();
    for part in [
        "Run:\n  demo ",
        "Administer:\n",
        "Data:\n",
        "Look:\n",
        "Exit codes: 0 done, 1 failed, 2 ",
        "--data-dir <DIR>",
    ] {
        assert!(help.contains(part), "{part:?} is missing in\n{help}");
    }
    assert!(!help.contains("--listen"), "the flags of serving belong to the commands that serve");
}

#[test]
fn a_setting_may_stand_before_or_behind_the_command() {
    for words in
        [["creator-api", "--data-dir", "x", "migrate"], ["creator-api", "migrate", "--data-dir", "x"]]
    {
        let matches = Cli::command().try_get_matches_from(words).unwrap();
        assert_eq!(given_flags(&matches), [("data_dir", "x".to_owned())]);
    }
}

#[test]
fn only_serving_commands_take_the_flags_of_serving() {
    assert!(Cli::try_parse_from(["creator-api", "serve", "--listen", "127.0.0.1:0"]).is_ok());
    assert!(Cli::try_parse_from(["creator-api", "migrate", "--listen", "127.0.0.1:0"]).is_err());
    assert!(Cli::try_parse_from(["creator-api", "config", "check", "--listen", "127.0.0.1:0"]).is_ok());
}

#[test]
fn the_commands_that_make_links_take_the_flags_that_links_depend_on() {
    let person = ["--workspace", "acme", "--email", "ada@acme.example"];
    let owner = ["--key", "acme", "--name", "Acme", "--owner-email", "ada@acme.example"];
    let flags =
        ["--public-url", "https://acme.example", "--listen", "0.0.0.0:80", "--mail-from", "a@acme.example"];
    for words in [
        [&["users", "add"][..], &person].concat(),
        [&["users", "link"][..], &person].concat(),
        [&["workspaces", "create"][..], &owner].concat(),
    ] {
        let words = [&["creator-api"][..], &words, &flags].concat();
        let matches = Cli::command().try_get_matches_from(&words).unwrap();
        let keys: Vec<&str> = given_flags(&matches).iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["listen", "public_url", "mail_from"], "{words:?}");
    }
    assert!(
        Cli::try_parse_from(["creator-api", "users", "list", "--workspace", "acme", "--listen", "[::]:80"])
            .is_err()
    );
}
