//! The command line: the commands, one file or folder each, and their exit codes.

mod access_links;
mod audited;
mod background;
mod backup;
mod candidate;
mod config;
mod demo;
mod deprecations;
mod doctor;
mod ephemeral;
mod file_limit;
mod generate;
mod health;
mod heartbeats;
mod help;
mod import;
mod keys;
mod listen;
mod master_key;
mod migrate;
mod openapi;
mod outcome;
mod output;
mod platform_tokens;
mod progress;
mod reference;
mod serve;
mod signals;
mod start;
mod systemd;
mod users;
mod webhooks;
mod worker;
mod workspaces;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use foundation::config::{Config, SERVER_SETTINGS, common_flags, flag_values, flags};
use foundation::telemetry::{self, traces, traces::TraceSettings};
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
    /// Start everything in one process with demo data
    ///
    /// Creates the data folder, loads demo data, and prints the URL of the dashboard with a login, and an API key with
    /// a curl command that uses it. The next run uses the same data, login and key.
    #[command(args = flags(SERVER_SETTINGS))]
    Demo,
    /// Serve the API and the dashboard, and send webhooks and mail
    ///
    /// Prints `listening on http://ADDR` to stdout when ready. An SQLite database is created and migrated automatically;
    /// on PostgreSQL, run `creator-api migrate` first, or specify --wait-for-migrations. At the first Ctrl-C or
    /// SIGTERM, the server continues to serve for --drain-seconds, then waits for requests, webhooks and mail in flight;
    /// at the second, it exits immediately. A socket that systemd passes is used instead of --listen.
    Serve(serve::ServeArgs),
    /// Send webhooks and mail without serving requests
    ///
    /// Any number of `creator-api worker` and `creator-api serve` processes can share one PostgreSQL database. At the
    /// first Ctrl-C or SIGTERM, the worker waits for webhooks and mail in flight; at the second, it exits immediately.
    /// Interrupted deliveries are retried.
    Worker(worker::WorkerArgs),
    /// Apply pending database migrations
    ///
    /// Only PostgreSQL needs this command: every command that opens an SQLite database migrates it, except `backup` and `doctor`.
    /// To replace servers without downtime, run `migrate --phase expand` of the new version, replace all servers and workers
    /// one by one, then run `migrate --phase contract`. Upgrade one release at a time. If no server or worker runs, run
    /// `migrate`, which applies both phases. You can interrupt and repeat this command at any time.
    Migrate(migrate::MigrateArgs),
    /// Create and list workspaces; set their quotas and owners
    #[command(subcommand)]
    Workspaces(workspaces::WorkspacesCommand),
    /// Add, list and remove members of workspaces; set their roles; create password links; reset second factors; unlink single
    /// sign-on
    #[command(subcommand)]
    Users(users::UsersCommand),
    /// Create, list and revoke API keys; set their quotas and networks
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// Replace the master key
    #[command(subcommand)]
    MasterKey(master_key::MasterKeyCommand),
    /// Manage webhook subscriptions; list and replay deliveries
    #[command(subcommand)]
    Webhooks(webhooks::WebhooksCommand),
    /// Create, list and revoke the tokens with which the platform calls the Platform API
    #[command(subcommand)]
    PlatformTokens(platform_tokens::PlatformTokensCommand),
    /// Import changes from the platform, one JSON object per line
    ///
    /// Each change is applied only once, so an interrupted run can be repeated. Invalid lines are skipped and reported
    /// on stderr; the exit code is then 3. A `workspace.upsert` gives the owner access to the dashboard. If a mail
    /// server is configured, an owner without a password receives a password link by mail.
    #[command(alias = "apply")]
    Import(import::ImportArgs),
    /// Generate a synthetic workspace, into the database or as a file of changes
    ///
    /// The key of the workspace is `synthetic`. If writing to the database is interrupted, run the same command again.
    Generate(generate::GenerateArgs),
    /// Copy the SQLite database to a file, while the server runs
    ///
    /// The file is consistent, and readable only by its owner. It contains no master key, which is required to restore it:
    /// store the key in another place. For PostgreSQL, use pg_dump or continuous archiving.
    Backup(backup::BackupArgs),
    /// Create the SQLite database from a file that `backup` created
    ///
    /// The folder must not contain a database, and must contain the master key, unless you specify it with
    /// --master-key-file. A damaged file, or one with another master key, changes nothing.
    Restore(backup::RestoreArgs),
    /// Check the data, the master key, the clock and the limits of this machine
    ///
    /// Changes nothing. Servers and workers may run. Each finding names its place and a remedy. The exit
    /// code is 1 if there are findings.
    Doctor(doctor::DoctorArgs),
    /// Report which requests the candidate contract would reject
    #[command(subcommand)]
    Candidate(candidate::CandidateCommand),
    /// Report which API keys use deprecated parts of the API
    #[command(subcommand)]
    Deprecations(deprecations::DeprecationsCommand),
    /// Check the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Check whether a server or worker on this machine is ready
    ///
    /// Prints the response of /readyz. Exits with code 1 if the process does not respond within 5 seconds, or is not ready.
    Health(health::HealthArgs),
    /// Send the events of a workspace to a server on this machine
    ///
    /// A client of the Developer API, for development and CI: it needs no database and no public address. Each event is sent as a
    /// delivery would be, signed with a secret that is printed first and stays the same for an API key. After a lost connection, it
    /// continues without a gap and without duplicates. It does not send an event again: what your server does not accept is
    /// printed. A key can have two streams at the same time.
    Listen(Box<listen::ListenArgs>),
    /// Print an OpenAPI contract
    Openapi(openapi::OpenapiArgs),
    /// Print a completion script for a shell
    Completions(reference::CompletionsArgs),
    /// Write the manual pages of all commands to a folder
    Man(reference::ManArgs),
}

