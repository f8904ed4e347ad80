//! Synthetic workspaces of any size, for benchmarks and for tests of the dashboard with large amounts of data.
//!
//! A [`Spec`] determines all records. [`write_changes`] writes them as changes, which the domain applies with all their
//! events. [`write_to_database`] is faster: it inserts many rows per statement, without events and without records of
//! applied changes. Both create the same records, apart from their ids, and the same sums for analytics.

mod bulk;
mod changes;
mod model;
mod rows;

use jiff::Timestamp;

pub use bulk::write_to_database;
pub use changes::write_changes;

/// The key of the synthetic workspace.
pub const WORKSPACE: &str = "synthetic";

/// The specification of a synthetic workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Number of courses. They are published and have twelve lessons each.
    pub courses: u32,
    /// Number of students, created at equal intervals from the start of the year, none later than their first order.
    pub students: u32,
    /// Number of orders, paid at equal intervals over the year. Each has two courses, or one if the workspace has only
    /// one.
    pub orders: u32,
    /// The seed of the random names, amounts and refunds.
    pub seed: u64,
    /// The end of the year, exclusive. The year has 366 days. The command defaults to midnight at the start of the
    /// current UTC day.
    pub until: Timestamp,
}

/// The number of records created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Courses.
    pub courses: u64,
    /// Students.
    pub students: u64,
    /// Orders.
    pub orders: u64,
    /// Enrollments: one per student and course bought.
    pub enrollments: u64,
    /// Refunds.
    pub refunds: u64,
    /// Completed lessons.
    pub completions: u64,
    /// Certificates.
    pub certificates: u64,
}

impl Spec {
    /// Validates the spec.
    ///
    /// # Errors
    /// Returns an error whose message names the remedy.
    pub fn validate(&self) -> anyhow::Result<()> {
        if self.orders > 0 && (self.courses == 0 || self.students == 0) {
            anyhow::bail!(
                "orders need at least one course and one student; increase --courses and --students"
            );
        }
        if self.until.as_millisecond() < model::YEAR_MS * 2 {
            anyhow::bail!("the year must end after 1971; pass a later --until");
        }
        Ok(())
    }

    /// Validates the spec, and rejects a year that has not ended at `now`, because the import rejects changes in the
    /// future.
    ///
    /// # Errors
    /// Returns an error whose message names the remedy.
    pub fn validate_at(&self, now: Timestamp) -> anyhow::Result<()> {
        if self.until > now {
            anyhow::bail!("the year must end before the current time, {now:.0}; pass an earlier --until");
        }
        self.validate()
    }
}
