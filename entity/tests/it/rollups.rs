//! Rollups: sums by bucket, over all shards.

use entity::{
    activity_rollups, revenue_rollups,
    rollups::{ALL_COURSES, BucketRange, DAY_MS, Grain, QUARTER_MS},
};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, EntityTrait, TransactionTrait};

use crate::support::{OURS, databases};

async fn fold_activity(database: &DatabaseConnection) -> u64 {
    let mut moved = 0;
    for grain in Grain::ALL {
        moved += activity_rollups::fold(database, grain, DAY_MS, 100).await.unwrap();
    }
    moved
}

async fn fold_revenue(database: &DatabaseConnection, limit: u32) -> u64 {
    let mut moved = 0;
    for grain in Grain::ALL {
        moved += revenue_rollups::fold(database, grain, 2 * DAY_MS, limit).await.unwrap();
    }
    moved
}

#[tokio::test]
async fn activity_sums_add_up_over_shards() {
    for database in databases().await {
        let bucket = |starts_at| activity_rollups::ActivityBucket {
            workspace_id: OURS,
            course_id: ALL_COURSES,
            grain: Grain::Quarter,
            starts_at,
        };
        for shard in [0, 1, 0] {
            let mut deltas = activity_rollups::ActivityDeltas::default();
            deltas.add(bucket(0), activity_rollups::ActivitySums { students_new: 2, ..Default::default() });
            deltas.add(
                bucket(900_000),
                activity_rollups::ActivitySums { cohort_percent_sum: -1, ..Default::default() },
            );
            deltas.add(bucket(1_800_000), activity_rollups::ActivitySums::default());
            deltas.flush(&database, shard).await.unwrap();
        }
        let total =
            activity_rollups::ActivitySums { students_new: 6, cohort_percent_sum: -3, ..Default::default() };
        let range = |part, grain, from_ms, to_ms| BucketRange::whole(part, grain, 1, from_ms, to_ms);
        let whole = [range(0, Grain::Quarter, 0, 2_700_000)];
        let read = activity_rollups::sums_of(&database, OURS, None, &whole).await.unwrap();
        assert_eq!(read, [(0, total)]);
        let days = [range(0, Grain::Day, 0, 86_400_000)];
        assert_eq!(activity_rollups::sums_of(&database, OURS, None, &days).await.unwrap(), []);
        let parts = [0, 1, 2].map(|n| {
            let from = 900_000 * i64::try_from(n).unwrap_or_default();
            range(n, Grain::Quarter, from, from + 900_000)
        });
        let read = activity_rollups::sums_of(&database, OURS, None, &parts).await.unwrap();
        assert_eq!(read.iter().map(|(part, _)| *part).collect::<Vec<_>>(), [0, 1]);
    }
}

#[tokio::test]
async fn folding_shards_keeps_the_activity_sums() {
    for database in databases().await {
        let bucket = |starts_at| activity_rollups::ActivityBucket {
            workspace_id: OURS,
            course_id: ALL_COURSES,
            grain: Grain::Day,
            starts_at,
        };
        for shard in 0..4_i16 {
            let of = |place: i64| place * 10_i64.pow(u32::try_from(shard).unwrap());
            let sums = activity_rollups::ActivitySums {
                students_new: of(1),
                enrollments_created: of(2),
                enrollments_revoked: of(3),
                enrollments_active: of(4),
                cohort_completed: of(5),
                cohort_percent_sum: of(-6),
                certificates_issued: of(7),
            };
            let mut deltas = activity_rollups::ActivityDeltas::default();
            for day in [0, DAY_MS] {
                deltas.add(bucket(day), sums);
            }
            deltas.flush(&database, shard).await.unwrap();
        }
        let whole = activity_rollups::ActivitySums {
            students_new: 1_111,
            enrollments_created: 2_222,
            enrollments_revoked: 3_333,
            enrollments_active: 4_444,
            cohort_completed: 5_555,
            cohort_percent_sum: -6_666,
            certificates_issued: 7_777,
        };
        let days = [BucketRange {
            part: 0,
            grain: Grain::Day,
            sign: 1,
            from_ms: 0,
            to_ms: 2 * DAY_MS,
            step_ms: DAY_MS,
        }];
        let folded = fold_activity(&database).await;
        let (moved, left) = match database.get_database_backend() {
            DbBackend::Sqlite => (0, 8),
            _ => (3, 5),
        };
        assert_eq!(
            (folded, activity_rollups::Entity::find().all(&database).await.unwrap().len()),
            (moved, left)
        );
        let mut read = activity_rollups::sums_of(&database, OURS, None, &days).await.unwrap();
        read.sort_by_key(|(part, _)| *part);
        assert_eq!(read, [(0, whole), (1, whole)]);
    }
}

