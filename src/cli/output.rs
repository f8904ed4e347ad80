//! What commands print: results on stdout, what is said about them on stderr.

use std::fmt::Display;
use std::io::{self, Write};

use serde_json::Value;

use super::failure::Failure;

/// Writes a line to stdout at once. A reader who has seen enough changes nothing for the command.
pub(super) fn line(text: impl Display) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Says something to the person on stderr.
pub(super) fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes records as a JSON array.
pub(super) fn json(records: Vec<Value>) -> Result<(), Failure> {
    line(format_args!("{:#}", Value::Array(records)))
}

/// Writes records as columns under their headings.
pub(super) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> Result<(), Failure> {
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([headings[column].len()]).max().unwrap_or_default()
    });
    let write = |cells: [&str; N]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        line(padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    write(headings)?;
    rows.iter().try_for_each(|row| write(std::array::from_fn(|column| row[column].as_str())))
}

/// A time as the API writes it.
pub(super) fn time(time: jiff::Timestamp) -> String {
    format!("{time:.3}")
}
