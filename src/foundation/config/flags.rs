//! Command-line flags of the settings, generated from their declarations.

use clap::{Arg, ArgMatches};

use super::settings::{SettingName, names};
use super::source::{FILE, FILE_FLAG, FILE_VARIABLE};

/// The headings of the settings that every command accepts.
pub(super) const COMMON: &[&str] = &["Data", "Database", "Log"];
/// The headings of the settings that `serve` and `demo` accept.
pub const SERVING: &[&str] = &["Server", "Limits", "Webhooks", "Mail", "Deprecation of v1"];
/// The heading of the settings of the commands that validate endpoint URLs.
pub const WEBHOOKS: &[&str] = &["Webhooks"];
/// The keys and the heading of the settings of the commands that create password links: the server's URL, and mail.
pub const LINKS: &[&str] = &["listen", "public_url", "Mail"];
/// The key and the headings of the settings of `worker`.
pub const SENDING: &[&str] = &["public_url", "Webhooks", "Mail", "Worker"];

/// Returns the flags of the settings with one of these keys or headings.
pub fn flags(keys_and_headings: &[&str]) -> impl Iterator<Item = Arg> {
    names()
        .filter(|name| {
            keys_and_headings.contains(&name.setting.heading) || keys_and_headings.contains(&name.setting.key)
        })
        .filter(|name| name.is_file || !name.setting.hidden)
        .map(arg)
}

/// Returns the flags that every command accepts.
pub fn common_flags() -> impl Iterator<Item = Arg> {
    let help = format!("Configuration file [variable: {FILE_VARIABLE}] [default: {FILE}, if it exists]");
    let file = Arg::new(FILE_FLAG).long(FILE_FLAG).value_name("FILE").help(help).display_order(0);
    std::iter::once(file).chain(flags(COMMON)).map(|arg| arg.global(true))
}

fn arg(SettingName { setting, key, variable, is_file }: SettingName) -> Arg {
    let (value_name, help) = if is_file {
        ("FILE", format!("File that contains the value of `{}` [variable: {variable}]", setting.key))
    } else {
        let default = setting.default.map(|text| format!(" [default: {text}]")).unwrap_or_default();
        (setting.value_name, format!("{} [variable: {variable}]{default}", setting.help))
    };
    Arg::new(key).long(key.replace('_', "-")).value_name(value_name).help(help).help_heading(setting.heading)
}

/// Returns the settings that were set by flags, with their keys.
pub fn flag_values(mut matches: &ArgMatches) -> Vec<(&'static str, String)> {
    // The matches of a subcommand contain the global flags, too.
    while let Some((_, command)) = matches.subcommand() {
        matches = command;
    }
    let text = |key| matches.try_get_one::<String>(key).ok().flatten().map(|text| (key, text.clone()));
    names().map(|name| name.key).chain([FILE_FLAG]).filter_map(text).collect()
}
