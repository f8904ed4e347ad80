//! `creator-api import`: imports changes from the platform.

use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tokio::io::{AsyncBufRead, BufReader};

use super::outcome::{CommandError, CommandOutcome};
use super::output;
use super::progress::ProgressDisplay;
use super::start::{self, DataFolder};
use domain::workspaces::Mode;
use feed::apply as feed;
use foundation::config::{Config, LINK_SETTINGS, flags};

#[derive(Debug, clap::Args)]
#[command(args = flags(LINK_SETTINGS))]
pub(super) struct ImportArgs {
    /// File of changes, one JSON object per line; `-` reads stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// File to which rejected lines are written
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Mode of the workspaces: `test` for sandboxes; changes of other workspaces are rejected
    #[arg(long, value_name = "MODE", default_value = "live")]
    mode: Mode,
}

pub(super) async fn run(config: Config, args: ImportArgs) -> Result<CommandOutcome, CommandError> {
    let app = start::open_app(config, DataFolder::MayBeCreated).await?;
    let (reader, size) = open_input(&args.file).await?;
    let rejects = args.rejects.as_deref().map(|path| create_rejects_file(path, &args.file)).transpose()?;
    let display = Mutex::new(ProgressDisplay::start("import", size));
    let with_display = |action: &dyn Fn(&mut ProgressDisplay)| {
        action(&mut display.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    };
    let options = feed::ApplyOptions {
        on_progress: Box::new(|progress| {
            with_display(&|display| display.update(progress.bytes, || summary(progress.outcome)));
        }),
        on_rejected: Box::new(|rejected| with_display(&|display| display.print(&rejected.to_string()))),
        rejects_output: rejects.map(|file| Box::new(BufWriter::new(file)) as _),
        mode: args.mode,
    };
    let outcome = feed::apply(&app, reader, options).await;
    display.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).finish();
    let outcome = outcome?;
    app.db.close().await;
    output::print(summary(outcome))?;
    Ok(if outcome.rejected > 0 { CommandOutcome::Rejected } else { CommandOutcome::Done })
}

/// Describes how many lines were applied, repeated and rejected.
pub(super) fn summary(feed::ApplyOutcome { applied, repeated, rejected }: feed::ApplyOutcome) -> String {
    format!("{applied} applied, {repeated} applied before, {rejected} rejected")
}

/// Opens the input. Also returns its size in bytes, if it is a regular file.
async fn open_input(
    path: &Path,
) -> Result<(Box<dyn AsyncBufRead + Unpin + Send>, Option<u64>), CommandError> {
    if path == Path::new("-") {
        return Ok((Box::new(BufReader::new(tokio::io::stdin())), None));
    }
    let unreadable = |error| {
        CommandError::new(format!("cannot read {}: {error}; specify a file of changes", path.display()))
    };
    let file = tokio::fs::File::open(path).await.map_err(unreadable)?;
    let metadata = file.metadata().await.map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(CommandError::new(format!(
            "{} is a directory; specify a file of changes",
            path.display()
        )));
    }
    let size = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(BufReader::with_capacity(1 << 16, file)), size))
}

/// Creates the file for rejected lines. It must not be the input file.
fn create_rejects_file(path: &Path, input: &Path) -> Result<File, CommandError> {
    if path.canonicalize().is_ok_and(|path| input.canonicalize().is_ok_and(|input| path == input)) {
        return Err(CommandError::usage("--rejects is the input file itself; specify another file"));
    }
    // Rejected lines can contain email addresses.
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    file.map_err(|error| {
        CommandError::new(format!(
            "cannot write {}: {error}; specify another file with --rejects",
            path.display()
        ))
    })
}
