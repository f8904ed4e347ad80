//! When each person of a workspace last signed in, read from the audit log.

use crate::step::Step;

pub(crate) const STEP: Step = Step {
    name: "m0018_sign_ins",
    added: &[],
    tables: &[],
    indexes: &[
        "CREATE INDEX ix_audit_entries_action ON audit_entries (workspace_id, action, user_id, created_at)",
    ],
    statements: &[],
};
