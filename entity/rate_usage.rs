//! The limiter's counts of a UTC day, kept so that they survive a restart.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};

use crate::{Row, statement, table};

table::declare!(
    /// How often one subject called on one day.
    #[sea_orm(table_name = "rate_usage")]
    pub struct Model {
        /// Who is counted: a key or a client address.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub subject: String,
        /// The start of the UTC day.
        #[sea_orm(primary_key, auto_increment = false)]
        pub day: i64,
        /// The calls so far.
        pub used: i64,
    }
);

/// Adds calls to the counts, many subjects at once; no subject may occur twice on one day. Returns the counts as they are then,
/// in no particular order.
///
/// # Errors
/// When the database does.
pub async fn add<C: ConnectionTrait>(conn: &C, mut calls: Vec<Model>) -> Result<Vec<Model>, DbErr> {
    // In one order, so that two processes saving at once wait for each other instead of locking crosswise.
    calls.sort_unstable_by(|a, b| (&a.subject, a.day).cmp(&(&b.subject, b.day)));
    let sum = Expr::col((Entity, Column::Used)).add(Expr::col(("excluded", Column::Used)));
    let mut sums = Vec::with_capacity(calls.len());
    let mut calls = calls.into_iter().peekable();
    while calls.peek().is_some() {
        let mut statement = statement::insertion::<_, ActiveModel>(calls.by_ref().take(200));
        statement.on_conflict(
            OnConflict::columns([Column::Subject, Column::Day]).value(Column::Used, sum.clone()).to_owned(),
        );
        statement.returning(Query::returning().columns([Column::Subject, Column::Day, Column::Used]));
        for row in conn.query_all(&statement).await? {
            sums.push(Model::from_row(&row)?);
        }
    }
    Ok(sums)
}

/// The calls of one subject on one day; 0 when none are known.
///
/// # Errors
/// When the database does.
pub async fn used<C: ConnectionTrait>(conn: &C, subject: &str, day: i64) -> Result<i64, DbErr> {
    let row = Entity::find_by_id((subject.to_owned(), day));
    Ok(statement::one(conn, row).await?.map_or(0, |row| row.used))
}

/// The counts of these subjects on one day; those without a call are left out.
///
/// # Errors
/// When the database does.
pub async fn used_by<C: ConnectionTrait>(
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

/// All counts of one day.
///
/// # Errors
/// When the database does.
pub async fn of_day<C: ConnectionTrait>(conn: &C, day: i64) -> Result<Vec<Model>, DbErr> {
    statement::all(conn, Entity::find().filter(Column::Day.eq(day))).await
}

/// Forgets the days before this one.
///
/// # Errors
/// When the database does.
pub async fn delete_before<C: ConnectionTrait>(conn: &C, day: i64) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::Day.lt(day)).exec(conn).await?.rows_affected)
}
