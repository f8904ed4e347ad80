//! The settings as flags of the command line, made from their declarations.

use clap::{Arg, ArgMatches};

use super::source::{FILE, FILE_FLAG, FILE_VARIABLE};
use super::{CONCERNS, Setting, settings};

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
    CONCERNS.iter().flat_map(move |(heading, settings)| {
        let wanted = |setting: &&Setting| of.contains(heading) || of.contains(&setting.key);
        let args = |setting| names(setting).map(move |name| arg(setting, name).help_heading(*heading));
        settings.iter().filter(wanted).flat_map(args).collect::<Vec<_>>()
    })
}

/// The flags that every command takes.
pub fn common_flags() -> impl Iterator<Item = Arg> {
    let help = format!("Configuration file [variable: {FILE_VARIABLE}] [default: {FILE}, if there is one]");
    let file = Arg::new(FILE_FLAG).long(FILE_FLAG).value_name("FILE").help(help).display_order(0);
    std::iter::once(file).chain(flags(COMMON)).map(|arg| arg.global(true))
}

/// The names a setting has as a flag: of its value, unless that is hidden, and of the file that holds it.
fn names(setting: &'static Setting) -> impl Iterator<Item = &'static str> {
    let value = (!setting.hidden).then_some(setting.key);
    value.into_iter().chain(setting.file_key)
}

fn arg(setting: &'static Setting, name: &'static str) -> Arg {
    let arg = Arg::new(name).long(name.replace('_', "-"));
    if setting.file_key == Some(name) {
        let help =
            format!("File that holds the value of `{}` [variable: {}_FILE]", setting.key, setting.variable);
        return arg.value_name("FILE").help(help);
    }
    let default = setting.default.map(|text| format!(" [default: {text}]")).unwrap_or_default();
    arg.value_name(setting.value_name).help(format!(
        "{} [variable: {}]{default}",
        setting.help_text(),
        setting.variable
    ))
}

/// The settings that a command line gives, with their keys.
pub fn given_flags(mut matches: &ArgMatches) -> Vec<(&'static str, String)> {
    // A command has the flags of the commands above it, too.
    while let Some((_, command)) = matches.subcommand() {
        matches = command;
    }
    let text = |key| matches.try_get_one::<String>(key).ok().flatten().map(|text| (key, text.clone()));
    settings().flat_map(names).chain([FILE_FLAG]).filter_map(text).collect()
}
