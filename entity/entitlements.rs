//! Entitlements: the courses that an order gives access to. Times are milliseconds since the epoch.

use sea_orm::Set;
use sea_orm::entity::prelude::*;

use crate::{Connection, InWorkspace, scope, table};

/// The status of an entitlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum StoredEntitlementStatus {
    /// It gives access until it expires.
    Active,
    /// It was revoked.
    Revoked,
    /// It expired.
    Expired,
}

table::declare!(
    /// One entitlement to one course.
    #[sea_orm(table_name = "entitlements")]
    pub struct Model {
        /// The entitlement's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The order.
        pub order_id: Uuid,
        /// The course.
        pub course_id: Uuid,
        /// The enrollment of the student who paid; `None` after the enrollment is deleted.
        pub enrollment_id: Option<Uuid>,
        /// The status.
        pub status: StoredEntitlementStatus,
        /// When it was granted.
        pub granted_at: i64,
        /// When it expires; `None` if it does not.
        pub expires_at: Option<i64>,
        /// When it was revoked.
        pub revoked_at: Option<i64>,
    }
);
scope::workspace_table!(cached);

impl InWorkspace<Entity> {
    /// Returns the entitlements of these orders, sorted by order and grant time.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_orders<C: Connection>(self, conn: &C, orders: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        let mut entitlements = self.with_ids_in(conn, Column::OrderId, orders).await?;
        entitlements.sort_unstable_by_key(|entitlement| {
            (entitlement.order_id, entitlement.granted_at, entitlement.id)
        });
        Ok(entitlements)
    }

    /// Revokes an entitlement at the time `at`. Returns `false` when the workspace has no such entitlement.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn revoke<C: Connection>(self, conn: &C, id: Uuid, at: i64) -> Result<bool, DbErr> {
        let changes = ActiveModel {
            status: Set(StoredEntitlementStatus::Revoked),
            revoked_at: Set(Some(at)),
            ..Default::default()
        };
        self.update(conn, id, changes).await
    }

    /// Returns the entitlements of these enrollments, in no particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_enrollments<C: Connection>(
        self,
        conn: &C,
        enrollments: &[Uuid],
    ) -> Result<Vec<Model>, DbErr> {
        self.with_ids_in(conn, Column::EnrollmentId, enrollments).await
    }

    /// Keeps the entitlements of these orders and enrollments in the cache of the transaction, if it is active. The
    /// transaction must have locked the students to whom they belong.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn remember_of<C: Connection>(
        self,
        conn: &C,
        orders: &[Uuid],
        enrollments: &[Uuid],
    ) -> Result<(), DbErr> {
        let mut rows = self.with_ids_in(conn, Column::OrderId, orders).await?;
        rows.extend(self.with_ids_in(conn, Column::EnrollmentId, enrollments).await?);
        rows.sort_unstable_by_key(|row| row.id);
        rows.dedup_by_key(|row| row.id);
        let orders = orders.iter().map(|id| (Column::OrderId, (*id).into()));
        let enrollments = enrollments.iter().map(|id| (Column::EnrollmentId, (*id).into()));
        self.remember(conn, rows, orders.chain(enrollments).collect());
        Ok(())
    }
}
