//! `creator-api generate`: makes a synthetic workspace, as changes or straight in the database.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::failure::{Failure, Outcome};
use super::progress::Progress;
use super::{output, start};
use feed::generate::{Counts, Spec, WORKSPACE, into_database, write_changes};
use foundation::clock::Clock;
use foundation::config::Config;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Courses to make
    #[arg(long, value_name = "N", default_value_t = 20)]
    courses: u32,
    /// Students to make
    #[arg(long, value_name = "N", default_value_t = 1000)]
    students: u32,
    /// Orders to make
    #[arg(long, value_name = "N", default_value_t = 2000)]
    orders: u32,
    /// Write changes here instead of rows into the database; - writes to stdout
    #[arg(long, value_name = "FILE|-")]
    out: Option<PathBuf>,
    /// Another number gives other names, amounts and refunds
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// End of the year that the workspace covers; without it, midnight of this UTC day
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
}

pub(super) async fn run(config: Config, args: Args) -> Result<Outcome, Failure> {
    let Args { courses, students, orders, out, seed, until } = args;
    let clock = Clock::system();
    let until = match until {
        Some(until) => until,
        None => midnight(&clock)?,
    };
    let spec = Spec { courses, students, orders, seed, until };
    spec.check_by(clock.now()).map_err(|error| Failure::usage(error.to_string()))?;
    let mut progress = Progress::start("generate", Some(u64::from(students) + u64::from(orders)));
    let mut at = |done| progress.at(done, || format!("{done} students and orders"));
    let counts = match &out {
        Some(path) => {
            let mut sink = open(path)?;
            let counts = write_changes(&spec, &mut sink, &mut at).map_err(quietly)?;
            sink.flush()?;
            counts
        }
        None => {
            let app = start::app(config).await?;
            let counts = into_database(&app, &spec, &mut at).await?;
            app.db.close().await;
            counts
        }
    };
    progress.finish();
    output::say(summary(counts));
    Ok(Outcome::Done)
}

/// A reader of stdout who has seen enough is no failure.
fn quietly(error: anyhow::Error) -> Failure {
    match error.downcast::<io::Error>() {
        Ok(error) => error.into(),
        Err(error) => error.into(),
    }
}

/// The midnight with which this UTC day began.
fn midnight(clock: &Clock) -> Result<Timestamp, Failure> {
    let day = clock.now().to_zoned(TimeZone::UTC).start_of_day();
    Ok(day.map_err(|error| Failure::new(error.to_string()))?.timestamp())
}

fn open(path: &Path) -> Result<Box<dyn Write>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(BufWriter::new(io::stdout())));
    }
    let file = File::create(path).map_err(|error| {
        Failure::new(format!("cannot write {}: {error}; name another file with --out", path.display()))
    })?;
    Ok(Box::new(BufWriter::with_capacity(1 << 16, file)))
}

fn summary(counts: Counts) -> String {
    let Counts { courses, students, orders, enrollments, refunds, completions, certificates } = counts;
    format!(
        "workspace `{WORKSPACE}`: {courses} courses, {students} students, {orders} orders, {enrollments} enrollments, \
         {refunds} refunds, {completions} lessons done, {certificates} certificates"
    )
}
