//! Rows are stored unchanged and visible only in their workspace.

use entity::{
    ActiveValue, Set, StringList, WorkspaceTable, api_keys, audit_entries, certificates, courses,
    enrollments, entitlements, events, lesson_completions, lessons, live_sessions, modules, order_items,
    orders, password_links, recordings, refunds, sessions, student_tags, students, users, workspaces,
};
use sea_orm::{ConnectionTrait, DatabaseConnection};

use crate::support::{OURS, THEIRS, api_key, course, databases, enrollment, id, order, student, workspace};

/// Inserts a row and asserts that the queries by id, the lock and the count find it in its workspace, and not in
/// another one.
pub(crate) async fn assert_stored_in_workspace<E>(database: &DatabaseConnection, number: u128, row: E::Model)
where
    E: WorkspaceTable<Model: PartialEq + Clone>,
{
    let (ours, theirs) = (entity::InWorkspace::<E>::new(OURS), entity::InWorkspace::<E>::new(THEIRS));
    ours.insert(database, row.clone()).await.unwrap();
    let row_id = id(number);
    assert_eq!(ours.by_id(database, row_id).await.unwrap().as_ref(), Some(&row));
    assert_eq!(ours.lock(database, row_id).await.unwrap().as_ref(), Some(&row));
    assert_eq!(ours.by_ids(database, &[row_id, id(999_999)]).await.unwrap(), [row]);
    assert_eq!(ours.count(database).await.unwrap(), 1);
    assert_eq!(theirs.by_id(database, row_id).await.unwrap(), None);
    assert_eq!(theirs.by_ids(database, &[row_id]).await.unwrap(), []);
    assert!(!theirs.delete(database, row_id).await.unwrap());
    assert_eq!(theirs.count(database).await.unwrap(), 0);
}

#[tokio::test]
async fn every_row_is_stored_unchanged() {
    for database in databases().await {
        let database = &database;
        assert_stored_in_workspace::<users::Entity>(database, 100, a_user()).await;
        assert_stored_in_workspace::<api_keys::Entity>(database, 101, api_key(101)).await;
        assert_stored_in_workspace::<courses::Entity>(database, 102, course(102)).await;
        assert_stored_in_workspace::<modules::Entity>(database, 103, a_module()).await;
        assert_stored_in_workspace::<lessons::Entity>(database, 104, a_lesson()).await;
        assert_stored_in_workspace::<students::Entity>(database, 105, student(105)).await;
        assert_stored_in_workspace::<orders::Entity>(database, 106, order(106, Some(105))).await;
        assert_stored_in_workspace::<order_items::Entity>(database, 107, an_item()).await;
        assert_stored_in_workspace::<refunds::Entity>(database, 108, a_refund()).await;
        assert_stored_in_workspace::<enrollments::Entity>(database, 109, enrollment(109, 105, 102)).await;
        assert_stored_in_workspace::<entitlements::Entity>(database, 110, an_entitlement()).await;
        assert_stored_in_workspace::<certificates::Entity>(database, 111, a_certificate()).await;
        assert_stored_in_workspace::<live_sessions::Entity>(database, 112, a_live_session()).await;
        assert_stored_in_workspace::<recordings::Entity>(database, 113, a_recording()).await;
        assert_stored_in_workspace::<events::Entity>(database, 114, an_event()).await;
        assert_stored_in_workspace::<sessions::Entity>(database, 115, a_session()).await;
        assert_stored_in_workspace::<password_links::Entity>(database, 116, a_link()).await;
        assert_stored_in_workspace::<audit_entries::Entity>(database, 117, an_entry()).await;
        assert_children_are_found(database).await;
        assert_deleting_a_user_deletes_sessions_and_links(database).await;
        assert_deleting_a_student_keeps_orders_certificates_and_entitlements(database).await;
    }
}

