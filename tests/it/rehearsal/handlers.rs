//! The handlers of v2. Each converts the request, calls the operation of the domain that v1 calls, and converts the result.

use api::call::{Call, Caller};
use api::error::{ApiError, ApiErrorCode, Reply};
use api::idempotency;
use api::v1::paging;
use contract_runtime::payload::Json;
use contract_runtime::response::{ResponseParts, StatusCode};
use contract_runtime::scalar::Timestamp;
use contract_runtime::service::Service;
use domain::app::App;
use domain::courses::{self, CourseFilter};
use domain::enrollments::{self, EnrollOutcome, NewEnrollment};
use domain::error::NotFound;
use domain::orders::{self, OrderFilter};
use domain::page::{PageRequest, Sort, TimeSpan};
use domain::students::{self, StudentFilter};
use foundation::clock;
use foundation::id::{CourseId, Id, IdKind, OrderId, StudentId};

use super::generated::courses::{
    Courses, GetCourseRequest, GetCourseResponse, ListCoursesRequest, ListCoursesResponse,
};
use super::generated::enrollments::{CreateEnrollmentRequest, CreateEnrollmentResponse, Enrollments};
use super::generated::orders::{
    GetOrderRequest, GetOrderResponse, ListOrdersRequest, ListOrdersResponse, Orders,
};
use super::generated::schemas::{self, CourseList, OrderList, StudentList};
use super::generated::students::{
    CreateStudentRequest, CreateStudentResponse, GetStudentRequest, GetStudentResponse, ListStudentsRequest,
    ListStudentsResponse, Students,
};

/// Implements the generated traits of all tags.
pub struct V2Handlers {
    pub app: App,
}

impl Service for V2Handlers {
    type Caller = Caller;
    type Error = ApiError;

    fn error_parts(&self, call: &Call, error: ApiError) -> ResponseParts {
        error.into_parts(call)
    }

    fn undocumented(&self, call: &Call, status: u16) -> ApiError {
        ApiError::undocumented(call.operation, status)
    }
}

impl Courses for V2Handlers {
    async fn list_courses(&self, call: Call, request: ListCoursesRequest) -> Reply<ListCoursesResponse> {
        let (sort, page) = page(&call, request.sort, request.limit, request.cursor.as_deref())?;
        let updated = since(request.updated_after);
        let filter =
            CourseFilter { slug: request.slug, language: request.language, updated, ..Default::default() };
        let list = courses::list(&self.app, call.workspace, &filter, page).await?;
        let (next_cursor, link) = paging::next_cursor(&call, sort, list.next).unzip();
        let items = list.items.into_iter().map(Into::into).collect();
        Ok(ListCoursesResponse::Ok(Json::Value(CourseList { items, next_cursor }), link))
    }

    async fn get_course(&self, call: Call, request: GetCourseRequest) -> Reply<GetCourseResponse> {
        let id: CourseId = request.id.parse().map_err(domain::Error::from)?;
        let course = courses::get(&self.app, call.workspace, id).await?;
        Ok(GetCourseResponse::Ok(Json::Value(course.into())))
    }
}

impl Students for V2Handlers {
    async fn list_students(&self, call: Call, request: ListStudentsRequest) -> Reply<ListStudentsResponse> {
        let (sort, page) = page(&call, request.sort, request.limit, request.cursor.as_deref())?;
        let filter = StudentFilter {
            email: request.email,
            external_id: request.external_id,
            course: id_filter("course_id", request.course_id)?,
            enrollment_status: request.enrollment_status.map(Into::into),
            tag: request.tag,
            updated: since(request.updated_after),
            ..Default::default()
        };
        let list = students::list_lagging(&self.app, call.workspace, &filter, page).await?;
        let (next_cursor, link) = paging::next_cursor(&call, sort, list.next).unzip();
        let items = list.items.into_iter().map(Into::into).collect();
        Ok(ListStudentsResponse::Ok(Json::Value(StudentList { items, next_cursor }), link))
    }

    async fn create_student(
        &self,
        call: Call,
        request: CreateStudentRequest,
    ) -> Reply<CreateStudentResponse> {
        let (app, workspace, path) = (self.app.clone(), call.workspace, call.operation.path);
        idempotency::run_once(&self.app, call, Some(request.idempotency_key), move |write| {
            let (app, student) = (app.clone(), request.body.clone());
            Box::pin(async move {
                let at = clock::from_ms(write.now_ms());
                let student: schemas::Student =
                    students::create(&app, write, workspace, at, student.into()).await?.into();
                let location = format!("{path}/{}", student.id);
                Ok(CreateStudentResponse::Created(Json::Value(student), location))
            })
        })
        .await
    }

