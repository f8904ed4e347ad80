//! Integration tests of the server on a real database, mainly through its HTTP interface and its command line.
//!
//! They use SQLite by default. If `TEST_POSTGRES_URL` is set to the URL of a PostgreSQL server, they create their
//! databases there. `cargo xtask test` runs them once on each. Tests with a standby start servers of their own, with the programs in
//! the folder `TEST_POSTGRES_PROGRAMS`.

#![allow(unreachable_pub, reason = "tests share helpers with `pub`, and a test binary exports nothing")]

mod access;
mod activity;
mod analytics;
mod apply;
mod authentication;
mod backup;
mod bodies;
mod browser;
mod cli;
mod conditional;
mod conflicts;
mod connections;
mod connections_flood;
mod contention;
mod courses;
mod coverage;
mod dashboard_courses;
mod dashboard_crawl;
mod dashboard_domain;
mod dashboard_forms;
mod dashboard_keys;
mod dashboard_large;
mod dashboard_logs;
mod dashboard_members;
mod dashboard_orders;
mod dashboard_overview;
mod dashboard_sign_in;
mod dashboard_students;
mod dashboard_times;
mod dashboard_webhooks;
mod dashboard_webhooks_dead;
mod dashboard_webhooks_deliveries;
mod dashboard_workspaces;
mod data_folder;
mod database_file;
mod database_waits;
mod delta_sync;
mod demo;
mod doctor;
mod email_addresses;
mod enrollments;
mod events;
mod failover;
mod idempotency;
mod instructions;
mod limit_shares;
mod limit_stores;
mod limits;
mod mail;
mod mail_server;
mod malformed;
mod master_key;
mod member_races;
mod members;
mod metrics;
mod monitoring;
mod orders;
mod pagination;
mod password_reset;
mod paths;
mod platform;
#[path = "../fleet/ports.rs"]
mod ports;
mod postgres_backup;
mod process;
mod request_log;
mod retention;
mod revenue;
mod rolling_upgrade;
mod server;
mod sign_in_limits;
mod single_records;
mod standby_reads;
mod start_checks;
mod student_list;
mod students;
mod support;
mod systemd;
mod traces;
mod webhooks_cli;
mod webhooks_fairness;
mod webhooks_guide;
mod webhooks_kills;
mod webhooks_management;
mod webhooks_outbound;
mod webhooks_replays;
mod webhooks_retry;
mod webhooks_subscriptions;
mod webhooks_wakes;
mod webhooks_worker;
