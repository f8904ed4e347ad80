//! The stories of the server, told through its real HTTP interface on a real database.
//!
//! SQLite unless `TEST_POSTGRES_URL` names a PostgreSQL server on which databases may be made and dropped;
//! `cargo xtask test` runs the binary once on each.

#![allow(unreachable_pub, reason = "a test binary has no outside")]

mod authentication;
mod delta_sync;
mod enrollments;
mod idempotency;
mod limits;
mod pagination;
mod support;
