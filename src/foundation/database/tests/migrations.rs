//! Tests of the phases of migrations, of concurrent indexes and of backfills.

use std::time::Duration;

use migration::{Backfill, Migration, Phase};
use sea_orm::{ConnectionTrait, DbBackend, Statement};

use super::{EmptyDatabase, at, workspace};
use crate::database::{Database, MigrateError, SchemaState};

const EXPAND: Migration =
    Migration { name: "m0091_expand", added_columns: &[("workspaces", "motto TEXT")], ..Migration::EMPTY };

const CONTRACT: Migration = Migration {
    name: "m0092_contract",
    floor: 92,
    phase: Phase::Contract,
    statements: &["ALTER TABLE workspaces DROP COLUMN motto"],
    ..Migration::EMPTY
};

const NEXT_EXPAND: Migration = Migration { name: "m0093_expand", ..EXPAND };

const NEXT_CONTRACT: Migration = Migration { name: "m0094_contract", ..CONTRACT };

const UNIQUE_OWNERS: Migration = Migration {
    name: "m0091_owners",
    concurrent_indexes: &["CREATE UNIQUE INDEX uq_workspaces_owner ON workspaces (owner_email)"],
    ..Migration::EMPTY
};

/// Applying a batch twice would change the result.
const INCREMENT: Migration = Migration {
    name: "m0091_increment",
    backfill: Some(Backfill {
        table: "workspaces",
        key: "id",
        statement: "UPDATE workspaces SET per_day = per_day + 1 WHERE {batch}",
    }),
    ..Migration::EMPTY
};

/// Executes statements in one transaction.
async fn execute(database: &Database, statements: &[&str]) {
    let write = database.begin_write(&at(1)).await.unwrap();
    for statement in statements {
        write.conn().execute_unprepared(statement).await.unwrap();
    }
    write.commit().await.unwrap();
}

/// Returns the first column of the first row, if any.
async fn number(database: &Database, sql: &str) -> Option<i64> {
    let query = Statement::from_string(database.backend(), sql);
    database.read().query_one_raw(query).await.unwrap().map(|row| row.try_get_by_index(0).unwrap())
}

#[tokio::test]
async fn the_phases_of_a_release_are_applied_one_after_the_other() {
    for empty in EmptyDatabase::all().await {
        empty.migrated().await;
        let release = empty.open_with(&[EXPAND, CONTRACT]).await;
        let error = release.migrate_phase(Some(Phase::Contract)).await.unwrap_err().to_string();
        assert!(
            error.starts_with("the expand phase of this version is pending (migration m0091_expand)"),
            "{error}"
        );
        assert_eq!(release.schema_state().await.unwrap(), SchemaState::Behind(1));
        assert_eq!(
            release.migrate_phase(Some(Phase::Expand)).await.unwrap().to_string(),
            "applied 1 migration: m0091_expand\n1 migration of the contract phase is pending; run `creator-api migrate \
             --phase contract` when no older server or worker runs"
        );
        assert_eq!(release.schema_state().await.unwrap(), SchemaState::Current, "the release can run");
        assert_eq!(
            empty.open().await.schema_state().await.unwrap(),
            SchemaState::Current,
            "so can the previous"
        );

        // The servers of the first release cannot run on the expanded schema of the second.
        let next = empty.open_with(&[EXPAND, CONTRACT, NEXT_EXPAND, NEXT_CONTRACT]).await;
        let error = next.migrate_phase(Some(Phase::Expand)).await.unwrap_err();
        assert!(matches!(error, MigrateError::ContractPending("m0092_contract")), "{error}");
        assert_eq!(next.schema_state().await.unwrap(), SchemaState::Behind(1));
        assert_eq!(
            next.migrate_phase(Some(Phase::Contract)).await.unwrap().to_string(),
            "applied 1 migration: m0092_contract\n1 migration of the expand phase is pending; run `creator-api migrate \
             --phase expand` before you start servers of this version\n1 migration of the contract phase is pending; run \
             `creator-api migrate --phase contract` when no older server or worker runs"
        );
        assert_eq!(
            empty.open().await.schema_state().await.unwrap(),
            SchemaState::Ahead("m0092_contract".to_owned()),
            "the contract phase excludes the version before the release"
        );
        assert_eq!(release.schema_state().await.unwrap(), SchemaState::Current);
        assert_eq!(next.migrate_phase(Some(Phase::Expand)).await.unwrap().applied, ["m0093_expand"]);
        assert_eq!(next.migrate_phase(Some(Phase::Contract)).await.unwrap().applied, ["m0094_contract"]);
        assert_eq!(next.migrate_phase(None).await.unwrap().to_string(), "no migrations to apply");
    }
}

