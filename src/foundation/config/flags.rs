//! The settings as flags of the command line, made from their declarations.

use clap::{Arg, ArgMatches};

use super::settings::{Name, names};
use super::source::{FILE, FILE_FLAG, FILE_VARIABLE};

/// The headings of the settings that every command takes.
pub(super) const COMMON: &[&str] = &["Data", "Database", "Log"];
/// The headings of the settings of the commands that serve.
pub const SERVING: &[&str] = &["Server", "Limits", "Webhooks", "Mail", "Deprecation of v1"];
/// The heading of the settings of the commands that judge where webhooks may go.
pub const WEBHOOKS: &[&str] = &["Webhooks"];
/// Keys and heading of the settings of the commands that make a link to set a password: where it leads, and how it is
/// mailed.
pub const LINKS: &[&str] = &["listen", "public_url", "Mail"];
/// Key and headings of the settings of the command that sends without serving.
pub const SENDING: &[&str] = &["public_url", "Webhooks", "Mail", "Worker"];

/// The flags of the settings with one of these keys or headings.
pub fn flags(of: &[&str]) -> impl Iterator<Item = Arg> {
    names()
        .filter(|name| of.contains(&name.setting.heading) || of.contains(&name.setting.key))
        .filter(|name| name.is_file || !name.setting.hidden)
        .map(arg)
}

/// The flags that every command takes.
pub fn common_flags() -> impl Iterator<Item = Arg> {
    let help = format!("Configuration file [variable: {FILE_VARIABLE}] [default: {FILE}, if there is one]");
    let file = Arg::new(FILE_FLAG).long(FILE_FLAG).value_name("FILE").help(help).display_order(0);
    std::iter::once(file).chain(flags(COMMON)).map(|arg| arg.global(true))
}

fn arg(Name { setting, key, variable, is_file }: Name) -> Arg {
    let (value_name, help) = if is_file {
        ("FILE", format!("File that holds the value of `{}` [variable: {variable}]", setting.key))
    } else {
        let default = setting.default.map(|text| format!(" [default: {text}]")).unwrap_or_default();
        (setting.value_name, format!("{} [variable: {variable}]{default}", setting.help))
    };
    Arg::new(key).long(key.replace('_', "-")).value_name(value_name).help(help).help_heading(setting.heading)
}

/// The settings that a command line gives, with their keys.
pub fn given_flags(mut matches: &ArgMatches) -> Vec<(&'static str, String)> {
    // A command has the flags of the commands above it, too.
    while let Some((_, command)) = matches.subcommand() {
        matches = command;
    }
    let text = |key| matches.try_get_one::<String>(key).ok().flatten().map(|text| (key, text.clone()));
    names().map(|name| name.key).chain([FILE_FLAG]).filter_map(text).collect()
}
