//! The operation `createEnrollment`.

use super::Handlers;
use super::convert::body_id;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::generated::enrollments::{CreateEnrollmentRequest, CreateEnrollmentResponse, Enrollments};
use crate::idempotency;
use contract_runtime::payload::Json;
use domain::enrollments::{self, EnrollOutcome, NewEnrollment};
use domain::error::NotFound;
use foundation::clock;

impl Enrollments for Handlers {
    async fn create_enrollment(
        &self,
        call: Call,
        request: CreateEnrollmentRequest,
    ) -> Reply<CreateEnrollmentResponse> {
        let (app, workspace) = (self.app.clone(), call.workspace);
        idempotency::run_once(&self.app, call, request.idempotency_key, move |write| {
            let (app, body) = (app.clone(), request.body.clone());
            Box::pin(async move {
                let enrollment = NewEnrollment {
                    student: body_id("studentId", &body.student_id)?,
                    course: body_id("courseId", &body.course_id)?,
                    expires_at: body.expires_at.map(|time| time.0),
                };
                let at = clock::from_ms(write.now_ms());
                let enrolled = enrollments::enroll(&app, write, workspace, at, enrollment).await;
                Ok(match enrolled.map_err(with_body_field)? {
                    EnrollOutcome::New(enrollment) => {
                        CreateEnrollmentResponse::Created(Json::Value(enrollment.into()))
                    }
                    EnrollOutcome::Existing(enrollment) | EnrollOutcome::Reactivated(enrollment) => {
                        CreateEnrollmentResponse::Ok(Json::Value(enrollment.into()))
                    }
                })
            })
        })
        .await
    }
}

/// Converts the error. If the student or course does not exist, the error names the field of the body.
fn with_body_field(error: domain::Error) -> ApiError {
    match error {
        // The noun is `student` or `course`, and the field is `studentId` or `courseId`.
        domain::Error::NotFound(missing @ NotFound::Record { noun, .. }) => {
            ApiError::not_found_in_body(&format!("{noun}Id"), &missing)
        }
        other => other.into(),
    }
}
