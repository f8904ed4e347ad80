//! `creator-api restore`: creates the database from a backup.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::super::outcome::{CommandError, CommandOutcome};
use super::super::{output, start, webhooks};
use super::file::{self, Manifest};
use domain::webhooks::SubscriptionState;
use foundation::config::Config;
use foundation::database::{DatabaseOptions, DatabaseSource};
use foundation::secret::{KEY_FILE, MasterKey};

/// The flags of `restore`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RestoreArgs {
    /// File that `creator-api backup` created
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Pause all webhooks, so that deliveries that were sent after the backup are not sent again
    #[arg(long)]
    hold_deliveries: bool,
}

pub(in crate::cli) async fn restore(
    config: Config,
    args: RestoreArgs,
) -> Result<CommandOutcome, CommandError> {
    super::check_sqlite(&config, "restore")?;
    let Some(target) = super::sqlite_path(&config)? else { return Ok(CommandOutcome::Done) };
    if target.exists() {
        return Err(CommandError::new(format!(
            "{} already exists; specify an empty folder with --data-dir, or move the file away",
            target.display()
        )));
    }
    let invalid =
        |error: file::BackupFileError| CommandError::new(format!("{} {error}", args.file.display()));
    let mut backup = File::open(&args.file).map_err(|error| invalid(error.into()))?;
    let manifest = file::read_manifest(&mut backup).map_err(invalid)?;
    check_migrations(&manifest)?;
    check_master_key(&config, &manifest)?;

    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let not_writable = |error| CommandError::new(format!("cannot write to {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(not_writable)?;
    // The database appears when it is complete.
    let temporary = tempfile::Builder::new().prefix(".restore-").tempdir_in(folder).map_err(not_writable)?;
    let copy = temporary.path().join("creator-api.db");
    let mut extracted = File::create_new(&copy)?;
    super::set_private(&copy)?;
    file::extract(&mut backup, &manifest, &mut extracted).map_err(invalid)?;
    drop(extracted);
    let paused = prepare(config, &copy, args.hold_deliveries).await?;
    let path = tempfile::TempPath::try_from_path(&copy)?;
    path.persist_noclobber(&target).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            CommandError::new(format!("{} was created meanwhile; nothing was changed", target.display()))
        }
        _ => CommandError::from(error.error),
    })?;
    super::sync_folder(folder)?;
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

/// Returns an error when the backup has a migration that this version does not contain.
fn check_migrations(manifest: &Manifest) -> Result<(), CommandError> {
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

/// Returns an error unless the master key of the configuration, or of the data folder, is that of the backup.
fn check_master_key(config: &Config, manifest: &Manifest) -> Result<(), CommandError> {
    let Some(expected) = &manifest.master_key_fingerprint else { return Ok(()) };
    let key = match &config.storage.master_key {
        Some(secret) => Some(MasterKey::from_hex(secret.expose(), "the configured master key")?),
        None => MasterKey::open(&config.storage.data_dir)?,
    };
    let file = config.storage.data_dir.join(KEY_FILE);
    match key {
        Some(key) if key.fingerprint() == *expected => Ok(()),
        Some(_) => Err(CommandError::new(
            "the data of the backup was encrypted with another master key; specify that key with --master-key-file",
        )),
        None => Err(CommandError::new(format!(
            "the master key is missing, which a backup does not contain; copy it to {}, or specify it with --master-key-file",
            file.display()
        ))),
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
    // Writes everything into the file itself.
    app.db.close().await;
    Ok(paused)
}
