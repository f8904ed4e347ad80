//! The operation `importChanges`.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use futures_util::{Stream, stream};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::OwnedSemaphorePermit;

use super::generated::changes::{Changes, ImportChangesRequest, ImportChangesResponse};
use super::generated::schemas::{Change, ChangeError, ChangeResult, ChangeResultResult, ImportChangesMode};
use super::{Call, PlatformHandlers, RETRY_AFTER};
use crate::error::{ApiError, Reply};
use contract_runtime::payload::{InputLine, LineStream, Lines};
use domain::app::App;
use domain::workspaces::Mode;
use domain::{event_feed, platform_tokens};
use feed::{Importer, LineResult, RejectedLine};
use foundation::id::PlatformTokenId;

/// Maximum number of lines that are applied together.
const MAX_BATCH_LINES: usize = 256;
/// Maximum number of bytes of the lines that are applied together.
const MAX_BATCH_BYTES: usize = 1 << 20;
/// How long to wait for a further line before the lines read so far are applied.
const LINE_TIMEOUT: Duration = Duration::from_millis(20);
/// How often an import that waits for changes checks that it may continue.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long an import waits for a change.
const IDLE_TIMEOUT: SignedDuration = SignedDuration::from_secs(30);

impl Changes for PlatformHandlers {
    async fn import_changes(
        &self,
        call: Call,
        request: ImportChangesRequest,
    ) -> Reply<ImportChangesResponse> {
        if event_feed::is_stopping(&self.app) {
            return Err(ApiError::unavailable(
                "The server is shutting down. Retry in a few seconds.",
                RETRY_AFTER,
            ));
        }
        let permit = self.imports.clone().try_acquire_owned();
        let permit = permit.map_err(|_| {
            ApiError::unavailable("Too many imports are running. Retry in a few seconds.", RETRY_AFTER)
        })?;
        let mode = match request.mode {
            ImportChangesMode::Live => Mode::Live,
            ImportChangesMode::Test => Mode::Test,
        };
        let import = RunningImport {
            lines: request.body,
            importer: (!request.dry_run).then(|| Importer::new(self.import_app.clone(), mode)),
            app: self.import_app.clone(),
            token: call.token.id,
            batch: Vec::new(),
            results: VecDeque::new(),
            end: None,
            _permit: permit,
        };
        Ok(ImportChangesResponse::Ok(LineStream::try_new(import.results())))
    }
}

/// An import whose request and response are open.
struct RunningImport {
    lines: Lines<Change>,
    /// `None` if the changes are only validated.
    importer: Option<Importer>,
    app: App,
    token: PlatformTokenId,
    /// Lines that were read, but not applied yet.
    batch: Vec<InputLine>,
    /// Results that are not sent yet.
    results: VecDeque<ChangeResult>,
    /// Set once no more lines are read: success, or the error that ends the response.
    end: Option<io::Result<()>>,
    _permit: OwnedSemaphorePermit,
}

impl RunningImport {
    /// Returns the results. Lines are read only when the client has read the results before. An error ends the response after
    /// the results of the changes that were committed.
    fn results(self) -> impl Stream<Item = io::Result<ChangeResult>> + Send {
        stream::try_unfold(self, |mut import| async move {
            loop {
                if let Some(result) = import.results.pop_front() {
                    return Ok(Some((result, import)));
                }
                match import.end.take() {
                    None => import.advance().await,
                    Some(Ok(())) => return Ok(None),
                    Some(Err(error)) => return Err(error),
                }
            }
        })
    }

    /// Reads and applies the next lines, and adds their results.
    async fn advance(&mut self) {
        let idle_since = self.app.clock.now();
        while self.batch.is_empty() && self.end.is_none() {
            // Also ends an import that waits for the client.
            if let Err(error) = check_permission(&self.app, self.token, idle_since).await {
                self.end = Some(Err(error));
            } else {
                let _ = tokio::time::timeout(CHECK_INTERVAL, self.read_batch()).await;
            }
        }
        let batch = std::mem::take(&mut self.batch);
        let Some(importer) = &mut self.importer else {
            let now = self.app.clock.now();
            let validated = batch.iter().map(|line| match feed::validate(line, now) {
                Ok(id) => to_contract(line.number, id, ChangeResultResult::Valid),
                Err(rejected) => rejection(rejected),
            });
            return self.results.extend(validated);
        };
        let (results, outcome) = importer.import(&batch).await;
        // After an error, the lines from the first one without a result were not applied.
        let results = results.into_iter().map_while(|result| result);
        self.results.extend(batch.iter().zip(results).map(|(line, result)| match result {
            LineResult::Applied { id } => to_contract(line.number, id, ChangeResultResult::Applied),
            LineResult::Repeated { id } => to_contract(line.number, id, ChangeResultResult::Duplicate),
            LineResult::Rejected(rejected) => rejection(rejected),
        }));
        for result in &self.results {
            metrics::counter!("imported_changes_total", "result" => result.result.as_str()).increment(1);
        }
        if let Err(error) = outcome {
            self.end = Some(Err(io::Error::other(format!("the changes could not be applied: {error:#}"))));
        }
    }

    /// Reads lines until the batch is full or the client pauses.
    ///
    /// # Cancellation
    /// If the future is dropped, no line is lost.
    async fn read_batch(&mut self) {
        let mut bytes = 0;
        while self.batch.len() < MAX_BATCH_LINES && bytes < MAX_BATCH_BYTES {
            let next = if self.batch.is_empty() {
                self.lines.next_raw().await
            } else {
                match tokio::time::timeout(LINE_TIMEOUT, self.lines.next_raw()).await {
                    Ok(next) => next,
                    Err(_paused) => return,
                }
            };
            match next {
                None => self.end = Some(Ok(())),
                Some(Ok(line)) => {
                    bytes += line.bytes.len();
                    self.batch.push(line);
                    continue;
                }
                Some(Err(error)) => {
                    let messages = error.violations.iter().map(|violation| violation.message.as_str());
                    let messages = messages.collect::<Vec<_>>().join("; ");
                    self.end = Some(Err(ended(format!("line {} {messages}", error.line))));
                }
            }
            return;
        }
    }
}

/// Returns the error that ends a response although the server did not fail.
fn ended(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, reason.into())
}

/// Checks that an import may continue.
async fn check_permission(app: &App, token: PlatformTokenId, idle_since: Timestamp) -> io::Result<()> {
    if event_feed::is_stopping(app) {
        return Err(ended("the server is shutting down"));
    }
    // Setting the clock back also ends the import, so that it does not wait longer.
    if app.clock.now().duration_since(idle_since).abs() >= IDLE_TIMEOUT {
        return Err(ended("the client sent no change in time"));
    }
    if !platform_tokens::is_valid(app, token).await.map_err(io::Error::other)? {
        return Err(ended("the platform token was revoked or has expired"));
    }
    Ok(())
}

fn to_contract(line: u64, id: String, outcome: ChangeResultResult) -> ChangeResult {
    result(line, Some(id), outcome, Vec::new())
}

fn rejection(RejectedLine { line, id, errors }: RejectedLine) -> ChangeResult {
    let errors =
        errors.into_iter().map(|error| ChangeError { field: error.field, message: error.message }).collect();
    result(line, id, ChangeResultResult::Rejected, errors)
}

fn result(
    line: u64,
    id: Option<String>,
    result: ChangeResultResult,
    errors: Vec<ChangeError>,
) -> ChangeResult {
    // A request has far fewer lines.
    ChangeResult { line: i64::try_from(line).unwrap_or(i64::MAX), id, result, errors }
}
