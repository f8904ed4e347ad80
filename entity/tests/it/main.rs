//! Tests the queries on the migrated schema: always on SQLite, and on PostgreSQL if `TEST_POSTGRES_URL` names a server on which
//! databases can be created.

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
