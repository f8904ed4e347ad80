//! Rollups: sums by bucket, which is a day or a quarter-hour, over all shards. Shards are separate rows of a bucket, so
//! that concurrent transactions do not wait for each other. Times are milliseconds since the epoch.

use entity::{
    activity_rollups, revenue_rollups,
    rollups::{ALL_COURSES, BucketRange, DAY_MS, Grain, QUARTER_HOUR_MS},
};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, EntityTrait, TransactionTrait};

use crate::support::{OURS, databases};

/// Merges the shards of the first day. Returns the number of moved rows.
async fn merge_activity_shards(database: &DatabaseConnection) -> u64 {
    let mut moved = 0;
    for grain in Grain::ALL {
        moved += activity_rollups::merge_shards(database, grain, DAY_MS, 100).await.unwrap();
    }
    moved
}

/// Merges up to `limit` rows of each grain of the first two days. Returns the number of moved rows.
async fn merge_revenue_shards(database: &DatabaseConnection, limit: u32) -> u64 {
    let mut moved = 0;
    for grain in Grain::ALL {
        moved += revenue_rollups::merge_shards(database, grain, 2 * DAY_MS, limit).await.unwrap();
    }
    moved
}

#[tokio::test]
async fn activity_sums_add_up_over_shards() {
    for database in databases().await {
        let bucket = |starts_at| activity_rollups::ActivityBucket {
            workspace_id: OURS,
            course_id: ALL_COURSES,
            grain: Grain::QuarterHour,
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
        let range = |part, grain, from_ms, to_ms| BucketRange::of_one_part(part, grain, 1, from_ms, to_ms);
        let quarter_hours = [range(0, Grain::QuarterHour, 0, 2_700_000)];
        let read = activity_rollups::sums_of(&database, OURS, None, &quarter_hours).await.unwrap();
        assert_eq!(read, [(0, total)]);
        let days = [range(0, Grain::Day, 0, 86_400_000)];
        assert_eq!(activity_rollups::sums_of(&database, OURS, None, &days).await.unwrap(), []);
        let parts = [0, 1, 2].map(|n| {
            let from = 900_000 * i64::try_from(n).unwrap_or_default();
            range(n, Grain::QuarterHour, from, from + 900_000)
        });
        let read = activity_rollups::sums_of(&database, OURS, None, &parts).await.unwrap();
        assert_eq!(read.iter().map(|(part, _)| *part).collect::<Vec<_>>(), [0, 1]);
    }
}

#[tokio::test]
async fn merging_shards_does_not_change_the_activity_sums() {
    for database in databases().await {
        let bucket = |starts_at| activity_rollups::ActivityBucket {
            workspace_id: OURS,
            course_id: ALL_COURSES,
            grain: Grain::Day,
            starts_at,
        };
        for shard in 0..4_i16 {
            // Each shard has its own decimal digit in the totals.
            let amount = |digit: i64| digit * 10_i64.pow(u32::try_from(shard).unwrap());
            let sums = activity_rollups::ActivitySums {
                students_new: amount(1),
                enrollments_created: amount(2),
                enrollments_revoked: amount(3),
                enrollments_active: amount(4),
                cohort_completed: amount(5),
                cohort_percent_sum: amount(-6),
                certificates_issued: amount(7),
            };
            let mut deltas = activity_rollups::ActivityDeltas::default();
            for day in [0, DAY_MS] {
                deltas.add(bucket(day), sums);
            }
            deltas.flush(&database, shard).await.unwrap();
        }
        let expected_sums = activity_rollups::ActivitySums {
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
        let moved = merge_activity_shards(&database).await;
        let (expected_moved, expected_rows) = match database.get_database_backend() {
            DbBackend::Sqlite => (0, 8),
            _ => (3, 5),
        };
        assert_eq!(
            (moved, activity_rollups::Entity::find().all(&database).await.unwrap().len()),
            (expected_moved, expected_rows)
        );
        let mut read = activity_rollups::sums_of(&database, OURS, None, &days).await.unwrap();
        read.sort_by_key(|(part, _)| *part);
        assert_eq!(read, [(0, expected_sums), (1, expected_sums)]);
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

/// Returns the day, number of orders and amount of each of the first three days: first summed from days, then from
/// quarter-hours.
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

/// Returns the day and shard of each row of one grain, sorted.
async fn shards(database: &DatabaseConnection, grain: Grain) -> Vec<(i64, i16)> {
    let rows = revenue_rollups::Entity::find().all(database).await.unwrap();
    let rows = rows.iter().filter(|row| row.grain == grain);
    let mut shards: Vec<_> = rows.map(|row| (row.starts_at / DAY_MS, row.shard)).collect();
    shards.sort_unstable();
    shards
}

#[tokio::test]
async fn merging_moves_past_days_and_quarter_hours_into_one_shard_without_changing_the_sums() {
    for database in databases().await {
        for shard in 0..4_i16 {
            for day in 0..3 {
                let amount = 10_i64.pow(u32::try_from(shard).unwrap());
                // Two shards in each of two quarter-hours.
                add_order(&database, day * DAY_MS + i64::from(shard / 2) * QUARTER_HOUR_MS, amount, shard)
                    .await;
            }
        }
        let before = daily_sales(&database).await;
        assert_eq!(before, vec![vec![(0, 4, 1_111), (1, 4, 1_111), (2, 4, 1_111)]; 2]);
        if database.get_database_backend() == DbBackend::Sqlite {
            assert_eq!(merge_revenue_shards(&database, 100).await, 0, "SQLite has one shard");
            continue;
        }
        // An open transaction has locked a row of the first day.
        let writer = database.begin().await.unwrap();
        add_order(&writer, 0, 50_000, 2).await;
        let mut moved = 0;
        loop {
            let batch = merge_revenue_shards(&database, 2).await;
            assert!(batch <= 2 + 2, "at most two rows of each grain");
            moved += batch;
            if batch == 0 {
                break;
            }
        }
        assert_eq!(moved, 5 + 6);
        assert_eq!(daily_sales(&database).await, before);
        let days = [(0, 0), (0, 2), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3)];
        assert_eq!(shards(&database, Grain::Day).await, days);
        let quarters = [(0, 0), (0, 0), (1, 0), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3)];
        assert_eq!(shards(&database, Grain::QuarterHour).await, quarters);
        writer.commit().await.unwrap();

        assert_eq!(merge_revenue_shards(&database, 100).await, 2);
        assert_eq!(shards(&database, Grain::Day).await, [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3)]);
        assert_eq!(shards(&database, Grain::QuarterHour).await, quarters);
        assert_eq!(daily_sales(&database).await, vec![vec![(0, 5, 51_111), (1, 4, 1_111), (2, 4, 1_111)]; 2]);
    }
}
