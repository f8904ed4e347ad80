//! Temporary: someone who implements the traits, until the handlers do.

use creator_api::api::call::Call;
use creator_api::api::error::Reply;
use creator_api::api::generated::*;

pub struct Handlers;
impl courses::Courses for Handlers {
    async fn list_courses(
        &self,
        _: Call,
        _: courses::ListCoursesRequest,
    ) -> Reply<courses::ListCoursesResponse> {
        unreachable!()
    }
    async fn get_course(&self, _: Call, _: courses::GetCourseRequest) -> Reply<courses::GetCourseResponse> {
        unreachable!()
    }
}
impl students::Students for Handlers {
    async fn list_students(
        &self,
        _: Call,
        _: students::ListStudentsRequest,
    ) -> Reply<students::ListStudentsResponse> {
        unreachable!()
    }
    async fn create_student(
        &self,
        _: Call,
        _: students::CreateStudentRequest,
    ) -> Reply<students::CreateStudentResponse> {
        unreachable!()
    }
}
impl orders::Orders for Handlers {
    async fn list_orders(&self, _: Call, _: orders::ListOrdersRequest) -> Reply<orders::ListOrdersResponse> {
        unreachable!()
    }
}
impl enrollments::Enrollments for Handlers {
    async fn create_enrollment(
        &self,
        _: Call,
        _: enrollments::CreateEnrollmentRequest,
    ) -> Reply<enrollments::CreateEnrollmentResponse> {
        unreachable!()
    }
}
impl analytics::Analytics for Handlers {
    async fn get_analytics_summary(
        &self,
        _: Call,
        _: analytics::GetAnalyticsSummaryRequest,
    ) -> Reply<analytics::GetAnalyticsSummaryResponse> {
        unreachable!()
    }
}
