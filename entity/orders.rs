//! Orders, each with its receipt and a copy of the customer's data at payment. Times are milliseconds since the epoch.

use std::collections::HashSet;

use sea_orm::entity::prelude::*;
use sea_orm::{Condition, QuerySelect, sea_query::Query};

use crate::{
    Connection, InWorkspace, Keyset, SpanMs, children::Children, order_items, scope, search, statement, table,
};

/// The refund status of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum StoredOrderStatus {
    /// Nothing was refunded.
    Paid,
    /// A part was refunded.
    PartiallyRefunded,
    /// The full amount was refunded.
    Refunded,
}

table::declare!(
    /// One order. Amounts are minor units of its currency.
    #[sea_orm(table_name = "orders")]
    pub struct Model {
        /// The order's id.
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        /// The workspace.
        pub workspace_id: Uuid,
        /// The key assigned by the platform whose changes are imported, if any. Unique in the workspace.
        #[sea_orm(column_type = "Text", nullable)]
        pub key: Option<String>,
        /// The number shown to people, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub number: String,
        /// The student who paid; `None` after the student is deleted.
        pub student_id: Option<Uuid>,
        /// The customer's email address at payment.
        #[sea_orm(column_type = "Text")]
        pub customer_email: String,
        /// The customer's name at payment.
        #[sea_orm(column_type = "Text", nullable)]
        pub customer_name: Option<String>,
        /// The refund status.
        pub status: StoredOrderStatus,
        /// The currency, ISO 4217.
        #[sea_orm(column_type = "Text")]
        pub currency: String,
        /// The sum of the items.
        pub subtotal_amount: i64,
        /// The discount.
        pub discount_amount: i64,
        /// The tax.
        pub tax_amount: i64,
        /// The amount paid: the subtotal minus the discount plus the tax.
        pub total_amount: i64,
        /// The amount refunded, summed over all refunds.
        pub refunded_amount: i64,
        /// The receipt number.
        #[sea_orm(column_type = "Text")]
        pub receipt_number: String,
        /// The URL of the receipt.
        #[sea_orm(column_type = "Text", nullable)]
        pub receipt_url: Option<String>,
        /// When the receipt was issued.
        pub receipt_issued_at: i64,
        /// When it was paid.
        pub paid_at: i64,
        /// When it was created, which is when it was paid, according to the imported change.
        pub created_at: i64,
        /// When the order, its refunds or entitlements were last changed, by the clock of the server. Unlike
        /// `created_at`, never the time of an imported change.
        pub updated_at: i64,
    }
);
scope::workspace_table!(keyed, cached);

/// Filters orders. All specified conditions must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderRowFilter {
    /// Orders of this student.
    pub student_id: Option<Uuid>,
    /// Orders with an item for this course.
    pub course_id: Option<Uuid>,
    /// Orders with this status.
    pub status: Option<StoredOrderStatus>,
    /// Orders in this currency.
    pub currency: Option<String>,
    /// The order with this number.
    pub number: Option<String>,
    /// Orders whose number, customer email or customer name contains this string. If an id is set, the order with
    /// this id instead.
    pub search: Option<(String, Option<Uuid>)>,
    /// Orders paid in this time span.
    pub paid: SpanMs,
    /// Orders created in this time span.
    pub created: SpanMs,
    /// Orders last changed in this time span.
    pub updated: SpanMs,
}

impl OrderRowFilter {
    /// Returns the conditions on the columns of the order. `keyset` only decides which bounds of the time spans may use
    /// an index, see [`Keyset::span_condition`].
    fn row_condition(&self, keyset: &Keyset<Column>) -> Condition {
        Condition::all()
            .add_option(self.student_id.map(|student| Column::StudentId.eq(student)))
            .add_option(self.status.map(|status| Column::Status.eq(status)))
            .add_option(self.currency.as_deref().map(|currency| Column::Currency.eq(currency)))
            .add_option(self.number.as_deref().map(|number| Column::Number.eq(number)))
            .add_option(self.search.as_ref().map(|(text, id)| match id {
                Some(id) => Condition::all().add(Column::Id.eq(*id)),
                None => {
                    search::any_contains([Column::Number, Column::CustomerEmail, Column::CustomerName], text)
                }
            }))
            .add(self.time_condition(keyset))
            .add(keyset.span_condition(Column::UpdatedAt, self.updated))
    }

    /// Returns the condition on the creation and payment times. An order is created when it is paid, so the two times
    /// are equal, so the filters on both are combined and applied to the column that orders the list.
    fn time_condition(&self, keyset: &Keyset<Column>) -> Condition {
        let column = if matches!(keyset.column, Column::PaidAt) { Column::PaidAt } else { Column::CreatedAt };
        keyset.span_condition(column, self.paid.intersection(self.created))
    }

    /// Returns the items of which an order must have one; `None` when the filter does not refer to a course.
    fn items(&self, workspace: Uuid) -> Option<Children> {
        let rows = Query::select()
            .from(order_items::Entity)
            .and_where(order_items::Column::WorkspaceId.eq(workspace))
            .and_where(order_items::Column::CourseId.eq(self.course_id?))
            .take();
        let parent_id = order_items::Column::OrderId.as_column_ref().into();
        Some(Children { rows, time_condition: None, parent_id })
    }
}

