//! The operations `listStudents`, `getStudent` and `createStudent`.

use super::Handlers;
use super::convert::id_filter;
use super::paging::{self, TimeSpans};
use crate::call::Call;
use crate::error::Reply;
use crate::generated::schemas::{Student, StudentList};
use crate::generated::students::{
    CreateStudentRequest, CreateStudentResponse, GetStudentRequest, GetStudentResponse, ListStudentsRequest,
    ListStudentsResponse, Students,
};
use crate::idempotency;
use contract_runtime::payload::Json;
use domain::students::{self, StudentFilter};
use foundation::clock;
use foundation::id::StudentId;

impl Students for Handlers {
    async fn list_students(&self, call: Call, request: ListStudentsRequest) -> Reply<ListStudentsResponse> {
        let sort = request.sort.into();
        let page = paging::page(&call, sort, request.limit, request.cursor.as_deref())?;
        let mut time_spans = TimeSpans::default();
        let filter = StudentFilter {
            email: request.email,
            external_id: request.external_id,
            course: id_filter("courseId", request.course_id)?,
            enrollment_status: request.enrollment_status.map(Into::into),
            tag: request.tag,
            search: None,
            created: time_spans.between("created", request.created_after, request.created_before),
            updated: time_spans.between("updated", request.updated_after, request.updated_before),
        };
        time_spans.check()?;
        let list = students::list_lagging(&self.app, call.workspace, &filter, page).await?;
        let (pagination, link) = paging::next_page(&call, sort, list.next);
        let data = list.items.into_iter().map(Into::into).collect();
        Ok(ListStudentsResponse::Ok(Json::Value(StudentList { data, pagination }), link))
    }

    async fn get_student(&self, call: Call, request: GetStudentRequest) -> Reply<GetStudentResponse> {
        let id: StudentId = request.id.parse().map_err(domain::Error::from)?;
        let student = students::get(&self.app, call.workspace, id).await?;
        Ok(GetStudentResponse::Ok(Json::Value(student.into())))
    }

    async fn create_student(
        &self,
        call: Call,
        request: CreateStudentRequest,
    ) -> Reply<CreateStudentResponse> {
        let (app, workspace, path) = (self.app.clone(), call.workspace, call.operation.path);
        idempotency::run_once(&self.app, call, request.idempotency_key, move |write| {
            let (app, student) = (app.clone(), request.body.clone());
            Box::pin(async move {
                let at = clock::from_ms(write.now_ms());
                let student: Student =
                    students::create(&app, write, workspace, at, student.into()).await?.into();
                let location = format!("{path}/{}", student.id);
                Ok(CreateStudentResponse::Created(Json::Value(student), location))
            })
        })
        .await
    }
}
