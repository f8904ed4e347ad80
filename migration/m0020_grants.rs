//! Until when grants give access to what an order pays for: this is what remains when the order is refunded.
//!
//! An entitlement whose enrollment was revoked later no longer gives access, even when a grant or another order gave access
//! again: the time of the enrollment tells, which only that moves. Older versions left such entitlements active. Their orders
//! keep `updated_at`.

use crate::step::Step;

pub(crate) const STEP: Step = Step {
    name: "m0020_grants",
    added: &[("enrollments", "granted_until BIGINT")],
    tables: &[],
    indexes: &[],
    statements: &["UPDATE entitlements SET status = 'revoked', revoked_at = (
             SELECT coalesce(enrollments.revoked_at, entitlements.granted_at) FROM enrollments
             WHERE enrollments.id = entitlements.enrollment_id)
         WHERE status = 'active' AND enrollment_id IN (
             SELECT id FROM enrollments
             WHERE enrollments.status = 'revoked' OR enrollments.enrolled_at > entitlements.granted_at)"],
};
