//! Revenue, summed by course, currency and time bucket: a UTC day or a quarter-hour. The sums of a course contain the
//! full amounts of all orders with an item for this course. Times are milliseconds since the epoch.

use std::collections::BTreeMap;

use sea_orm::entity::prelude::*;

use crate::{
    rollups::{self, BucketRange, Grain},
    table,
};

table::declare!(
    /// One shard of the sums of one bucket. Amounts are minor units of the currency.
    #[sea_orm(table_name = "revenue_rollups")]
    pub struct Model {
        /// The workspace.
        #[sea_orm(primary_key, auto_increment = false)]
        pub workspace_id: Uuid,
        /// The course, or [`rollups::ALL_COURSES`].
        #[sea_orm(primary_key, auto_increment = false)]
        pub course_id: Uuid,
        /// The length of the bucket.
        #[sea_orm(primary_key, auto_increment = false)]
        pub grain: Grain,
        /// The start of the bucket.
        #[sea_orm(primary_key, auto_increment = false)]
        pub starts_at: i64,
        /// The currency, ISO 4217.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub currency: String,
        /// The shard of the sums. Concurrent writers write different shards, so they do not wait for each other.
        #[sea_orm(primary_key, auto_increment = false)]
        pub shard: i16,
        /// Orders paid.
        pub orders: i64,
        /// Refunds issued.
        pub refunds: i64,
        /// The amount paid.
        pub gross_amount: i64,
        /// The discounts.
        pub discount_amount: i64,
        /// The tax included in the amount paid.
        pub tax_amount: i64,
        /// The amount refunded.
        pub refunded_amount: i64,
    }
);

/// Identifies a bucket: the primary key without the shard.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RevenueBucket {
    /// The workspace.
    pub workspace_id: Uuid,
    /// The course, or [`rollups::ALL_COURSES`].
    pub course_id: Uuid,
    /// The length of the bucket.
    pub grain: Grain,
    /// The start of the bucket.
    pub starts_at: i64,
    /// The currency, ISO 4217.
    pub currency: String,
}

rollups::sums!(
    /// The sums of a bucket, or the amounts that a change adds to them.
    pub struct RevenueSums {
        /// Orders paid.
        pub orders: i64,
        /// Refunds issued.
        pub refunds: i64,
        /// The amount paid.
        pub gross_amount: i64,
        /// The discounts.
        pub discount_amount: i64,
        /// The tax included in the amount paid.
        pub tax_amount: i64,
        /// The amount refunded.
        pub refunded_amount: i64,
    }
);

/// The columns of [`RevenueBucket`]. With the shard, they are the primary key.
const BUCKET: [Column; 5] =
    [Column::WorkspaceId, Column::CourseId, Column::Grain, Column::StartsAt, Column::Currency];

/// The columns of [`RevenueSums`], in the order of its fields.
const SUMS: [Column; 6] = [
    Column::Orders,
    Column::Refunds,
    Column::GrossAmount,
    Column::DiscountAmount,
    Column::TaxAmount,
    Column::RefundedAmount,
];

/// The changes of one transaction, merged by bucket and written once at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RevenueDeltas(BTreeMap<RevenueBucket, RevenueSums>);

impl RevenueDeltas {
    /// Adds the sums to a bucket.
    pub fn add(&mut self, bucket: RevenueBucket, sums: RevenueSums) {
        *self.0.entry(bucket).or_default() += sums;
    }

    /// Writes the collected changes to one shard and clears them. All writers write buckets in the order of their keys,
    /// so they cannot deadlock.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the statement fails.
    pub async fn flush<C: ConnectionTrait>(&mut self, conn: &C, shard: i16) -> Result<(), DbErr> {
        let changed =
            std::mem::take(&mut self.0).into_iter().filter(|(_, sums)| *sums != RevenueSums::default());
        let rows = changed.map(|(bucket, sums)| row(bucket, sums, shard)).collect();
        rollups::add::<_, Entity>(conn, rows, BUCKET.into_iter().chain([Column::Shard]), SUMS).await
    }
}

fn row(bucket: RevenueBucket, sums: RevenueSums, shard: i16) -> Model {
    Model {
        workspace_id: bucket.workspace_id,
        course_id: bucket.course_id,
        grain: bucket.grain,
        starts_at: bucket.starts_at,
        currency: bucket.currency,
        shard,
        orders: sums.orders,
        refunds: sums.refunds,
        gross_amount: sums.gross_amount,
        discount_amount: sums.discount_amount,
        tax_amount: sums.tax_amount,
        refunded_amount: sums.refunded_amount,
    }
}

/// Returns the revenue of one workspace in the ranges, from one course or from all courses: the index of a part (see
/// [`BucketRange`]), the currency and the sums. Parts without revenue are omitted.
///
/// # Errors
/// Returns [`DbErr`] when the query fails.
pub async fn sums_of<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    course: Option<Uuid>,
    ranges: &[BucketRange],
) -> Result<Vec<(usize, String, RevenueSums)>, DbErr> {
    let columns = SUMS.map(|sum| sum.to_string());
    let statement = rollups::read::sum_statement(
        conn,
        "revenue_rollups",
        Some("currency"),
        &columns,
        workspace,
        course,
        ranges,
    );
    let rows = conn.query_all_raw(statement).await?;
    rows.iter()
        .map(|row| {
            Ok((rollups::read::decode_part(row)?, row.try_get_by_index(1)?, RevenueSums::from_row(row, 2)?))
        })
        .collect()
}

/// Moves up to `limit` rows of one grain into shard 0, oldest first, and returns the number of rows moved. Only buckets
/// that begin before `before` are affected. The totals do not change.
///
/// # Errors
/// Returns [`DbErr`] when the statement fails.
pub async fn merge_shards<C: ConnectionTrait>(
    conn: &C,
    grain: Grain,
    before: i64,
    limit: u32,
) -> Result<u64, DbErr> {
    rollups::merge_shards::merge_shards(conn, "revenue_rollups", &BUCKET, &SUMS, grain, before, limit).await
}
