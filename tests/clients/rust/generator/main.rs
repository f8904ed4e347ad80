//! Performs all seven operations through what openapi-generator makes of the served 3.0 twin. That it compiles is half of
//! the test.

use std::fmt::Display;
use std::time::SystemTime;

use generated_client::apis::{
    Error, analytics_api as analytics, configuration::Configuration, courses_api as courses,
    enrollments_api as enrollments, orders_api as orders, students_api as students,
};
use generated_client::models;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn sound<T>(operation: &str, answer: Result<T, impl Display>) -> Outcome<T> {
    let answer = answer.map_err(|error| format!("{operation}: {error}"))?;
    println!("{operation}: ok");
    Ok(answer)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let api = &Configuration {
        base_path: std::env::var("BASE_URL")?,
        bearer_access_token: Some(std::env::var("API_KEY")?),
        client: reqwest::Client::builder().no_proxy().build()?,
        ..Configuration::default()
    };
    let course = courses_of(api).await?;
    let student = new_student(api).await?;
    let new_enrollment = models::NewEnrollment::new(student.clone(), course);
    let new = enrollments::CreateEnrollmentParams { new_enrollment, idempotency_key: None };
    let enrollment = sound("createEnrollment", enrollments::create_enrollment(api, new).await)?;
    assert_eq!(enrollment.student_id, student);
    orders_and_sums(api).await
}

/// Lists courses and reads one; its id.
async fn courses_of(api: &Configuration) -> Outcome<String> {
    let few = courses::ListCoursesParams {
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
    let listed = sound("listCourses", courses::list_courses(api, few).await)?;
    let course = listed.data.first().ok_or("the demo has courses")?;
    let wanted = |id: &str| courses::GetCourseParams { id: id.to_owned(), if_none_match: None };
    let detail = sound("getCourse", courses::get_course(api, wanted(&course.id)).await)?;
    let lessons: usize = detail.modules.iter().map(|module| module.lessons.len()).sum();
    assert_eq!(lessons, usize::try_from(detail.lesson_count)?);
    match courses::get_course(api, wanted("nothing")).await {
        Err(Error::ResponseError(refused)) => assert_eq!(refused.status.as_u16(), 404),
        _ => return Err("an id of nothing is not found".into()),
    }
    Ok(course.id.clone())
}

/// Makes a student and finds them; their id.
async fn new_student(api: &Configuration) -> Outcome<String> {
    let unique = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_nanos();
    let email = format!("generator-{unique}@example.com");
    let mut new_student = models::NewStudent::new(email.clone());
    new_student.tags = Some(vec!["client".to_owned()]);
    let new = students::CreateStudentParams { new_student, idempotency_key: None };
    let student = sound("createStudent", students::create_student(api, new).await)?;
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
    let listed = sound("listStudents", students::list_students(api, by_email).await)?;
    assert_eq!(listed.data.first().map(|one| &one.id), Some(&student.id));

    Ok(student.id)
}

/// Lists an order, and sums up what was sold.
async fn orders_and_sums(api: &Configuration) -> Outcome<()> {
    let one = orders::ListOrdersParams {
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
    let listed = sound("listOrders", orders::list_orders(api, one).await)?;
    assert!(listed.data.first().is_some_and(|order| order.total_amount >= 0));
    let all = analytics::GetAnalyticsSummaryParams {
        from: None,
        to: None,
        timezone: None,
        course_id: None,
        interval: None,
        if_none_match: None,
    };
    sound("getAnalyticsSummary", analytics::get_analytics_summary(api, all).await)?;
    Ok(())
}
