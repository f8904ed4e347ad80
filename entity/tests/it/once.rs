//! Operations that take effect once: idempotency claims, applied changes, enrollments, the revocation of API keys. Also
//! request counts, which add up.

use entity::{
    api_keys, applied_changes, courses, enrollments,
    idempotency_records::{self, ClaimRequest, ClaimResult, IdempotencyState, RecordedResponse},
    rate_usage, students,
};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement, TransactionTrait};

use crate::support::{OURS, api_key, course, databases, enrollment, id, student};

/// Returns a claim of the key `abc` for 10 ms. The stored record expires 100 ms after `now`.
fn claim(token: u128, now: i64) -> ClaimRequest {
    ClaimRequest {
        api_key_id: id(5),
        idempotency_key: "abc".to_owned(),
        fingerprint: [7; 32],
        claim_token: id(token),
        now,
        claimed_until: now + 10,
        expires_at: now + 100,
    }
}

#[tokio::test]
async fn an_idempotency_key_is_claimed_once_and_its_response_stored() {
    for database in databases().await {
        api_keys::in_workspace(OURS).insert(&database, api_key(5)).await.unwrap();
        let first = claim(1, 0);
        assert_eq!(first.acquire(&database).await.unwrap(), ClaimResult::Acquired);
        let ClaimResult::Existing(record) = claim(2, 5).acquire(&database).await.unwrap() else {
            panic!("the key was claimed twice")
        };
        assert_eq!(
            (record.state, record.claim_token, record.status),
            (IdempotencyState::Running, id(1), None)
        );

        let second = claim(3, 10);
        assert_eq!(
            second.acquire(&database).await.unwrap(),
            ClaimResult::Acquired,
            "the first claim expired"
        );
        let response = RecordedResponse { status: 201, headers: "{}".to_owned(), body: b"{}".to_vec() };
        assert!(
            !first.finish(&database, response.clone()).await.unwrap(),
            "another request has claimed the key"
        );
        first.release(&database).await.unwrap();
        assert!(second.finish(&database, response).await.unwrap());
        second.release(&database).await.unwrap();

        let ClaimResult::Existing(record) = claim(4, 50).acquire(&database).await.unwrap() else {
            panic!("the response was not stored")
        };
        assert_eq!(
            (record.state, record.status, record.body),
            (IdempotencyState::Done, Some(201), Some(b"{}".to_vec()))
        );
        assert_eq!(
            claim(5, 110).acquire(&database).await.unwrap(),
            ClaimResult::Acquired,
            "the record expired"
        );
        claim(5, 110).release(&database).await.unwrap();
        assert_eq!(
            claim(6, 111).acquire(&database).await.unwrap(),
            ClaimResult::Acquired,
            "the key was released"
        );
        assert_eq!(idempotency_records::delete_expired(&database, 210, 9).await.unwrap(), 0);
        assert_eq!(idempotency_records::delete_expired(&database, 211, 9).await.unwrap(), 1);
    }
}

