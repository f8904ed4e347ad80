//! Database tables: one module per table, with the row type and the queries that other crates may use.
//!
//! Queries within one workspace start with a table's `in_workspace(id)` or take the workspace as a parameter. The other
//! functions are not restricted to a workspace: they serve workers, sign-in, maintenance and the operator's commands.
//!
//! Ids are plain UUIDs, and times are milliseconds since the epoch. This crate has no business rules, and its callers
//! pass the current time; only [`processes`] and [`rate_windows`] can use the clock of the database. Every query
//! accepts a connection or a transaction.

mod children;
mod daily_uses;
mod filter;
mod keyed;
mod postgres_json_rows;
mod scope;
mod search;
mod sqlite_json_rows;
mod statement;
mod table;
mod text;

pub mod activity_rollups;
pub mod api_keys;
pub mod api_request_days;
pub mod api_requests;
pub mod applied_changes;
pub mod audit_entries;
pub mod candidate_findings;
pub mod candidate_requests;
pub mod certificates;
pub mod courses;
pub mod deprecated_uses;
pub mod deprecation_notices;
pub mod enrollments;
pub mod entitlements;
pub mod event_feed;
pub mod events;
pub mod idempotency_records;
pub mod integrity;
pub mod key_notices;
pub mod lesson_completions;
pub mod lessons;
pub mod live_sessions;
pub mod mails;
pub mod modules;
pub mod old_key_secrets;
pub mod order_items;
pub mod orders;
pub mod outbox;
pub mod password_links;
pub mod people;
pub mod platform_tokens;
pub mod processes;
pub mod rate_usage;
pub mod rate_windows;
pub mod recordings;
pub mod recovery_codes;
pub mod refunds;
pub mod revenue_rollups;
pub mod rollups;
pub mod row_cache;
pub mod server_state;
pub mod sessions;
pub mod sign_in_links;
pub mod student_tags;
pub mod students;
pub mod users;
pub mod webhook_attempts;
pub mod webhook_deliveries;
pub mod webhook_fanouts;
pub mod webhook_keys;
pub mod webhook_rates;
pub mod webhook_replays;
pub mod webhook_secrets;
pub mod webhook_subscriptions;
pub mod webhook_topics;
pub mod workspace_rows;
pub mod workspaces;

pub use filter::{Keyset, SpanMs};
pub use row_cache::Connection;
pub use scope::{InWorkspace, Keyed, WorkspaceTable};
pub use sea_orm::ActiveValue::{self, NotSet, Set};
pub use table::Row;
pub use text::{StringList, StringMap};
