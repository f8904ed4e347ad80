//! Domain operations, with one module per noun.
//!
//! Reads take `&App`, or the open transaction that they read in. Writes take a `Write` that the caller opened, so that
//! a record, its event, its rollups and the caller's own rows (an idempotency record, an applied change) commit in one
//! transaction. A function that writes but takes only `&App`, such as [`users::set_password`] or
//! [`webhooks::replays::advance`], commits transactions of its own. No module here depends on the web framework or on
//! the JSON form of a record.
//!
//! The parameter `at` of a write is when the change happened: now, or the time that a change of the change feed states.
//! The times of database rows, and values whose name ends in `_ms`, are milliseconds since the epoch unless stated
//! otherwise.

#[rustfmt::skip]
mod contract;
#[rustfmt::skip]
mod developer_contract;
#[rustfmt::skip]
mod platform_contract;

pub mod app;
pub mod outbox;

pub mod error;
mod id_or_key;
pub mod page;
pub mod retry;
pub mod roles;
pub mod rollups;
pub mod scope;
pub mod text_enum;

pub mod analytics;
pub mod attention;
pub mod audit;
pub mod candidate;
pub mod certificates;
pub mod courses;
pub mod deprecations;
pub mod doctor;
pub mod email;
pub mod enrollments;
pub mod event_feed;
pub mod idempotency;
pub mod keys;
pub mod live_sessions;
pub mod master_key;
pub mod orders;
mod passwords;
pub mod people;
pub mod platform_tokens;
pub mod processes;
pub mod recordings;
pub mod requests;
pub mod sandbox;
pub mod sessions;
pub mod students;
pub mod token;
pub mod users;
pub mod webhooks;
pub mod workspaces;

pub mod locks;

mod bearer_secret;
mod field_errors;
mod records;
mod write_outcome;

pub use error::{Error, FieldError, Result};
pub use id_or_key::{FieldUpdate, IdOrKey};
pub use write_outcome::WriteOutcome;

#[cfg(test)]
mod tests {
    use entity::students::Entity;
    use sea_orm::EntityTrait as _;

    /// Fails under Clippy when one of these methods is missing from `.clippy.toml`.
    #[test]
    fn clippy_rejects_queries_without_a_workspace() {
        #[expect(clippy::disallowed_methods)]
        let _ = Entity::find();
        #[expect(clippy::disallowed_methods)]
        let _ = Entity::find_by_id(uuid::Uuid::nil());
        #[expect(clippy::disallowed_methods)]
        let _ = Entity::update_many();
        #[expect(clippy::disallowed_methods)]
        let _ = Entity::delete_many();
        #[expect(clippy::disallowed_methods)]
        let _ = Entity::delete_by_id(uuid::Uuid::nil());
    }
}
