//! Applies changes from a stream: each one completely or not at all, and only once, even if the stream is applied
//! again. [`importer`](super::importer) applies the lines; this module reads them, and reports the rejected ones.
//!
//! An invalid line is reported, and the following lines are applied. A database error ends the import.

use std::io::{self, Write as _};
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::AsyncBufRead;

use super::importer::{Importer, LineResult, MAX_GROUP_CHANGES};
use super::reject::RejectedLine;
use contract_runtime::payload::{InputLine, LineReader, MAX_LINE_BYTES};
use domain::app::App;
use domain::workspaces::Mode;

/// Time to wait for a line before the lines read so far are applied.
const LINE_TIMEOUT: Duration = Duration::from_millis(50);

/// The outcome of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApplyOutcome {
    /// Number of changes that this call applied.
    pub applied: u64,
    /// Number of changes that were skipped because they had already been applied, earlier in the stream or before.
    pub repeated: u64,
    /// Number of lines that were rejected.
    pub rejected: u64,
}

/// The progress of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApplyProgress {
    /// Number of bytes read.
    pub bytes: u64,
    /// The outcome so far.
    pub outcome: ApplyOutcome,
}

/// Callbacks and outputs for the caller of [`apply`].
pub struct ApplyOptions<'a> {
    /// Called after each batch of lines.
    pub on_progress: Box<dyn FnMut(ApplyProgress) + Send + 'a>,
    /// Called for each rejected line.
    pub on_rejected: Box<dyn FnMut(&RejectedLine) + Send + 'a>,
    /// The output to which rejected lines are written, so that they can be corrected and applied again. Only their line
    /// breaks change: each becomes LF.
    pub rejects_output: Option<Box<dyn io::Write + Send + 'a>>,
    /// The mode of the workspaces. Changes of other workspaces are rejected.
    pub mode: Mode,
}

impl Default for ApplyOptions<'_> {
    fn default() -> Self {
        Self {
            on_progress: Box::new(|_| ()),
            on_rejected: Box::new(|_| ()),
            rejects_output: None,
            mode: Mode::Live,
        }
    }
}

/// Applies the changes of `reader`, one per line.
///
/// # Errors
/// Returns an error when the reader, the output for rejected lines or the database fails. Changes that were applied
/// before stay applied, and the stream can be applied again.
pub async fn apply(
    app: &App,
    reader: impl AsyncBufRead + Unpin,
    options: ApplyOptions<'_>,
) -> anyhow::Result<ApplyOutcome> {
    apply_with(Importer::new(app.clone(), options.mode), reader, options).await
}

/// Applies the changes of `reader` as [`apply`] does, with this importer.
pub(crate) async fn apply_with(
    importer: Importer,
    reader: impl AsyncBufRead + Unpin,
    options: ApplyOptions<'_>,
) -> anyhow::Result<ApplyOutcome> {
    let mut import = FeedImport { importer, options, outcome: ApplyOutcome::default() };
    let mut lines = LineReader::new(reader);
    loop {
        let (batch, ended) = read_batch(&mut lines).await.context("cannot read the changes")?;
        import.apply_batch(&batch).await?;
        import.write_truncated_remainder(&mut lines).await?;
        (import.options.on_progress)(ApplyProgress { bytes: lines.bytes_read(), outcome: import.outcome });
        if ended {
            break;
        }
    }
    if let Some(output) = &mut import.options.rejects_output {
        output.flush().context("cannot write the rejected lines")?;
    }
    Ok(import.outcome)
}

/// Reads the next lines: up to [`MAX_GROUP_CHANGES`], and fewer if the stream ends or pauses, or if they reach
/// [`MAX_LINE_BYTES`] in total. Also returns whether the stream has ended.
async fn read_batch<R: AsyncBufRead + Unpin>(
    lines: &mut LineReader<R>,
) -> io::Result<(Vec<InputLine>, bool)> {
    let mut batch = Vec::with_capacity(MAX_GROUP_CHANGES);
    let mut bytes = 0;
    // A truncated line reaches the limit of bytes, so it is the last line of its batch.
    while batch.len() < MAX_GROUP_CHANGES && bytes < MAX_LINE_BYTES {
        let line = if batch.is_empty() {
            lines.next().await?
        } else {
            match tokio::time::timeout(LINE_TIMEOUT, lines.next()).await {
                Ok(line) => line?,
                Err(_paused) => return Ok((batch, false)),
            }
        };
        let Some(line) = line else { return Ok((batch, true)) };
        bytes += line.bytes.len();
        batch.push(line);
    }
    Ok((batch, false))
}

/// The state of [`apply`].
struct FeedImport<'a> {
    importer: Importer,
    options: ApplyOptions<'a>,
    outcome: ApplyOutcome,
}

impl FeedImport<'_> {
    /// Applies a batch of lines, and reports the rejected lines in their order, because corrected lines are applied in that
    /// order.
    async fn apply_batch(&mut self, batch: &[InputLine]) -> anyhow::Result<()> {
        let (results, outcome) = self.importer.import(batch).await;
        for (line, result) in batch.iter().zip(results) {
            match result {
                None => {}
                Some(LineResult::Applied { .. }) => self.outcome.applied += 1,
                Some(LineResult::Repeated { .. }) => self.outcome.repeated += 1,
                Some(LineResult::Rejected(rejected)) => {
                    self.outcome.rejected += 1;
                    (self.options.on_rejected)(&rejected);
                    write_reject(&mut self.options.rejects_output, &line.bytes)?;
                    if !line.truncated {
                        write_reject(&mut self.options.rejects_output, b"\n")?;
                    }
                }
            }
        }
        outcome
    }

    /// Writes the remainder of a truncated line to the output for rejected lines, which then contains the whole line.
    async fn write_truncated_remainder<R: AsyncBufRead + Unpin>(
        &mut self,
        lines: &mut LineReader<R>,
    ) -> anyhow::Result<()> {
        if !lines.is_truncated() {
            return Ok(());
        }
        while let Some(piece) = lines.read_rest().await.context("cannot read the changes")? {
            write_reject(&mut self.options.rejects_output, &piece)?;
        }
        write_reject(&mut self.options.rejects_output, b"\n")
    }
}

/// Writes bytes of a rejected line, if there is an output for them.
fn write_reject(output: &mut Option<Box<dyn io::Write + Send + '_>>, bytes: &[u8]) -> anyhow::Result<()> {
    match output {
        Some(output) => output.write_all(bytes).context("cannot write the rejected lines"),
        None => Ok(()),
    }
}
