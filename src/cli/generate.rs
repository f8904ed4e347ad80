//! `creator-api generate`: generates a synthetic workspace, as a file of changes or directly in the database.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::outcome::{CommandError, CommandOutcome};
use super::output;
use super::progress::ProgressDisplay;
use super::start::{self, DataFolder};
use feed::generate::{RecordCounts, Spec, WORKSPACE, write_changes, write_to_database};
use foundation::clock::Clock;
use foundation::config::Config;

#[derive(Debug, clap::Args)]
pub(super) struct GenerateArgs {
    /// Number of courses
    #[arg(long, value_name = "N", default_value_t = 20)]
    courses: u32,
    /// Number of students
    #[arg(long, value_name = "N", default_value_t = 1000)]
    students: u32,
    /// Number of orders
    #[arg(long, value_name = "N", default_value_t = 2000)]
    orders: u32,
    /// Write changes to this file instead of rows to the database; `-` writes to stdout
    #[arg(long, value_name = "FILE|-")]
    out: Option<PathBuf>,
    /// Seed of the random names, amounts and refunds
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// End of the 366 days for which data is generated, in RFC 3339 format; defaults to the most recent UTC midnight
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
}

pub(super) async fn run(config: Config, args: GenerateArgs) -> Result<CommandOutcome, CommandError> {
    let GenerateArgs { courses, students, orders, out, seed, until } = args;
    let clock = Clock::system();
    let until = match until {
        Some(until) => until,
        None => midnight(&clock)?,
    };
    let spec = Spec { courses, students, orders, seed, until };
    spec.validate_at(clock.now()).map_err(|error| CommandError::usage(error.to_string()))?;
    let mut progress = ProgressDisplay::start("generate", Some(u64::from(students) + u64::from(orders)));
    let mut update = |done| progress.update(done, || format!("{done} students and orders"));
    let counts = match &out {
        Some(path) => {
            let mut output = open_output(path)?;
            let counts = write_changes(&spec, &mut output, &mut update).map_err(write_error)?;
            output.flush()?;
            counts
        }
        None => {
            let app = start::open_app(config, DataFolder::MayBeCreated).await?;
            let counts = write_to_database(&app, &spec, &mut update).await?;
            app.db.close().await;
            counts
        }
    };
    progress.finish();
    output::eprint(summary(counts));
    Ok(CommandOutcome::Done)
}

/// Converts an error of [`write_changes`]. An I/O error keeps its kind, so that a closed stdout is not reported.
fn write_error(error: anyhow::Error) -> CommandError {
    match error.downcast::<io::Error>() {
        Ok(error) => error.into(),
        Err(error) => error.into(),
    }
}

/// Returns the start of the current UTC day.
fn midnight(clock: &Clock) -> Result<Timestamp, CommandError> {
    let day = clock.now().to_zoned(TimeZone::UTC).start_of_day();
    Ok(day.map_err(|error| CommandError::new(error.to_string()))?.timestamp())
}

fn open_output(path: &Path) -> Result<Box<dyn Write>, CommandError> {
    if path == Path::new("-") {
        return Ok(Box::new(BufWriter::new(io::stdout())));
    }
    let file = File::create(path).map_err(|error| {
        CommandError::new(format!(
            "cannot write {}: {error}; specify another file with --out",
            path.display()
        ))
    })?;
    Ok(Box::new(BufWriter::with_capacity(1 << 16, file)))
}

fn summary(counts: RecordCounts) -> String {
    let RecordCounts { courses, students, orders, enrollments, refunds, completions, certificates } = counts;
    format!(
        "workspace `{WORKSPACE}`: {courses} courses, {students} students, {orders} orders, {enrollments} enrollments, \
         {refunds} refunds, {completions} completed lessons, {certificates} certificates"
    )
}
