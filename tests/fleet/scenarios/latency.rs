//! The time from the commit to the receipt of an event with separate workers.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::fleet::{Fleet, FleetOptions};
use crate::load::{Load, LoadOptions};
use crate::measurement::Measurement;
use crate::receiver::WebhookReceiver;
use crate::reconcile::{check_events, check_writes};
use crate::report::{Figure, Report};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "latency";

/// The length of the measurement.
const WINDOW: Duration = Duration::from_secs(20);

/// The number of events per second.
const RATE: u32 = 10;

/// Creates students at a low rate and measures the time from each acknowledgment to the first receipt of the event.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let fleet = Fleet::start(context, FleetOptions::default()).await?;
    let receiver = WebhookReceiver::start(&fleet.database.commands, 1, Duration::ZERO).await?;
    let targets = fleet.server_urls();
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: 6, rate: Some(RATE), reads_per_write: 0 },
    )?;
    load.run_for(WINDOW).await;
    let record = load.stop().await;
    check_writes(report, &fleet.database.primary, &[&record]).await?;
    check_events(report, &fleet.database.primary, &receiver, &record).await?;
    let events = receiver.events();
    let received: HashMap<&str, Instant> =
        events.values().map(|receipts| (receipts.email.as_str(), receipts.first_at)).collect();
    let mut measured = Measurement::new(WINDOW);
    for write in &record.writes {
        if let Some(received_at) = received.get(write.email.as_str()) {
            // An event can arrive before its acknowledgment.
            measured.record(received_at.saturating_duration_since(write.acknowledged_at));
        }
    }
    let detail = format!("{} events at {RATE} per s", measured.count());
    let median =
        Figure::measured("commit to receipt, median", measured.median_ms(), "ms").goal("goal: under 20");
    report.add(median.before("263").detail(detail));
    report.add(Figure::measured("commit to receipt, 95th percentile", measured.percentile_ms(95.0), "ms"));
    Ok(())
}