#[tokio::test]
async fn both_phases_of_several_releases_are_applied_in_order() {
    for empty in EmptyDatabase::all().await {
        empty.migrated().await;
        let database = empty.open_with(&[EXPAND, CONTRACT, NEXT_EXPAND, NEXT_CONTRACT]).await;
        let report = database.migrate_phase(None).await.unwrap();
        assert_eq!(report.applied, ["m0091_expand", "m0092_contract", "m0093_expand", "m0094_contract"]);
    }
}

#[tokio::test]
async fn an_index_whose_creation_failed_is_created_again() {
    for empty in EmptyDatabase::all().await {
        empty.migrated().await;
        let database = empty.open_with(&[UNIQUE_OWNERS]).await;
        let write = database.begin_write(&at(1)).await.unwrap();
        for (id, key) in [(1, "a"), (2, "b")] {
            entity::workspaces::insert(write.conn(), workspace(id, key)).await.unwrap();
        }
        write.commit().await.unwrap();
        let is_valid = "SELECT indisvalid::int::bigint FROM pg_index WHERE indexrelid = to_regclass('uq_workspaces_owner')";
        for _ in 0..2 {
            let error = database.migrate().await.unwrap_err();
            assert!(matches!(error, MigrateError::Failed(_)), "{error}");
            if database.backend() == DbBackend::Postgres {
                assert_eq!(number(&database, is_valid).await, Some(0));
            }
        }
        execute(&database, &["UPDATE workspaces SET owner_email = 'b@example.com' WHERE key = 'b'"]).await;
        assert_eq!(database.migrate_phase(None).await.unwrap().applied, ["m0091_owners"]);
        if database.backend() == DbBackend::Postgres {
            assert_eq!(number(&database, is_valid).await, Some(1));
        }
        let write = database.begin_write(&at(1)).await.unwrap();
        entity::workspaces::insert(write.conn(), workspace(3, "c")).await.unwrap_err();
    }
}

/// Waits until this number of backends execute a statement that starts with this text and wait for a lock.
async fn wait_for_waiting(database: &Database, count: i64, statement: &str) {
    let waiting = format!(
        "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '{statement}%'"
    );
    let wait = async {
        while number(database, &waiting).await != Some(count) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), wait).await.expect("the statement waits");
}

/// Inserts a workspace without committing. The creation of an index waits for the transaction, which has no timeouts.
async fn uncommitted_workspace(database: &Database) -> crate::database::Write {
    let write = database.begin_write(&at(1)).await.unwrap();
    let no_timeout = "SET LOCAL idle_in_transaction_session_timeout = 0";
    write.conn().execute_unprepared(no_timeout).await.unwrap();
    entity::workspaces::insert(write.conn(), workspace(1, "a")).await.unwrap();
    write
}

