//! Test databases and rows. Times are milliseconds since the epoch.

#[path = "../../../tests/it/support/skip.rs"]
mod skip;

use std::sync::atomic::{AtomicU32, Ordering};

use entity::{StringList, StringMap, api_keys, courses, enrollments, orders, students, workspaces};
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, TransactionTrait};
use uuid::Uuid;

/// The workspace of most rows.
pub(crate) const OURS: Uuid = Uuid::from_u128(1);
/// Another workspace.
pub(crate) const THEIRS: Uuid = Uuid::from_u128(2);

pub(crate) fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// Creates migrated databases with the two workspaces: one on SQLite and, if available, one on PostgreSQL.
pub(crate) async fn databases() -> Vec<DatabaseConnection> {
    let mut memory = ConnectOptions::new("sqlite::memory:");
    memory.max_connections(1);
    let mut databases = vec![Database::connect(memory).await.unwrap()];
    if let Ok(server) = std::env::var("TEST_POSTGRES_URL") {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("entity_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let admin = Database::connect(&server).await.unwrap();
        admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
        let (base, _) = server.rsplit_once('/').unwrap();
        databases.push(Database::connect(format!("{base}/{name}")).await.unwrap());
    } else {
        skip::skip("on PostgreSQL: TEST_POSTGRES_URL is not set");
    }
    for database in &databases {
        let transaction = database.begin().await.unwrap();
        migration::Migrator::default().apply(&transaction).await.unwrap();
        for (id, key) in [(OURS, "ours"), (THEIRS, "theirs")] {
            workspaces::insert(&transaction, workspace(id, key)).await.unwrap();
        }
        transaction.commit().await.unwrap();
    }
    databases
}

pub(crate) fn workspace(id: Uuid, key: &str) -> workspaces::Model {
    workspaces::Model {
        id,
        key: key.to_owned(),
        name: "Acme".to_owned(),
        owner_email: "Ada@example.com".to_owned(),
        per_minute: Some(60),
        per_day: None,
        created_at: 1,
        updated_at: 2,
        requires_second_factor: false,
        mode: "live".to_owned(),
        live_workspace_id: None,
        deleted_at: None,
    }
}

pub(crate) fn api_key(number: u128) -> api_keys::Model {
    api_keys::Model {
        id: id(number),
        workspace_id: OURS,
        name: "CRM".to_owned(),
        scopes: StringList(vec!["read:courses".to_owned(), "write:students".to_owned()]),
        secret_hash: vec![u8::try_from(number % 256).unwrap(); 32],
        prefix: "svc_live_abc".to_owned(),
        last4: "wxyz".to_owned(),
        per_minute: Some(600),
        per_day: None,
        created_at: 5,
        last_used_at: None,
        expires_at: Some(9),
        revoked_at: None,
        operator_quota: false,
        sunset_extended_until: None,
        networks: None,
    }
}

pub(crate) fn course(number: u128) -> courses::Model {
    courses::Model {
        id: id(number),
        workspace_id: OURS,
        key: Some(format!("course-{number}")),
        slug: format!("slug-{number}"),
        title: "Rust".to_owned(),
        description: Some("From the beginning".to_owned()),
        language: Some("en".to_owned()),
        status: courses::StoredCourseStatus::Published,
        image_url: None,
        url: Some("https://example.com".to_owned()),
        price_amount: Some(1999),
        price_currency: Some("EUR".to_owned()),
        module_count: 1,
        lesson_count: 2,
        duration_seconds: 3600,
        published_at: Some(11),
        archived_at: None,
        created_at: 10,
        updated_at: 12,
    }
}

pub(crate) fn student(number: u128) -> students::Model {
    students::Model {
        id: id(number),
        workspace_id: OURS,
        key: None,
        email: format!("S{number}@example.com"),
        email_folded: format!("s{number}@example.com"),
        name: Some("Grace".to_owned()),
        external_id: Some("crm-1".to_owned()),
        tags: StringList(vec!["vip".to_owned(), "beta".to_owned()]),
        metadata: StringMap([("plan".to_owned(), "gold".to_owned())].into()),
        created_at: 20,
        updated_at: 21,
    }
}

pub(crate) fn enrollment(number: u128, student: u128, course: u128) -> enrollments::Model {
    enrollments::Model {
        id: id(number),
        workspace_id: OURS,
        student_id: id(student),
        course_id: id(course),
        status: enrollments::StoredEnrollmentStatus::Active,
        source: enrollments::StoredEnrollmentSource::Order,
        order_id: None,
        completed_lessons: 1,
        total_lessons: 2,
        last_activity_at: Some(31),
        enrolled_at: 30,
        expires_at: None,
        completed_at: None,
        revoked_at: None,
        revoke_reason: None,
        created_at: 30,
        updated_at: 31,
        granted_until: None,
    }
}

pub(crate) fn order(number: u128, student: Option<u128>) -> orders::Model {
    orders::Model {
        id: id(number),
        workspace_id: OURS,
        key: Some(format!("order-{number}")),
        number: format!("A-{number}"),
        student_id: student.map(id),
        customer_email: "s@example.com".to_owned(),
        customer_name: None,
        status: orders::StoredOrderStatus::PartiallyRefunded,
        currency: "EUR".to_owned(),
        subtotal_amount: 2000,
        discount_amount: 100,
        tax_amount: 300,
        total_amount: 2200,
        refunded_amount: 200,
        receipt_number: format!("R-{number}"),
        receipt_url: Some("https://example.com/r".to_owned()),
        receipt_issued_at: 41,
        paid_at: 40,
        created_at: 40,
        updated_at: 42,
    }
}