#[tokio::test]
async fn many_rows_are_stored_unchanged() {
    let texts =
        ["", "null", "\\x41", "O'Neil \"\\/\" {},[]", "\t\n\u{7f}\u{2028}", "Zoë \u{1f980}", "\u{202e}ab"];
    let student = |number: u128| {
        let text = texts[number as usize % texts.len()].to_owned();
        let tags = StringList(vec![text.clone(), String::new()]);
        students::Model { name: Some(text), external_id: None, tags, created_at: -7, ..student(number) }
    };
    let key = |number: u128| api_keys::Model { per_minute: Some(i32::MAX), ..api_key(number) };
    for database in databases().await {
        // More rows than one statement inserts, and not a multiple of that number.
        let rows: Vec<_> = (1_000..1_513).map(student).collect();
        let ours = students::in_workspace(OURS);
        ours.insert_many(&database, rows.clone()).await.unwrap();
        for row in rows {
            assert_eq!(ours.by_id(&database, row.id).await.unwrap(), Some(row));
        }
        let keys = [key(0), key(255)];
        api_keys::in_workspace(OURS).insert_many(&database, keys.to_vec()).await.unwrap();
        assert_eq!(api_keys::in_workspace(OURS).by_id(&database, id(255)).await.unwrap(), Some(key(255)));
        courses::in_workspace(OURS).insert(&database, course(102)).await.unwrap();
        modules::in_workspace(OURS).insert(&database, a_module()).await.unwrap();
        let lesson = |number, free_preview| lessons::Model {
            id: id(number),
            key: format!("l{number}"),
            position: if free_preview { i32::MAX } else { 0 },
            duration_seconds: free_preview.then_some(60),
            free_preview,
            ..a_lesson()
        };
        let lessons = lessons::in_workspace(OURS);
        lessons.insert_many(&database, vec![lesson(1, true), lesson(2, false)]).await.unwrap();
        assert_eq!(lessons.by_id(&database, id(1)).await.unwrap(), Some(lesson(1, true)));
        assert_eq!(lessons.by_id(&database, id(2)).await.unwrap(), Some(lesson(2, false)));
        let order = |number, amount| orders::Model {
            subtotal_amount: amount,
            key: None,
            receipt_issued_at: -amount,
            ..order(number, None)
        };
        let orders = orders::in_workspace(OURS);
        orders.insert_many(&database, vec![order(3, i64::MAX), order(4, (1 << 53) + 1)]).await.unwrap();
        assert_eq!(orders.by_id(&database, id(3)).await.unwrap(), Some(order(3, i64::MAX)));
        assert_eq!(orders.by_id(&database, id(4)).await.unwrap(), Some(order(4, (1 << 53) + 1)));
    }
}

async fn assert_children_are_found(database: &DatabaseConnection) {
    let completion = lesson_completions::Model {
        enrollment_id: id(109),
        lesson_id: id(104),
        workspace_id: OURS,
        completed_at: 3,
    };
    assert!(lesson_completions::insert_if_absent(database, completion.clone()).await.unwrap());
    assert!(!lesson_completions::insert_if_absent(database, completion.clone()).await.unwrap());
    assert_eq!(lesson_completions::count(database, OURS, id(109)).await.unwrap(), 1);
    assert_eq!(lesson_completions::of_enrollments(database, OURS, &[id(109)]).await.unwrap(), [completion]);
    assert_eq!(modules::in_workspace(OURS).of_courses(database, &[id(102)]).await.unwrap(), [a_module()]);
    assert_eq!(lessons::in_workspace(OURS).of_courses(database, &[id(102)]).await.unwrap(), [a_lesson()]);
    assert_eq!(lessons::in_workspace(OURS).by_key(database, "l1").await.unwrap(), Some(a_lesson()));
    assert_eq!(order_items::in_workspace(OURS).of_orders(database, &[id(106)]).await.unwrap(), [an_item()]);
    assert_eq!(refunds::in_workspace(OURS).of_orders(database, &[id(106)]).await.unwrap(), [a_refund()]);
    let entitlements = entitlements::in_workspace(OURS);
    assert_eq!(entitlements.of_orders(database, &[id(106)]).await.unwrap(), [an_entitlement()]);
    assert_eq!(entitlements.of_enrollments(database, &[id(109)]).await.unwrap(), [an_entitlement()]);
    let enrollments = enrollments::in_workspace(OURS);
    assert_eq!(enrollments.of_course(database, id(102), None, 9).await.unwrap().len(), 1);
    assert_eq!(enrollments.of_course(database, id(102), Some(id(105)), 9).await.unwrap(), []);
    let newest = async |range| events::in_workspace(OURS).newest(database, range, 5).await.unwrap();
    assert_eq!(newest((id(114), id(115))).await, [an_event()]);
    assert_eq!(newest((id(1), id(114))).await, []);
    assert_eq!(newest((id(115), id(999))).await, []);
    assert_eq!(
        certificates::in_workspace(OURS).by_number(database, "C-1").await.unwrap(),
        Some(a_certificate())
    );
}

