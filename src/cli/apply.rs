//! `creator-api apply`: takes in the platform's changes.

use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tokio::io::{AsyncBufRead, BufReader};

use super::failure::{Failure, Outcome};
use super::progress::Progress;
use super::{output, start};
use feed::apply as feed;
use foundation::config::{Config, LINKS, flags};

#[derive(Debug, clap::Args)]
#[command(args = flags(LINKS))]
pub(super) struct Args {
    /// File of changes, one JSON object a line; - reads stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Keep the rejected lines here, to be corrected and applied again
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
}

pub(super) async fn run(config: Config, args: Args) -> Result<Outcome, Failure> {
    let app = start::app(config).await?;
    let (reader, total) = open(&args.file).await?;
    let rejects = args.rejects.as_deref().map(|path| create(path, &args.file)).transpose()?;
    let progress = Mutex::new(Progress::start("apply", total));
    let with = |act: &dyn Fn(&mut Progress)| {
        act(&mut progress.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    };
    let options = feed::Options {
        progress: Box::new(|at| with(&|progress| progress.at(at.bytes, || count(at.outcome)))),
        rejected: Box::new(|reject| with(&|progress| progress.say(&reject.to_string()))),
        rejects: rejects.map(|file| Box::new(BufWriter::new(file)) as _),
    };
    let outcome = feed::apply(&app, reader, options).await;
    progress.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).finish();
    let outcome = outcome?;
    app.db.close().await;
    output::line(count(outcome))?;
    Ok(if outcome.rejected > 0 { Outcome::Rejected } else { Outcome::Done })
}

/// What came of the lines, in words.
pub(super) fn count(feed::Outcome { applied, repeated, rejected }: feed::Outcome) -> String {
    format!("{applied} applied, {repeated} applied before, {rejected} rejected")
}

/// The changes and, where it is known, how many bytes they are.
async fn open(path: &Path) -> Result<(Box<dyn AsyncBufRead + Unpin + Send>, Option<u64>), Failure> {
    if path == Path::new("-") {
        return Ok((Box::new(BufReader::new(tokio::io::stdin())), None));
    }
    let refused =
        |error| Failure::new(format!("cannot read {}: {error}; name a file of changes", path.display()));
    let file = tokio::fs::File::open(path).await.map_err(refused)?;
    let about = file.metadata().await.map_err(refused)?;
    if about.is_dir() {
        return Err(Failure::new(format!("{} is a folder; name a file of changes", path.display())));
    }
    let total = about.is_file().then_some(about.len());
    Ok((Box::new(BufReader::with_capacity(1 << 16, file)), total))
}

/// The file for the rejected lines, which must not be the one they are read from.
fn create(path: &Path, input: &Path) -> Result<File, Failure> {
    if path.canonicalize().is_ok_and(|path| input.canonicalize().is_ok_and(|input| path == input)) {
        return Err(Failure::usage("--rejects names the file of changes itself; name another one"));
    }
    // Rejected lines hold people's addresses as they came.
    let private = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    private.map_err(|error| {
        Failure::new(format!("cannot write {}: {error}; name another file with --rejects", path.display()))
    })
}