/// Adds an order with this amount to the bucket of its day and of its quarter-hour, in this shard.
async fn add_order(conn: &impl ConnectionTrait, at: i64, amount: i64, shard: i16) {
    let mut deltas = revenue_rollups::RevenueDeltas::default();
    for grain in Grain::ALL {
        let bucket = revenue_rollups::RevenueBucket {
            workspace_id: OURS,
            course_id: ALL_COURSES,
            grain,
            starts_at: grain.floor(at),
            currency: "EUR".to_owned(),
        };
        deltas.add(
            bucket,
            revenue_rollups::RevenueSums { orders: 1, gross_amount: amount, ..Default::default() },
        );
    }
    deltas.flush(conn, shard).await.unwrap();
}

/// Returns orders and amounts of the first three days, read from the daily and the quarter-hourly sums.
async fn daily_sales(database: &DatabaseConnection) -> Vec<Vec<(usize, i64, i64)>> {
    let mut sales = Vec::new();
    for grain in Grain::ALL {
        let ranges =
            [BucketRange { part: 0, grain, sign: 1, from_ms: 0, to_ms: 3 * DAY_MS, step_ms: DAY_MS }];
        let mut sums = revenue_rollups::sums_of(database, OURS, None, &ranges).await.unwrap();
        sums.sort_by_key(|(part, ..)| *part);
        sales.push(sums.iter().map(|(part, _, sums)| (*part, sums.orders, sums.gross_amount)).collect());
    }
    sales
}

/// Returns the shards of the sums of one grain, by day.
async fn shards(database: &DatabaseConnection, grain: Grain) -> Vec<(i64, i16)> {
    let rows = revenue_rollups::Entity::find().all(database).await.unwrap();
    let rows = rows.iter().filter(|row| row.grain == grain);
    let mut shards: Vec<_> = rows.map(|row| (row.starts_at / DAY_MS, row.shard)).collect();
    shards.sort_unstable();
    shards
}

#[tokio::test]
async fn folding_moves_past_days_and_quarter_hours_into_one_shard_and_keeps_the_sums() {
    for database in databases().await {
        for shard in 0..4_i16 {
            for day in 0..3 {
                let amount = 10_i64.pow(u32::try_from(shard).unwrap());
                // Two shards in each of two quarter-hours.
                add_order(&database, day * DAY_MS + i64::from(shard / 2) * QUARTER_MS, amount, shard).await;
            }
        }
        let before = daily_sales(&database).await;
        assert_eq!(before, vec![vec![(0, 4, 1_111), (1, 4, 1_111), (2, 4, 1_111)]; 2]);
        if database.get_database_backend() == DbBackend::Sqlite {
            assert_eq!(fold_revenue(&database, 100).await, 0, "SQLite has one shard");
            continue;
        }
        // An open transaction has locked a sum of the first day.
        let writer = database.begin().await.unwrap();
        add_order(&writer, 0, 50_000, 2).await;
        let mut folded = 0;
        loop {
            let batch = fold_revenue(&database, 2).await;
            assert!(batch <= 2 + 2, "two of each grain");
            folded += batch;
            if batch == 0 {
                break;
            }
        }
        assert_eq!(folded, 5 + 6);
        assert_eq!(daily_sales(&database).await, before);
        let days = [(0, 0), (0, 2), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3)];
        assert_eq!(shards(&database, Grain::Day).await, days);
        let quarters = [(0, 0), (0, 0), (1, 0), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3)];
        assert_eq!(shards(&database, Grain::Quarter).await, quarters);
        writer.commit().await.unwrap();

        assert_eq!(fold_revenue(&database, 100).await, 2);
        assert_eq!(shards(&database, Grain::Day).await, [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3)]);
        assert_eq!(shards(&database, Grain::Quarter).await, quarters);
        assert_eq!(daily_sales(&database).await, vec![vec![(0, 5, 51_111), (1, 4, 1_111), (2, 4, 1_111)]; 2]);
    }
}
