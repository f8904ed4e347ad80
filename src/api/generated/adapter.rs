// Generated from openapi/v1.yaml (sha256 0407f22c6e2ca5b84a29df515d420ce1a2966477b20c965b8a31e89c6023a115), do not edit. Run `cargo xtask codegen`.

//! Serves the traits of all tags as one poem-openapi API.

use poem_openapi::OpenApi;
use super::operations;
use super::schemas;
use super::{courses, students, orders, enrollments, analytics};
use contract_runtime::call::Call;
use contract_runtime::parameter::{Header, Path, Query};
use contract_runtime::payload::JsonBody;
use contract_runtime::scalar::Timestamp;
use contract_runtime::security::{SecurityRequirement, SecurityScheme};
use contract_runtime::service::respond;

/// A tag of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, poem_openapi::Tags)]
pub enum Tag {
    /// Published courses with their modules and lesson metadata.
    #[oai(rename = "courses")]
    Courses,
    /// Students with their progress and enrollment history.
    #[oai(rename = "students")]
    Students,
    /// Orders with their receipts, refunds and entitlements.
    #[oai(rename = "orders")]
    Orders,
    /// Enrollments of students in courses.
    #[oai(rename = "enrollments")]
    Enrollments,
    /// Aggregate revenue and completion metrics for a time window.
    #[oai(rename = "analytics")]
    Analytics,
}

/// A scope of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, poem_openapi::OAuthScopes)]
pub enum Scope {
    /// `read:courses`.
    #[oai(rename = "read:courses")]
    ReadCourses,
    /// `read:students`.
    #[oai(rename = "read:students")]
    ReadStudents,
    /// `write:students`.
    #[oai(rename = "write:students")]
    WriteStudents,
    /// `read:orders`.
    #[oai(rename = "read:orders")]
    ReadOrders,
    /// `write:enrollments`.
    #[oai(rename = "write:enrollments")]
    WriteEnrollments,
    /// `read:analytics`.
    #[oai(rename = "read:analytics")]
    ReadAnalytics,
}

impl Scope {
    /// All scopes, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::ReadCourses,
        Self::ReadStudents,
        Self::WriteStudents,
        Self::ReadOrders,
        Self::WriteEnrollments,
        Self::ReadAnalytics,
    ];
    /// Returns the scope as a string, such as `read:courses`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadCourses => "read:courses",
            Self::ReadStudents => "read:students",
            Self::WriteStudents => "write:students",
            Self::ReadOrders => "read:orders",
            Self::WriteEnrollments => "write:enrollments",
            Self::ReadAnalytics => "read:analytics",
        }
    }
}

/// The security scheme `apiKey`: how clients send their API keys.
pub struct Keys;

impl SecurityScheme for Keys {
    const NAME: &'static str = "apiKey";
    const CREDENTIAL: contract_runtime::contract::Credential = operations::CREDENTIAL;
}

/// Serves an implementation of the traits of all tags as a poem-openapi API.
pub struct V1<S>(pub S);

#[OpenApi]
impl<
    S: courses::Courses + students::Students + orders::Orders + enrollments::Enrollments
        + analytics::Analytics,
