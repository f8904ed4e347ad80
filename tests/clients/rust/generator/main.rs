//! The adapter of the crate that openapi-generator generates.

mod adapter;

use adapter::{CallResult, event, exception, failure, from_json, serve, text, to_json, verified};
use generated_client::apis::{
    Error, analytics_api as analytics, configuration::Configuration, courses_api as courses,
    enrollments_api as enrollments, orders_api as orders, students_api as students,
};
use generated_client::models;
use serde_json::{Value, json};

/// Returns the body of a response as JSON. The generated errors do not contain headers.
fn unwrap<T: serde::Serialize, E: std::fmt::Debug>(response: Result<T, Error<E>>) -> CallResult {
    match response {
        Ok(value) => to_json(value),
        Err(Error::ResponseError(response)) => {
            let body: Value = serde_json::from_str(&response.content).map_err(exception)?;
            let retry_after = body["error"]["retryAfterSeconds"].as_u64().map(|seconds| seconds.to_string());
            Err(failure(response.status.as_u16(), retry_after.as_deref(), &body))
        }
        Err(error) => Err(exception(error)),
    }
}

fn connect(call: &Value) -> Configuration {
    Configuration {
        base_path: text(&call["url"]).to_owned(),
        bearer_access_token: Some(text(&call["key"]).to_owned()),
        client: reqwest::Client::builder().no_proxy().build().expect("the client is valid"),
        ..Configuration::default()
    }
}

async fn list(api: &Configuration, operation: &str, arguments: &Value) -> CallResult {
    let string = |name: &str| arguments[name].as_str().map(str::to_owned);
    let limit = arguments["limit"].as_i64().and_then(|limit| i32::try_from(limit).ok());
    match operation {
        "listCourses" => {
            let parameters = courses::ListCoursesParams {
                cursor: string("cursor"),
                limit,
                sort: None,
                created_after: None,
                created_before: None,
                updated_after: None,
                updated_before: None,
                slug: None,
                language: None,
                if_none_match: None,
            };
            unwrap(courses::list_courses(api, parameters).await)
        }
        "listStudents" => {
            let enrollment_status = arguments.get("enrollment_status").map(from_json).transpose()?;
            let parameters = students::ListStudentsParams {
                cursor: None,
                limit,
                sort: None,
                created_after: string("created_after"),
                created_before: None,
                updated_after: None,
                updated_before: None,
                email: string("email"),
                external_id: None,
                course_id: None,
                enrollment_status,
                tag: None,
                if_none_match: None,
            };
            unwrap(students::list_students(api, parameters).await)
        }
        _ => {
            let status = arguments.get("status").map(from_json).transpose()?;
            let parameters = orders::ListOrdersParams {
                cursor: None,
                limit,
                sort: None,
                created_after: None,
                created_before: None,
                updated_after: None,
                updated_before: None,
                student_id: None,
                course_id: None,
                status,
                currency: None,
                number: None,
                paid_after: None,
                paid_before: None,
                if_none_match: None,
            };
            unwrap(orders::list_orders(api, parameters).await)
        }
    }
}

async fn answer(call: &Value) -> CallResult {
    let (api, arguments, operation) = (&connect(call), &call["arguments"], text(&call["operation"]));
    let (id, if_none_match, idempotency_key) = (text(&arguments["id"]).to_owned(), None, None);
    match operation {
        "getCourse" => unwrap(courses::get_course(api, courses::GetCourseParams { id, if_none_match }).await),
        "createStudent" => {
            let new_student: models::NewStudent = from_json(&arguments["body"])?;
            let parameters = students::CreateStudentParams { new_student, idempotency_key };
            unwrap(students::create_student(api, parameters).await)
        }
        "getStudent" => unwrap(students::get_student(api, students::GetStudentParams { id, if_none_match }).await),
        "getOrder" => unwrap(orders::get_order(api, orders::GetOrderParams { id, if_none_match }).await),
        "createEnrollment" => {
            let new_enrollment: models::NewEnrollment = from_json(&arguments["body"])?;
            let parameters = enrollments::CreateEnrollmentParams { new_enrollment, idempotency_key };
            unwrap(enrollments::create_enrollment(api, parameters).await)
        }
        "getAnalyticsSummary" => {
            let parameters = analytics::GetAnalyticsSummaryParams {
                from: None,
                to: None,
                timezone: None,
                course_id: None,
                interval: None,
                if_none_match,
            };
            unwrap(analytics::get_analytics_summary(api, parameters).await)
        }
        "event" => verified(arguments, |event_type, body| {
            Some(match event_type {
                "student.created" => event::<models::StudentCreatedEvent>(body),
                "order.paid" => event::<models::OrderPaidEvent>(body),
                "course.published" => event::<models::CoursePublishedEvent>(body),
                "certificate.issued" => event::<models::CertificateIssuedEvent>(body),
                _ => return None,
            })
        }),
        "listCourses" | "listStudents" | "listOrders" => list(api, operation, arguments).await,
        _ => Err(json!({ "exception": format!("unknown operation {operation}") })),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    serve(answer).await;
}
