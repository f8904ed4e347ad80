//! `creator-api backup` and `creator-api restore`: copies of an SQLite database.

mod file;
mod folder;
mod restore;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tempfile::{TempDir, TempPath};

use super::outcome::{CommandError, CommandOutcome};
use super::start;
use super::{output, signals};
use domain::master_key::KeyState;
use file::Manifest;
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, DatabaseOptions, DatabaseSource, TableCount};

pub(super) use restore::{RestoreArgs, restore};

/// The flags of `backup`.
#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// File to create
    #[arg(value_name = "FILE", required_unless_present = "folder", conflicts_with = "folder")]
    file: Option<PathBuf>,
    /// Existing folder in which to create the file, with the current time in its name
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Number of files to keep in the folder; older ones are deleted after a successful backup. By default, all are kept
    #[arg(long, value_name = "FILES", requires = "folder", conflicts_with = "file")]
    keep: Option<NonZeroUsize>,
}

/// Returns the path of the SQLite file of the configuration.
///
/// # Errors
/// Returns an error when the database is PostgreSQL.
fn sqlite_path(config: &Config, command: &str) -> Result<PathBuf, CommandError> {
    match start::source(config)? {
        DatabaseSource::Sqlite { path } => Ok(path),
        DatabaseSource::Postgres { .. } => Err(CommandError::usage(format!(
            "`{command}` copies an SQLite database, but --database-url is a PostgreSQL server; use pg_dump and pg_restore, or \
             continuous archiving"
        ))),
    }
}

/// Runs a command until it ends or is interrupted. Then its temporary files are removed.
async fn until_interrupted(
    command: impl Future<Output = Result<CommandOutcome, CommandError>>,
) -> Result<CommandOutcome, CommandError> {
    let stop = signals::listen("removing temporary files")?;
    tokio::select! {
        outcome = command => outcome,
        () = stop => Err(CommandError::new("interrupted; nothing was created")),
    }
}

pub(super) async fn run(config: Config, args: BackupArgs) -> Result<CommandOutcome, CommandError> {
    // The backup contains what was committed before it began.
    let created_at = Clock::system().now();
    let file = match (args.file, &args.folder) {
        (Some(file), _) => file,
        (None, Some(folder)) => folder.join(folder::file_name(created_at)),
        (None, None) => return Err(CommandError::usage("specify a file, or --folder")),
    };
    let outcome = until_interrupted(create(config, &file, created_at)).await?;
    if let (Some(folder), Some(keep)) = (args.folder, args.keep) {
        for deleted in
            folder::delete_old(&folder, keep, &file).map_err(|error| not_writable(&folder, error))?
        {
            output::print(format_args!("{}: deleted", deleted.display()))?;
        }
    }
    Ok(outcome)
}

async fn create(config: Config, path: &Path, created_at: Timestamp) -> Result<CommandOutcome, CommandError> {
    sqlite_path(&config, "backup")?;
    if path.symlink_metadata().is_ok() {
        return Err(CommandError::usage(format!("{} already exists; choose another file", path.display())));
    }
    let db = start::connect_read_only(&config).await?;
    let folder = folder_of(path);
    // In the folder of the backup, so that the finished file can be renamed. Only this user can read it.
    let temporary = temporary_folder(".backup-", folder)?;
    let copy = temporary.path().join("copy.db");
    db.copy_to(&copy).await?;
    db.close().await;
    let manifest = describe(&copy, created_at.to_string()).await?;
    file::append_manifest(&copy, &manifest).map_err(|error| not_writable(folder, error))?;
    set_private(&copy).map_err(|error| not_writable(folder, error))?;
    move_to(&copy, path)?;
    let rows: i64 = manifest.rows.iter().map(|(_, rows)| rows).sum();
    output::print(format_args!(
        "{}: {} bytes, {rows} rows, {} migrations",
        path.display(),
        manifest.database_bytes,
        manifest.migrations.len()
    ))?;
    output::eprint(
        "the backup does not contain the master key, which is required to restore it; store the key in another place",
    );
    Ok(CommandOutcome::Done)
}

/// Returns the folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn not_writable(folder: &Path, error: io::Error) -> CommandError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => error.into(),
        _ => CommandError::new(format!("cannot write to {}: {error}", folder.display())),
    }
}

/// Creates a folder in `folder` that is removed on drop. Only this user can read it.
fn temporary_folder(prefix: &str, folder: &Path) -> Result<TempDir, CommandError> {
    let created = tempfile::Builder::new().prefix(prefix).tempdir_in(folder);
    created.map_err(|error| not_writable(folder, error))
}

/// Moves a complete file to a path that must not exist, and waits until the name is on disk.
fn move_to(complete: &Path, path: &Path) -> Result<(), CommandError> {
    let folder = folder_of(path);
    let complete = TempPath::try_from_path(complete).map_err(|error| not_writable(folder, error))?;
    complete.persist_noclobber(path).map_err(|error| match error.error.kind() {
        ErrorKind::AlreadyExists => {
            CommandError::new(format!("{} was created meanwhile; nothing was changed", path.display()))
        }
        _ => not_writable(folder, error.error),
    })?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| not_writable(folder, error))
}

/// Closes an SQLite database that no other process uses, after which its file contains everything.
async fn close_completely(db: &Database, path: &Path) -> Result<(), CommandError> {
    db.close().await;
    let journal = with_suffix(path, "-wal");
    match journal.metadata() {
        Ok(metadata) if metadata.len() > 0 => Err(CommandError::new(format!(
            "cannot write {}: its journal could not be written back; free some disk space and try again",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Returns the path of a file that SQLite creates beside the database.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Checks a copy of the database, and returns its manifest.
async fn describe(copy: &Path, created_at: String) -> Result<Manifest, CommandError> {
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
    let keys = match has_state {
        true => KeyState::read(db.read()).await?,
        false => KeyState::default(),
    };
    close_completely(&db, copy).await?;
    let (database_bytes, database_sha256) = file::digest(copy)?;
    Ok(Manifest {
        format: file::FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        created_at,
        migrations,
        master_key_fingerprint: keys.current,
        next_master_key_fingerprint: keys.next,
        rows: rows.into_iter().map(|TableCount { table, rows }| (table, rows)).collect(),
        database_bytes,
        database_sha256,
    })
}

/// Makes a file readable only by this user.
fn set_private(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
}