#[tokio::test]
async fn writes_and_another_process_do_not_disturb_the_creation_of_an_index() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let name = empty.source.location().rsplit('/').next().unwrap().to_owned();
    let admin = empty.migrated().await;
    // Shorter than the creation of the index.
    for setting in ["statement_timeout", "idle_in_transaction_session_timeout"] {
        let set = format!("ALTER DATABASE {name} SET {setting} = '500ms'");
        admin.read().execute_unprepared(&set).await.unwrap();
    }
    let (first, second) = (empty.open_with(&[UNIQUE_OWNERS]).await, empty.open_with(&[UNIQUE_OWNERS]).await);
    let write = uncommitted_workspace(&admin).await;
    let migrate = |database: &Database| {
        let database = database.clone();
        tokio::spawn(async move { database.migrate_phase(None).await.unwrap().applied.len() })
    };
    let creating = migrate(&first);
    wait_for_waiting(&admin, 1, "CREATE UNIQUE INDEX CONCURRENTLY").await;
    let waiting = migrate(&second);
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let other = entity::workspaces::Model { owner_email: "b@example.com".to_owned(), ..workspace(2, "b") };
    let other_write = admin.begin_write(&at(1)).await.unwrap();
    entity::workspaces::insert(other_write.conn(), other).await.unwrap();
    other_write.commit().await.unwrap();
    assert!(!creating.is_finished() && !waiting.is_finished());
    write.commit().await.unwrap();
    let both = async { (creating.await.unwrap(), waiting.await.unwrap()) };
    let applied = tokio::time::timeout(Duration::from_secs(30), both).await.expect("both end");
    assert_eq!(applied, (1, 0));
}

#[tokio::test]
async fn an_index_that_a_killed_process_left_unfinished_is_awaited() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let admin = empty.migrated().await;
    let (first, second) = (empty.open_with(&[UNIQUE_OWNERS]).await, empty.open_with(&[UNIQUE_OWNERS]).await);
    let write = uncommitted_workspace(&admin).await;
    let killed = tokio::spawn(async move { first.migrate().await });
    wait_for_waiting(&admin, 1, "CREATE UNIQUE INDEX CONCURRENTLY").await;
    // PostgreSQL continues the statement.
    killed.abort();
    let object = "SELECT to_regclass('uq_workspaces_owner')::oid::bigint";
    let unfinished = number(&admin, object).await;
    let repeated = tokio::spawn(async move { second.migrate_phase(None).await.unwrap().applied.len() });
    wait_for_waiting(&admin, 1, "LOCK TABLE workspaces").await;
    write.commit().await.unwrap();
    let applied = tokio::time::timeout(Duration::from_secs(30), repeated).await.expect("it ends").unwrap();
    assert_eq!((applied, number(&admin, object).await), (1, unfinished));
}

#[tokio::test]
async fn an_interrupted_backfill_changes_every_row_once() {
    for empty in EmptyDatabase::all().await {
        let database = empty.migrated().await;
        let (first, second) = (empty.open_with(&[INCREMENT]).await, empty.open_with(&[INCREMENT]).await);
        let (numbers, id, largest) = match database.backend() {
            DbBackend::Postgres => {
                ("SELECT generate_series(1, 2500)", "lpad(to_hex(n), 32, '0')::uuid", i64::from(i32::MAX))
            }
            _ => (
                "SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500",
                "unhex(printf('%032x', n))",
                i64::MAX,
            ),
        };
        let insert = format!(
            "WITH RECURSIVE numbers (n) AS ({numbers})
             INSERT INTO workspaces (id, key, name, owner_email, per_day, created_at, updated_at)
             SELECT {id}, 'w' || n, '', '', CASE n WHEN 1500 THEN {largest} ELSE n END, 1, 1 FROM numbers"
        );
        execute(&database, &[&insert]).await;
        let incremented =
            "SELECT count(*) FROM workspaces WHERE 'w' || (per_day - 1) = key AND per_day < 10000";
        // The second batch fails, because the value is out of range.
        first.migrate().await.unwrap_err();
        assert_eq!(number(&database, incremented).await, Some(1_000));

        execute(&database, &["UPDATE workspaces SET per_day = 1500 WHERE key = 'w1500'"]).await;
        let (first, second) = tokio::join!(first.migrate_phase(None), second.migrate_phase(None));
        assert_eq!(first.unwrap().applied.len() + second.unwrap().applied.len(), 1);
        assert_eq!(number(&database, incremented).await, Some(2_500));
        let position = "SELECT count(*) FROM server_state WHERE name LIKE 'backfill%'";
        assert_eq!(number(&database, position).await, Some(0));
    }
}
