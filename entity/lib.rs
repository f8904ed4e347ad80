//! Database tables: one module per table, with the row type and the queries that other crates may use.
//!
//! Tables whose rows belong to a workspace are accessed through `in_workspace(id)`, so a query cannot omit the workspace. Rows
//! hold plain UUIDs and milliseconds since the epoch: this crate has no typed ids, no clock and no business rules. Every
//! function accepts a connection or a transaction.

mod children;
mod filter;
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
pub mod certificates;
pub mod courses;
pub mod enrollments;
pub mod entitlements;
pub mod events;
pub mod idempotency_records;
pub mod lesson_completions;
pub mod lessons;
pub mod live_sessions;
pub mod mails;
pub mod modules;
pub mod order_items;
pub mod orders;
pub mod outbox;
pub mod password_links;
pub mod rate_usage;
pub mod recordings;
pub mod refunds;
pub mod revenue_rollups;
pub mod rollups;
pub mod server_state;
pub mod sessions;
pub mod student_tags;
pub mod students;
pub mod users;
pub mod webhook_attempts;
pub mod webhook_deliveries;
pub mod webhook_fanouts;
pub mod webhook_replays;
pub mod webhook_secrets;
pub mod webhook_subscriptions;
pub mod webhook_topics;
pub mod workspaces;

pub use filter::{Keyset, SpanMs};
pub use scope::{InWorkspace, Keyed, Tenant};
pub use sea_orm::ActiveValue::{self, NotSet, Set};
pub use table::Row;
pub use text::{StringList, StringMap};
