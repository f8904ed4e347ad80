//! `createEnrollment`.

use super::Handlers;
use super::convert::body_id;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::generated::enrollments::{CreateEnrollmentRequest, CreateEnrollmentResponse, Enrollments};
use crate::idempotency;
use contract_runtime::payload::Json;
use domain::enrollments::{self, Enrolled, NewEnrollment};
use domain::error::Missing;
use foundation::clock;

impl Enrollments for Handlers {
    async fn create_enrollment(
        &self,
        call: Call,
        request: CreateEnrollmentRequest,
    ) -> Reply<CreateEnrollmentResponse> {
        let (app, workspace) = (self.app.clone(), call.workspace);
        idempotency::once(&self.app, call, request.idempotency_key, move |write| {
            let (app, body) = (app.clone(), request.body.clone());
            Box::pin(async move {
                let enrollment = NewEnrollment {
                    student: body_id("studentId", &body.student_id)?,
                    course: body_id("courseId", &body.course_id)?,
                    expires_at: body.expires_at.map(|time| time.0),
                };
                let at = clock::from_ms(write.now_ms());
                let enrolled = enrollments::enrol(&app, write, workspace, at, enrollment).await;
                Ok(match enrolled.map_err(in_body)? {
                    Enrolled::New(new) => CreateEnrollmentResponse::Created(Json::Value(new.into())),
                    Enrolled::Already(one) | Enrolled::Reactivated(one) => {
                        CreateEnrollmentResponse::Ok(Json::Value(one.into()))
                    }
                })
            })
        })
        .await
    }
}

/// Points a missing student or course at its field of the body.
fn in_body(error: domain::Error) -> ApiError {
    match error {
        domain::Error::NotFound(missing @ Missing::Record { noun, .. }) => {
            ApiError::not_found_in_body(&format!("{noun}Id"), &missing)
        }
        other => other.into(),
    }
}
