//! The adapter of the client that progenitor generates.

mod adapter;

use adapter::{CallResult, event, exception, failure, from_json, serve, text, to_json, verified};
use client::{Client, ResponseValue, types};
use serde_json::{Value, json};

mod client {
    progenitor::generate_api!(spec = "v1.json", interface = Builder);
}

type Response<T> = Result<ResponseValue<T>, progenitor_client::Error<types::ErrorEnvelope>>;

/// Returns the body of a response as JSON.
fn unwrap<T: serde::Serialize>(response: Response<T>) -> CallResult {
    match response {
        Ok(response) => to_json(response.into_inner()),
        Err(progenitor_client::Error::ErrorResponse(response)) => {
            let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
            let (status, retry_after) = (response.status().as_u16(), retry_after.map(str::to_owned));
            Err(failure(status, retry_after.as_deref(), &to_json(response.into_inner())?))
        }
        Err(error) => Err(exception(error)),
    }
}

fn connect(call: &Value) -> Client {
    let bearer = format!("Bearer {}", text(&call["key"])).parse().expect("a key is a header value");
    let headers = reqwest::header::HeaderMap::from_iter([(reqwest::header::AUTHORIZATION, bearer)]);
    let http = reqwest::Client::builder().no_proxy().default_headers(headers).build().expect("the client is valid");
    Client::new_with_client(text(&call["url"]), http)
}

/// Sets the optional parameters of a builder that the call has.
macro_rules! with {
    ($builder:expr, $arguments:expr, $($name:ident),*) => {{
        let mut builder = $builder;
        $(if let Some(value) = $arguments.get(stringify!($name)) {
            builder = builder.$name(with!(@ $name value));
        })*
        builder
    }};
    (@ limit $value:ident) => { u32::try_from($value.as_u64().unwrap_or_default()).unwrap_or_default() };
    (@ created_after $value:ident) => { $value.as_str().and_then(|text| text.parse::<chrono::DateTime<chrono::Utc>>().ok()).unwrap_or_default() };
    (@ $name:ident $value:ident) => { $value.as_str().unwrap_or_default() };
}

async fn answer(call: &Value) -> CallResult {
    let (client, arguments) = (connect(call), &call["arguments"]);
    let id = || text(&arguments["id"]);
    match text(&call["operation"]) {
        "listCourses" => unwrap(with!(client.list_courses(), arguments, cursor, limit).send().await),
        "getCourse" => unwrap(client.get_course().id(id()).send().await),
        "listStudents" => {
            let list = with!(client.list_students(), arguments, limit, email, enrollment_status, created_after);
            unwrap(list.send().await)
        }
        "createStudent" => {
            let body: types::NewStudent = from_json(&arguments["body"])?;
            unwrap(client.create_student().body(body).send().await)
        }
        "getStudent" => unwrap(client.get_student().id(id()).send().await),
        "listOrders" => unwrap(with!(client.list_orders(), arguments, limit, status).send().await),
        "getOrder" => unwrap(client.get_order().id(id()).send().await),
        "createEnrollment" => {
            let body: types::NewEnrollment = from_json(&arguments["body"])?;
            unwrap(client.create_enrollment().body(body).send().await)
        }
        "getAnalyticsSummary" => unwrap(client.get_analytics_summary().send().await),
        "event" => verified(arguments, |event_type, body| {
            Some(match event_type {
                "student.created" => event::<types::StudentCreatedEvent>(body),
                "order.paid" => event::<types::OrderPaidEvent>(body),
                "course.published" => event::<types::CoursePublishedEvent>(body),
                "certificate.issued" => event::<types::CertificateIssuedEvent>(body),
                _ => return None,
            })
        }),
        operation => Err(json!({ "exception": format!("unknown operation {operation}") })),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    serve(answer).await;
}
