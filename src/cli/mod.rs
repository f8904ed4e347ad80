//! The command line: what can be asked of this program, and how each command ends.
//!
//! Owns the commands, one file each, and their exit codes. Starts the parts and puts them together; never decides what
//! the platform may do.

mod apply;
mod background;
mod config;
mod demo;
mod failure;
mod files;
mod generate;
mod help;
mod keys;
mod migrate;
mod noted;
mod openapi;
mod output;
mod progress;
mod serve;
mod signals;
mod start;
mod users;
mod webhooks;
mod worker;
mod workspaces;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::{Failure, Outcome};
use foundation::config::{Config, SENDING, common_flags, flags, given_flags};
use foundation::telemetry;

/// The public API of a creator platform: courses, students, orders, enrollments and analytics over HTTP.
#[derive(Debug, Parser)]
#[command(name = "creator-api", version, args = common_flags())]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start everything on demo data, and say how to try it
    ///
    /// Makes the data folder, fills it with demo data, and prints an API key with a curl line that works when pasted.
    /// Run again, it goes on where it was, with the same key.
    Demo(serve::Args),
    /// Serve the API
    ///
    /// Prints `listening on http://ADDR` on stdout once ready. An SQLite database is made and brought up to date in
    /// passing; on PostgreSQL, run `creator-api migrate` first. The first Ctrl-C or SIGTERM lets running requests finish,
    /// the second ends at once.
    Serve(serve::Args),
    /// Send webhooks and mail, without serving the API
    ///
    /// Any number of them may run beside any number of `creator-api serve --no-worker`, all on one PostgreSQL database. The
    /// first Ctrl-C or SIGTERM lets deliveries under way end, the second ends at once: they are then sent again later.
    #[command(args = flags(SENDING))]
    Worker,
    /// Bring the database's schema up to date
    ///
    /// All pending steps are applied, or none. Only PostgreSQL needs to be asked for it: an SQLite database is brought up
    /// to date by whichever command opens it.
    Migrate,
    /// Make workspaces, list them, set their quotas and owners
    #[command(subcommand)]
    Workspaces(workspaces::Command),
    /// Let people sign in to the dashboard, make links to set a password, remove people
    #[command(subcommand)]
    Users(users::Command),
    /// Make, list and revoke API keys, set their quotas
    #[command(subcommand)]
    Keys(keys::Command),
    /// Make webhook subscriptions, look at their deliveries, send them again
    #[command(subcommand)]
    Webhooks(webhooks::Command),
    /// Take in the platform's changes, one JSON object a line
    ///
    /// Each change is applied once, however often it comes, so that a run that was cut short is simply run again. A bad
    /// line is reported on stderr and the rest goes on; the exit code is then 3. A `workspace.upsert` gives the owner access to
    /// the dashboard; where a mail server is set, an owner who has no password gets a link by mail.
    Apply(apply::Args),
    /// Make a synthetic workspace of any size
    Generate(generate::Args),
    /// Look at the configuration
    #[command(subcommand)]
    Config(config::Command),
    /// Print the API's contract
    Openapi(openapi::Args),
}

/// Runs the command that this process was started with.
pub fn run() -> ExitCode {
    let parsed = help::grouped(Cli::command())
        .try_get_matches()
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, given_flags(&matches))));
    let (cli, flags) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // Nobody may be reading: then there is nobody to tell.
            let _ = error.print();
            return if error.use_stderr() { failure::USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    match dispatch(cli.command, flags) {
        Ok(outcome) => outcome.exit_code(),
        Err(failure) => failure.report(),
    }
}

fn dispatch(command: Command, flags: Vec<(&'static str, String)>) -> Result<Outcome, Failure> {
    match command {
        Command::Openapi(args) => openapi::run(&args),
        Command::Config(command) => config::run(command, flags),
        Command::Demo(_) => on_runtime(flags, demo::run),
        Command::Serve(args) => {
            let with_worker = !args.no_worker;
            on_runtime(flags, |config| serve::run(config, with_worker))
        }
        Command::Worker => on_runtime(flags, worker::run),
        Command::Migrate => on_runtime(flags, migrate::run),
        Command::Workspaces(command) => on_runtime(flags, |config| workspaces::run(config, command)),
        Command::Users(command) => on_runtime(flags, |config| users::run(config, command)),
        Command::Keys(command) => on_runtime(flags, |config| keys::run(config, command)),
        Command::Webhooks(command) => on_runtime(flags, |config| webhooks::run(config, command)),
        Command::Apply(args) => on_runtime(flags, |config| apply::run(config, args)),
        Command::Generate(args) => on_runtime(flags, |config| generate::run(config, args)),
    }
}

/// Reads the configuration, starts the log and the runtime, and runs the command on them.
fn on_runtime<F: Future<Output = Result<Outcome, Failure>>>(
    flags: Vec<(&'static str, String)>,
    command: impl FnOnce(Config) -> F,
) -> Result<Outcome, Failure> {
    let (config, _) = Config::load(flags)?;
    let _log = telemetry::start(&config.log);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(command(config))
}

#[cfg(test)]
mod tests;
