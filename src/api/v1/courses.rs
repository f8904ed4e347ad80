//! `listCourses`, `getCourse`.

use super::Handlers;
use super::paging::{self, Spans};
use crate::call::Call;
use crate::error::Reply;
use crate::generated::courses::{
    Courses, GetCourseRequest, GetCourseResponse, ListCoursesRequest, ListCoursesResponse,
};
use crate::generated::schemas::CourseList;
use contract_runtime::payload::Json;
use domain::courses::{self, CourseFilter};
use foundation::id::CourseId;

impl Courses for Handlers {
    async fn list_courses(&self, call: Call, request: ListCoursesRequest) -> Reply<ListCoursesResponse> {
        let sort = request.sort.into();
        let page = paging::page(&call, sort, request.limit, request.cursor.as_deref())?;
        let mut spans = Spans::default();
        let filter = CourseFilter {
            slug: request.slug,
            language: request.language,
            created: spans.between("created", request.created_after, request.created_before),
            updated: spans.between("updated", request.updated_after, request.updated_before),
        };
        spans.check()?;
        let found = courses::list(&self.app, call.workspace, &filter, page).await?;
        let (pagination, link) = paging::onward(&call, sort, found.next);
        let data = found.items.into_iter().map(Into::into).collect();
        Ok(ListCoursesResponse::Ok(Json::Value(CourseList { data, pagination }), link))
    }

    async fn get_course(&self, call: Call, request: GetCourseRequest) -> Reply<GetCourseResponse> {
        let id: CourseId = request.id.parse().map_err(domain::Error::from)?;
        let course = courses::get(&self.app, call.workspace, id).await?;
        Ok(GetCourseResponse::Ok(Json::Value(course.into())))
    }
}
