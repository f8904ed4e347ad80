//! The earliest time at which a held delivery is due again: a retry keeps its delay while its subscription is paused.

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0015_resumes",
    added: &[("webhook_deliveries", "resumes_at BIGINT")],
    tables: &[],
    indexes: &[],
    statements: &[],
};
