//! Compares what clients were acknowledged and what the receiver got with the database.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use anyhow::Result;
use foundation::id::EventId;
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement};
use uuid::Uuid;

use crate::engines::postgres::{Postgres, query_number};
use crate::fleet::in_workspace;
use crate::load::{LoadRecord, ResponseKind};
use crate::receiver::WebhookReceiver;
use crate::report::{Figure, Report, count};

/// The time limit for the delivery of the remaining events.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(90);

/// Checks that all acknowledged writes are in the database, each once, and adds the figures to the report.
///
/// # Errors
/// Returns an error when a query fails.
pub async fn check_writes(report: &mut Report, database: &Postgres, records: &[&LoadRecord]) -> Result<()> {
    let connection = database.connect().await?;
    let sql = format!("SELECT email FROM students WHERE {}", in_workspace());
    let stored: Vec<String> = query_column(&connection, &sql).await?;
    let mut students: HashMap<&str, usize> = HashMap::new();
    stored.iter().for_each(|email| *students.entry(email).or_default() += 1);
    let writes: Vec<&str> =
        records.iter().flat_map(|record| &record.writes).map(|write| write.email.as_str()).collect();
    let lost = writes.iter().filter(|email| !students.contains_key(*email)).count();
    let repeated = students.values().filter(|count| **count > 1).count();
    let events = query_number(
        &connection,
        &format!("SELECT count(*) FROM events WHERE type = 'student.created' AND {}", in_workspace()),
    )
    .await?;
    let unacknowledged: usize = records.iter().map(|record| record.unacknowledged).sum();
    let detail = format!("{} acknowledged, {} stored, {events} events", writes.len(), stored.len());
    report.add(
        Figure::exactly("acknowledged writes lost", count(lost), "writes", 0.0).before("0").detail(detail),
    );
    report.add(Figure::exactly("writes that took effect twice", count(repeated), "writes", 0.0));
    let difference = events.abs_diff(i64::try_from(stored.len())?);
    report.add(Figure::exactly("students without exactly one event", difference as f64, "students", 0.0));
    report.add(Figure::exactly("writes never acknowledged", count(unacknowledged), "writes", 0.0));
    let unexpected: Vec<&str> =
        records.iter().flat_map(|record| &record.unexpected).map(String::as_str).collect();
    let failures = records.iter().map(|record| record.count(&[ResponseKind::Unexpected])).sum();
    let name = "responses other than success and 500 internal_error";
    report.add(Figure::exactly(name, count(failures), "responses", 0.0).detail(unexpected.join("; ")));
    Ok(connection.close().await?)
}

/// Waits until all deliveries are settled, checks that the receiver got every committed event, and adds the figures to the
/// report. `record` contains the writes that caused the events.
///
/// # Errors
/// Returns an error when a query fails.
pub async fn check_events(
    report: &mut Report,
    database: &Postgres,
    receiver: &WebhookReceiver,
    record: &LoadRecord,
) -> Result<()> {
    let connection = database.connect().await?;
    let start = Instant::now();
    let unsettled = loop {
        let unsettled =
            query_number(&connection, "SELECT count(*) FROM webhook_deliveries WHERE state IN (0, 3)")
                .await?;
        if unsettled == 0 || start.elapsed() > DELIVERY_TIMEOUT {
            break unsettled;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let sql = format!("SELECT id FROM events WHERE type = 'student.created' AND {}", in_workspace());
    let ids: Vec<Uuid> = query_column(&connection, &sql).await?;
    let ids: Vec<String> = ids.into_iter().map(|id| EventId::from_uuid(id).to_string()).collect();
    let committed: BTreeSet<(usize, String)> = (0..receiver.subscriptions())
        .flat_map(|number| ids.iter().map(move |id| (number, id.clone())))
        .collect();
    let events = receiver.events();
    let received: BTreeSet<(usize, String)> = events.keys().cloned().collect();
    let repeated: usize = events.values().map(|receipts| receipts.count - 1).sum();
    let detail =
        format!("{} committed, {} received, {repeated} received again", committed.len(), received.len());
    let missing = committed.difference(&received).count();
    report.add(Figure::exactly("events lost", count(missing), "events", 0.0).before("0").detail(detail));
    let unknown = received.difference(&committed).count();
    report.add(Figure::exactly("events received but not committed", count(unknown), "events", 0.0));
    report.add(Figure::exactly("deliveries not settled", unsettled as f64, "deliveries", 0.0));
    report.add(Figure::exactly("invalid signatures", count(receiver.invalid()), "webhooks", 0.0));
    let acknowledged_at: HashMap<&str, Instant> =
        record.writes.iter().map(|write| (write.email.as_str(), write.acknowledged_at)).collect();
    let delays = events.values().filter_map(|receipts| {
        Some(receipts.first_at.saturating_duration_since(*acknowledged_at.get(receipts.email.as_str())?))
    });
    let longest = delays.max().unwrap_or_default().as_secs_f64();
    report.add(Figure::measured("longest time from acknowledgment to receipt", longest, "s"));
    Ok(connection.close().await?)
}

/// Returns the first column of all rows.
///
/// # Errors
/// Returns an error when the query fails, or the column has another type.
pub async fn query_column<T: sea_orm::TryGetable>(
    connection: &DatabaseConnection,
    sql: &str,
) -> Result<Vec<T>> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let rows = connection.query_all_raw(statement).await?;
    Ok(rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?)
}
