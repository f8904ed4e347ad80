//! Synthetic workspaces of any size, for benchmarks and for trying the dashboard with much data.
//!
//! A [`Spec`] determines all records: the same spec creates the same records, however they are written. [`write_changes`]
//! writes them as changes, which the domain applies with all their events. [`write_to_database`] inserts many rows per
//! statement, without events and without records of applied changes, as fast as the disk allows. Both create the same records
//! and the same sums.

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
    /// Number of students, created evenly over the year.
    pub students: u32,
    /// Number of orders, paid evenly over the year. Each has two courses, or one if there is only one.
    pub orders: u32,
    /// The seed of all names, amounts and refunds.
    pub seed: u64,
    /// The end of the year, exclusive. Midnight of the current UTC day is a good value.
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
    /// Returns a message with the remedy.
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

    /// Validates the spec, and rejects a year that has not ended at `now`, because changes in the future are rejected.
    ///
    /// # Errors
    /// Returns a message with the remedy.
    pub fn validate_at(&self, now: Timestamp) -> anyhow::Result<()> {
        if self.until > now {
            anyhow::bail!("the year must end before the current time, {now:.0}; pass an earlier --until");
        }
        self.validate()
    }
}
