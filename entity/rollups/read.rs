//! The statement that sums ranges of buckets. One statement per table reads any number of ranges.

use std::fmt::Write as _;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, Statement};
use uuid::Uuid;

use super::{ALL_COURSES, BucketRange};

/// Decodes the index of the part of the result (such as a point of a chart, see [`BucketRange`]) that a row belongs to.
pub(crate) fn decode_part(row: &QueryResult) -> Result<usize, DbErr> {
    usize::try_from(row.try_get_by_index::<i64>(0)?).map_err(|error| DbErr::Type(error.to_string()))
}

/// Builds the statement that sums the columns over the ranges, grouped by part of the result (see [`BucketRange`]) and,
/// if specified, by the column `group_by`. Each row contains the index of the part, then the value of `group_by`, then
/// the sums.
pub(crate) fn sum_statement(
    connection: &impl ConnectionTrait,
    table: &str,
    group_by: Option<&str>,
    columns: &[String],
    workspace: Uuid,
    course: Option<Uuid>,
    ranges: &[BucketRange],
) -> Statement {
    let backend = connection.get_database_backend();
    let sums: Vec<String> =
        columns.iter().map(|column| format!("CAST(SUM(bucket_range.sign * {column}) AS BIGINT)")).collect();
    // The condition for the buckets of a range, in the workspace $2 and of the course $3.
    let is_in_range = format!(
        "workspace_id = $2 AND course_id = $3 AND {table}.grain = bucket_range.grain \
         AND starts_at >= bucket_range.from_ms AND starts_at < bucket_range.to_ms"
    );
    // In both databases, each bucket range must become one scan of the primary-key index. In SQLite, CROSS JOIN fixes
    // the join order; in PostgreSQL, OFFSET does.
    let buckets = match backend {
        DbBackend::Postgres => {
            format!("CROSS JOIN LATERAL (SELECT * FROM {table} WHERE {is_in_range} OFFSET 0) AS bucket")
        }
        _ => format!("CROSS JOIN {table} WHERE {is_in_range}"),
    };
    let group_by = group_by.map(|column| format!(", {column}")).unwrap_or_default();
    let sql = format!(
        "WITH {} SELECT bucket_range.first_part + (starts_at - bucket_range.from_ms) / bucket_range.step_ms \
             AS part{group_by}, {} \
         FROM bucket_range {buckets} GROUP BY part{group_by}",
        ranges_sql(backend),
        sums.join(", "),
    );
    let course = course.unwrap_or(ALL_COURSES);
    Statement::from_sql_and_values(backend, sql, [as_json(ranges).into(), workspace.into(), course.into()])
}

/// Returns the common table expression `bucket_range`, which reads the ranges from the JSON parameter $1. The text of
/// the statement then does not depend on the ranges, and the statement stays prepared.
fn ranges_sql(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Postgres => {
            "bucket_range AS MATERIALIZED (SELECT (value->>0)::bigint AS first_part, value->>1 AS grain, \
             (value->>2)::bigint AS sign, (value->>3)::bigint AS from_ms, (value->>4)::bigint AS to_ms, \
             (value->>5)::bigint AS step_ms \
             FROM json_array_elements($1::json))"
        }
        _ => {
            "bucket_range AS MATERIALIZED (SELECT value->>0 AS first_part, value->>1 AS grain, \
             value->>2 AS sign, value->>3 AS from_ms, value->>4 AS to_ms, value->>5 AS step_ms FROM json_each($1))"
        }
    }
}

/// Formats the ranges as JSON for [`ranges_sql`].
fn as_json(ranges: &[BucketRange]) -> String {
    let mut text = String::with_capacity(2 + ranges.len() * 56);
    for (index, BucketRange { part, grain, sign, from_ms, to_ms, step_ms }) in ranges.iter().enumerate() {
        let separator = if index == 0 { '[' } else { ',' };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}[{part},\"{}\",{sign},{from_ms},{to_ms},{step_ms}]", grain.as_str());
    }
    if ranges.is_empty() { "[]".to_owned() } else { text + "]" }
}
