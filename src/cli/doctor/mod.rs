//! `creator-api doctor`: checks the data and its environment, and changes nothing.

mod environment;
mod print;

use std::time::Instant;

use domain::app::App;
use domain::doctor::{self, Finding, Report};
use domain::master_key::KeyState;
use foundation::config::Config;
use foundation::database::{MigrateError, SchemaState, format_migrations};
use foundation::secret::MasterKeys;

use super::outcome::{CommandError, CommandOutcome};
use super::{master_key, start};
use print::Printer;

/// The flags of `doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// Also read all tables, in small batches: structure, references, recording times, events and their deliveries, amounts of
    /// orders, and revenue sums
    #[arg(long)]
    deep: bool,
    /// Print one JSON object per check and line
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(config: Config, args: DoctorArgs) -> Result<CommandOutcome, CommandError> {
    let db = start::connect_read_only(&config).await?;
    let app = start::build_app(config, db);
    let mut printer = Printer::new(args.json);
    let result = check_all(&app, args.deep, &mut printer).await;
    app.db.close().await;
    result?;
    Ok(if printer.has_findings() { CommandOutcome::Findings } else { CommandOutcome::Done })
}

async fn check_all(app: &App, deep: bool, printer: &mut Printer) -> Result<(), CommandError> {
    printer.print("disk-space", Instant::now(), environment::disk_space(app))?;
    printer.print("file-limit", Instant::now(), environment::file_limit())?;
    let started = Instant::now();
    printer.print("clock", started, doctor::clock(app).await?)?;
    let started = Instant::now();
    let schema = schema(app).await?;
    let is_current = schema.findings.is_empty();
    printer.print("schema", started, schema)?;
    if !is_current {
        // The other checks read columns that may not exist.
        return Ok(());
    }
    let started = Instant::now();
    let (keys, report) = key(app).await?;
    printer.print("master-key", started, report)?;
    if let Some(keys) = keys {
        let started = Instant::now();
        printer.print("encrypted-values", started, doctor::secrets(app, &keys).await?)?;
    }
    if deep {
        let started = Instant::now();
        printer.print("structure", started, doctor::structure(app).await?)?;
        let started = Instant::now();
        printer.print("references", started, doctor::orphans(app).await?)?;
        let started = Instant::now();
        printer.print("recording-times", started, doctor::recording_times(app).await?)?;
        let started = Instant::now();
        printer.print("events", started, doctor::events(app).await?)?;
        let started = Instant::now();
        printer.print("orders", started, doctor::orders(app).await?)?;
        let started = Instant::now();
        printer.print("revenue", started, doctor::revenue(app).await?)?;
    }
    Ok(())
}

/// Checks that this version can use the database.
async fn schema(app: &App) -> Result<Report, CommandError> {
    let applied = app.db.applied_migrations().await?;
    let mut report = Report::new(format_migrations(applied.len()));
    let (problem, remedy) = match app.db.schema_state().await? {
        SchemaState::Current => return Ok(report),
        SchemaState::Behind(pending) => {
            let remedy = "run `creator-api migrate`; an SQLite database is migrated when a server starts";
            (format!("migrations are pending: {pending}"), remedy)
        }
        SchemaState::Ahead(migration) => {
            (MigrateError::Newer(migration).to_string(), "run the `doctor` of that version")
        }
        SchemaState::Unreleased(migration) => {
            (MigrateError::Unreleased(migration).to_string(), "run the `doctor` of that version")
        }
    };
    let (table, id, remedy) = ("seaql_migrations".to_owned(), String::new(), remedy.to_owned());
    report.add(Finding { table, id, problem, remedy });
    Ok(report)
}

/// Checks that the master keys are those of the data. Returns them if there are any.
async fn key(app: &App) -> Result<(Option<MasterKeys>, Report), CommandError> {
    let state = KeyState::read(app.db.read()).await?;
    let location = master_key::location(&app.config);
    let finding = |problem: String, remedy: &str| Finding {
        table: "server_state".to_owned(),
        id: "master_key_fingerprint".to_owned(),
        problem,
        remedy: remedy.to_owned(),
    };
    let mut report = Report::new(match &state.current {
        Some(current) => format!("the data is encrypted with the key whose fingerprint is {current}"),
        None => "no server has used the database".to_owned(),
    });
    let keys = master_key::read(&app.config)?;
    match &keys {
        None if state.current.is_some() => {
            let remedy = format!("restore {location}, or specify the key with --master-key-file");
            report.add(finding("the master key of the data is missing".to_owned(), &remedy));
        }
        None => {}
        Some(keys) => {
            // A server may announce a new first key, so that is no problem.
            if let Some(problem) = state.problem(keys, true) {
                let text = master_key::describe(problem, &app.config, &app.db.location());
                let (problem, remedy) = text.split_once("; ").unwrap_or((&text, ""));
                report.add(finding(problem.to_owned(), remedy));
            }
        }
    }
    Ok((keys, report))
}