/// Runs the command that the process was started with, and returns its exit code.
pub fn run() -> ExitCode {
    let parsed = help::grouped(Cli::command())
        .try_get_matches()
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, flag_values(&matches))));
    let (cli, flag_values) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // If the output is closed, printing fails, but the exit code still reports the error.
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
        Command::Completions(args) => reference::completions(&args),
        Command::Man(args) => reference::man(&args),
        Command::Listen(args) => run_client(listen::run(*args)),
        Command::Health(args) => run_async(flags, |config| health::run(config, args)),
        Command::Config(command) => config::run(command, flags),
        Command::Demo => {
            let database_url =
                flags.iter().find(|(key, _)| *key == "database_url").map(|(_, url)| url.clone());
            run_service(flags, |config| demo::run(config, database_url))
        }
        Command::Serve(args) => {
            let socket = systemd::take_socket()?;
            run_service(flags, |config| serve::run(config, args, socket))
        }
        Command::Worker(args) => run_service(flags, |config| worker::run(config, args)),
        Command::Migrate(args) => run_async(flags, |config| migrate::run(config, args)),
        Command::Workspaces(command) => run_async(flags, |config| workspaces::run(config, command)),
        Command::Users(command) => run_async(flags, |config| users::run(config, command)),
        Command::Keys(command) => run_async(flags, |config| keys::run(config, command)),
        Command::MasterKey(command) => run_async(flags, |config| master_key::run(config, command)),
        Command::Candidate(command) => run_async(flags, |config| candidate::run(config, command)),
        Command::Deprecations(command) => run_async(flags, |config| deprecations::run(config, command)),
        Command::Doctor(args) => run_async(flags, |config| doctor::run(config, args)),
        Command::PlatformTokens(command) => run_async(flags, |config| platform_tokens::run(config, command)),
        Command::Webhooks(command) => run_async(flags, |config| webhooks::run(config, command)),
        Command::Import(args) => run_async(flags, |config| import::run(config, args)),
        Command::Backup(args) => run_async(flags, |config| backup::run(config, args)),
        Command::Restore(args) => run_async(flags, |config| backup::restore(config, args)),
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

/// Starts the runtime and runs a command without settings.
fn run_client(
    command: impl Future<Output = Result<CommandOutcome, CommandError>>,
) -> Result<CommandOutcome, CommandError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(command)
}

/// Like [`run_async`], for a command that runs until it is stopped. Exports traces if the environment variables of OpenTelemetry
/// specify an endpoint.
fn run_service<F: Future<Output = Result<CommandOutcome, CommandError>>>(
    flags: Vec<(&'static str, String)>,
    command: impl FnOnce(Config) -> F,
) -> Result<CommandOutcome, CommandError> {
    let traces = TraceSettings::from_environment()?;
    let (config, _) = Config::load(flags)?;
    let _log = telemetry::start(&config.log);
    // Dropped after the command has returned.
    let _traces = traces.map(|settings| traces::start(&settings)).transpose().map_err(anyhow::Error::from)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(command(config))
}

#[cfg(test)]
mod package_tests;
#[cfg(test)]
mod tests;
