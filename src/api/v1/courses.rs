//! The operations `listCourses` and `getCourse`.

use super::Handlers;
use super::paging::{self, TimeSpans};
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
        let mut time_spans = TimeSpans::default();
        let filter = CourseFilter {
            slug: request.slug,
            language: request.language,
            created: time_spans.between("created", request.created_after, request.created_before),
            updated: time_spans.between("updated", request.updated_after, request.updated_before),
        };
        time_spans.check()?;
        let list = courses::list(&self.app, call.workspace, &filter, page).await?;
        let (pagination, link) = paging::next_page(&call, sort, list.next);
        let data = list.items.into_iter().map(Into::into).collect();
        Ok(ListCoursesResponse::Ok(Json::Value(CourseList { data, pagination }), link))
    }

    async fn get_course(&self, call: Call, request: GetCourseRequest) -> Reply<GetCourseResponse> {
        let id: CourseId = request.id.parse().map_err(domain::Error::from)?;
        let course = courses::get(&self.app, call.workspace, id).await?;
        Ok(GetCourseResponse::Ok(Json::Value(course.into())))
    }
}
