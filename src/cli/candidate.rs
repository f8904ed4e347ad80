//! `creator-api candidate`: reports which requests the candidate contract would reject.

use std::collections::BTreeMap;

use contract::usage::{DayUsage, Direction, KeyUsage, OperationUsage, UsageFinding, UsageReport, VERSION};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::outcome::{CommandError, CommandOutcome};
use super::output;
use super::start::{self, DataFolder};
use domain::app::App;
use domain::candidate::{self, CandidateUsage, FindingRow, KeyNames, OTHER, RESPONSE_PREFIX, RequestRow};
use foundation::clock::from_ms;
use foundation::config::Config;
use foundation::id::KeyId;

/// What a report without operations means.
const NOT_OBSERVED: &str = "no operation was observed";
/// The default number of days of a report, including today.
const DEFAULT_DAYS: i32 = 30;

#[derive(Debug, clap::Subcommand)]
pub(super) enum CandidateCommand {
    /// List what the contract of `serve --candidate-contract` would reject, with the workspaces and API keys concerned
    ///
    /// Requests are estimated from a sample: of each key and operation, the first 1,000 a day and server are compared with the
    /// candidate, and a share beyond. They are stored for 90 days. The JSON also contains findings of earlier versions of the contracts.
    Report(ReportArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// Print the report that `openapi-gate check --usage` reads
    #[arg(long)]
    json: bool,
    /// First day (UTC) of the report, such as 2026-02-14; by default 29 days ago
    #[arg(long, value_name = "DATE")]
    since: Option<Date>,
    /// Exit with code 1 if the candidate would reject requests for at least this number of reasons, counted per request, or if no
    /// operation was observed since the first day
    #[arg(long, value_name = "REASONS", value_parser = clap::value_parser!(u64).range(1..))]
    fail_on: Option<u64>,
}

pub(super) async fn run(config: Config, command: CandidateCommand) -> Result<CommandOutcome, CommandError> {
    let CandidateCommand::Report(args) = command;
    let app = start::open_app(config, DataFolder::MustExist).await?;
    let result = report(&app, &args).await;
    app.db.close().await;
    result
}

async fn report(app: &App, args: &ReportArgs) -> Result<CommandOutcome, CommandError> {
    let now = app.clock.now();
    let since = first_day(now, args.since)?;
    let day = since.to_zoned(TimeZone::UTC).map_err(anyhow::Error::from)?.timestamp();
    let mut report = usage_report(candidate::since(app, day.as_millisecond()).await?, since, now);
    if args.json {
        let report = serde_json::to_value(&report).map_err(anyhow::Error::from)?;
        output::print(output::json_text(&report))?;
    }
    remove_earlier_contracts(&mut report);
    if !args.json {
        print(&report)?;
    }
    if args.fail_on.is_some() && report.operations.is_empty() {
        return Err(CommandError::new(format!("{NOT_OBSERVED}, so --fail-on decides nothing")));
    }
    let rejected: u64 = report
        .findings
        .iter()
        .filter(|finding| finding.direction == Direction::Request)
        .map(requests_of)
        .sum();
    Ok(match args.fail_on {
        Some(maximum) if rejected >= maximum => CommandOutcome::Findings,
        _ => CommandOutcome::Done,
    })
}

/// Returns the first day of a report: the value of `--since`, or 29 days ago.
pub(super) fn first_day(now: Timestamp, since: Option<Date>) -> Result<Date, CommandError> {
    let today = now.to_zoned(TimeZone::UTC).date();
    let since = since.unwrap_or_else(|| today.saturating_sub((DEFAULT_DAYS - 1).days()));
    if since > today {
        return Err(CommandError::usage(format!(
            "--since: {since} is in the future; specify a day until {today}"
        )));
    }
    Ok(since)
}

fn requests_of(finding: &UsageFinding) -> u64 {
    finding.keys.iter().map(|key| key.requests).sum()
}

/// Creates the report of all contracts that were observed.
fn usage_report(usage: CandidateUsage, since: Date, now: Timestamp) -> UsageReport {
    let mut by_contracts: BTreeMap<(&str, &str, &str), Vec<&RequestRow>> = BTreeMap::new();
    for row in &usage.requests {
        by_contracts.entry((&row.operation, &row.base, &row.candidate)).or_default().push(row);
    }
    let operations =
        by_contracts.iter().map(|(contracts, rows)| operation_usage(*contracts, rows, &usage.keys)).collect();
    let mut findings: BTreeMap<[&str; 6], UsageFinding> = BTreeMap::new();
    for row in &usage.findings {
        let key = [&row.operation, &row.base, &row.candidate, &row.code, &row.pointer, &row.name]
            .map(String::as_str);
        let finding = findings.entry(key).or_insert_with(|| UsageFinding {
            operation: row.operation.clone(),
            base: row.base.clone(),
            candidate: row.candidate.clone(),
            direction: match row.code.starts_with(RESPONSE_PREFIX) {
                true => Direction::Response,
                false => Direction::Request,
            },
            code: row.code.clone(),
            pointer: row.pointer.clone(),
            name: row.name.clone(),
            reason: if row.code == OTHER {
                "further findings of these keys".to_owned()
            } else {
                row.reason.clone()
            },
            keys: Vec::new(),
        });
        add(&mut finding.keys, row, usage.keys.get(&KeyId::from_uuid(row.key_id)));
    }
    let findings = findings.into_values().collect();
    UsageReport { version: VERSION, created_at: now, since, operations, findings }
}

/// Removes earlier versions of the contracts: those that were not observed on the last day of their operation.
fn remove_earlier_contracts(report: &mut UsageReport) {
    let mut last_days: BTreeMap<String, Date> = BTreeMap::new();
    let last_day = |usage: &OperationUsage| usage.days.last().map_or(Date::MIN, |day| day.day);
    for usage in &report.operations {
        let last = last_days.entry(usage.operation.clone()).or_insert(Date::MIN);
        *last = last_day(usage).max(*last);
    }
    report.operations.retain(|usage| last_day(usage) == last_days[&usage.operation]);
    let operations = &report.operations;
    report.findings.retain(|finding| {
        let contracts = (&finding.operation, &finding.base, &finding.candidate);
        operations.iter().any(|usage| (&usage.operation, &usage.base, &usage.candidate) == contracts)
    });
}

fn operation_usage(
    (operation, base, candidate): (&str, &str, &str),
    rows: &[&RequestRow],
    names: &BTreeMap<KeyId, KeyNames>,
) -> OperationUsage {
    let mut callers: BTreeMap<KeyId, KeyUsage> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.key_id.is_nil()) {
        let (key, day) = (KeyId::from_uuid(row.key_id), from_ms(row.day));
        let caller = callers.entry(key).or_insert_with(|| named(key, day, names.get(&key)));
        caller.requests += row.seen.unsigned_abs();
        caller.sampled += row.checked.unsigned_abs();
        caller.first_at = caller.first_at.min(day);
        caller.last_at = caller.last_at.max(day);
    }
    let mut days: BTreeMap<i64, DayUsage> = BTreeMap::new();
    for row in rows {
        let day = from_ms(row.day).to_zoned(TimeZone::UTC).date();
        let usage = days.entry(row.day).or_insert(DayUsage { day, seen: 0, checked: 0, dropped: 0 });
        usage.seen += row.seen.unsigned_abs();
        usage.checked += row.checked.unsigned_abs();
        usage.dropped += row.dropped.unsigned_abs();
    }
    OperationUsage {
        operation: operation.to_owned(),
        base: base.to_owned(),
        candidate: candidate.to_owned(),
        keys: callers.len() as u64,
        callers: callers.into_values().collect(),
        days: days.into_values().collect(),
    }
}

