//! What the platform knows and may do, one file a noun.
//!
//! Reads take `&App`; writes take the `&mut Write` their caller opened, so that a change, its event, its
//! rollups and what the caller keeps beside it (an idempotency record, an applied change) commit together.
//! Nothing here names HTTP, poem or a JSON text.

pub mod app;
pub mod outbox;

pub mod error;
mod named;
pub mod page;
pub mod retry;
pub mod rollups;
pub mod scope;
pub mod word;

pub mod analytics;
pub mod attention;
pub mod audit;
pub mod certificates;
pub mod courses;
pub mod enrollments;
pub mod idempotency;
pub mod keys;
pub mod live_sessions;
pub mod orders;
mod passwords;
pub mod recordings;
pub mod requests;
pub mod sessions;
pub mod students;
pub mod token;
pub mod users;
pub mod webhooks;
pub mod workspaces;

pub mod locks;

mod changed;
mod faults;
mod find;

pub use changed::Changed;
pub use error::{Error, Fault, Result};
pub use named::{Given, Named};

#[cfg(test)]
mod tests {
    use entity::students::Entity;
    use sea_orm::EntityTrait as _;

    /// Fails under Clippy when `.clippy.toml` no longer lists one of them.
    #[test]
    fn clippy_refuses_queries_without_a_workspace() {
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
