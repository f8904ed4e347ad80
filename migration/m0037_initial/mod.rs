//! The initial schema. Each table is defined in the file of its group.

mod analytics;
mod catalog;
mod keys;
mod mail;
mod operations;
mod orders;
mod people;
mod students;
mod webhooks;

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0037_initial",
    floor: 37,
    // A table follows those that it references.
    tables: &[
        operations::SERVER_STATE,
        operations::PROCESSES,
        operations::API_REQUESTS,
        operations::API_REQUEST_DAYS,
        operations::APPLIED_CHANGES,
        people::WORKSPACES,
        people::USERS,
        people::SESSIONS,
        people::PASSWORD_LINKS,
        people::SIGN_IN_LINKS,
        people::AUDIT_ENTRIES,
        keys::API_KEYS,
        keys::PLATFORM_TOKENS,
        keys::IDEMPOTENCY_RECORDS,
        keys::RATE_USAGE,
        keys::RATE_WINDOWS,
        catalog::COURSES,
        catalog::MODULES,
        catalog::LESSONS,
        catalog::LIVE_SESSIONS,
        catalog::RECORDINGS,
        students::STUDENTS,
        students::STUDENT_TAGS,
        orders::ORDERS,
        orders::ORDER_ITEMS,
        orders::REFUNDS,
        students::ENROLLMENTS,
        students::LESSON_COMPLETIONS,
        students::CERTIFICATES,
        orders::ENTITLEMENTS,
        analytics::REVENUE_ROLLUPS,
        analytics::ACTIVITY_ROLLUPS,
        webhooks::EVENTS,
        webhooks::WEBHOOK_SUBSCRIPTIONS,
        webhooks::WEBHOOK_TOPICS,
        webhooks::WEBHOOK_SECRETS,
        webhooks::WEBHOOK_DELIVERIES,
        webhooks::WEBHOOK_ATTEMPTS,
        webhooks::WEBHOOK_FANOUTS,
        webhooks::WEBHOOK_REPLAYS,
        mail::MAILS,
    ],
    // The marks of the recording clock, in milliseconds since the epoch: the highest horizon of a reader, and the reserve. SQLite
    // stores them in `server_state`.
    postgres_statements: &["CREATE SEQUENCE recording_horizon", "CREATE SEQUENCE recording_reserve"],
    ..Migration::EMPTY
};
