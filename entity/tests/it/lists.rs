//! Pagination and filters of lists.

use entity::{
    Keyset, SpanMs,
    courses::{self, CourseRowFilter},
    enrollments::{self, EffectiveStatus},
    order_items,
    orders::{self, OrderRowFilter},
    student_tags,
    students::{self, StudentRowFilter},
};
use sea_orm::DatabaseConnection;
use uuid::Uuid;

use crate::support::{OURS, course, databases, enrollment, id, order, student};

/// Returns the first page of a list: up to 100 rows in descending order of this column.
fn newest<C>(column: C) -> Keyset<C> {
    Keyset { column, descending: true, after: None, to: None, limit: 100, updated_before: None }
}

/// Reads all pages of two rows each, in the order of creation times, and returns the ids.
async fn read_all_pages(
    database: &DatabaseConnection,
    filter: &StudentRowFilter,
    mut keyset: Keyset<students::Column>,
) -> Vec<Uuid> {
    keyset.limit = 2;
    let mut ids = Vec::new();
    loop {
        let page = students::in_workspace(OURS).page(database, filter, keyset).await.unwrap();
        let Some(last) = page.last() else { return ids };
        keyset.after = Some((last.created_at, last.id));
        ids.extend(page.iter().map(|student| student.id));
    }
}

#[tokio::test]
async fn pages_are_ordered_by_time_then_id_in_both_directions() {
    for database in databases().await {
        let rows = (0..7_u8)
            .map(|n| students::Model { created_at: 100 + i64::from(n / 3), ..student(10 + u128::from(n)) });
        let rows: Vec<students::Model> = rows.map(|row| students::Model { key: None, ..row }).collect();
        students::in_workspace(OURS).insert_many(&database, rows).await.unwrap();
        let all = StudentRowFilter::default();
        let ascending: Vec<Uuid> = (10..17).map(id).collect();
        let keyset = Keyset { descending: false, ..newest(students::Column::CreatedAt) };
        assert_eq!(read_all_pages(&database, &all, keyset).await, ascending);
        let descending: Vec<Uuid> = ascending.iter().rev().copied().collect();
        assert_eq!(read_all_pages(&database, &all, newest(students::Column::CreatedAt)).await, descending);
        let in_span = StudentRowFilter { created: SpanMs::between(100, 101), ..all };
        assert_eq!(
            read_all_pages(&database, &in_span, newest(students::Column::CreatedAt)).await,
            [id(12), id(11), id(10)]
        );
    }
}

#[tokio::test]
async fn an_incremental_page_excludes_rows_changed_at_or_after_its_upper_bound() {
    for database in databases().await {
        let students = students::in_workspace(OURS);
        students.insert_many(&database, vec![student(10), student(11)]).await.unwrap();
        students.touch(&database, &[id(11)], 50).await.unwrap();
        // An earlier time does not replace a later one.
        students.touch(&database, &[id(11)], 40).await.unwrap();
        let keyset = Keyset { descending: false, ..newest(students::Column::UpdatedAt) };
        let updated_before = |time| Keyset { updated_before: Some(time), ..keyset };
        let page = |keyset| {
            let database = &database;
            async move {
                let page = students.page(database, &StudentRowFilter::default(), keyset).await.unwrap();
                page.iter().map(|student| (student.id, student.updated_at)).collect::<Vec<_>>()
            }
        };
        assert_eq!(page(updated_before(50)).await, [(id(10), 21)]);
        assert_eq!(page(updated_before(51)).await, [(id(10), 21), (id(11), 50)]);
    }
}

