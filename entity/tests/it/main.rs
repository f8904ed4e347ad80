//! Tests the queries on the migrated schema: always on SQLite, and on PostgreSQL if `TEST_POSTGRES_URL` is the URL of a
//! server on which databases can be created.
//!
//! Times are milliseconds since the epoch. Most of them are small numbers, which are easy to compare.

mod integrity;
mod lists;
mod mails;
mod once;
mod outcomes;
mod plans;
mod queue;
mod rates;
mod requests;
mod rollups;
mod search;
mod support;
mod tables;
mod webhooks;
