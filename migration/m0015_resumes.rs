//! When a held delivery is due again at the earliest: a retry that waits keeps its wait while its subscription is paused.

use crate::step::Step;

pub(crate) const STEP: Step = Step {
    name: "m0015_resumes",
    added: &[("webhook_deliveries", "resumes_at BIGINT")],
    tables: &[],
    indexes: &[],
    statements: &[],
};
