//! The demo workspace: a small academy's year, applied as changes like everything else.
//!
//! The times in `demo.ndjson` are fixed. When the demo is applied first, all of them are moved by the same number
//! of whole days, such that the newest lies less than a day ago: so the last thirty days are never empty. That
//! number is kept in the database, so that a later run moves them by the same and finds every change applied.

use anyhow::Context as _;
use entity::server_state;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{Options, Outcome};
use domain::app::App;

/// The key of the demo workspace.
pub const WORKSPACE: &str = "demo";

/// The changes, in the order in which they happened.
const CHANGES: &str = include_str!("demo.ndjson");
/// The name under which the database keeps the number of days.
const SHIFT: &str = "demo_shift_days";
/// Hours of a day.
const DAY: SignedDuration = SignedDuration::from_hours(24);
/// The fields that hold a time, in a change and in its data.
const TIMES: [&str; 3] = ["at", "expires_at", "scheduled_at"];

/// Applies the demo workspace; a second time it finds everything applied.
///
/// # Errors
/// When the database fails.
pub async fn load(app: &App, options: Options<'_>) -> anyhow::Result<Outcome> {
    let days = shift(app).await?;
    let mut text = String::with_capacity(CHANGES.len() + CHANGES.len() / 8);
    for line in CHANGES.lines() {
        text += &moved(line, days)?;
        text.push('\n');
    }
    super::apply(app, text.as_bytes(), options).await
}

/// How many changes there are, for whoever shows progress.
pub fn len() -> usize {
    CHANGES.lines().count()
}

/// By how many days the times are moved: kept, or decided now and kept.
async fn shift(app: &App) -> anyhow::Result<i64> {
    let days = (app.clock.now().duration_since(newest()?).as_hours()).div_euclid(DAY.as_hours());
    let write = app.begin_write().await?;
    server_state::put_if_absent(write.conn(), SHIFT, &days.to_string()).await?;
    let kept = server_state::get(write.conn(), SHIFT).await?;
    write.commit().await?;
    Ok(kept.context("the demo's state is gone")?.parse()?)
}

/// The time of the newest change.
fn newest() -> anyhow::Result<Timestamp> {
    let last: Value = serde_json::from_str(CHANGES.lines().last().unwrap_or_default())?;
    Ok(last["at"].as_str().context("the last change has no time")?.parse()?)
}

/// The line with its times moved.
fn moved(line: &str, days: i64) -> anyhow::Result<String> {
    let mut change: Value = serde_json::from_str(line)?;
    let by = SignedDuration::from_hours(days * DAY.as_hours());
    let mut places: Vec<&mut Value> = Vec::new();
    if let Value::Object(fields) = &mut change {
        for (name, value) in fields {
            match value {
                Value::Object(data) => {
                    places.extend(
                        data.iter_mut().filter(|(name, _)| TIMES.contains(&name.as_str())).map(|(_, v)| v),
                    );
                }
                value if TIMES.contains(&name.as_str()) => places.push(value),
                _ => {}
            }
        }
    }
    for place in places {
        if let Some(text) = place.as_str() {
            let time: Timestamp = text.parse()?;
            *place = Value::String(time.checked_add(by)?.to_string());
        }
    }
    Ok(change.to_string())
}