async fn assert_deleting_a_user_deletes_sessions_and_links(database: &DatabaseConnection) {
    assert_eq!(sessions::by_token_hash(database, &[1; 32]).await.unwrap(), Some(a_session()));
    assert_eq!(password_links::by_token_hash(database, &[2; 32]).await.unwrap(), Some(a_link()));
    assert_eq!(sessions::in_workspace(THEIRS).end_others(database, id(100), None).await.unwrap(), 0);
    assert!(!sessions::in_workspace(OURS).end(database, id(999), id(115)).await.unwrap());
    assert!(users::in_workspace(OURS).delete(database, id(100)).await.unwrap());
    assert_eq!(sessions::in_workspace(OURS).count(database).await.unwrap(), 0);
    assert_eq!(password_links::in_workspace(OURS).count(database).await.unwrap(), 0);
    assert_eq!(audit_entries::in_workspace(OURS).count(database).await.unwrap(), 1, "the audit log remains");
}

async fn assert_deleting_a_student_keeps_orders_certificates_and_entitlements(database: &DatabaseConnection) {
    student_tags::replace(database, OURS, id(105), &["vip".to_owned()]).await.unwrap();
    assert!(students::in_workspace(OURS).delete(database, id(105)).await.unwrap());
    assert_eq!(enrollments::in_workspace(OURS).count(database).await.unwrap(), 0);
    assert_eq!(lesson_completions::count(database, OURS, id(109)).await.unwrap(), 0);
    let order = orders::in_workspace(OURS).by_id(database, id(106)).await.unwrap().unwrap();
    assert_eq!(order.student_id, None);
    let certificate = certificates::in_workspace(OURS).by_id(database, id(111)).await.unwrap().unwrap();
    assert_eq!((certificate.student_id, certificate.enrollment_id), (None, None));
    let entitlement = entitlements::in_workspace(OURS).by_id(database, id(110)).await.unwrap().unwrap();
    assert_eq!(entitlement.enrollment_id, None);
}

#[tokio::test]
async fn an_update_writes_only_set_columns_of_rows_in_the_workspace() {
    for database in databases().await {
        let courses = courses::in_workspace(OURS);
        courses.insert(&database, courses::Model { workspace_id: THEIRS, ..course(1) }).await.unwrap();
        let change = || courses::ActiveModel {
            title: Set("Go".to_owned()),
            price_amount: Set(Some(5)),
            ..Default::default()
        };
        assert!(
            courses.update(&database, id(1), change()).await.unwrap(),
            "the model's workspace is ignored"
        );
        assert!(!courses.update(&database, id(2), change()).await.unwrap());
        assert!(!courses::in_workspace(THEIRS).update(&database, id(1), change()).await.unwrap());
        let expected = courses::Model { title: "Go".to_owned(), price_amount: Some(5), ..course(1) };
        assert_eq!(courses.by_slug(&database, "slug-1").await.unwrap(), Some(expected.clone()));
        assert_eq!(courses.lock_by_key(&database, "course-1").await.unwrap(), Some(expected.clone()));
        assert_eq!(courses.by_keys(&database, &["course-1", "x"]).await.unwrap(), [expected]);
    }
}

#[tokio::test]
async fn a_workspace_is_found_by_its_key_and_updated() {
    for database in databases().await {
        assert_eq!(workspaces::by_key(&database, "ours").await.unwrap(), Some(workspace(OURS, "ours")));
        assert_eq!(workspaces::lock_by_key(&database, "none").await.unwrap(), None);
        let quota = workspaces::ActiveModel { per_day: ActiveValue::Set(Some(9)), ..Default::default() };
        assert!(workspaces::update(&database, OURS, quota).await.unwrap());
        assert_eq!(workspaces::by_id(&database, OURS).await.unwrap().unwrap().per_day, Some(9));
        assert_eq!(workspaces::list(&database).await.unwrap().len(), 2);
    }
}

#[tokio::test]
async fn the_schema_rejects_an_unknown_status() {
    for database in databases().await {
        courses::in_workspace(OURS).insert(&database, course(1)).await.unwrap();
        let unknown_status = "UPDATE courses SET status = 'sold'";
        assert!(database.execute_unprepared(unknown_status).await.is_err());
    }
}

