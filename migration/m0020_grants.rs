//! Adds `granted_until`: when access that was granted without an order ends. It is set only while an order pays for the
//! access; this end applies again when the order is refunded. `i64::MAX` means that the access does not end.
//!
//! Also revokes entitlements that earlier versions left active. An entitlement (a course that an order gives access to)
//! ends when its enrollment is revoked, even if a grant or another order gives access again. In this case, the
//! enrollment's `enrolled_at` is later than the entitlement's `granted_at`. The orders of these entitlements keep their
//! `updated_at`.

use crate::definition::{Migration, Phase};

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0020_grants",
    floor: 0,
    phase: Phase::Expand,
    added_columns: &[("enrollments", "granted_until BIGINT")],
    tables: &[],
    indexes: &[],
    statements: &["UPDATE entitlements SET status = 'revoked', revoked_at = (
             SELECT coalesce(enrollments.revoked_at, entitlements.granted_at) FROM enrollments
             WHERE enrollments.id = entitlements.enrollment_id)
         WHERE status = 'active' AND enrollment_id IN (
             SELECT id FROM enrollments
             WHERE enrollments.status = 'revoked' OR enrollments.enrolled_at > entitlements.granted_at)"],
    ..Migration::EMPTY
};
