//! The steps that bring a database to the schema this binary knows.
//!
//! Owns every `CREATE` and `DROP`: one file a step, in the order below, never changed once released. It never imports
//! the entities, so that an old step keeps meaning what it meant. [`apply`] takes all pending steps in one
//! transaction; [`state`] says, without writing, how the database stands to this binary.

mod m0001_workspaces;
mod m0002_courses;
mod m0003_students;
mod m0004_orders;
mod m0005_enrollments;
mod m0006_live_sessions;
mod m0007_limits;
mod m0008_events;
mod m0009_rollups;
mod m0010_deliveries;
mod m0011_mail;
mod m0012_identity;
mod m0013_requests;
mod m0014_shards;
mod m0015_resumes;
mod m0016_quarters;
mod m0017_key_quotas;
mod m0018_sign_ins;
mod m0019_fair_queue;
mod m0020_grants;
mod state;
mod step;

pub use state::{State, apply, revert, state};

/// The list of steps, oldest first.
const STEPS: &[step::Step] = &[
    m0001_workspaces::STEP,
    m0002_courses::STEP,
    m0003_students::STEP,
    m0004_orders::STEP,
    m0005_enrollments::STEP,
    m0006_live_sessions::STEP,
    m0007_limits::STEP,
    m0008_events::STEP,
    m0009_rollups::STEP,
    m0010_deliveries::STEP,
    m0011_mail::STEP,
    m0012_identity::STEP,
    m0013_requests::STEP,
    m0014_shards::STEP,
    m0015_resumes::STEP,
    m0016_quarters::STEP,
    m0017_key_quotas::STEP,
    m0018_sign_ins::STEP,
    m0019_fair_queue::STEP,
    m0020_grants::STEP,
];
