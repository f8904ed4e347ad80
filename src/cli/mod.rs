//! The command line: the commands, one file each, and their exit codes.

mod apply;
mod audited;
mod background;
mod config;
mod demo;
mod file_limit;
mod generate;
mod help;
mod keys;
mod migrate;
mod openapi;
mod outcome;
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

use foundation::config::{Config, SENDING, common_flags, flag_values, flags};
use foundation::telemetry;
use outcome::{CommandError, CommandOutcome};

/// The public API of a creator platform: courses, students, orders, enrollments and analytics over HTTP.
#[derive(Debug, Parser)]
#[command(name = "creator-api", version, args = common_flags())]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a demo with sample data
    ///
    /// Creates the data folder, loads demo data, and prints an API key with a curl command that uses it. The next run uses
    /// the same data and the same key.
    Demo(serve::ServeArgs),
    /// Serve the API, and send webhooks and mail
    ///
    /// Prints `listening on http://ADDR` on stdout once ready. An SQLite database is created and migrated automatically; on
    /// PostgreSQL, run `creator-api migrate` first. The first Ctrl-C or SIGTERM waits for requests in flight, the second
    /// exits immediately.
    Serve(serve::ServeArgs),
    /// Send webhooks and mail, without serving the API
    ///
    /// Any number of workers and of `creator-api serve --no-worker` processes can share one PostgreSQL database. The first
    /// Ctrl-C or SIGTERM waits for deliveries in flight, the second exits immediately; interrupted deliveries are retried.
    #[command(args = flags(SENDING))]
    Worker,
    /// Apply pending database migrations
    ///
    /// All pending migrations are applied in one transaction. Only PostgreSQL needs this command: every command that opens an
    /// SQLite database migrates it.
    Migrate,
    /// Create and list workspaces, set their quotas and owners
    #[command(subcommand)]
    Workspaces(workspaces::WorkspacesCommand),
    /// Add, list and remove dashboard users, create password links
    #[command(subcommand)]
    Users(users::UsersCommand),
    /// Create, list and revoke API keys, set their quotas
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// Manage webhook subscriptions, list and replay deliveries
    #[command(subcommand)]
    Webhooks(webhooks::WebhooksCommand),
    /// Import changes from the platform, one JSON object per line
    ///
    /// Each change is applied only once, so an interrupted run can be repeated. Invalid lines are reported on stderr and
    /// skipped; the exit code is then 3. A `workspace.upsert` gives the owner access to the dashboard. If a mail server is
    /// configured, an owner without a password receives a password link by mail.
    Apply(apply::ApplyArgs),
    /// Generate a synthetic workspace
    Generate(generate::GenerateArgs),
    /// Check the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print the OpenAPI contract
    Openapi(openapi::OpenapiArgs),
}

/// Runs the command that the process was started with, and returns its exit code.
pub fn run() -> ExitCode {
    let parsed = help::grouped(Cli::command())
        .try_get_matches()
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, flag_values(&matches))));
    let (cli, flag_values) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // Printing fails when the output is closed; the exit code still reports the error.
            let _ = error.print();
            return if error.use_stderr() { outcome::USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    match dispatch(cli.command, flag_values) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => error.report(),
    }
}

fn dispatch(command: Command, flags: Vec<(&'static str, String)>) -> Result<CommandOutcome, CommandError> {
    match command {
        Command::Openapi(args) => openapi::run(&args),
        Command::Config(command) => config::run(command, flags),
        Command::Demo(_) => run_async(flags, demo::run),
        Command::Serve(args) => {
            let with_worker = !args.no_worker;
            run_async(flags, |config| serve::run(config, with_worker))
        }
        Command::Worker => run_async(flags, worker::run),
        Command::Migrate => run_async(flags, migrate::run),
        Command::Workspaces(command) => run_async(flags, |config| workspaces::run(config, command)),
        Command::Users(command) => run_async(flags, |config| users::run(config, command)),
        Command::Keys(command) => run_async(flags, |config| keys::run(config, command)),
        Command::Webhooks(command) => run_async(flags, |config| webhooks::run(config, command)),
        Command::Apply(args) => run_async(flags, |config| apply::run(config, args)),
        Command::Generate(args) => run_async(flags, |config| generate::run(config, args)),
    }
}

/// Loads the configuration, starts the log and the runtime, and runs the command.
fn run_async<F: Future<Output = Result<CommandOutcome, CommandError>>>(
    flags: Vec<(&'static str, String)>,
    command: impl FnOnce(Config) -> F,
) -> Result<CommandOutcome, CommandError> {
    let (config, _) = Config::load(flags)?;
    let _log = telemetry::start(&config.log);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(command(config))
}

#[cfg(test)]
mod tests;
