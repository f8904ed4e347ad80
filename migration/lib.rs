//! The steps that bring a database to the schema this binary knows.
//!
//! Owns every `CREATE` and `DROP`: one file a step, in the order below, never changed once released. It never imports
//! the entities, so that an old step keeps meaning what it meant. [`apply`] takes all pending steps in one
//! transaction; [`state`] says, without writing, how the database stands to this binary.

use sea_orm_migration::prelude::*;

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
#[derive(Debug)]
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_workspaces::STEP),
            Box::new(m0002_courses::STEP),
            Box::new(m0003_students::STEP),
            Box::new(m0004_orders::STEP),
            Box::new(m0005_enrollments::STEP),
            Box::new(m0006_live_sessions::STEP),
            Box::new(m0007_limits::STEP),
            Box::new(m0008_events::STEP),
            Box::new(m0009_rollups::STEP),
            Box::new(m0010_deliveries::STEP),
            Box::new(m0011_mail::STEP),
            Box::new(m0012_identity::STEP),
            Box::new(m0013_requests::STEP),
            Box::new(m0014_shards::STEP),
            Box::new(m0015_resumes::STEP),
            Box::new(m0016_quarters::STEP),
            Box::new(m0017_key_quotas::STEP),
            Box::new(m0018_sign_ins::STEP),
            Box::new(m0019_fair_queue::STEP),
            Box::new(m0020_grants::STEP),
        ]
    }
}
