//! `creator-api --help`: the commands in groups, and the exit codes.

use std::fmt::Write;

use clap::Command;

/// The commands as a person looks for them.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Run", &["demo", "serve", "worker", "migrate"]),
    ("Administer", &["workspaces", "users", "keys", "webhooks"]),
    ("Data", &["apply", "generate"]),
    ("Look", &["config", "openapi"]),
];

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 some lines were rejected, 130 stopped at once.
Settings come from flags, then the environment, then creator-api.toml, then defaults; `creator-api config check` shows \
them all. `creator-api COMMAND --help` tells more.";

/// The command with its subcommands listed in groups.
pub(super) fn grouped(command: Command) -> Command {
    let width = command.get_subcommands().map(|sub| sub.get_name().len()).max().unwrap_or_default();
    let mut commands = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(commands, "{heading}:");
        for sub in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(commands, "  {:<width$}  {about}", sub.get_name());
        }
        commands.push('\n');
    }
    command
        .help_template(format!("{{about}}\n\n{{usage-heading}} {{usage}}\n\n{commands}Options of every command:\n{{options}}{{after-help}}"))
        .after_help(EXIT_CODES)
}
