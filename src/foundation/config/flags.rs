//! Command-line flags of the settings, generated from their declarations.

use clap::{Arg, ArgMatches};

use super::settings::{SettingName, setting_names};
use super::source::{DEFAULT_FILE, FILE_FLAG, FILE_VARIABLE};

/// The headings of the settings that every command accepts.
pub(super) const COMMON_SETTINGS: &[&str] = &["Data", "Database", "Log"];
/// The headings of the settings of the commands that start a server: `serve` and `demo`.
pub const SERVER_SETTINGS: &[&str] =
    &["Server", "Sign-in", "Limits", "Webhooks", "Mail", "Deprecation of v1"];
/// The heading of the settings of the commands that validate endpoint URLs.
pub const ENDPOINT_SETTINGS: &[&str] = &["Webhooks"];
/// The keys and the heading of the settings of the commands that create password links: the server's URL, and mail.
pub const LINK_SETTINGS: &[&str] = &["listen", "public_url", "Mail"];
/// The keys and the headings of the settings of `worker`.
pub const WORKER_SETTINGS: &[&str] = &["public_url", "shutdown_seconds", "Webhooks", "Mail", "Worker"];

/// Returns the flags of the settings with one of these keys or headings.
pub fn flags(keys_and_headings: &[&str]) -> impl Iterator<Item = Arg> {
    setting_names()
        .filter(|name| {
            keys_and_headings.contains(&name.setting.heading) || keys_and_headings.contains(&name.setting.key)
        })
        .filter(|name| name.is_file || name.setting.has_flag)
        .map(arg)
}

/// Returns the flags that every command accepts.
pub fn common_flags() -> impl Iterator<Item = Arg> {
    let help =
        format!("Configuration file [variable: {FILE_VARIABLE}] [default: {DEFAULT_FILE}, if it exists]");
    let file = Arg::new(FILE_FLAG).long(FILE_FLAG).value_name("FILE").help(help).display_order(0);
    std::iter::once(file).chain(flags(COMMON_SETTINGS)).map(|arg| arg.global(true))
}

fn arg(SettingName { setting, key, variable, is_file }: SettingName) -> Arg {
    let (value_name, help) = match is_file {
        true if setting.has_flag => {
            ("FILE", format!("File that contains the value of `--{}`", setting.key.replace('_', "-")))
        }
        true => ("FILE", format!("{} This flag specifies a file that contains it.", setting.help)),
        false => (setting.value_name, setting.help.to_owned()),
    };
    let default = setting.default.filter(|_| !is_file);
    let default = default.map(|text| format!(" [default: {text}]")).unwrap_or_default();
    let help = format!("{help} [variable: {variable}]{default}");
    Arg::new(key).long(key.replace('_', "-")).value_name(value_name).help(help).help_heading(setting.heading)
}

/// Returns the key and the text of each setting that was set by a flag.
pub fn flag_values(mut matches: &ArgMatches) -> Vec<(&'static str, String)> {
    // The matches of a subcommand contain the global flags, too.
    while let Some((_, command)) = matches.subcommand() {
        matches = command;
    }
    let text = |key| matches.try_get_one::<String>(key).ok().flatten().map(|text| (key, text.clone()));
    setting_names().map(|name| name.key).chain([FILE_FLAG]).filter_map(text).collect()
}
