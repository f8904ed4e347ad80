//! `creator-api backup` and `creator-api restore`: copies of an SQLite database.

mod file;
mod restore;

use std::path::{Path, PathBuf};

use sea_orm::DbBackend;

use super::outcome::{CommandError, CommandOutcome};
use super::{output, start};
use file::Manifest;
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, DatabaseOptions, DatabaseSource, TableCount};

pub(super) use restore::{RestoreArgs, restore};

/// The flags of `backup`.
#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// File to create
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Returns an error unless the database is SQLite.
fn check_sqlite(config: &Config, command: &str) -> Result<(), CommandError> {
    let url = config.database.database_url.as_ref().map(|url| url.expose());
    let source = DatabaseSource::new(url, &config.storage.data_dir)?;
    match (source.backend(), &source) {
        (DbBackend::Sqlite, DatabaseSource::Sqlite { .. }) => Ok(()),
        _ => Err(CommandError::usage(format!(
            "`{command}` copies an SQLite database, but --database-url is a PostgreSQL server; use pg_dump and pg_restore, or \
             continuous archiving"
        ))),
    }
}

pub(super) async fn run(config: Config, args: BackupArgs) -> Result<CommandOutcome, CommandError> {
    check_sqlite(&config, "backup")?;
    if args.file.exists() {
        return Err(CommandError::usage(format!(
            "{} already exists; choose another file",
            args.file.display()
        )));
    }
    if let Some(path) = sqlite_path(&config)?.filter(|path| !path.exists()) {
        return Err(CommandError::new(format!(
            "there is no database at {}; specify its folder with --data-dir",
            path.display()
        )));
    }
    let db = start::connect(&config).await?;
    let folder = args.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let not_writable = |error| CommandError::new(format!("cannot write to {}: {error}", folder.display()));
    // In the folder of the backup, so that the finished file can be renamed. Only this user can read it.
    let temporary = tempfile::Builder::new().prefix(".backup-").tempdir_in(folder).map_err(not_writable)?;
    let copy = temporary.path().join("copy.db");
    db.copy_to(&copy).await?;
    db.close().await;
    let manifest = describe(&copy).await?;
    file::append_manifest(&copy, &manifest)?;
    set_private(&copy)?;
    let path = tempfile::TempPath::try_from_path(&copy)?;
    path.persist_noclobber(&args.file).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            CommandError::new(format!("{} was created meanwhile; choose another file", args.file.display()))
        }
        _ => CommandError::from(error.error),
    })?;
    sync_folder(folder)?;
    let rows: i64 = manifest.rows.iter().map(|(_, rows)| rows).sum();
    output::print(format_args!(
        "{}: {} bytes, {rows} rows, {} migrations",
        args.file.display(),
        manifest.database_bytes,
        manifest.migrations.len()
    ))?;
    output::eprint(
        "the backup does not contain the master key, which is required to restore it; store the key in another place",
    );
    Ok(CommandOutcome::Done)
}

/// Returns the path of the SQLite file of the configuration.
fn sqlite_path(config: &Config) -> Result<Option<PathBuf>, CommandError> {
    let url = config.database.database_url.as_ref().map(|url| url.expose());
    Ok(match DatabaseSource::new(url, &config.storage.data_dir)? {
        DatabaseSource::Sqlite { path } => Some(path),
        DatabaseSource::Postgres { .. } => None,
    })
}

/// Checks a copy of the database, and returns its manifest.
async fn describe(copy: &Path) -> Result<Manifest, CommandError> {
    let options = DatabaseOptions::new(DatabaseSource::Sqlite { path: copy.to_owned() });
    let db = Database::connect(options).await?;
    if let Some(defect) = db.first_defect().await? {
        return Err(CommandError::new(format!(
            "the database is damaged: {defect}; restore an earlier backup"
        )));
    }
    let migrations = db.applied_migrations().await?;
    let rows = db.table_counts().await?;
    let has_state = rows.iter().any(|count| count.table == "server_state");
    let master_key_fingerprint = match has_state {
        true => entity::server_state::get(db.read(), start::FINGERPRINT_KEY).await?,
        false => None,
    };
    // Writes everything into the file itself.
    db.close().await;
    let (database_bytes, database_sha256) = file::digest(copy)?;
    Ok(Manifest {
        format: file::FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: Clock::system().now().to_string(),
        migrations,
        master_key_fingerprint,
        rows: rows.into_iter().map(|TableCount { table, rows }| (table, rows)).collect(),
        database_bytes,
        database_sha256,
    })
}

/// Makes a file readable only by this user.
fn set_private(path: &Path) -> std::io::Result<()> {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

/// Waits until the names in a folder are on disk.
fn sync_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}
