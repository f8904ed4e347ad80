//! Calls all operations with the client that progenitor generates from the served OpenAPI 3.0 document.
//!
//! Compilation is part of the test.

use std::error::Error;
use std::time::SystemTime;

use client::{Client, ResponseValue, types};

mod client {
    progenitor::generate_api!(spec = "v1.openapi-3.0.json", interface = Builder);
}

type VerifyResult<T> = Result<T, Box<dyn Error>>;

/// Fails unless the operation succeeded; returns its response body.
fn check<T>(
    operation: &str,
    response: Result<ResponseValue<T>, progenitor_client::Error<types::ErrorEnvelope>>,
) -> VerifyResult<T> {
    let response = response.map_err(|error| format!("{operation}: {error}"))?;
    println!("{operation}: ok");
    Ok(response.into_inner())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> VerifyResult<()> {
    let mut headers = reqwest::header::HeaderMap::new();
    headers.insert("authorization", format!("Bearer {}", std::env::var("API_KEY")?).parse()?);
    let http = reqwest::Client::builder().no_proxy().default_headers(headers).build()?;
    let client = Client::new_with_client(&std::env::var("BASE_URL")?, http);

    let courses = check("listCourses", client.list_courses().limit(2).send().await)?;
    let course = courses.data.first().ok_or("the demo has no courses")?;
    let detail = check("getCourse", client.get_course().id(course.id.as_str()).send().await)?;
    let lessons: usize = detail.modules.iter().map(|module| module.lessons.len()).sum();
    assert_eq!(lessons as i64, i64::from(detail.lesson_count));

    let unique = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_nanos();
    let email = format!("progenitor-{unique}@example.com");
    let new_student = types::NewStudent::builder().email(email.clone()).tags(vec!["client".parse()?]);
    let student = check("createStudent", client.create_student().body(new_student).send().await)?;
    let listed = check("listStudents", client.list_students().email(email).send().await)?;
    assert_eq!(listed.data.first().map(|student| &student.id), Some(&student.id));

    let new_enrollment =
        types::NewEnrollment::builder().student_id(student.id.as_str()).course_id(course.id.as_str());
    let enrollment = check("createEnrollment", client.create_enrollment().body(new_enrollment).send().await)?;
    assert_eq!(enrollment.student_id, student.id);
    let enrolled = check("getStudent", client.get_student().id(student.id.as_str()).send().await)?;
    assert_eq!(enrolled.enrollments.first().map(|listed| &listed.id), Some(&enrollment.id));

    let orders = check("listOrders", client.list_orders().limit(1).send().await)?;
    let listed_order = orders.data.first().ok_or("the demo has no orders")?;
    let order = check("getOrder", client.get_order().id(listed_order.id.as_str()).send().await)?;
    assert_eq!(order.total_amount, listed_order.total_amount);
    check("getAnalyticsSummary", client.get_analytics_summary().send().await)?;

    let error = client.get_course().id("unknown").send().await.expect_err("expected 404 for an unknown id");
    assert_eq!(error.status().map(|status| status.as_u16()), Some(404));
    Ok(())
}
