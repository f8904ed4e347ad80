//! The tables: one file each, with the row's type and the finders that domain may use.
//!
//! Whatever belongs to a workspace is reached through `in_workspace(id)`, so that a query which forgets the
//! workspace cannot be written. Rows carry plain UUIDs and milliseconds since the epoch; nothing here knows typed
//! ids, a clock, or a rule of the product. Every function takes a connection or a transaction alike.

mod children;
mod filter;
mod gathered;
mod scope;
mod search;
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

pub use filter::{Keyset, Span};
pub use scope::{InWorkspace, Keyed, Tenant};
pub use sea_orm::ActiveValue::{self, NotSet, Set};
pub use table::Row;
pub use text::{StringList, StringMap};
