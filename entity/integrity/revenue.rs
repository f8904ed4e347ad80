//! Days whose revenue sums differ from the orders and refunds.

use sea_orm::entity::prelude::*;
use sea_orm::{ConnectionTrait, DbErr};

use super::{BATCH, MAX_FOUND};
use crate::rollups::{ALL_COURSES, DAY_MS, Grain};
use crate::{revenue_rollups::RevenueSums, statement};

/// A sum that differs from the rows that it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongSum {
    /// The course, or [`ALL_COURSES`].
    pub course: Uuid,
    /// The start of the UTC day, in milliseconds since the epoch.
    pub day: i64,
    /// The currency.
    pub currency: String,
    /// By how much the sums are too high.
    pub excess: RevenueSums,
}

/// A span of days of a workspace: the time of its start, and the time after its end, in milliseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days {
    /// The start.
    pub from: i64,
    /// The end, which is excluded; `i64::MAX` for the last days.
    pub to: i64,
}

/// Returns the next days of a workspace, with about [`BATCH`] orders.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn next_days<C: ConnectionTrait>(conn: &C, workspace: Uuid, from: i64) -> Result<Days, DbErr> {
    let sql = format!(
        "SELECT paid_at FROM orders WHERE workspace_id = $1 AND paid_at >= $2 ORDER BY paid_at LIMIT 1 OFFSET {BATCH}"
    );
    let row = conn.query_one_raw(statement::raw(conn, &sql, [workspace.into(), from.into()])).await?;
    let paid_at: Option<i64> = row.map(|row| row.try_get_by_index(0)).transpose()?;
    Ok(Days { from, to: paid_at.map_or(i64::MAX, |at| Grain::Day.floor(at) + DAY_MS) })
}

/// The columns of [`RevenueSums`].
const SUMS: [&str; 6] =
    ["orders", "refunds", "gross_amount", "discount_amount", "tax_amount", "refunded_amount"];

/// Returns the SQL expression for the start of the UTC day of a time, which may be before the epoch.
fn day(at: &str) -> String {
    format!("{at} - ({at} % {DAY_MS} + {DAY_MS}) % {DAY_MS}")
}

/// Returns the days whose sums differ from the orders and refunds.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn find<C: ConnectionTrait>(conn: &C, workspace: Uuid, days: Days) -> Result<Vec<WrongSum>, DbErr> {
    // Each course of an order once.
    let courses = "JOIN order_items AS i ON i.order_id = o.id AND NOT EXISTS (SELECT 1 FROM order_items AS j
        WHERE j.order_id = i.order_id AND j.course_id = i.course_id AND j.id < i.id)";
    let orders = |course: &str, join: &str| {
        format!(
            "SELECT {course}, {}, o.currency, -1, 0, -o.total_amount, -o.discount_amount, -o.tax_amount, 0
             FROM orders AS o {join} WHERE o.workspace_id = $1 AND o.paid_at >= $2 AND o.paid_at < $3",
            day("o.paid_at")
        )
    };
    let refunds = |course: &str, join: &str| {
        format!(
            "SELECT {course}, {}, o.currency, 0, -1, 0, 0, 0, -r.amount
             FROM refunds AS r JOIN orders AS o ON o.id = r.order_id {join}
             WHERE r.workspace_id = $1 AND r.created_at >= $2 AND r.created_at < $3",
            day("r.created_at")
        )
    };
    let rows = format!(
        "SELECT course_id, starts_at, currency, {sums} FROM revenue_rollups WHERE workspace_id = $1 AND grain = 'day'
             AND course_id IN (SELECT id FROM courses WHERE workspace_id = $1 UNION ALL SELECT $4)
             AND starts_at >= $2 AND starts_at < $3
         UNION ALL {} UNION ALL {} UNION ALL {} UNION ALL {}",
        orders("$4", ""),
        orders("i.course_id", courses),
        refunds("$4", ""),
        refunds("i.course_id", courses),
        sums = SUMS.join(", "),
    );
    differences(conn, &rows, workspace, days).await
}

/// Returns the days whose sums differ from the sums of their quarter-hours.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn find_quarters<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    days: Days,
) -> Result<Vec<WrongSum>, DbErr> {
    let grain = |grain: &str, starts_at: &str, sign: &str| {
        let sums = SUMS.map(|sum| format!("{sign}{sum}")).join(", ");
        format!(
            "SELECT course_id, {starts_at} AS starts_at, currency, {sums} FROM revenue_rollups
             WHERE workspace_id = $1 AND grain = '{grain}'
                 AND course_id IN (SELECT id FROM courses WHERE workspace_id = $1 UNION ALL SELECT $4)
                 AND starts_at >= $2 AND starts_at < $3"
        )
    };
    let rows =
        format!("{} UNION ALL {}", grain("day", "starts_at", ""), grain("quarter", &day("starts_at"), "-"));
    differences(conn, &rows, workspace, days).await
}

/// Adds the rows of each course, day and currency, and returns those whose sums are not 0.
async fn differences<C: ConnectionTrait>(
    conn: &C,
    rows: &str,
    workspace: Uuid,
    days: Days,
) -> Result<Vec<WrongSum>, DbErr> {
    let sums = SUMS.map(|sum| format!("CAST(sum({sum}) AS BIGINT)")).join(", ");
    let differs = SUMS.map(|sum| format!("sum({sum}) <> 0")).join(" OR ");
    let sql = format!(
        "SELECT course_id, starts_at, currency, {sums} FROM ({rows}) AS counted
         GROUP BY course_id, starts_at, currency HAVING {differs}
         ORDER BY starts_at, course_id, currency LIMIT {MAX_FOUND}"
    );
    let values = [workspace.into(), days.from.into(), days.to.into(), ALL_COURSES.into()];
    let found = conn.query_all_raw(statement::raw(conn, &sql, values)).await?;
    let wrong = |row: &sea_orm::QueryResult| {
        Ok(WrongSum {
            course: row.try_get_by_index(0)?,
            day: row.try_get_by_index(1)?,
            currency: row.try_get_by_index(2)?,
            excess: RevenueSums::from_row(row, 3)?,
        })
    };
    found.iter().map(wrong).collect()
}