/// Returns the usage of a key without requests. A deleted key is named by its id.
fn named(key: KeyId, at: Timestamp, names: Option<&KeyNames>) -> KeyUsage {
    let id = key.to_string();
    let name = |text: fn(&KeyNames) -> &String| names.map_or_else(String::new, |names| text(names).clone());
    KeyUsage {
        workspace: name(|names| &names.workspace),
        workspace_name: name(|names| &names.workspace_name),
        key_name: names.map_or_else(|| id.clone(), |names| names.name.clone()),
        key: id,
        requests: 0,
        sampled: 0,
        first_at: at,
        last_at: at,
        request_id: None,
    }
}

/// Adds a row to the keys of a finding.
fn add(keys: &mut Vec<KeyUsage>, row: &FindingRow, names: Option<&KeyNames>) {
    let key = KeyId::from_uuid(row.key_id);
    let id = key.to_string();
    let index = keys.iter().position(|usage| usage.key == id).unwrap_or_else(|| {
        keys.push(KeyUsage { first_at: from_ms(row.first_at), ..named(key, from_ms(row.last_at), names) });
        keys.len() - 1
    });
    let usage = &mut keys[index];
    usage.requests += row.requests.unsigned_abs();
    usage.sampled += row.sampled.unsigned_abs();
    usage.first_at = usage.first_at.min(from_ms(row.first_at));
    if from_ms(row.last_at) >= usage.last_at {
        usage.last_at = from_ms(row.last_at);
        usage.request_id = (!row.request_id.is_empty()).then(|| row.request_id.clone());
    }
}

