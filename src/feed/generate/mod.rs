//! A synthetic workspace of any size, for benches and for looking at a full dashboard.
//!
//! [`Spec`] alone decides what is made: the same one gives the same records, in whichever way they are written.
//! [`write_changes`] writes them as changes, which come in through the domain with all their events;
//! [`into_database`] writes the rows many at a time, without events and applied-change records, at the speed of the
//! disk. Both leave the same records and the same sums.

mod bulk;
mod changes;
mod model;
mod rows;

use jiff::Timestamp;

pub use bulk::into_database;
pub use changes::write_changes;

/// The key of the workspace that is made.
pub const WORKSPACE: &str = "synthetic";

/// What to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Published courses of twelve lessons each.
    pub courses: u32,
    /// Students, created one after the other in the course of the year.
    pub students: u32,
    /// Orders of two courses each (of one, where there is but one), paid evenly over the year.
    pub orders: u32,
    /// Any number: another one gives other names, amounts and refunds.
    pub seed: u64,
    /// The end of the year: nothing happens at or after it. Midnight of the current UTC day is a good choice.
    pub until: Timestamp,
}

/// How much was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Courses.
    pub courses: u64,
    /// Students.
    pub students: u64,
    /// Orders.
    pub orders: u64,
    /// Enrolments: one for each student and course bought.
    pub enrollments: u64,
    /// Refunds.
    pub refunds: u64,
    /// Lessons done.
    pub completions: u64,
    /// Certificates.
    pub certificates: u64,
}

impl Spec {
    /// Refuses what cannot be made.
    ///
    /// # Errors
    /// A sentence with the remedy.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.orders > 0 && (self.courses == 0 || self.students == 0) {
            anyhow::bail!("orders need at least one course and one student; raise --courses and --students");
        }
        if self.until.as_millisecond() < model::SPAN_MS * 2 {
            anyhow::bail!("the year must lie after 1972");
        }
        Ok(())
    }

    /// The same, and refuses a year that has not ended by then: what has not happened yet is not taken in.
    ///
    /// # Errors
    /// A sentence with the remedy.
    pub fn check_by(&self, now: Timestamp) -> anyhow::Result<()> {
        if self.until > now {
            anyhow::bail!("the year must have ended: it is {now:.0}; give an earlier --until");
        }
        self.check()
    }
}