impl InWorkspace<Entity> {
    /// Returns the order with this number.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn by_number<C: Connection>(self, conn: &C, number: &str) -> Result<Option<Model>, DbErr> {
        let cached = self.cached(conn, |rows| rows.one_with(self.workspace(), Column::Number, number));
        if let Some(row) = cached {
            return Ok(row);
        }
        statement::one(conn, self.select().filter(Column::Number.eq(number))).await
    }

    /// Returns the ids of the students who paid the orders with these ids or keys, in no particular order. Omits
    /// deleted students. A student who paid several of the orders occurs several times.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn students_of<C: Connection>(
        self,
        conn: &C,
        ids: &[Uuid],
        keys: &[&str],
    ) -> Result<Vec<Uuid>, DbErr> {
        let ids = self.ids_by_ids_or_keys(conn, ids, keys).await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.select_workspace_unindexed().filter(Column::Id.is_in(statement::padded(&ids)));
        let rows = rows.filter(Column::StudentId.is_not_null());
        rows.select_only().column(Column::StudentId).into_tuple().all(conn).await
    }

    /// Returns one page of orders, without items, refunds and entitlements.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn page<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &OrderRowFilter,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let select = self
            .select_having_children(conn, [filter.items(self.workspace())])
            .await?
            .filter(filter.row_condition(&keyset));
        let update_time = Column::UpdatedAt;
        statement::all(conn, keyset.page(select, update_time)).await
    }

    /// Returns the payment time and id of the order in row `row_number` of the list, counted from 1 at its start or
    /// after `keyset.after`. Returns `None` when no other order follows that one.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn position_at<C: ConnectionTrait>(
        self,
        conn: &C,
        paid: SpanMs,
        keyset: Keyset<Column>,
        row_number: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = self.select().filter(keyset.span_condition(Column::PaidAt, paid));
        keyset.position_at(conn, rows, row_number).await
    }

    /// Records that the data shown with these orders changed: sets their `updated_at` to `at`, unless it is already
    /// later.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn touch<C: Connection>(self, conn: &C, ids: &[Uuid], at: i64) -> Result<(), DbErr> {
        scope::touch(self, conn, Column::UpdatedAt, ids, at).await
    }

    /// Remembers in the cache of the transaction, if it is active, which of these numbers no order has.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn remember_unused_numbers<C: Connection>(
        self,
        conn: &C,
        numbers: &[&str],
    ) -> Result<(), DbErr> {
        let used = self.ids_with_texts(conn, Column::Number, numbers).await?;
        let used: HashSet<&str> = used.iter().map(|(_, number)| number.as_str()).collect();
        let unused = numbers.iter().filter(|number| !used.contains(*number));
        self.remember(conn, Vec::new(), unused.map(|number| (Column::Number, (*number).into())).collect());
        Ok(())
    }

    /// Returns a student's orders, in no particular order.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn of_student<C: ConnectionTrait>(self, conn: &C, student: Uuid) -> Result<Vec<Model>, DbErr> {
        // Uses the index on the student. Only the condition on the workspace uses no index.
        statement::all(conn, self.select_workspace_unindexed().filter(Column::StudentId.eq(student))).await
    }

    /// Returns the orders paid in a time span, in no particular order. If `course` is set, returns only those with an
    /// item for this course.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn paid_in<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Option<Uuid>,
        span: SpanMs,
    ) -> Result<Vec<Model>, DbErr> {
        let filter = OrderRowFilter { course_id: course, ..OrderRowFilter::default() };
        let has_course = filter.items(self.workspace()).map(|items| items.exist_for::<Entity>());
        let paid = span.contains(Column::PaidAt).add_option(has_course);
        statement::all(conn, self.select().filter(paid)).await
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::SqliteQueryBuilder;

    use super::*;

    #[test]
    fn payment_and_creation_spans_restrict_the_column_that_orders_the_list() {
        let filter = OrderRowFilter {
            paid: SpanMs::between(7, 20),
            created: SpanMs::between(5, 9),
            ..OrderRowFilter::default()
        };
        let sql_ordered_by = |column| {
            let keyset =
                Keyset { column, descending: true, after: None, to: None, limit: 1, updated_before: None };
            Query::select().cond_where(filter.row_condition(&keyset)).to_string(SqliteQueryBuilder)
        };
        for (column, name) in [(Column::CreatedAt, "created_at"), (Column::PaidAt, "paid_at")] {
            let sql = sql_ordered_by(column);
            // The bounds must be able to use an index. A condition that uses none is written as `(condition) IS TRUE`,
            // see `statement::unindexed`.
            let ends = [format!(r#""orders"."{name}" < 9"#), format!(r#""orders"."{name}" >= 7"#)];
            assert!(ends.iter().all(|end| sql.contains(end)) && !sql.contains("IS TRUE"), "{sql}");
        }
    }
}
