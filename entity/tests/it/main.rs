//! The finders against the migrated schema: on SQLite always, on PostgreSQL when `TEST_POSTGRES_URL` names a server
//! on which databases may be made.

mod lists;
mod mails;
mod once;
mod outcomes;
mod plans;
mod queue;
mod requests;
mod rollups;
mod search;
mod support;
mod tables;
mod webhooks;