fn a_user() -> users::Model {
    users::Model {
        id: id(100),
        workspace_id: OURS,
        email: "Ada@example.com".to_owned(),
        email_folded: "ada@example.com".to_owned(),
        name: None,
        password_hash: Some("hash".to_owned()),
        created_at: 1,
        updated_at: 2,
        roles: 6,
    }
}

fn a_session() -> sessions::Model {
    sessions::Model {
        id: id(115),
        workspace_id: OURS,
        user_id: id(100),
        token_hash: vec![1; 32],
        address: "192.0.2.1".to_owned(),
        agent: "Browser".to_owned(),
        created_at: 1,
        seen_at: 2,
        authenticated_at: 1,
        has_second_factor: true,
        uses_provider: false,
        in_sandbox: false,
    }
}

fn a_link() -> password_links::Model {
    password_links::Model {
        id: id(116),
        workspace_id: OURS,
        user_id: id(100),
        token_hash: vec![2; 32],
        created_at: 1,
        expires_at: 2,
        is_requested: true,
    }
}

fn an_entry() -> audit_entries::Model {
    audit_entries::Model {
        id: id(117),
        workspace_id: OURS,
        user_id: Some(id(100)),
        actor: "ada@example.com".to_owned(),
        action: "key.create".to_owned(),
        subject: "key_1".to_owned(),
        detail: "CRM".to_owned(),
        address: "192.0.2.1".to_owned(),
        form: Some(vec![3; 16]),
        created_at: 1,
    }
}

fn a_module() -> modules::Model {
    let title = "One".to_owned();
    modules::Model {
        id: id(103),
        workspace_id: OURS,
        course_id: id(102),
        key: "m1".to_owned(),
        title,
        position: 1,
    }
}

fn a_lesson() -> lessons::Model {
    lessons::Model {
        id: id(104),
        workspace_id: OURS,
        course_id: id(102),
        module_id: id(103),
        key: "l1".to_owned(),
        title: "First".to_owned(),
        lesson_type: lessons::StoredLessonType::Quiz,
        position: 1,
        duration_seconds: Some(60),
        free_preview: true,
    }
}

fn an_item() -> order_items::Model {
    order_items::Model {
        id: id(107),
        workspace_id: OURS,
        order_id: id(106),
        position: 1,
        course_id: id(102),
        title: "Rust".to_owned(),
        quantity: 2,
        unit_amount: 1000,
        total_amount: 2000,
    }
}

fn a_refund() -> refunds::Model {
    let reason = Some("changed my mind".to_owned());
    refunds::Model { id: id(108), workspace_id: OURS, order_id: id(106), amount: 200, reason, created_at: 50 }
}

fn an_entitlement() -> entitlements::Model {
    entitlements::Model {
        id: id(110),
        workspace_id: OURS,
        order_id: id(106),
        course_id: id(102),
        enrollment_id: Some(id(109)),
        status: entitlements::StoredEntitlementStatus::Active,
        granted_at: 40,
        expires_at: Some(90),
        revoked_at: None,
    }
}

fn a_certificate() -> certificates::Model {
    certificates::Model {
        id: id(111),
        workspace_id: OURS,
        student_id: Some(id(105)),
        course_id: id(102),
        enrollment_id: Some(id(109)),
        number: "C-1".to_owned(),
        recipient_name: Some("Grace".to_owned()),
        issued_at: 60,
    }
}

fn a_live_session() -> live_sessions::Model {
    live_sessions::Model {
        id: id(112),
        workspace_id: OURS,
        key: "live-1".to_owned(),
        course_id: Some(id(102)),
        title: "Questions".to_owned(),
        status: live_sessions::StoredLiveSessionStatus::Scheduled,
        scheduled_at: Some(80),
        started_at: None,
        ended_at: None,
        created_at: 61,
        updated_at: 62,
    }
}

fn a_recording() -> recordings::Model {
    recordings::Model {
        id: id(113),
        workspace_id: OURS,
        key: "rec-1".to_owned(),
        live_session_id: id(112),
        title: "Questions".to_owned(),
        duration_seconds: 3600,
        size_bytes: 5_000_000_000,
        content_type: "video/mp4".to_owned(),
        created_at: 63,
    }
}

fn an_event() -> events::Model {
    let body = br#"{"id":"evt_1"}"#.to_vec();
    events::Model {
        id: id(114),
        workspace_id: OURS,
        event_type: "order.paid".to_owned(),
        created_at: 70,
        body,
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
        is_test: false,
    }
}
