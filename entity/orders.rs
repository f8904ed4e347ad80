//! Orders, each with its receipt and a snapshot of its customer.

use sea_orm::entity::prelude::*;
use sea_orm::{Condition, QuerySelect, sea_query::Query};

use crate::{InWorkspace, Keyset, Span, children::Children, order_items, scope, search, statement, table};

/// How much of an order was paid back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
pub enum Status {
    /// Nothing.
    Paid,
    /// Some of it.
    PartiallyRefunded,
    /// All of it.
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
        /// The platform's own name for it, unique in the workspace.
        #[sea_orm(column_type = "Text", nullable)]
        pub key: Option<String>,
        /// The number people see, unique in the workspace.
        #[sea_orm(column_type = "Text")]
        pub number: String,
        /// Who bought; none once that student is deleted.
        pub student_id: Option<Uuid>,
        /// The customer's address at payment.
        #[sea_orm(column_type = "Text")]
        pub customer_email: String,
        /// The customer's name at payment.
        #[sea_orm(column_type = "Text", nullable)]
        pub customer_name: Option<String>,
        /// How much was paid back.
        pub status: Status,
        /// ISO 4217.
        #[sea_orm(column_type = "Text")]
        pub currency: String,
        /// The items' sum.
        pub subtotal_amount: i64,
        /// What was taken off.
        pub discount_amount: i64,
        /// What was put on for tax.
        pub tax_amount: i64,
        /// What was paid.
        pub total_amount: i64,
        /// What was paid back, all refunds together.
        pub refunded_amount: i64,
        /// The receipt's number.
        #[sea_orm(column_type = "Text")]
        pub receipt_number: String,
        /// Where the receipt can be read.
        #[sea_orm(column_type = "Text", nullable)]
        pub receipt_url: Option<String>,
        /// When the receipt was made out.
        pub receipt_issued_at: i64,
        /// When it was paid.
        pub paid_at: i64,
        /// When it was made: when it was paid.
        pub created_at: i64,
        /// When the server last recorded a change of it, its refunds or entitlements.
        pub updated_at: i64,
    }
);
scope::tenant!(keyed);

/// Which orders a list holds. Everything given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Orders of this student.
    pub student_id: Option<Uuid>,
    /// Orders with an item of this course.
    pub course_id: Option<Uuid>,
    /// Orders in this state.
    pub status: Option<Status>,
    /// Orders in this currency.
    pub currency: Option<String>,
    /// The order with this number.
    pub number: Option<String>,
    /// Orders with this text in their number or their customer's address or name; with an id, the order with it.
    pub search: Option<(String, Option<Uuid>)>,
    /// Orders paid in this span.
    pub paid: Span,
    /// Orders made in this span.
    pub created: Span,
    /// Orders changed in this span.
    pub updated: Span,
}

impl OrderFilter {
    /// What the order's own row tells.
    fn own(&self, keyset: &Keyset<Column>) -> Condition {
        Condition::all()
            .add_option(self.student_id.map(|student| Column::StudentId.eq(student)))
            .add_option(self.status.map(|status| Column::Status.eq(status)))
            .add_option(self.currency.as_deref().map(|currency| Column::Currency.eq(currency)))
            .add_option(self.number.as_deref().map(|number| Column::Number.eq(number)))
            .add_option(self.search.as_ref().map(|(text, id)| match id {
                Some(id) => Condition::all().add(Column::Id.eq(*id)),
                None => search::anywhere([Column::Number, Column::CustomerEmail, Column::CustomerName], text),
            }))
            .add(self.made(keyset))
            .add(keyset.within(Column::UpdatedAt, self.updated))
    }

    /// When it was made. An order is made by being paid: its two times are one, and both spans are looked for in the column by
    /// which the list is sorted, where that is one of the two.
    fn made(&self, keyset: &Keyset<Column>) -> Condition {
        let column = if matches!(keyset.column, Column::PaidAt) { Column::PaidAt } else { Column::CreatedAt };
        keyset.within(column, self.paid.and(self.created))
    }

    /// The items asked for, by order, if any are.
    fn items(&self, workspace: Uuid) -> Option<Children> {
        let rows = Query::select()
            .from(order_items::Entity)
            .and_where(order_items::Column::WorkspaceId.eq(workspace))
            .and_where(order_items::Column::CourseId.eq(self.course_id?))
            .take();
        let parent = order_items::Column::OrderId.as_column_ref().into();
        Some(Children { rows, also: None, parent })
    }
}

