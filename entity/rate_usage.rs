//! Daily request counts of the rate limiter, stored so that they survive a restart. A `day` is the start of a UTC day,
//! in milliseconds since the epoch.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};

use crate::{Row, statement, table};

table::declare!(
    /// The requests of one subject on one day.
    #[sea_orm(table_name = "rate_usage")]
    pub struct Model {
        /// The id of the API key, as text with its prefix. Requests of client addresses are not stored.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub subject: String,
        /// The start of the UTC day, in milliseconds since the epoch.
        #[sea_orm(primary_key, auto_increment = false)]
        pub day: i64,
        /// The number of requests so far.
        pub used: i64,
    }
);

/// Adds these requests to the stored counts, and returns the new counts in no particular order. Each pair of subject
/// and day may occur only once in `requests`.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn add<C: ConnectionTrait>(conn: &C, mut requests: Vec<Model>) -> Result<Vec<Model>, DbErr> {
    // A fixed order prevents deadlocks between two processes that write at the same time.
    requests.sort_unstable_by(|a, b| (&a.subject, a.day).cmp(&(&b.subject, b.day)));
    let sum = Expr::col((Entity, Column::Used)).add(Expr::col(("excluded", Column::Used)));
    let mut totals = Vec::with_capacity(requests.len());
    for batch in statement::insert_batches::<_, ActiveModel>(conn.get_database_backend(), requests)? {
        let mut statement = batch.statement;
        statement.on_conflict(
            OnConflict::columns([Column::Subject, Column::Day]).value(Column::Used, sum.clone()).to_owned(),
        );
        statement.returning(Query::returning().columns([Column::Subject, Column::Day, Column::Used]));
        for row in conn.query_all(&statement).await? {
            totals.push(Model::from_row(&row)?);
        }
    }
    Ok(totals)
}

/// Returns the number of requests of one subject on one day; 0 if none are stored.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn used<C: ConnectionTrait>(conn: &C, subject: &str, day: i64) -> Result<i64, DbErr> {
    let row = Entity::find_by_id((subject.to_owned(), day));
    Ok(statement::one(conn, row).await?.map_or(0, |row| row.used))
}

/// Returns the counts of these subjects on one day. Subjects without requests are omitted.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn of_subjects<C: ConnectionTrait>(
    conn: &C,
    subjects: Vec<String>,
    day: i64,
) -> Result<Vec<Model>, DbErr> {
    if subjects.is_empty() {
        return Ok(Vec::new());
    }
    statement::all(conn, Entity::find().filter(Column::Subject.is_in(subjects)).filter(Column::Day.eq(day)))
        .await
}

/// Returns all counts of one day.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn of_day<C: ConnectionTrait>(conn: &C, day: i64) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().filter(Column::Day.eq(day))).await
}

/// Deletes the days before `day` and returns the number of rows deleted.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn delete_before<C: ConnectionTrait>(conn: &C, day: i64) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::Day.lt(day)).exec(conn).await?.rows_affected)
}
