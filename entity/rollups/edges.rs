//! Sums over single records, for the parts of a time window at its edges that do not fill a bucket of the rollups. Also
//! counts expired enrollments, which rollups do not contain.
//!
//! The statements must count the same records in the same way as the domain counts them when it writes the rollups.

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Statement, Value};
use uuid::Uuid;

use crate::{activity_rollups, revenue_rollups};

/// In the workspace $1: orders paid and refunds created at or after the time $2 and before $3, by currency.
/// `{of_course}` is empty or [`ORDER_OF_COURSE`].
const REVENUE: &str = "\
    SELECT currency, CAST(SUM(orders) AS BIGINT), CAST(SUM(refunds) AS BIGINT), CAST(SUM(gross) AS BIGINT), \
        CAST(SUM(discount) AS BIGINT), CAST(SUM(tax) AS BIGINT), CAST(SUM(refunded) AS BIGINT) \
    FROM (\
        SELECT currency, 1 AS orders, 0 AS refunds, total_amount AS gross, discount_amount AS discount, \
            tax_amount AS tax, 0 AS refunded \
        FROM orders WHERE workspace_id = $1 AND paid_at >= $2 AND paid_at < $3 {of_course} \
        UNION ALL \
        SELECT orders.currency, 0, 1, 0, 0, 0, refunds.amount \
        FROM refunds JOIN orders ON orders.id = refunds.order_id \
        WHERE refunds.workspace_id = $1 AND refunds.created_at >= $2 AND refunds.created_at < $3 {of_course}\
    ) AS records GROUP BY currency";

/// The condition for orders with an item of the course $4.
const ORDER_OF_COURSE: &str = "AND EXISTS (SELECT 1 FROM order_items \
    WHERE order_items.order_id = orders.id AND order_items.course_id = $4)";

/// In the workspace $1: students and enrollments created, enrollments revoked, and certificates issued at or after the
/// time $2 and before $3, of all courses or the course $4. The percentage is rounded down, as in the domain.
const ACTIVITY: &str = "\
    SELECT CAST(COALESCE(SUM(students), 0) AS BIGINT), CAST(COALESCE(SUM(created), 0) AS BIGINT), \
        CAST(COALESCE(SUM(revoked), 0) AS BIGINT), CAST(COALESCE(SUM(active), 0) AS BIGINT), \
        CAST(COALESCE(SUM(completed), 0) AS BIGINT), CAST(COALESCE(SUM(percent), 0) AS BIGINT), \
        CAST(COALESCE(SUM(certificates), 0) AS BIGINT) \
    FROM (\
        SELECT 1 AS students, 0 AS created, 0 AS revoked, 0 AS active, 0 AS completed, 0 AS percent, \
            0 AS certificates \
        FROM students WHERE workspace_id = $1 AND created_at >= $2 AND created_at < $3 {has_course} \
        UNION ALL \
        SELECT 0, 1, 0, CASE WHEN status = 'active' THEN 1 ELSE 0 END, \
            CASE WHEN total_lessons > 0 AND completed_lessons >= total_lessons THEN 1 ELSE 0 END, \
            CASE WHEN total_lessons <= 0 THEN 0 WHEN completed_lessons >= total_lessons THEN 100 \
                ELSE completed_lessons * 100 / total_lessons END, 0 \
        FROM enrollments WHERE workspace_id = $1 AND created_at >= $2 AND created_at < $3 {of_course} \
        UNION ALL \
        SELECT 0, 0, 1, 0, 0, 0, 0 FROM enrollments \
        WHERE workspace_id = $1 AND status = 'revoked' AND revoked_at >= $2 AND revoked_at < $3 {of_course} \
        UNION ALL \
        SELECT 0, 0, 0, 0, 0, 0, 1 FROM certificates \
        WHERE workspace_id = $1 AND issued_at >= $2 AND issued_at < $3 {of_course}\
    ) AS records";

/// The condition for students with an enrollment in the course $4.
const STUDENT_HAS_COURSE: &str = "AND EXISTS (SELECT 1 FROM enrollments \
    WHERE enrollments.student_id = students.id AND enrollments.course_id = $4)";

/// Enrollments of the workspace $1 created before $3 whose stored status is active although they have expired by $2,
/// grouped by their creation time in steps of $4 milliseconds.
const EXPIRED: &str = "\
    SELECT created_at / $4, COUNT(*) FROM enrollments \
    WHERE workspace_id = $1 AND status = 'active' AND expires_at <= $2 AND created_at < $3 {of_course} \
    GROUP BY created_at / $4";

/// Returns the revenue by currency at or after `from_ms` and before `to_ms`, from one course or from all courses.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn revenue(
    connection: &impl ConnectionTrait,
    workspace: Uuid,
    course: Option<Uuid>,
    (from_ms, to_ms): (i64, i64),
) -> Result<Vec<(String, revenue_rollups::RevenueSums)>, DbErr> {
    let sql = REVENUE.replace("{of_course}", if course.is_some() { ORDER_OF_COURSE } else { "" });
    let values = [workspace.into(), from_ms.into(), to_ms.into()];
    let rows = query(connection, sql, values, course).await?;
    rows.iter()
        .map(|row| Ok((row.try_get_by_index(0)?, revenue_rollups::RevenueSums::from_row(row, 1)?)))
        .collect()
}

/// Returns the activity at or after `from_ms` and before `to_ms`, in one course or in all courses.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn activity(
    connection: &impl ConnectionTrait,
    workspace: Uuid,
    course: Option<Uuid>,
    (from_ms, to_ms): (i64, i64),
) -> Result<activity_rollups::ActivitySums, DbErr> {
    let (has_course, of_course) =
        if course.is_some() { (STUDENT_HAS_COURSE, "AND course_id = $4") } else { ("", "") };
    let sql = ACTIVITY.replace("{has_course}", has_course).replace("{of_course}", of_course);
    let values = [workspace.into(), from_ms.into(), to_ms.into()];
    let mut total = activity_rollups::ActivitySums::default();
    for row in query(connection, sql, values, course).await? {
        total += activity_rollups::ActivitySums::from_row(&row, 0)?;
    }
    Ok(total)
}

/// Counts the enrollments created before `to_ms` whose stored status is active although they have expired by `now_ms`,
/// grouped by their creation time in steps of `step_ms`. Returns pairs of the start of a step and the number of
/// enrollments created in it. Steps without such enrollments are omitted.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn expired(
    connection: &impl ConnectionTrait,
    workspace: Uuid,
    course: Option<Uuid>,
    now_ms: i64,
    to_ms: i64,
    step_ms: i64,
) -> Result<Vec<(i64, i64)>, DbErr> {
    let sql = EXPIRED.replace("{of_course}", if course.is_some() { "AND course_id = $5" } else { "" });
    let values = [workspace.into(), now_ms.into(), to_ms.into(), step_ms.into()];
    let rows = query(connection, sql, values, course).await?;
    rows.iter().map(|row| Ok((row.try_get_by_index::<i64>(0)? * step_ms, row.try_get_by_index(1)?))).collect()
}

/// Runs the statement with its values and, as the last value, the course if specified.
async fn query<const N: usize>(
    connection: &impl ConnectionTrait,
    sql: String,
    values: [Value; N],
    course: Option<Uuid>,
) -> Result<Vec<QueryResult>, DbErr> {
    let values: Vec<Value> = values.into_iter().chain(course.map(Value::from)).collect();
    connection
        .query_all_raw(Statement::from_sql_and_values(connection.get_database_backend(), sql, values))
        .await
}