#[tokio::test]
async fn students_can_be_filtered_by_every_field() {
    for database in databases().await {
        let database = &database;
        courses::in_workspace(OURS).insert_many(database, vec![course(1), course(2)]).await.unwrap();
        let without_external_id = students::Model { external_id: None, ..student(11) };
        students::in_workspace(OURS)
            .insert_many(database, vec![student(10), without_external_id])
            .await
            .unwrap();
        student_tags::insert(database, OURS, id(10), &["vip".to_owned(), "beta".to_owned()]).await.unwrap();
        let expiring = enrollments::Model { expires_at: Some(1000), ..enrollment(20, 10, 1) };
        let revoked = enrollments::Model {
            status: enrollments::StoredEnrollmentStatus::Revoked,
            ..enrollment(21, 11, 2)
        };
        enrollments::in_workspace(OURS).insert_many(database, vec![expiring.clone(), revoked]).await.unwrap();
        assert_eq!(expiring.status_at(999), EffectiveStatus::Active);
        assert_eq!(expiring.status_at(1000), EffectiveStatus::Expired);

        let matching_ids = async |filter: StudentRowFilter| {
            let page =
                students::in_workspace(OURS).page(database, &filter, newest(students::Column::CreatedAt));
            page.await.unwrap().iter().map(|student| student.id.as_u128()).collect::<Vec<_>>()
        };
        let with_status =
            |status, now| StudentRowFilter { enrollment_status: Some(status), now, ..Default::default() };
        assert_eq!(matching_ids(StudentRowFilter::default()).await, [11, 10]);
        assert_eq!(
            matching_ids(StudentRowFilter {
                email_folded: Some("s10@example.com".into()),
                ..Default::default()
            })
            .await,
            [10]
        );
        assert_eq!(
            matching_ids(StudentRowFilter { external_id: Some("crm-1".into()), ..Default::default() }).await,
            [10]
        );
        assert_eq!(
            matching_ids(StudentRowFilter { tag: Some("beta".into()), ..Default::default() }).await,
            [10]
        );
        assert_eq!(
            matching_ids(StudentRowFilter { course_id: Some(id(2)), ..Default::default() }).await,
            [11]
        );
        assert_eq!(matching_ids(with_status(EffectiveStatus::Active, 999)).await, [10]);
        assert_eq!(matching_ids(with_status(EffectiveStatus::Active, 1000)).await, []);
        assert_eq!(matching_ids(with_status(EffectiveStatus::Expired, 1000)).await, [10]);
        assert_eq!(matching_ids(with_status(EffectiveStatus::Revoked, 0)).await, [11]);
        let course_and_status =
            StudentRowFilter { course_id: Some(id(1)), ..with_status(EffectiveStatus::Revoked, 0) };
        assert_eq!(matching_ids(course_and_status).await, []);

        let enrollments = enrollments::in_workspace(OURS);
        let span = SpanMs::between(30, 31);
        assert_eq!(enrollments.count_expired(database, None, span, 1000).await.unwrap(), 1);
        assert_eq!(enrollments.count_expired(database, Some(id(2)), span, 1000).await.unwrap(), 0);
        assert_eq!(enrollments.created_in(database, Some(id(1)), span).await.unwrap(), [expiring]);
        let of_both = enrollments.of_students(database, &[id(10), id(11)]).await.unwrap();
        assert_eq!(of_both.iter().map(|enrollment| enrollment.id).collect::<Vec<_>>(), [id(20), id(21)]);
    }
}

#[tokio::test]
async fn orders_can_be_filtered_by_every_field() {
    for database in databases().await {
        let database = &database;
        courses::in_workspace(OURS).insert(database, course(1)).await.unwrap();
        students::in_workspace(OURS).insert(database, student(10)).await.unwrap();
        let mut in_dollars = order(31, None);
        (in_dollars.currency, in_dollars.status, in_dollars.paid_at) =
            ("USD".to_owned(), orders::StoredOrderStatus::Paid, 90);
        orders::in_workspace(OURS)
            .insert_many(database, vec![order(30, Some(10)), in_dollars])
            .await
            .unwrap();
        let item = order_items::Model {
            id: id(40),
            workspace_id: OURS,
            order_id: id(30),
            position: 0,
            course_id: id(1),
            title: "Rust".to_owned(),
            quantity: 1,
            unit_amount: 2000,
            total_amount: 2000,
        };
        order_items::in_workspace(OURS).insert(database, item).await.unwrap();
        let matching_ids = async |filter: OrderRowFilter| {
            let page = orders::in_workspace(OURS).page(database, &filter, newest(orders::Column::PaidAt));
            page.await.unwrap().iter().map(|order| order.id.as_u128()).collect::<Vec<_>>()
        };
        assert_eq!(matching_ids(OrderRowFilter::default()).await, [31, 30]);
        assert_eq!(
            matching_ids(OrderRowFilter { student_id: Some(id(10)), ..Default::default() }).await,
            [30]
        );
        assert_eq!(matching_ids(OrderRowFilter { course_id: Some(id(1)), ..Default::default() }).await, [30]);
        assert_eq!(
            matching_ids(OrderRowFilter {
                status: Some(orders::StoredOrderStatus::Paid),
                ..Default::default()
            })
            .await,
            [31]
        );
        assert_eq!(
            matching_ids(OrderRowFilter { currency: Some("EUR".into()), ..Default::default() }).await,
            [30]
        );
        assert_eq!(
            matching_ids(OrderRowFilter { number: Some("A-31".into()), ..Default::default() }).await,
            [31]
        );
        assert_eq!(
            matching_ids(OrderRowFilter { paid: SpanMs::between(40, 90), ..Default::default() }).await,
            [30]
        );
        let paid = orders::in_workspace(OURS)
            .paid_in(database, Some(id(1)), SpanMs::between(0, 1000))
            .await
            .unwrap();
        assert_eq!(paid, [order(30, Some(10))]);
    }
}

