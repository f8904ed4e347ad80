//! Integration tests of the server through its HTTP interface, on a real database.
//!
//! They use SQLite unless `TEST_POSTGRES_URL` names a PostgreSQL server on which databases can be created and dropped. `cargo
//! xtask test` runs the binary once on each.

#![allow(unreachable_pub, reason = "tests share helpers with `pub`, and a test binary exports nothing")]

mod access;
mod activity;
mod analytics;
mod apply;
mod authentication;
mod bodies;
mod browser;
mod cli;
mod conditional;
mod conflicts;
mod conformance;
mod connections;
mod connections_flood;
mod contention;
mod courses;
mod coverage;
mod dashboard;
mod dashboard_courses;
mod dashboard_crawl;
mod dashboard_forms;
mod dashboard_keys;
mod dashboard_large;
mod dashboard_logs;
mod dashboard_orders;
mod dashboard_overview;
mod dashboard_people;
mod dashboard_students;
mod dashboard_webhooks;
mod dashboard_webhooks_dead;
mod dashboard_webhooks_deliveries;
mod dashboard_workspaces;
mod delta_sync;
mod enrollments;
mod events;
mod idempotency;
mod limits;
mod machine;
mod mail;
mod mail_server;
mod malformed;
mod masks;
mod orders;
mod outage;
mod overview;
mod pagination;
mod paths;
mod people;
mod people_races;
mod process;
mod request_log;
mod revenue;
mod server;
mod student_list;
mod students;
mod support;
mod webhooks_cli;
mod webhooks_fairness;
mod webhooks_guide;
mod webhooks_kills;
mod webhooks_outbound;
mod webhooks_owner;
mod webhooks_replays;
mod webhooks_retry;
mod webhooks_subscriptions;
mod webhooks_worker;
