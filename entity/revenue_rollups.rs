//! Revenue by bucket of time, course and currency.

use std::collections::BTreeMap;

use sea_orm::entity::prelude::*;

use crate::{
    rollups::{self, Grain, Piece},
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
        /// How long the bucket is.
        #[sea_orm(primary_key, auto_increment = false)]
        pub grain: Grain,
        /// When the bucket begins.
        #[sea_orm(primary_key, auto_increment = false)]
        pub starts_at: i64,
        /// ISO 4217.
        #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
        pub currency: String,
        /// Which share of the sums: writers that run together write different ones.
        #[sea_orm(primary_key, auto_increment = false)]
        pub shard: i16,
        /// Orders paid.
        pub orders: i64,
        /// Refunds made.
        pub refunds: i64,
        /// Paid.
        pub gross_amount: i64,
        /// Taken off before.
        pub discount_amount: i64,
        /// Tax in what was paid.
        pub tax_amount: i64,
        /// Paid back.
        pub refunded_amount: i64,
    }
);

/// What a sum is over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bucket {
    /// The workspace.
    pub workspace_id: Uuid,
    /// The course, or [`rollups::ALL_COURSES`].
    pub course_id: Uuid,
    /// How long the bucket is.
    pub grain: Grain,
    /// When the bucket begins.
    pub starts_at: i64,
    /// ISO 4217.
    pub currency: String,
}

rollups::sums!(
    /// The sums of a bucket, or what a change adds to them.
    pub struct Sums {
        /// Orders paid.
        pub orders: i64,
        /// Refunds made.
        pub refunds: i64,
        /// Paid.
        pub gross_amount: i64,
        /// Taken off before.
        pub discount_amount: i64,
        /// Tax in what was paid.
        pub tax_amount: i64,
        /// Paid back.
        pub refunded_amount: i64,
    }
);

/// What a sum is over; the shard comes with it.
const BUCKET: [Column; 5] =
    [Column::WorkspaceId, Column::CourseId, Column::Grain, Column::StartsAt, Column::Currency];

const SUMS: [Column; 6] = [
    Column::Orders,
    Column::Refunds,
    Column::GrossAmount,
    Column::DiscountAmount,
    Column::TaxAmount,
    Column::RefundedAmount,
];

/// What one transaction adds, collected so that it is written at its end, each bucket once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deltas(BTreeMap<Bucket, Sums>);

impl Deltas {
    /// Adds to a bucket.
    pub fn add(&mut self, bucket: Bucket, sums: Sums) {
        *self.0.entry(bucket).or_default() += sums;
    }

    /// Writes what was collected into one shard, in the order of the buckets, so that two writers never wait
    /// for each other crosswise. Nothing is left.
    ///
    /// # Errors
    /// When the database does.
    pub async fn flush<C: ConnectionTrait>(&mut self, conn: &C, shard: i16) -> Result<(), DbErr> {
        let changed = std::mem::take(&mut self.0).into_iter().filter(|(_, sums)| *sums != Sums::default());
        let rows = changed.map(|(bucket, sums)| row(bucket, sums, shard)).collect();
        rollups::add::<_, Entity>(conn, rows, BUCKET.into_iter().chain([Column::Shard]), SUMS).await
    }
}

fn row(bucket: Bucket, sums: Sums, shard: i16) -> Model {
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

/// The revenue of one workspace, over all courses or of one, in each part of these pieces and each currency. Parts
/// without any are left out.
///
/// # Errors
/// When the database does.
pub async fn sums_of<C: ConnectionTrait>(
    conn: &C,
    workspace: Uuid,
    course: Option<Uuid>,
    pieces: &[Piece],
) -> Result<Vec<(usize, String, Sums)>, DbErr> {
    let columns = SUMS.map(|sum| sum.to_string());
    let statement = rollups::read::statement(
        conn,
        "revenue_rollups",
        Some("currency"),
        &columns,
        workspace,
        course,
        pieces,
    );
    let rows = conn.query_all_raw(statement).await?;
    rows.iter()
        .map(|row| Ok((rollups::read::part(row)?, row.try_get_by_index(1)?, Sums::from_row(row, 2)?)))
        .collect()
}

/// Moves rows of buckets that began before this moment into the first shard, of each grain as many as the limit at most, the
/// oldest first; says how many. The sums stay what they are.
///
/// # Errors
/// When the database does.
pub async fn fold<C: ConnectionTrait>(conn: &C, grain: Grain, before: i64, limit: u32) -> Result<u64, DbErr> {
    rollups::fold::fold(conn, "revenue_rollups", &BUCKET, &SUMS, grain, before, limit).await
}