#[tokio::test]
async fn courses_can_be_filtered_by_every_field() {
    for database in databases().await {
        let mut draft = course(2);
        (draft.status, draft.language) = (courses::StoredCourseStatus::Draft, Some("de".to_owned()));
        courses::in_workspace(OURS).insert_many(&database, vec![course(1), draft]).await.unwrap();
        let matching_ids = async |filter: CourseRowFilter| {
            let page =
                courses::in_workspace(OURS).page(&database, &filter, newest(courses::Column::UpdatedAt));
            page.await.unwrap().iter().map(|course| course.id.as_u128()).collect::<Vec<_>>()
        };
        assert_eq!(matching_ids(CourseRowFilter::default()).await, [2, 1]);
        let published =
            CourseRowFilter { status: Some(courses::StoredCourseStatus::Published), ..Default::default() };
        assert_eq!(matching_ids(published.clone()).await, [1]);
        assert_eq!(
            matching_ids(CourseRowFilter { slug: Some("slug-2".into()), ..Default::default() }).await,
            [2]
        );
        assert_eq!(matching_ids(CourseRowFilter { language: Some("de".into()), ..published }).await, []);
        assert_eq!(
            matching_ids(CourseRowFilter {
                updated: SpanMs { from: Some(13), until: None },
                ..Default::default()
            })
            .await,
            []
        );
    }
}

#[tokio::test]
async fn common_and_rare_tags_give_correct_pages() {
    for database in databases().await {
        let students = students::in_workspace(OURS);
        let rows = (0..2_100_u16)
            .map(|n| students::Model { created_at: i64::from(n), ..student(1_000 + u128::from(n)) });
        students.insert_many(&database, rows.collect()).await.unwrap();
        for number in 0..2_100 {
            let tags = if number % 700 == 5 {
                vec!["all".to_owned(), "few".to_owned()]
            } else {
                vec!["all".to_owned()]
            };
            student_tags::insert(&database, OURS, id(1_000 + number), &tags).await.unwrap();
        }
        for (tag, first_page) in [("all", [3_099, 3_098]), ("few", [2_405, 1_705])] {
            let filter = StudentRowFilter { tag: Some(tag.to_owned()), ..Default::default() };
            let keyset = Keyset { limit: 2, ..newest(students::Column::CreatedAt) };
            let page = students.page(&database, &filter, keyset).await.unwrap();
            assert_eq!(page.iter().map(|student| student.id.as_u128()).collect::<Vec<_>>(), first_page);
        }
    }
}

#[tokio::test]
async fn query_futures_are_send() {
    let database = databases().await.remove(0);
    let reading = tokio::spawn(async move {
        let filter = StudentRowFilter::default();
        let page =
            students::in_workspace(OURS).page(&database, &filter, newest(students::Column::CreatedAt)).await;
        let orders = orders::in_workspace(OURS).by_ids(&database, &[id(1)]).await.unwrap();
        (page.unwrap().len(), orders.len())
    });
    assert_eq!(reading.await.unwrap(), (0, 0));
}
