//! With a million deliveries, a day of attempts is dropped while the fleet serves.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use sea_orm::{ConnectionTrait as _, DatabaseConnection};

use crate::client::ApiClient;
use crate::engines::postgres::query_number;
use crate::fleet::{Fleet, FleetOptions};
use crate::load::{Load, LoadOptions, LoadRecord, ResponseKind};
use crate::measurement::Measurement;
use crate::receiver::WebhookReceiver;
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "retention";

/// The number of events, each with [`FAN_OUT`] deliveries.
const EVENTS: u32 = 100_000;

/// The number of deliveries of an event. Each delivery has an attempt.
const FAN_OUT: u32 = 10;

/// The number of days of attempts, with today. The oldest is past its retention of 30 days.
const DAYS: u32 = 32;

/// The length of each measurement of requests.
const WINDOW: Duration = Duration::from_secs(10);

/// How long the scenario waits until a new worker leads and drops the oldest day.
const DROP_TIMEOUT: Duration = Duration::from_secs(90);

/// Fills the database, measures requests, starts workers, which drop the oldest day, and measures requests meanwhile.
///
/// # Errors
/// Returns an error when a part of the fleet does not start, or the day is not dropped.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let options = FleetOptions { standby: false, ..FleetOptions::default() };
    let mut fleet = Fleet::start(context, options).await?;
    let receiver = WebhookReceiver::start(&fleet.database.commands, 1, Duration::ZERO).await?;
    let client = ApiClient::new(&fleet.database.key)?;
    client.create_student(&fleet.balancer.url(), "first@example.com", "first").await.body()?;
    let connection = fleet.database.primary.connect().await?;
    let attempts = "SELECT count(*) FROM webhook_attempts";
    while query_number(&connection, attempts).await? == 0 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for worker in &mut fleet.workers {
        worker.stop().await?;
    }
    fill(&connection, report).await?;
    let old_attempts = "SELECT count(*) FROM webhook_attempts WHERE ended_at < floor(extract(epoch FROM now()) / 86400) * 86400000";
    let rows_before = query_number(&connection, old_attempts).await?;

    let targets = vec![fleet.balancer.url()];
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: 16, rate: Some(100), reads_per_write: 3 },
    )?;
    tokio::time::sleep(WINDOW).await;
    let days = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'webhook_attempts'::regclass";
    let all_days = query_number(&connection, days).await?;
    let undisturbed_until = Instant::now();
    for worker in &mut fleet.workers {
        worker.start().await?;
    }
    while query_number(&connection, days).await? == all_days {
        if undisturbed_until.elapsed() > DROP_TIMEOUT {
            bail!("no worker dropped the oldest day within {} s", DROP_TIMEOUT.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let dropped_after = undisturbed_until.elapsed().as_secs_f64();
    tokio::time::sleep(WINDOW).await;
    let record = load.stop().await;
    // New attempts are those of students that the load created.
    let dropped = rows_before - query_number(&connection, old_attempts).await?;
    connection.close().await?;
    drop(receiver);
    add_latencies(report, &record, undisturbed_until);
    let detail = format!("dropped {dropped_after:.1} s after the start of the workers; {}", record.summary());
    let expected = f64::from(EVENTS * FAN_OUT / DAYS);
    let figure = Figure::exactly("attempts dropped with their day", dropped as f64, "rows", expected);
    report.add(figure.detail(detail));
    let failed =
        record.count(&[ResponseKind::InternalError, ResponseKind::Missing, ResponseKind::Unexpected]);
    report.add(Figure::exactly("failed requests", count(failed), "requests", 0.0));
    Ok(())
}

/// Adds the latencies before the drop of a day, and from the start of the workers that drop it.
fn add_latencies(report: &mut Report, record: &LoadRecord, undisturbed_until: Instant) {
    let (mut before, mut meanwhile) = (Measurement::new(WINDOW), Measurement::new(WINDOW));
    for response in &record.responses {
        let measured = if response.ended_at < undisturbed_until { &mut before } else { &mut meanwhile };
        measured.record(response.duration);
    }
    let percentile = before.percentile_ms(95.0);
    report.add(Figure::measured("95th percentile of requests before", percentile, "ms"));
    let percentile = meanwhile.percentile_ms(95.0);
    report.add(Figure::measured("95th percentile of requests during the drop", percentile, "ms"));
    let longest = record.longest_since(undisturbed_until);
    report.add(Figure::at_most("longest response during the drop", longest, "s", 3.0));
}

/// Copies the event, the delivery and the attempt of the first student, as if the fleet had run for [`DAYS`] days, and reports
/// the size of the database.
async fn fill(connection: &DatabaseConnection, report: &mut Report) -> Result<()> {
    let size = "SELECT pg_database_size(current_database())";
    let empty_bytes = query_number(connection, size).await?;
    // One partition for each day instead of the first one, which contains all days.
    let partitions = format!(
        "DO $$
         DECLARE
             day_ms CONSTANT BIGINT := 86400000;
             today CONSTANT BIGINT := floor(extract(epoch FROM now()) / 86400);
         BEGIN
             CREATE TEMPORARY TABLE attempt AS SELECT * FROM webhook_attempts LIMIT 1;
             DROP TABLE webhook_attempts_history;
             FOR day IN today - {DAYS} + 1 .. today + 1 LOOP
                 EXECUTE format('CREATE TABLE webhook_attempts_day_%s PARTITION OF webhook_attempts
                     FOR VALUES FROM (%s) TO (%s)', day, day * day_ms, (day + 1) * day_ms);
             END LOOP;
             INSERT INTO webhook_attempts (id, workspace_id, delivery_id, number, started_at, ended_at, status, error,
                 request_headers, response_headers, response_body)
             SELECT gen_random_uuid(), workspace_id, gen_random_uuid(), number, at, at, status, error,
                 request_headers, response_headers, response_body
             FROM attempt, generate_series(1, {EVENTS} * {FAN_OUT}) AS copy,
                 LATERAL (SELECT (today - copy % {DAYS}) * day_ms AS at) AS time;
         END $$"
    );
    let events = format!(
        "CREATE TEMPORARY TABLE event_copy AS
             SELECT events.*, gen_random_uuid() AS copy_id FROM events, generate_series(1, {EVENTS});
         INSERT INTO events (id, workspace_id, type, created_at, body)
             SELECT copy_id, workspace_id, type, created_at, body FROM event_copy;
         INSERT INTO webhook_deliveries (id, workspace_id, subscription_id, event_id, event_type, origin, state, attempts,
                 created_at, settled_at, last_status)
             SELECT gen_random_uuid(), delivery.workspace_id, delivery.subscription_id, copy_id, delivery.event_type,
                 delivery.origin, delivery.state, delivery.attempts, delivery.created_at, delivery.settled_at,
                 delivery.last_status
             FROM (SELECT * FROM webhook_deliveries LIMIT 1) AS delivery, event_copy, generate_series(1, {FAN_OUT})"
    );
    let transaction = "BEGIN; SET LOCAL statement_timeout = 0";
    for statement in [transaction, &partitions, &events, "COMMIT"] {
        connection.execute_unprepared(statement).await.context("cannot fill the database")?;
    }
    connection
        .execute_unprepared("ANALYZE webhook_deliveries; ANALYZE webhook_attempts; ANALYZE events")
        .await?;
    let bytes = query_number(connection, size).await? - empty_bytes;
    let detail = format!("{EVENTS} events with {FAN_OUT} deliveries each, and an attempt for each delivery");
    let figure = Figure::measured("size of 1,000,000 deliveries", bytes as f64 / 1e9, "GB").before("1.4");
    report.add(figure.detail(detail));
    Ok(())
}
