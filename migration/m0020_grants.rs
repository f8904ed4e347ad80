//! The end of granted access, stored while an order pays for the access. It applies again when the order is refunded.
//!
//! An entitlement whose enrollment was revoked later no longer gives access, even when a grant or another order gave access
//! again. This is detected by the time of the enrollment, which only changes then. Older versions left such entitlements
//! active. Their orders keep `updated_at`.

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
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
