//! The settings as flags of the command line, made from their declarations.

use clap::{Arg, ArgMatches, Command, Error};

use super::source::{FILE, FILE_FLAG, FILE_VARIABLE};
use super::{Database, Deprecation, Limits, Log, Mail, Server, Setting, Storage, Webhooks, Worker};

/// The concerns of every command.
const COMMON: &[(&str, &[Setting])] = &[
    (Storage::HEADING, Storage::SETTINGS),
    (Database::HEADING, Database::SETTINGS),
    (Log::HEADING, Log::SETTINGS),
];
/// The concerns of the commands that serve.
const SERVING: &[(&str, &[Setting])] = &[
    (Server::HEADING, Server::SETTINGS),
    (Limits::HEADING, Limits::SETTINGS),
    (Webhooks::HEADING, Webhooks::SETTINGS),
    (Mail::HEADING, Mail::SETTINGS),
    (Deprecation::HEADING, Deprecation::SETTINGS),
];

/// The concern of the command that judges where webhooks may go.
const REACHING: &[(&str, &[Setting])] = &[(Webhooks::HEADING, Webhooks::SETTINGS)];

/// Of the server's settings, the one that mail needs, which names its pages.
const REACHED: &[Setting] = Server::SETTINGS.split_at(1).1.split_at(1).0;
const _: () = assert!(matches!(REACHED[0].key.as_bytes(), b"public_url"));

/// Of the server's settings, those that tell where its pages are.
const FOUND: &[Setting] = Server::SETTINGS.split_at(2).0;
const _: () = assert!(matches!(FOUND[0].key.as_bytes(), b"listen"));

/// The concerns of the commands that make a link to set a password: where it leads, and how it is mailed.
const INVITING: &[(&str, &[Setting])] = &[(Server::HEADING, FOUND), (Mail::HEADING, Mail::SETTINGS)];

/// The concerns of the command that sends without serving.
const SENDING: &[(&str, &[Setting])] = &[
    (Server::HEADING, REACHED),
    (Webhooks::HEADING, Webhooks::SETTINGS),
    (Mail::HEADING, Mail::SETTINGS),
    (Worker::HEADING, Worker::SETTINGS),
];

/// The flags that every command takes.
#[derive(Debug, Clone, Default)]
pub struct CommonFlags(pub Vec<(&'static str, String)>);

/// The flags of the commands that serve.
#[derive(Debug, Clone, Default)]
pub struct ServingFlags(pub Vec<(&'static str, String)>);

/// The flags that say where webhooks may go.
#[derive(Debug, Clone, Default)]
pub struct WebhookFlags(pub Vec<(&'static str, String)>);

/// The flags that say where a link to set a password leads, and how it is mailed.
#[derive(Debug, Clone, Default)]
pub struct LinkFlags(pub Vec<(&'static str, String)>);

/// The flags of the command that sends without serving.
#[derive(Debug, Clone, Default)]
pub struct SendingFlags(pub Vec<(&'static str, String)>);

impl clap::Args for CommonFlags {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new(FILE_FLAG).long(FILE_FLAG).value_name("FILE").global(true).help(format!(
            "Configuration file [variable: {FILE_VARIABLE}] [default: {FILE}, if there is one]"
        ));
        args(COMMON).fold(command.arg(file), |command, arg| command.arg(arg.global(true)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for CommonFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let file = matches.get_one::<String>(FILE_FLAG).map(|path| (FILE_FLAG, path.clone()));
        Ok(Self(given(COMMON, matches).chain(file).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Makes flags that belong to some commands from their concerns.
macro_rules! flags_of {
    ($name:ident, $concerns:ident) => {
        impl clap::Args for $name {
            fn augment_args(command: Command) -> Command {
                args($concerns).fold(command, Command::arg)
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl clap::FromArgMatches for $name {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
                Ok(Self(given($concerns, matches).collect()))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

flags_of!(ServingFlags, SERVING);
flags_of!(WebhookFlags, REACHING);
flags_of!(LinkFlags, INVITING);
flags_of!(SendingFlags, SENDING);

/// The names a setting has as a flag: of its value, unless that is hidden, and of the file that holds it.
fn names(setting: &'static Setting) -> impl Iterator<Item = &'static str> {
    let value = (!setting.hidden).then_some(setting.key);
    value.into_iter().chain(setting.file_key)
}

fn args(concerns: &'static [(&str, &[Setting])]) -> impl Iterator<Item = Arg> {
    concerns.iter().flat_map(|(heading, settings)| {
        settings.iter().flat_map(move |setting| {
            names(setting).map(move |name| arg(setting, name).help_heading(*heading))
        })
    })
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

fn given(
    concerns: &'static [(&str, &[Setting])],
    matches: &ArgMatches,
) -> impl Iterator<Item = (&'static str, String)> {
    concerns
        .iter()
        .flat_map(|(_, settings)| settings.iter())
        .flat_map(names)
        .filter_map(|name| matches.get_one::<String>(name).map(|text| (name, text.clone())))
}
