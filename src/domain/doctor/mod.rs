//! Checks that the data is consistent. Changes nothing, and tolerates running servers, see [`entity::integrity`].

mod events;
mod money;
mod recording;
mod rows;

use foundation::secret::MasterKeys;

use crate::app::App;
use crate::master_key::{EncryptedValues, KeyState};
use crate::{Result, master_key};

pub use events::events;
pub use money::{orders, revenue};
pub use recording::recording_times;
pub use rows::{orphans, structure};

/// Maximum number of findings that a report lists.
const MAX_LISTED: usize = 20;
/// The largest tolerated difference between the clocks of this machine and of the database.
const MAX_SKEW_MS: i64 = 5_000;

/// A contradiction or a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The table; empty if the problem is not in a table.
    pub table: String,
    /// The id of the row, or what else identifies it.
    pub id: String,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What was checked, with numbers.
    pub summary: String,
    /// The first findings.
    pub findings: Vec<Finding>,
    /// The number of further findings.
    pub more: u64,
}

impl Report {
    /// Creates a report without findings.
    pub fn new(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }

    /// Adds a finding.
    pub fn add(&mut self, finding: Finding) {
        match self.findings.len() < MAX_LISTED {
            true => self.findings.push(finding),
            false => self.more += 1,
        }
    }
}

/// Compares the clock of this machine with that of PostgreSQL.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when the query fails.
pub async fn clock(app: &App) -> Result<Report> {
    let Some(skew) = app.db.clock_skew_ms(&app.clock).await? else {
        return Ok(Report::new("SQLite uses the clock of this machine"));
    };
    let direction = if skew < 0 { "behind" } else { "ahead of" };
    let mut report =
        Report::new(format!("the clock of this machine is {} ms {direction} that of PostgreSQL", skew.abs()));
    if skew.abs() > MAX_SKEW_MS {
        report.add(Finding {
            table: String::new(),
            id: String::new(),
            problem: report.summary.clone(),
            remedy: "synchronize the clocks of both machines with NTP".to_owned(),
        });
    }
    Ok(report)
}

/// Decrypts every stored secret. While the master key is rotated, values that are not encrypted with the first key are expected.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails.
pub async fn secrets(app: &App, keys: &MasterKeys) -> Result<Report> {
    let before = KeyState::read(app.db.read()).await?;
    let EncryptedValues { count, with_other_keys, unreadable } =
        master_key::encrypted_values(app, keys).await?;
    let after = KeyState::read(app.db.read()).await?;
    let mut report = Report::new(match with_other_keys {
        0 => format!("{count} encrypted values"),
        others => format!("{count} encrypted values, {others} of them with another key than the first one"),
    });
    let is_rotated =
        before.next.is_none() && after.next.is_none() && after.current == Some(keys.fingerprint());
    if with_other_keys > 0 && is_rotated {
        report.add(Finding {
            table: String::new(),
            id: String::new(),
            problem: format!("{with_other_keys} values are not encrypted with the current key"),
            remedy: "run `creator-api master-key rotate` before you remove the other keys".to_owned(),
        });
    }
    for value in unreadable {
        report.add(Finding {
            table: value.table.to_owned(),
            id: value.id.to_string(),
            problem: value.problem,
            remedy: format!(
                "add the key that it was encrypted with, or replace the secret with `{}`",
                value.command
            ),
        });
    }
    Ok(report)
}