> V1<S> {
    /// List published courses
    #[oai(
        path = "/api/v1/courses",
        method = "get",
        operation_id = "listCourses",
        tag = "Tag::Courses"
    )]
    async fn list_courses(
        &self,
        #[oai(scope = "Scope::ReadCourses")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "cursor",
            validator(min_length = 1, max_length = 1024, pattern = "^[!-~]+$")
        )]
        cursor: Query<Option<String>>,
        #[oai(
            name = "limit",
            default = "list_courses_limit_default",
            validator(minimum(value = "1"), maximum(value = "100"))
        )]
        limit: Query<i32>,
        #[oai(name = "sort", default = "list_courses_sort_default")]
        sort: Query<schemas::CourseSort>,
        #[oai(name = "created_after")]
        created_after: Query<Option<Timestamp>>,
        #[oai(name = "created_before")]
        created_before: Query<Option<Timestamp>>,
        #[oai(name = "updated_after")]
        updated_after: Query<Option<Timestamp>>,
        #[oai(name = "updated_before")]
        updated_before: Query<Option<Timestamp>>,
        #[oai(
            name = "slug",
            validator(
                min_length = 1,
                max_length = 200,
                pattern = "^[a-z0-9]+(-[a-z0-9]+)*$"
            )
        )]
        slug: Query<Option<String>>,
        #[oai(
            name = "language",
            validator(
                min_length = 2,
                max_length = 35,
                pattern = "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
            )
        )]
        language: Query<Option<String>>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> courses::ListCoursesResponse {
        let request = courses::ListCoursesRequest {
            cursor: cursor.0,
            limit: limit.0,
            sort: sort.0,
            created_after: created_after.0,
            created_before: created_before.0,
            updated_after: updated_after.0,
            updated_before: updated_before.0,
            slug: slug.0,
            language: language.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.list_courses(call.clone(), request).await)
    }
    /// Retrieve a course
    #[oai(
        path = "/api/v1/courses/:id",
        method = "get",
        operation_id = "getCourse",
        tag = "Tag::Courses"
    )]
    async fn get_course(
        &self,
        #[oai(scope = "Scope::ReadCourses")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> courses::GetCourseResponse {
        let request = courses::GetCourseRequest {
            id: id.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.get_course(call.clone(), request).await)
    }
    /// List students with progress and enrollment history
    #[oai(
        path = "/api/v1/students",
        method = "get",
        operation_id = "listStudents",
        tag = "Tag::Students"
    )]
    async fn list_students(
        &self,
        #[oai(scope = "Scope::ReadStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "cursor",
            validator(min_length = 1, max_length = 1024, pattern = "^[!-~]+$")
        )]
        cursor: Query<Option<String>>,
        #[oai(
            name = "limit",
            default = "list_students_limit_default",
            validator(minimum(value = "1"), maximum(value = "100"))
        )]
        limit: Query<i32>,
        #[oai(name = "sort", default = "list_students_sort_default")]
        sort: Query<schemas::StudentSort>,
        #[oai(name = "created_after")]
        created_after: Query<Option<Timestamp>>,
        #[oai(name = "created_before")]
        created_before: Query<Option<Timestamp>>,
        #[oai(name = "updated_after")]
        updated_after: Query<Option<Timestamp>>,
        #[oai(name = "updated_before")]
        updated_before: Query<Option<Timestamp>>,
        #[oai(
            name = "email",
            validator(
                min_length = 3,
                max_length = 320,
                pattern = "^[^@\\s\\x00-\\x1f\\x7f]+@[^@\\s\\x00-\\x1f\\x7f]+$"
            )
        )]
        email: Query<Option<String>>,
        #[oai(
            name = "external_id",
            validator(
                min_length = 1,
                max_length = 255,
                pattern = "^[^\\x00-\\x1f\\x7f]*$"
            )
        )]
        external_id: Query<Option<String>>,
        #[oai(
            name = "courseId",
            validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$")
        )]
        course_id: Query<Option<String>>,
        #[oai(name = "enrollment_status")]
        enrollment_status: Query<Option<schemas::EnrollmentStatus>>,
        #[oai(
            name = "tag",
            validator(
                min_length = 1,
                max_length = 64,
                pattern = "^[^\\x00-\\x1f\\x7f]*$"
            )
        )]
        tag: Query<Option<String>>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> students::ListStudentsResponse {
        let request = students::ListStudentsRequest {
            cursor: cursor.0,
            limit: limit.0,
            sort: sort.0,
            created_after: created_after.0,
            created_before: created_before.0,
            updated_after: updated_after.0,
            updated_before: updated_before.0,
            email: email.0,
            external_id: external_id.0,
            course_id: course_id.0,
            enrollment_status: enrollment_status.0,
            tag: tag.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.list_students(call.clone(), request).await)
    }
    /// Create a student
    #[oai(
        path = "/api/v1/students",
        method = "post",
        operation_id = "createStudent",
        tag = "Tag::Students"
    )]
    async fn create_student(
        &self,
        #[oai(scope = "Scope::WriteStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
        body: JsonBody<schemas::NewStudent>,
    ) -> students::CreateStudentResponse {
        let request = students::CreateStudentRequest {
            idempotency_key: idempotency_key.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.create_student(call.clone(), request).await)
    }
    /// Retrieve a student
    #[oai(
        path = "/api/v1/students/:id",
        method = "get",
        operation_id = "getStudent",
        tag = "Tag::Students"
    )]
    async fn get_student(
        &self,
        #[oai(scope = "Scope::ReadStudents")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> students::GetStudentResponse {
        let request = students::GetStudentRequest {
            id: id.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.get_student(call.clone(), request).await)
    }
    /// List orders with receipts and entitlement history
    #[oai(
        path = "/api/v1/orders",
        method = "get",
        operation_id = "listOrders",
        tag = "Tag::Orders"
    )]
    async fn list_orders(
        &self,
        #[oai(scope = "Scope::ReadOrders")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "cursor",
            validator(min_length = 1, max_length = 1024, pattern = "^[!-~]+$")
        )]
        cursor: Query<Option<String>>,
        #[oai(
            name = "limit",
            default = "list_orders_limit_default",
            validator(minimum(value = "1"), maximum(value = "100"))
        )]
        limit: Query<i32>,
        #[oai(name = "sort", default = "list_orders_sort_default")]
        sort: Query<schemas::OrderSort>,
        #[oai(name = "created_after")]
        created_after: Query<Option<Timestamp>>,
        #[oai(name = "created_before")]
        created_before: Query<Option<Timestamp>>,
        #[oai(name = "updated_after")]
        updated_after: Query<Option<Timestamp>>,
        #[oai(name = "updated_before")]
        updated_before: Query<Option<Timestamp>>,
        #[oai(
            name = "studentId",
            validator(pattern = "^stu_[0-7][0-9a-hjkmnp-tv-z]{25}$")
        )]
        student_id: Query<Option<String>>,
        #[oai(
            name = "courseId",
            validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$")
        )]
        course_id: Query<Option<String>>,
        #[oai(name = "status")]
        status: Query<Option<schemas::OrderStatus>>,
        #[oai(name = "currency", validator(pattern = "^[A-Z]{3}$"))]
        currency: Query<Option<String>>,
        #[oai(
            name = "number",
            validator(
                min_length = 1,
                max_length = 255,
                pattern = "^[^\\x00-\\x1f\\x7f]*$"
            )
        )]
        number: Query<Option<String>>,
        #[oai(name = "paid_after")]
        paid_after: Query<Option<Timestamp>>,
        #[oai(name = "paid_before")]
        paid_before: Query<Option<Timestamp>>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> orders::ListOrdersResponse {
        let request = orders::ListOrdersRequest {
            cursor: cursor.0,
            limit: limit.0,
            sort: sort.0,
            created_after: created_after.0,
            created_before: created_before.0,
            updated_after: updated_after.0,
            updated_before: updated_before.0,
            student_id: student_id.0,
            course_id: course_id.0,
            status: status.0,
            currency: currency.0,
            number: number.0,
            paid_after: paid_after.0,
            paid_before: paid_before.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.list_orders(call.clone(), request).await)
    }
    /// Retrieve an order
    #[oai(
        path = "/api/v1/orders/:id",
        method = "get",
        operation_id = "getOrder",
        tag = "Tag::Orders"
    )]
    async fn get_order(
        &self,
        #[oai(scope = "Scope::ReadOrders")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "id", validator(min_length = 1))]
        id: Path<String>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> orders::GetOrderResponse {
        let request = orders::GetOrderRequest {
            id: id.0,
            if_none_match: if_none_match.0,
        };
        respond(&self.0, &call, self.0.get_order(call.clone(), request).await)
    }
    /// Enroll a student in a course
    #[oai(
        path = "/api/v1/enrollments",
        method = "post",
        operation_id = "createEnrollment",
        tag = "Tag::Enrollments"
    )]
    async fn create_enrollment(
        &self,
        #[oai(scope = "Scope::WriteEnrollments")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(
            name = "Idempotency-Key",
            validator(min_length = 1, max_length = 255, pattern = "^[!-~]+$")
        )]
        idempotency_key: Header<Option<String>>,
        body: JsonBody<schemas::NewEnrollment>,
    ) -> enrollments::CreateEnrollmentResponse {
        let request = enrollments::CreateEnrollmentRequest {
            idempotency_key: idempotency_key.0,
            body: body.0,
        };
        respond(&self.0, &call, self.0.create_enrollment(call.clone(), request).await)
    }
    /// Retrieve aggregate revenue and completion metrics
    #[oai(
        path = "/api/v1/analytics/summary",
        method = "get",
        operation_id = "getAnalyticsSummary",
        tag = "Tag::Analytics"
    )]
    async fn get_analytics_summary(
        &self,
        #[oai(scope = "Scope::ReadAnalytics")]
        _key: SecurityRequirement<Keys>,
        call: Call<S::Caller>,
        #[oai(name = "from")]
        from: Query<Option<Timestamp>>,
        #[oai(name = "to")]
        to: Query<Option<Timestamp>>,
        #[oai(
            name = "timezone",
            default = "get_analytics_summary_timezone_default",
            validator(
                min_length = 1,
                max_length = 64,
                pattern = "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$"
            )
        )]
        timezone: Query<String>,
        #[oai(
            name = "courseId",
            validator(pattern = "^crs_[0-7][0-9a-hjkmnp-tv-z]{25}$")
        )]
        course_id: Query<Option<String>>,
        #[oai(name = "interval")]
        interval: Query<Option<schemas::Interval>>,
        #[oai(name = "If-None-Match", validator(max_length = 4096))]
        if_none_match: Header<Option<String>>,
    ) -> analytics::GetAnalyticsSummaryResponse {
        let request = analytics::GetAnalyticsSummaryRequest {
            from: from.0,
            to: to.0,
            timezone: timezone.0,
            course_id: course_id.0,
            interval: interval.0,
            if_none_match: if_none_match.0,
        };
        respond(
            &self.0,
            &call,
            self.0.get_analytics_summary(call.clone(), request).await,
        )
    }
}

fn list_courses_limit_default() -> i32 {
    25
}

fn list_courses_sort_default() -> schemas::CourseSort {
    schemas::CourseSort::CreatedAtDescending
}

fn list_students_limit_default() -> i32 {
    25
}

fn list_students_sort_default() -> schemas::StudentSort {
    schemas::StudentSort::CreatedAtDescending
}

fn list_orders_limit_default() -> i32 {
    25
}

fn list_orders_sort_default() -> schemas::OrderSort {
    schemas::OrderSort::CreatedAtDescending
}

fn get_analytics_summary_timezone_default() -> String {
    "UTC".to_owned()
}