/// Waits until a statement is blocked by a lock of another transaction.
async fn wait_for_blocked_transaction(database: &DatabaseConnection) {
    let waiting =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let waiting = Statement::from_string(DbBackend::Postgres, waiting);
    while database.query_one_raw(waiting.clone()).await.unwrap().is_none() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn an_expired_record_renewed_by_a_new_claim_is_not_deleted() {
    for database in databases().await {
        if database.get_database_backend() != DbBackend::Postgres {
            continue; // On SQLite, write transactions are exclusive.
        }
        api_keys::in_workspace(OURS).insert(&database, api_key(5)).await.unwrap();
        assert_eq!(claim(1, 0).acquire(&database).await.unwrap(), ClaimResult::Acquired);

        let new_claim = database.begin().await.unwrap();
        assert_eq!(claim(2, 100).acquire(&new_claim).await.unwrap(), ClaimResult::Acquired);
        let (deleted, ()) = tokio::join!(idempotency_records::delete_expired(&database, 100, 9), async {
            wait_for_blocked_transaction(&database).await;
            new_claim.commit().await.unwrap();
        });
        assert_eq!(deleted.unwrap(), 0);
        assert!(matches!(claim(3, 105).acquire(&database).await.unwrap(), ClaimResult::Existing(_)));
    }
}

#[tokio::test]
async fn a_change_is_applied_once() {
    for database in databases().await {
        let insert = async |key, ids: &[&str]| {
            let new = applied_changes::insert_new(&database, key, ids, 1).await.unwrap();
            new.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(insert("a", &["c-1"]).await, ["c-1"]);
        assert_eq!(insert("a", &["c-1", "c-3"]).await, ["c-3"]);
        assert_eq!(insert("b", &["c-1"]).await, ["c-1"]);
        assert_eq!(applied_changes::applied(&database, "a", &["c-1", "c-2"]).await.unwrap(), ["c-1"]);
    }
}

#[tokio::test]
async fn a_student_is_enrolled_once_in_a_course_and_a_conflict_leaves_the_transaction_usable() {
    for database in databases().await {
        courses::in_workspace(OURS).insert(&database, course(3)).await.unwrap();
        let transaction = database.begin().await.unwrap();
        let students = students::in_workspace(OURS);
        assert!(students.insert_unless_taken(&transaction, student(4)).await.unwrap());
        let same_email = students::Model { id: id(5), ..student(4) };
        assert!(!students.insert_unless_taken(&transaction, same_email).await.unwrap());
        let enrollments = enrollments::in_workspace(OURS);
        assert!(enrollments.insert_if_absent(&transaction, enrollment(6, 4, 3)).await.unwrap());
        assert!(!enrollments.insert_if_absent(&transaction, enrollment(7, 4, 3)).await.unwrap());
        assert_eq!(
            enrollments.lock_by_student_and_course(&transaction, id(4), id(3)).await.unwrap(),
            Some(enrollment(6, 4, 3))
        );
        transaction.commit().await.unwrap();
        assert_eq!(
            enrollments.by_student_and_course(&database, id(4), id(3)).await.unwrap(),
            Some(enrollment(6, 4, 3))
        );
    }
}

#[tokio::test]
async fn requests_are_counted_by_subject_and_day() {
    for database in databases().await {
        let usage = |subject: &str, day, used| rate_usage::Model { subject: subject.to_owned(), day, used };
        rate_usage::add(&database, vec![usage("b", 0, 2), usage("a", 0, 1)]).await.unwrap();
        let mut totals =
            rate_usage::add(&database, vec![usage("a", 0, 3), usage("a", 86_400_000, 5)]).await.unwrap();
        totals.sort_by_key(|total| total.day);
        assert_eq!(totals, [usage("a", 0, 4), usage("a", 86_400_000, 5)]);
        assert_eq!(rate_usage::add(&database, Vec::new()).await.unwrap(), []);
        assert_eq!(rate_usage::used(&database, "a", 0).await.unwrap(), 4);
        assert_eq!(rate_usage::used(&database, "c", 0).await.unwrap(), 0);
        assert_eq!(rate_usage::of_day(&database, 0).await.unwrap().len(), 2);
        assert_eq!(rate_usage::delete_before(&database, 86_400_000).await.unwrap(), 2);

        // More rows than one statement inserts, and not a multiple of that number.
        let many = || (0..513).map(|number| usage(&format!("k{number}"), 0, number)).collect();
        assert_eq!(rate_usage::add(&database, many()).await.unwrap().len(), 513);
        let mut totals = rate_usage::add(&database, many()).await.unwrap();
        totals.sort_by_key(|total| total.used);
        let expected: Vec<_> = (0..513).map(|number| usage(&format!("k{number}"), 0, 2 * number)).collect();
        assert_eq!(totals, expected);
    }
}

#[tokio::test]
async fn a_key_is_found_by_its_secret_hash_and_revoked_once() {
    for database in databases().await {
        let keys = api_keys::in_workspace(OURS);
        keys.insert(&database, api_key(5)).await.unwrap();
        assert_eq!(api_keys::by_secret_hash(&database, &[5; 32], 0).await.unwrap(), Some(api_key(5)));
        assert_eq!(api_keys::by_secret_hash(&database, &[6; 32], 0).await.unwrap(), None);
        api_keys::touch(&database, id(5), 70).await.unwrap();
        api_keys::touch(&database, id(5), 60).await.unwrap();
        assert!(keys.revoke(&database, id(5), 80).await.unwrap());
        assert!(!keys.revoke(&database, id(5), 90).await.unwrap());
        let revoked = api_keys::revoked_since(&database, 80).await.unwrap();
        assert_eq!((revoked[0].last_used_at, revoked[0].revoked_at), (Some(70), Some(80)));
        assert_eq!(api_keys::revoked_since(&database, 81).await.unwrap(), []);
        assert_eq!(keys.list(&database).await.unwrap().len(), 1);
    }
}
