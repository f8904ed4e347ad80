//! Substring search, positions in lists, and counts of completions and requests.

use entity::courses::{self, CourseRowFilter};
use entity::orders::{self, OrderRowFilter};
use entity::students::{self, StudentRowFilter};
use entity::{Keyset, SpanMs, enrollments, rate_usage};
use uuid::Uuid;

use crate::support::{OURS, THEIRS, course, databases, enrollment, id, order, student};

/// Returns the first page of a list: up to 100 rows in descending order of this column.
fn newest<C>(column: C) -> Keyset<C> {
    Keyset { column, descending: true, after: None, to: None, limit: 100, updated_before: None }
}

fn numbers(ids: impl Iterator<Item = Uuid>) -> Vec<u128> {
    ids.map(|id| id.as_u128()).collect()
}

#[tokio::test]
async fn students_are_found_by_any_part_of_email_or_name() {
    for database in databases().await {
        let ada = students::Model { name: Some("100%_Ada \\ Müller".to_owned()), ..student(11) };
        let (students, theirs) = (students::in_workspace(OURS), students::in_workspace(THEIRS));
        students.insert_many(&database, vec![student(10), ada]).await.unwrap();
        let matching = async |text: &str, id: Option<Uuid>| {
            let search = Some((text.to_owned(), id));
            let filter = StudentRowFilter { search, ..StudentRowFilter::default() };
            let page = students.page(&database, &filter, newest(students::Column::CreatedAt)).await.unwrap();
            let page_of_theirs =
                theirs.page(&database, &filter, newest(students::Column::CreatedAt)).await.unwrap();
            assert_eq!(page_of_theirs, []);
            numbers(page.iter().map(|student| student.id))
        };
        assert_eq!(matching("EXAMPLE.com", None).await, [11, 10]);
        assert_eq!(matching("s10@", None).await, [10]);
        assert_eq!(matching("aDA", None).await, [11]);
        assert_eq!(matching("0%_a", None).await, [11]);
        assert_eq!(matching("%", None).await, [11]);
        assert_eq!(matching("_", None).await, [11]);
        assert_eq!(matching("\\", None).await, [11]);
        assert_eq!(matching("müll", None).await, [11]);
        assert_eq!(matching("g%e", None).await, []);
        assert_eq!(matching("nobody", Some(id(10))).await, [10]);

        // The lower case of a capital sigma depends on its position in the word.
        let odysseus =
            students::Model { name: Some("οδυσσευσ".to_owned()), key: None, ..student(12) };
        students.insert(&database, odysseus).await.unwrap();
        for text in ["ΟΔΥΣΣΕΥΣ", "οδυσσευς", "ΟΔΥΣ"] {
            assert_eq!(matching(text, None).await, [12], "{text}");
        }
    }
}

#[tokio::test]
async fn orders_and_courses_are_found_by_text() {
    for database in databases().await {
        let mut of_bob = order(31, None);
        (of_bob.customer_email, of_bob.customer_name) = ("Bob@Other.org".into(), Some("Bob Stone".into()));
        orders::in_workspace(OURS).insert_many(&database, vec![order(30, None), of_bob]).await.unwrap();
        let matching = async |text: &str, id: Option<Uuid>| {
            let filter = OrderRowFilter { search: Some((text.to_owned(), id)), ..OrderRowFilter::default() };
            let rows = orders::in_workspace(OURS);
            let page = rows.page(&database, &filter, newest(orders::Column::PaidAt)).await.unwrap();
            numbers(page.iter().map(|order| order.id))
        };
        assert_eq!(matching("a-3", None).await, [31, 30]);
        assert_eq!(matching("bob@other", None).await, [31]);
        assert_eq!(matching("STONE", None).await, [31]);
        assert_eq!(matching("x", None).await, [30]);
        assert_eq!(matching("nothing", Some(id(30))).await, [30]);

        let mut draft = course(2);
        (draft.status, draft.title) = (courses::StoredCourseStatus::Draft, "Drawing in Ink".to_owned());
        courses::in_workspace(OURS).insert_many(&database, vec![course(1), draft]).await.unwrap();
        let matching = async |text: &str| {
            let filter = CourseRowFilter { search: Some(text.to_owned()), ..CourseRowFilter::default() };
            let rows = courses::in_workspace(OURS);
            let page = rows.page(&database, &filter, newest(courses::Column::CreatedAt)).await.unwrap();
            numbers(page.iter().map(|course| course.id))
        };
        assert_eq!(matching("ink").await, [2]);
        assert_eq!(matching("SLUG-1").await, [1]);
        assert_eq!(matching("slug_1").await, []);
    }
}