/// Prints the report: the findings with their keys, and the keys with their findings.
fn print(report: &UsageReport) -> Result<(), CommandError> {
    if report.operations.is_empty() {
        return output::print(format_args!(
            "{NOT_OBSERVED}; start the servers with --candidate-contract and wait a few seconds"
        ));
    }
    let checked = |operation: &OperationUsage| operation.days.iter().map(|day| day.checked).sum::<u64>();
    let seen = |operation: &OperationUsage| operation.days.iter().map(|day| day.seen).sum::<u64>();
    let operations: Vec<[String; 5]> = report
        .operations
        .iter()
        .map(|operation| {
            let counts = [operation.days.len() as u64, operation.keys, seen(operation), checked(operation)];
            let [days, keys, seen, checked] = counts.map(|count| count.to_string());
            [operation.operation.clone(), days, keys, seen, checked]
        })
        .collect();
    output::print_table(["OPERATION", "DAYS", "KEYS", "REQUESTS", "COMPARED"], &operations)?;
    if report.findings.is_empty() {
        return output::print(format_args!(
            "\nsince {}, the candidate would reject no request",
            report.since
        ));
    }
    let mut by_key: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for finding in &report.findings {
        let direction =
            if finding.direction == Direction::Request { "rejects requests" } else { "changes responses" };
        let name = if finding.name.is_empty() { String::new() } else { format!(" {}", finding.name) };
        let UsageFinding { operation, code, pointer, reason, .. } = finding;
        output::print(format_args!(
            "\n{operation}: {direction}: {code}{name}: {}",
            output::plain_text(reason)
        ))?;
        output::print(format_args!("  at {}", output::plain_text(pointer)))?;
        for key in &finding.keys {
            let example = key.request_id.as_ref().map(|id| format!(", for example {id}")).unwrap_or_default();
            let last = output::format_time(key.last_at);
            let text = format!(
                "{} of {} ({}): requests: {}, last at {last}{example}",
                key.key_name, key.workspace_name, key.key, key.requests
            );
            output::print(format_args!("  {}", output::plain_text(&text)))?;
            *by_key.entry((&key.workspace, &key.key_name, &key.key)).or_default() += key.requests;
        }
    }
    let rows: Vec<[String; 4]> = by_key
        .into_iter()
        .map(|((workspace, name, key), requests)| {
            [workspace, name, key, &requests.to_string()].map(output::plain_text)
        })
        .collect();
    output::print("")?;
    output::print_table(["WORKSPACE", "KEY NAME", "KEY", "FINDINGS"], &rows)
}
