//! Performs all seven operations through what progenitor makes of the served 3.0 twin. That it compiles is half of the test.

use std::error::Error;
use std::time::SystemTime;

use client::{Client, ResponseValue, types};

mod client {
    progenitor::generate_api!(spec = "v1.openapi-3.0.json", interface = Builder);
}

type Outcome<T> = Result<T, Box<dyn Error>>;

fn sound<T>(
    operation: &str,
    answer: Result<ResponseValue<T>, progenitor_client::Error<types::ErrorEnvelope>>,
) -> Outcome<T> {
    let answer = answer.map_err(|error| format!("{operation}: {error}"))?;
    println!("{operation}: ok");
    Ok(answer.into_inner())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let mut headers = reqwest::header::HeaderMap::new();
    headers.insert("authorization", format!("Bearer {}", std::env::var("API_KEY")?).parse()?);
    let http = reqwest::Client::builder().no_proxy().default_headers(headers).build()?;
    let client = Client::new_with_client(&std::env::var("BASE_URL")?, http);

    let courses = sound("listCourses", client.list_courses().limit(2).send().await)?;
    let course = courses.data.first().ok_or("the demo has courses")?;
    let detail = sound("getCourse", client.get_course().id(course.id.as_str()).send().await)?;
    let lessons: usize = detail.modules.iter().map(|module| module.lessons.len()).sum();
    assert_eq!(lessons as i64, i64::from(detail.lesson_count));

    let unique = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_nanos();
    let email = format!("progenitor-{unique}@example.com");
    let new = types::NewStudent::builder().email(email.clone()).tags(vec!["client".parse()?]);
    let student = sound("createStudent", client.create_student().body(new).send().await)?;
    let listed = sound("listStudents", client.list_students().email(email).send().await)?;
    assert_eq!(listed.data.first().map(|one| &one.id), Some(&student.id));

    let new = types::NewEnrollment::builder().student_id(student.id.as_str()).course_id(course.id.as_str());
    let enrollment = sound("createEnrollment", client.create_enrollment().body(new).send().await)?;
    assert_eq!(enrollment.student_id, student.id);

    let orders = sound("listOrders", client.list_orders().limit(1).send().await)?;
    assert!(orders.data.first().is_some_and(|order| order.total_amount >= 0));
    sound("getAnalyticsSummary", client.get_analytics_summary().send().await)?;

    let refused = client.get_course().id("nothing").send().await.expect_err("an id of nothing is not found");
    assert_eq!(refused.status().map(|status| status.as_u16()), Some(404));
    Ok(())
}