impl InWorkspace<Entity> {
    /// The order with this number.
    ///
    /// # Errors
    /// When the database does.
    pub async fn by_number<C: ConnectionTrait>(self, conn: &C, number: &str) -> Result<Option<Model>, DbErr> {
        statement::one(conn, self.select().filter(Column::Number.eq(number))).await
    }

    /// The ids of the students who bought the orders with these ids or keys.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn students_of<C: ConnectionTrait>(
        self,
        conn: &C,
        ids: &[Uuid],
        keys: &[&str],
    ) -> Result<Vec<Uuid>, DbErr> {
        if ids.is_empty() && keys.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.named(ids, keys).filter(Column::StudentId.is_not_null());
        rows.select_only().column(Column::StudentId).into_tuple().all(conn).await
    }

    /// One page of orders, without what hangs on them.
    ///
    /// # Errors
    /// When the database does.
    pub async fn page<C: ConnectionTrait>(
        self,
        conn: &C,
        filter: &OrderFilter,
        keyset: Keyset<Column>,
    ) -> Result<Vec<Model>, DbErr> {
        let select =
            self.with_children(conn, [filter.items(self.workspace())]).await?.filter(filter.own(&keyset));
        statement::all(conn, keyset.page(select, Column::UpdatedAt)).await
    }

    /// When the order was paid that stands so many places down the list, and its id; none where no other follows it.
    ///
    /// # Errors
    /// When the database does.
    pub async fn reach<C: ConnectionTrait>(
        self,
        conn: &C,
        paid: Span,
        keyset: Keyset<Column>,
        many: u64,
    ) -> Result<Option<(i64, Uuid)>, DbErr> {
        let rows = self.select().filter(keyset.within(Column::PaidAt, paid));
        keyset.reach(conn, rows, many).await
    }

    /// Moves the orders' `updated_at` to the recording time, for a change of what is shown with them.
    ///
    /// # Errors
    /// When the database does.
    pub async fn touch<C: ConnectionTrait>(self, conn: &C, ids: &[Uuid], at: i64) -> Result<(), DbErr> {
        scope::touch(self, conn, Column::UpdatedAt, ids, at).await
    }

    /// The ids of a student's orders, for what must happen to them when the student goes.
    ///
    /// # Errors
    /// When the database does.
    pub async fn of_student<C: ConnectionTrait>(self, conn: &C, student: Uuid) -> Result<Vec<Model>, DbErr> {
        statement::all(conn, self.checked().filter(Column::StudentId.eq(student))).await
    }

    /// The orders paid in a span, of one course or of all. For the short edges of an analytics window.
    ///
    /// # Errors
    /// When the database does.
    pub async fn paid_in<C: ConnectionTrait>(
        self,
        conn: &C,
        course: Option<Uuid>,
        span: Span,
    ) -> Result<Vec<Model>, DbErr> {
        let filter = OrderFilter { course_id: course, ..OrderFilter::default() };
        let bought = filter.items(self.workspace()).map(|items| items.exist_for::<Entity>());
        let paid = span.holds(Column::PaidAt).add_option(bought);
        statement::all(conn, self.select().filter(paid)).await
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::SqliteQueryBuilder;

    use super::*;

    #[test]
    fn when_it_was_paid_bounds_a_list_by_when_it_was_made() {
        let filter = OrderFilter {
            paid: Span::between(7, 20),
            created: Span::between(5, 9),
            ..OrderFilter::default()
        };
        let own = |column| {
            let keyset =
                Keyset { column, descending: true, after: None, to: None, limit: 1, below_updated_at: None };
            Query::select().cond_where(filter.own(&keyset)).to_string(SqliteQueryBuilder)
        };
        for (column, name) in [(Column::CreatedAt, "created_at"), (Column::PaidAt, "paid_at")] {
            let own = own(column);
            let ends = [format!(r#""orders"."{name}" < 9"#), format!(r#""orders"."{name}" >= 7"#)];
            assert!(ends.iter().all(|end| own.contains(end)) && !own.contains("IS TRUE"), "{own}");
        }
    }
}
