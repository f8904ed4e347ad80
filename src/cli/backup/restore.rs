//! `creator-api restore`: creates the database from a backup.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::super::outcome::{CommandError, CommandOutcome};
use super::super::{master_key, output, start, webhooks};
use super::file::{self, ExtractError, Manifest};
use domain::webhooks::SubscriptionState;
use foundation::config::Config;
use foundation::data_folder;
use foundation::database::{DatabaseOptions, DatabaseSource, MigrateError};

/// The flags of `restore`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RestoreArgs {
    /// File that `creator-api backup` created
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Pause all webhooks, so that deliveries that were sent after the backup are not sent again. Mail that was pending is sent
    #[arg(long)]
    hold_deliveries: bool,
}

pub(in crate::cli) async fn restore(
    config: Config,
    args: RestoreArgs,
) -> Result<CommandOutcome, CommandError> {
    super::until_interrupted(create(config, args)).await
}

async fn create(config: Config, args: RestoreArgs) -> Result<CommandOutcome, CommandError> {
    let target = super::sqlite_path(&config, "restore")?;
    check_is_free(&target)?;
    let invalid =
        |error: file::BackupFileError| CommandError::new(format!("{} {error}", args.file.display()));
    let mut backup = File::open(&args.file).map_err(|error| invalid(error.into()))?;
    let manifest = file::read_manifest(&mut backup).map_err(invalid)?;
    check_migrations(&manifest)?;
    check_master_key(&config, &manifest)?;

    let folder = super::folder_of(&target);
    let not_writable = |error| super::not_writable(folder, error);
    data_folder::create(folder)?;
    // The database appears when it is complete.
    let temporary = super::temporary_folder(".restore-", folder)?;
    let copy = temporary.path().join("creator-api.db");
    let mut extracted = File::create_new(&copy).map_err(not_writable)?;
    super::set_private(&copy).map_err(not_writable)?;
    file::extract(&mut backup, &manifest, &mut extracted).map_err(|error| match error {
        ExtractError::Backup(error) => invalid(error),
        ExtractError::Target(error) => not_writable(error),
    })?;
    drop(extracted);
    let paused = prepare(config, &copy, args.hold_deliveries).await?;
    check_is_free(&target)?;
    super::move_to(&copy, &target)?;
    let rows: i64 = manifest.rows.iter().map(|(_, rows)| rows).sum();
    output::print(format_args!("{}: {rows} rows from {}", target.display(), manifest.created_at))?;
    if paused > 0 {
        let paused = if paused == 1 { "1 webhook is".to_owned() } else { format!("{paused} webhooks are") };
        output::eprint(format_args!(
            "{paused} paused; enable each with `creator-api webhooks enable`, which sends or drops its held \
             deliveries"
        ));
    }
    Ok(CommandOutcome::Done)
}

/// Returns an error when a database exists, or a file that SQLite would read together with the restored one.
fn check_is_free(target: &Path) -> Result<(), CommandError> {
    let files = ["", "-wal", "-shm", "-journal"].map(|suffix| super::with_suffix(target, suffix));
    match files.iter().find(|file| file.symlink_metadata().is_ok()) {
        None => Ok(()),
        Some(file) => Err(CommandError::new(format!(
            "{} already exists; specify an empty folder with --data-dir, or move all files whose names begin with {} away",
            file.display(),
            target.display()
        ))),
    }
}

/// Returns an error when the backup has a migration that this version does not contain.
fn check_migrations(manifest: &Manifest) -> Result<(), CommandError> {
    if let Some(name) = migration::unreleased(&manifest.migrations) {
        return Err(MigrateError::Unreleased(name.to_owned()).into());
    }
    let is_known =
        |name: &String| migration::MIGRATIONS.iter().any(|migration| migration.name == name.as_str());
    match manifest.migrations.iter().rev().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(unknown) => Err(CommandError::new(format!(
            "the backup is of version {}, which is newer than this one (migration {unknown}); use that version",
            manifest.program
        ))),
    }
}

/// Returns an error unless the master keys of the configuration, or of the data folder, contain those of the backup.
fn check_master_key(config: &Config, manifest: &Manifest) -> Result<(), CommandError> {
    let Some(current) = &manifest.master_key_fingerprint else { return Ok(()) };
    let Some(keys) = master_key::read(config)? else {
        return Err(CommandError::new(format!(
            "the master key is missing, which a backup does not contain; copy it to {}, or specify it with --master-key-file",
            master_key::location(config)
        )));
    };
    let known = keys.fingerprints();
    match &manifest.next_master_key_fingerprint {
        _ if !known.contains(current) => Err(CommandError::new(
            "the data of the backup was encrypted with another master key; specify that key with --master-key-file",
        )),
        Some(next) if !known.contains(next) => Err(CommandError::new(
            "the master key was being replaced when the backup was made, and one of the two keys is missing; specify both with \
             --master-key-file, the newer one first",
        )),
        _ => Ok(()),
    }
}

/// Checks the copy, applies migrations of this version, and pauses the webhooks if requested. Returns how many it paused.
async fn prepare(mut config: Config, copy: &Path, hold_deliveries: bool) -> Result<usize, CommandError> {
    let source = DatabaseSource::Sqlite { path: copy.to_owned() };
    let db = foundation::database::Database::connect(DatabaseOptions::new(source)).await?;
    if let Some(defect) = db.first_defect().await? {
        return Err(CommandError::new(format!("the database of the backup is damaged: {defect}")));
    }
    db.migrate().await?;
    config.database.database_url = None;
    let app = start::build_app(config, db);
    let mut paused = 0;
    if hold_deliveries {
        for workspace in domain::workspaces::list(&app).await? {
            for subscription in domain::webhooks::list(&app, workspace.id).await? {
                if subscription.state == SubscriptionState::Enabled {
                    webhooks::pause_subscription(&app, &subscription).await?;
                    paused += 1;
                }
            }
        }
    }
    super::close_completely(&app.db, copy).await?;
    Ok(paused)
}
