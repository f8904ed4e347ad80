//! The operation `importChanges`.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::anyhow;
use futures_util::{Stream, stream};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::generated::changes::{Changes, ImportChangesRequest, ImportChangesResponse};
use super::generated::schemas::{Change, ChangeError, ChangeResult, ChangeResultResult};
use super::{Call, PlatformHandlers};
use crate::error::{ApiError, Reply};
use contract_runtime::payload::{LineStream, Lines, RawLine};
use contract_runtime::validate::Violations;
use domain::app::App;
use domain::platform_tokens;
use feed::{Importer, InputLine, LineResult, RejectedLine};
use foundation::id::PlatformTokenId;

/// Maximum number of lines that are applied together.
const MAX_BATCH_LINES: usize = 256;
/// Maximum number of bytes of the lines that are applied together.
const MAX_BATCH_BYTES: usize = 1 << 20;
/// How long to wait for a further line before the lines read so far are applied.
const LINE_TIMEOUT: Duration = Duration::from_millis(20);
/// How often a running import checks that its token is still valid.
const TOKEN_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// `Retry-After` of an import that is rejected because too many are running, in seconds.
const RETRY_AFTER: i64 = 5;

impl Changes for PlatformHandlers {
    async fn import_changes(
        &self,
        call: Call,
        request: ImportChangesRequest,
    ) -> Reply<ImportChangesResponse> {
        let permit = self.imports.clone().try_acquire_owned();
        let permit = permit.map_err(|_| {
            ApiError::unavailable("Too many imports are running. Retry in a few seconds.", RETRY_AFTER)
        })?;
        let import = RunningImport {
            lines: request.body,
            importer: (!request.dry_run).then(|| Importer::new(self.import_app.clone())),
            app: self.import_app.clone(),
            token: call.token.id,
            token_checked: Instant::now(),
            request_id: call.request_id.clone(),
            results: VecDeque::new(),
            is_ended: false,
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
    token_checked: Instant,
    request_id: String,
    /// Results that are not sent yet.
    results: VecDeque<ChangeResult>,
    /// Whether no more lines are read.
    is_ended: bool,
    _permit: OwnedSemaphorePermit,
}

impl RunningImport {
    /// Returns the results. Lines are read only when the client has read the results before.
    fn results(self) -> impl Stream<Item = anyhow::Result<ChangeResult>> + Send {
        stream::try_unfold(self, |mut import| async move {
            while import.results.is_empty() && !import.is_ended {
                if let Err(error) = import.advance().await {
                    let request_id = &import.request_id;
                    tracing::warn!(request.id = request_id, error = %format!("{error:#}"), "the import was ended");
                    return Err(error);
                }
            }
            Ok(import.results.pop_front().map(|result| (result, import)))
        })
    }

    /// Reads the next lines, and adds their results.
    ///
    /// # Errors
    /// Returns an error when the connection or the database fails, or when the token is no longer valid. The results of changes
    /// that were committed before the error are lost; a repeated import returns them as duplicates.
    async fn advance(&mut self) -> anyhow::Result<()> {
        let batch = self.read_batch().await?;
        if self.token_checked.elapsed() >= TOKEN_CHECK_INTERVAL {
            self.token_checked = Instant::now();
            if !platform_tokens::is_valid(&self.app, self.token).await? {
                return Err(anyhow!("the platform token was revoked or has expired"));
            }
        }
        let results = match &mut self.importer {
            Some(importer) => {
                let (results, outcome) = importer.import(&batch.lines).await;
                // Nothing after a line without a result is sent, so that the client repeats these lines.
                let sent = results.into_iter().map_while(|result| result).collect();
                if let Err(error) = outcome {
                    return Err(error.context("the changes could not be applied"));
                }
                sent
            }
            None => batch.lines.iter().map(|line| self.validate(line)).collect::<Vec<_>>(),
        };
        let is_dry_run = self.importer.is_none();
        let sent = batch.lines.iter().zip(results);
        self.results.extend(sent.map(|(line, result)| to_contract(line.number, result, is_dry_run)));
        self.results.extend(batch.last_error);
        Ok(())
    }

    fn validate(&self, line: &InputLine) -> LineResult {
        match feed::validate(line, self.app.clock.now()) {
            Ok(id) => LineResult::Applied { id },
            Err(rejected) => LineResult::Rejected(rejected),
        }
    }

    /// Reads lines until the batch is full or the client pauses.
    async fn read_batch(&mut self) -> anyhow::Result<Batch> {
        let mut batch = Batch { lines: Vec::with_capacity(MAX_BATCH_LINES), last_error: None };
        let mut bytes = 0;
        while batch.lines.len() < MAX_BATCH_LINES && bytes < MAX_BATCH_BYTES {
            let next = if batch.lines.is_empty() {
                self.lines.next_raw().await
            } else {
                match tokio::time::timeout(LINE_TIMEOUT, self.lines.next_raw()).await {
                    Ok(next) => next,
                    Err(_paused) => break,
                }
            };
            match next {
                None => {
                    self.is_ended = true;
                    break;
                }
                Some(Ok(RawLine { number, bytes: line })) => {
                    bytes += line.len();
                    batch.lines.push(InputLine { number, bytes: line.into(), truncated: false });
                }
                Some(Err(error)) if error.is_too_long => {
                    self.is_ended = true;
                    batch.last_error = Some(too_long(error.line, &error.violations));
                    break;
                }
                Some(Err(error)) => return Err(anyhow!("line {} {}", error.line, text(&error.violations))),
            }
        }
        Ok(batch)
    }
}

/// Lines that are applied together.
struct Batch {
    lines: Vec<InputLine>,
    /// The result of the line after them, if it is too long to be read. It is the last line.
    last_error: Option<ChangeResult>,
}

fn text(violations: &Violations) -> String {
    violations.iter().map(|violation| violation.message.as_str()).collect::<Vec<_>>().join("; ")
}

fn too_long(line: u64, violations: &Violations) -> ChangeResult {
    let error = ChangeError { field: String::new(), message: format!("the line {}", text(violations)) };
    result(line, None, ChangeResultResult::Rejected, vec![error])
}

fn to_contract(line: u64, line_result: LineResult, is_dry_run: bool) -> ChangeResult {
    match line_result {
        LineResult::Applied { id } if is_dry_run => {
            result(line, Some(id), ChangeResultResult::Valid, Vec::new())
        }
        LineResult::Applied { id } => result(line, Some(id), ChangeResultResult::Applied, Vec::new()),
        LineResult::Repeated { id } => result(line, Some(id), ChangeResultResult::Duplicate, Vec::new()),
        LineResult::Rejected(RejectedLine { id, errors, .. }) => {
            let errors = errors.into_iter();
            let errors = errors.map(|error| ChangeError { field: error.field, message: error.message });
            result(line, id, ChangeResultResult::Rejected, errors.collect())
        }
    }
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
