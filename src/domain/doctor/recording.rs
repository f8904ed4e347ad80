//! The times at which changes were recorded, in whose order clients read them.

use entity::{events, integrity};
use foundation::clock::from_ms;
use foundation::id::{EventId, uuid_ms};
use uuid::Uuid;

use super::{Finding, Report};
use crate::Result;
use crate::app::App;

/// By how much recording times may be ahead of the clock of this machine.
const MAX_LEAD_MS: i64 = 60_000;

/// Compares the latest change of each list, and the latest event, with the recording clock: later ones cannot be read yet, and clients
/// that read them miss the changes of the time before.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails.
pub async fn recording_times(app: &App) -> Result<Report> {
    let conn = app.db.read();
    let mut latest = Vec::new();
    for table in integrity::DELTA_TABLES {
        latest.push((table, String::new(), integrity::last_update(conn, table).await?));
    }
    let event = events::last_id(conn, Uuid::max()).await?;
    let event_id = event.map(|id| EventId::from_uuid(id).to_string()).unwrap_or_default();
    latest.push(("events", event_id, event.map(uuid_ms)));
    // Read last, since servers record changes meanwhile.
    let Some(reserve) = app.db.recording_reserve().await? else {
        return Ok(Report::new("no change was recorded yet"));
    };
    let mut report = Report::new(format!("changes and events until {}", from_ms(reserve)));
    let lead_ms = reserve - app.clock.now_ms();
    if lead_ms > MAX_LEAD_MS {
        report.add(Finding {
            table: String::new(),
            id: String::new(),
            problem: format!("changes are recorded {} s ahead of the clock", lead_ms / 1000),
            remedy: "the clock was wrong or was set back; synchronize the clocks with NTP, then wait until they have caught up"
                .to_owned(),
        });
    }
    for (table, id, at) in latest {
        let Some(at) = at.filter(|at| *at > reserve) else { continue };
        report.add(Finding {
            table: table.to_owned(),
            id,
            problem: format!("the latest change was recorded at {}, after {}", from_ms(at), from_ms(reserve)),
            remedy: "another program wrote it; when this time has passed, clients that read changes or events must read everything \
                     again"
                .to_owned(),
        });
    }
    Ok(report)
}
