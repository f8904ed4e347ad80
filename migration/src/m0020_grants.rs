//! Until when grants give access to what an order pays for: this is what remains when the order is refunded.
//!
//! An entitlement whose enrollment was revoked no longer gives access. Older versions left it active.

use crate::step::{DataStep, Step};

pub(crate) const STEP: DataStep = DataStep {
    step: Step {
        name: "m0020_grants",
        added: &[("enrollments", "granted_until BIGINT")],
        tables: &[],
        indexes: &[],
    },
    statements: &["UPDATE entitlements SET status = 'revoked', revoked_at = (
             SELECT coalesce(enrollments.revoked_at, entitlements.granted_at) FROM enrollments
             WHERE enrollments.id = entitlements.enrollment_id)
         WHERE status = 'active' AND enrollment_id IN (SELECT id FROM enrollments WHERE status = 'revoked')"],
};
