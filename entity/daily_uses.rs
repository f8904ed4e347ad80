//! What the tables that count requests per UTC day and API key have in common. Times are milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait as _, OnConflict};
use sea_orm::{ActiveModelTrait, IntoActiveModel};

use crate::statement;

/// The columns of such a table.
pub(crate) struct DailyUses<C: 'static> {
    /// The primary key. Begins with the start of the day.
    pub key: &'static [C],
    /// The numbers that are added up.
    pub counts: &'static [C],
    /// The first request.
    pub first_at: C,
    /// The last request.
    pub last_at: C,
    /// The request id of the last request, or an empty string.
    pub request_id: C,
}

impl<C: ColumnTrait> DailyUses<C> {
    /// Adds rows to the stored ones. Each key may occur only once. The order must be the same in all processes, so that two of them
    /// do not wait for each other.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails.
    pub(crate) async fn add<Conn: ConnectionTrait, M, A>(
        &self,
        conn: &Conn,
        rows: Vec<M>,
    ) -> Result<(), DbErr>
    where
        M: IntoActiveModel<A>,
        A: ActiveModelTrait,
    {
        let on_conflict = self.on_conflict();
        for row in rows {
            statement::insert_on_conflict(conn, row, on_conflict.clone()).await?;
        }
        Ok(())
    }

    /// A process can write its requests after another one wrote later requests.
    fn on_conflict(&self) -> OnConflict {
        let stored = |column: C| Expr::col(column.as_column_ref());
        let added = |column: C| Expr::col(("excluded", column));
        let either = |is_added: Expr, column| -> Expr {
            CaseStatement::new().case(is_added, added(column)).finally(stored(column)).into()
        };
        let mut on_conflict = OnConflict::columns(self.key.iter().copied());
        for count in self.counts {
            on_conflict.value(*count, stored(*count).add(added(*count)));
        }
        let is_earlier = added(self.first_at).lt(stored(self.first_at));
        on_conflict.value(self.first_at, either(is_earlier, self.first_at));
        for column in [self.last_at, self.request_id] {
            let is_later = added(self.last_at).gte(stored(self.last_at));
            on_conflict.value(column, either(is_later, column));
        }
        on_conflict
    }

    /// Removes the request ids of uses whose last request was before this time, in all workspaces.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub(crate) async fn forget_requests<E: EntityTrait<Column = C>>(
        &self,
        conn: &impl ConnectionTrait,
        last_at: i64,
    ) -> Result<u64, DbErr> {
        let rows = E::update_many().col_expr(self.request_id, Expr::value(""));
        let rows = rows.filter(self.last_at.lt(last_at)).filter(self.request_id.ne(""));
        Ok(rows.exec(conn).await?.rows_affected)
    }
}
