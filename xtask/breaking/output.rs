//! Writes to standard output and standard error. Unlike `println!`, a stream that cannot be written is not a panic.

use std::io::{ErrorKind, Write as _};

use anyhow::{Context as _, Result};
use contract::plain_text::plain_lines;

/// Writes a text to standard output. A reader that closes the pipe early, such as `head`, is not an error.
///
/// # Errors
/// Returns an error when the text cannot be written for another reason, such as a full disk.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Writes a message to standard error, without control characters. A message that cannot be written is lost: there is no other place for it.
pub(crate) fn print_message(text: &str) {
    let _ = std::io::stderr().lock().write_all(plain_lines(text).as_bytes());
}
