//! The output of commands: results on stdout, messages on stderr.

use std::fmt::Display;
use std::io::{self, Write};

use serde_json::Value;

use super::outcome::CommandError;

/// Writes a line to stdout and flushes it. Ignores a closed stdout.
pub(super) fn print(text: impl Display) -> Result<(), CommandError> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a message to stderr.
pub(super) fn eprint(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes records to stdout as a JSON array.
pub(super) fn print_json(records: Vec<Value>) -> Result<(), CommandError> {
    print(format_args!("{:#}", Value::Array(records)))
}

/// Writes rows to stdout as a table with headings.
pub(super) fn print_table<const N: usize>(
    headings: [&str; N],
    rows: &[[String; N]],
) -> Result<(), CommandError> {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([headings[column].len()]).max().unwrap_or_default()
    });
    let write = |cells: [&str; N]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        print(padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    write(headings)?;
    rows.iter().try_for_each(|row| write(std::array::from_fn(|column| row[column].as_str())))
}

/// Formats a time as the API does: RFC 3339 in UTC, with milliseconds.
pub(super) fn format_time(time: jiff::Timestamp) -> String {
    format!("{time:.3}")
}
