//! The text of `creator-api --help`: the commands in groups, and the exit codes.

use std::fmt::Write;

use clap::Command;

/// The headings of the help, each with its commands.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Run", &["demo", "serve", "worker", "migrate"]),
    ("Administer", &["workspaces", "users", "keys", "webhooks", "platform-tokens", "master-key"]),
    ("Data", &["import", "generate", "backup", "restore"]),
    (
        "Inspect",
        &["doctor", "config", "health", "candidate", "deprecations", "openapi", "completions", "man"],
    ),
    ("Develop", &["listen"]),
];

const EXIT_CODES: &str = "\
Exit codes: 0 success, 1 failure, 2 invalid usage or configuration, 3 some input lines were rejected, \
4 and 5 see `listen`, 130 interrupted.
Settings are read from flags, then environment variables, then systemd credentials, then creator-api.toml, then defaults; `creator-api config check` \
prints all of them. See `creator-api COMMAND --help` for the options of a command.
`demo`, `serve` and `worker` export traces if the environment variable OTEL_EXPORTER_OTLP_ENDPOINT is set.";

/// Replaces the help of the command with one that lists its subcommands in groups.
pub(super) fn grouped(command: Command) -> Command {
    let width =
        command.get_subcommands().map(|subcommand| subcommand.get_name().len()).max().unwrap_or_default();
    let mut commands = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(commands, "{heading}:");
        for subcommand in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(commands, "  {:<width$}  {about}", subcommand.get_name());
        }
        commands.push('\n');
    }
    command
        .help_template(format!(
            "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{commands}Global options:\n{{options}}{{after-help}}"
        ))
        .after_help(EXIT_CODES)
}
