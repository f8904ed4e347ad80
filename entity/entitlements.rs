//! What an order entitles to.

use sea_orm::Set;
use sea_orm::entity::prelude::*;

use crate::{InWorkspace, scope, table};

/// Whether an entitlement holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Status {
    /// It holds, until it expires.
    Active,
    /// It was taken back.
    Revoked,
    /// It ran out.
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
        /// The enrolment that came of it; none once that is gone.
        pub enrollment_id: Option<Uuid>,
        /// Whether it holds.
        pub status: Status,
        /// When it was given.
        pub granted_at: i64,
        /// When it ends by itself.
        pub expires_at: Option<i64>,
        /// When it was taken back.
        pub revoked_at: Option<i64>,
    }
);
scope::tenant!();

impl InWorkspace<Entity> {
    /// The entitlements of these orders, by order and time.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_orders<C: ConnectionTrait>(self, conn: &C, orders: &[Uuid]) -> Result<Vec<Model>, DbErr> {
        let mut entitlements = self.among(conn, Column::OrderId, orders).await?;
        entitlements.sort_unstable_by_key(|one| (one.order_id, one.granted_at, one.id));
        Ok(entitlements)
    }

    /// Revokes an entitlement.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn revoke<C: ConnectionTrait>(self, conn: &C, id: Uuid, at: i64) -> Result<bool, DbErr> {
        let changes =
            ActiveModel { status: Set(Status::Revoked), revoked_at: Set(Some(at)), ..Default::default() };
        self.update(conn, id, changes).await
    }

    /// The entitlements behind these enrolments, in no particular order.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_enrollments<C: ConnectionTrait>(
        self,
        conn: &C,
        enrollments: &[Uuid],
    ) -> Result<Vec<Model>, DbErr> {
        self.among(conn, Column::EnrollmentId, enrollments).await
    }
}