#[tokio::test]
async fn the_position_of_the_nth_order_of_a_list_is_found() {
    for database in databases().await {
        let paid = |number, paid_at| orders::Model { paid_at, ..order(number, None) };
        let rows = vec![paid(30, 100), paid(31, 300), paid(32, 200), paid(33, 200)];
        orders::in_workspace(OURS).insert_many(&database, rows).await.unwrap();
        let page = newest(orders::Column::PaidAt);
        let position_at = async |paid, page, row_number| {
            orders::in_workspace(OURS).position_at(&database, paid, page, row_number).await.unwrap()
        };
        assert_eq!(position_at(SpanMs::default(), page, 1).await, Some((300, id(31))));
        assert_eq!(
            position_at(SpanMs::default(), page, 2).await,
            Some((200, id(33))),
            "the first of two orders with the same time"
        );
        assert_eq!(position_at(SpanMs::default(), page, 3).await, Some((200, id(32))));
        assert_eq!(position_at(SpanMs::default(), page, 4).await, None, "no order follows");
        assert_eq!(position_at(SpanMs::between(101, 301), page, 2).await, Some((200, id(33))));
        assert_eq!(position_at(SpanMs::between(101, 301), page, 3).await, None);
        let second = Keyset { after: Some((200, id(33))), ..page };
        assert_eq!(
            position_at(SpanMs::default(), second, 1).await,
            Some((200, id(32))),
            "counted from the start of the page"
        );
        let listed = async |page, paid| {
            let filter = OrderRowFilter { paid, ..OrderRowFilter::default() };
            let orders = orders::in_workspace(OURS).page(&database, &filter, page).await.unwrap();
            numbers(orders.iter().map(|order| order.id))
        };
        let up_to_33 = Keyset { to: Some((200, id(33))), ..page };
        assert_eq!(
            listed(up_to_33, SpanMs::default()).await,
            [31, 33],
            "without the other order with the same time"
        );
        let after_31 = Keyset { after: Some((300, id(31))), ..up_to_33 };
        assert_eq!(listed(after_31, SpanMs::between(150, 301)).await, [33]);
        let oldest_first = Keyset { descending: false, to: Some((200, id(32))), ..page };
        assert_eq!(listed(oldest_first, SpanMs::default()).await, [30, 32]);
        let theirs = orders::in_workspace(THEIRS);
        assert_eq!(theirs.position_at(&database, SpanMs::default(), page, 1).await.unwrap(), None);
    }
}

#[tokio::test]
async fn completions_and_requests_are_counted() {
    for database in databases().await {
        courses::in_workspace(OURS).insert_many(&database, vec![course(1), course(2)]).await.unwrap();
        students::in_workspace(OURS).insert(&database, student(10)).await.unwrap();
        let completed = |number, course, at| enrollments::Model {
            completed_at: Some(at),
            ..enrollment(number, 10, course)
        };
        let rows = enrollments::in_workspace(OURS);
        rows.insert_many(&database, vec![completed(20, 1, 1_001), completed(21, 2, 1_999)]).await.unwrap();
        assert_eq!(rows.count_completed_in(&database, (0, 2_000), 1_000).await.unwrap(), [(1_000, 2)]);
        assert_eq!(rows.count_completed_in(&database, (0, 1_999), 1_000).await.unwrap(), [(1_000, 1)]);
        let theirs = enrollments::in_workspace(THEIRS);
        assert_eq!(theirs.count_completed_in(&database, (0, 2_000), 1_000).await.unwrap(), []);

        let usage = |subject: &str, day, used| rate_usage::Model { subject: subject.to_owned(), day, used };
        rate_usage::add(&database, vec![usage("a", 0, 3), usage("b", 0, 4), usage("a", 5, 9)]).await.unwrap();
        let of_subjects = |subjects: &[&str]| {
            let subjects = subjects.iter().map(|subject| (*subject).to_owned()).collect();
            rate_usage::of_subjects(&database, subjects, 0)
        };
        assert_eq!(of_subjects(&["a", "c"]).await.unwrap(), [usage("a", 0, 3)]);
        assert_eq!(of_subjects(&[]).await.unwrap(), []);
    }
}
