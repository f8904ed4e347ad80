//! Calls all operations with the client that openapi-generator generates from the served OpenAPI 3.0 document.
//!
//! Compilation is part of the test.

use std::fmt::Display;
use std::time::SystemTime;

use generated_client::apis::{
    Error, analytics_api as analytics, configuration::Configuration, courses_api as courses,
    enrollments_api as enrollments, orders_api as orders, students_api as students,
};
use generated_client::models;

type VerifyResult<T> = Result<T, Box<dyn std::error::Error>>;

/// Fails unless the operation succeeded; returns its response.
fn check<T>(operation: &str, response: Result<T, impl Display>) -> VerifyResult<T> {
    let response = response.map_err(|error| format!("{operation}: {error}"))?;
    println!("{operation}: ok");
    Ok(response)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> VerifyResult<()> {
    let api = &Configuration {
        base_path: std::env::var("BASE_URL")?,
        bearer_access_token: Some(std::env::var("API_KEY")?),
        client: reqwest::Client::builder().no_proxy().build()?,
        ..Configuration::default()
    };
    let course = read_courses(api).await?;
    let student = create_student(api).await?;
    let new_enrollment = models::NewEnrollment::new(student.clone(), course);
    let parameters = enrollments::CreateEnrollmentParams { new_enrollment, idempotency_key: None };
    let enrollment = check("createEnrollment", enrollments::create_enrollment(api, parameters).await)?;
    assert_eq!(enrollment.student_id, student);
    let parameters = students::GetStudentParams { id: student, if_none_match: None };
    let enrolled = check("getStudent", students::get_student(api, parameters).await)?;
    assert_eq!(enrolled.enrollments.first().map(|listed| &listed.id), Some(&enrollment.id));
    read_orders_and_summary(api).await
}

/// Lists courses and reads the first one. Returns its id.
async fn read_courses(api: &Configuration) -> VerifyResult<String> {
    let first_two = courses::ListCoursesParams {
        cursor: None,
        limit: Some(2),
        sort: None,
        created_after: None,
        created_before: None,
        updated_after: None,
        updated_before: None,
        slug: None,
        language: None,
        if_none_match: None,
    };
    let listed = check("listCourses", courses::list_courses(api, first_two).await)?;
    let course = listed.data.first().ok_or("the demo has no courses")?;
    let parameters = |id: &str| courses::GetCourseParams { id: id.to_owned(), if_none_match: None };
    let detail = check("getCourse", courses::get_course(api, parameters(&course.id)).await)?;
    let lessons: usize = detail.modules.iter().map(|module| module.lessons.len()).sum();
    assert_eq!(lessons, usize::try_from(detail.lesson_count)?);
    match courses::get_course(api, parameters("unknown")).await {
        Err(Error::ResponseError(response)) => assert_eq!(response.status.as_u16(), 404),
        _ => return Err("expected 404 for an unknown id".into()),
    }
    Ok(course.id.clone())
}

/// Creates a student and finds the student by email address. Returns the student's id.
async fn create_student(api: &Configuration) -> VerifyResult<String> {
    let unique = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_nanos();
    let email = format!("generator-{unique}@example.com");
    let mut new_student = models::NewStudent::new(email.clone());
    new_student.tags = Some(vec!["client".to_owned()]);
    let parameters = students::CreateStudentParams { new_student, idempotency_key: None };
    let student = check("createStudent", students::create_student(api, parameters).await)?;
    let by_email = students::ListStudentsParams {
        cursor: None,
        limit: None,
        sort: None,
        created_after: None,
        created_before: None,
        updated_after: None,
        updated_before: None,
        email: Some(email),
        external_id: None,
        course_id: None,
        enrollment_status: None,
        tag: None,
        if_none_match: None,
    };
    let listed = check("listStudents", students::list_students(api, by_email).await)?;
    assert_eq!(listed.data.first().map(|student| &student.id), Some(&student.id));

    Ok(student.id)
}

/// Lists an order, reads it, and reads the analytics summary.
async fn read_orders_and_summary(api: &Configuration) -> VerifyResult<()> {
    let first_order = orders::ListOrdersParams {
        cursor: None,
        limit: Some(1),
        sort: None,
        created_after: None,
        created_before: None,
        updated_after: None,
        updated_before: None,
        student_id: None,
        course_id: None,
        status: None,
        currency: None,
        number: None,
        paid_after: None,
        paid_before: None,
        if_none_match: None,
    };
    let listed = check("listOrders", orders::list_orders(api, first_order).await)?;
    let listed_order = listed.data.first().ok_or("the demo has no orders")?;
    let parameters = orders::GetOrderParams { id: listed_order.id.clone(), if_none_match: None };
    let order = check("getOrder", orders::get_order(api, parameters).await)?;
    assert_eq!(order.total_amount, listed_order.total_amount);
    let defaults = analytics::GetAnalyticsSummaryParams {
        from: None,
        to: None,
        timezone: None,
        course_id: None,
        interval: None,
        if_none_match: None,
    };
    check("getAnalyticsSummary", analytics::get_analytics_summary(api, defaults).await)?;
    Ok(())
}