    async fn get_student(&self, call: Call, request: GetStudentRequest) -> Reply<GetStudentResponse> {
        let id: StudentId = request.id.parse().map_err(domain::Error::from)?;
        let student = students::get(&self.app, call.workspace, id).await?;
        Ok(GetStudentResponse::Ok(Json::Value(student.into())))
    }
}

impl Orders for V2Handlers {
    async fn list_orders(&self, call: Call, request: ListOrdersRequest) -> Reply<ListOrdersResponse> {
        let (sort, page) = page(&call, request.sort, request.limit, request.cursor.as_deref())?;
        let filter = OrderFilter {
            student: id_filter("student_id", request.student_id)?,
            course: id_filter("course_id", request.course_id)?,
            status: request.status.map(Into::into),
            currency: request.currency,
            number: request.number,
            updated: since(request.updated_after),
            ..Default::default()
        };
        let list = orders::list_lagging(&self.app, call.workspace, &filter, page).await?;
        let (next_cursor, link) = paging::next_cursor(&call, sort, list.next).unzip();
        let items = list.items.into_iter().map(Into::into).collect();
        Ok(ListOrdersResponse::Ok(Json::Value(OrderList { items, next_cursor }), link))
    }

    async fn get_order(&self, call: Call, request: GetOrderRequest) -> Reply<GetOrderResponse> {
        let id: OrderId = request.id.parse().map_err(domain::Error::from)?;
        let order = orders::get(&self.app, call.workspace, id).await?;
        Ok(GetOrderResponse::Ok(Json::Value(order.into())))
    }
}

impl Enrollments for V2Handlers {
    async fn create_enrollment(
        &self,
        call: Call,
        request: CreateEnrollmentRequest,
    ) -> Reply<CreateEnrollmentResponse> {
        let (app, workspace) = (self.app.clone(), call.workspace);
        idempotency::run_once(&self.app, call, Some(request.idempotency_key), move |write| {
            let (app, body) = (app.clone(), request.body.clone());
            Box::pin(async move {
                let new = NewEnrollment {
                    student: body_id("student_id", &body.student_id)?,
                    course: body_id("course_id", &body.course_id)?,
                    expires_at: body.expires_at.map(|time| time.0),
                };
                let at = clock::from_ms(write.now_ms());
                let enrolled = enrollments::enroll(&app, write, workspace, at, new).await;
                let (EnrollOutcome::New(enrollment)
                | EnrollOutcome::Existing(enrollment)
                | EnrollOutcome::Reactivated(enrollment)) = enrolled.map_err(with_body_field)?;
                Ok(CreateEnrollmentResponse::Ok(Json::Value(enrollment.into())))
            })
        })
        .await
    }
}

/// Reads the requested page, and returns it with its sort order.
fn page(
    call: &Call,
    sort: schemas::ListSort,
    limit: i32,
    cursor: Option<&str>,
) -> Reply<(Sort, PageRequest)> {
    let sort = sort.into();
    Ok((sort, paging::page(call, sort, limit, cursor)?))
}

fn since(time: Option<Timestamp>) -> TimeSpan {
    TimeSpan { from: time.map(|time| time.0), to: None }
}

fn id_filter<K: IdKind>(name: &str, value: Option<String>) -> Reply<Option<Id<K>>> {
    let parsed = value.map(|id| id.parse::<Id<K>>()).transpose();
    parsed.map_err(|error| ApiError::invalid_query(name, &format!("is not a valid id: {error}")))
}

fn body_id<K: IdKind>(field: &str, value: &str) -> Reply<Id<K>> {
    value.parse().map_err(|error| missing_in_body(field, &NotFound::NotAnId(error)))
}

/// Converts the error of an enrollment. The domain names the fields as v1 does.
fn with_body_field(error: domain::Error) -> ApiError {
    match error {
        domain::Error::NotFound(missing @ NotFound::Record { noun, .. }) => {
            missing_in_body(&format!("{noun}_id"), &missing)
        }
        domain::Error::Invalid(mut errors) => {
            for error in errors.iter_mut().filter(|error| error.field == "courseId") {
                "course_id".clone_into(&mut error.field);
            }
            domain::Error::Invalid(errors).into()
        }
        other => other.into(),
    }
}

/// 422: a record that the body refers to does not exist. In v1, this is 404.
fn missing_in_body(field: &str, missing: &NotFound) -> ApiError {
    let mut error = ApiError::not_found_in_body(field, missing);
    (error.status, error.code) = (StatusCode::UNPROCESSABLE_ENTITY, ApiErrorCode::InvalidRequest);
    error
}
