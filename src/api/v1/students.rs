//! `listStudents`, `createStudent`.

use super::Handlers;
use super::convert::id_filter;
use super::paging::{self, Spans};
use crate::call::Call;
use crate::error::Reply;
use crate::generated::schemas::{Student, StudentList};
use crate::generated::students::{
    CreateStudentRequest, CreateStudentResponse, ListStudentsRequest, ListStudentsResponse, Students,
};
use crate::idempotency;
use contract_runtime::payload::Json;
use domain::students::{self, StudentFilter};
use foundation::clock;

impl Students for Handlers {
    async fn list_students(&self, call: Call, request: ListStudentsRequest) -> Reply<ListStudentsResponse> {
        let sort = request.sort.into();
        let page = paging::page(&call, sort, request.limit, request.cursor.as_deref())?;
        let mut spans = Spans::default();
        let filter = StudentFilter {
            email: request.email,
            external_id: request.external_id,
            course: id_filter("courseId", request.course_id)?,
            enrollment_status: request.enrollment_status.map(Into::into),
            tag: request.tag,
            search: None,
            created: spans.between("created", request.created_after, request.created_before),
            updated: spans.between("updated", request.updated_after, request.updated_before),
        };
        spans.check()?;
        let found = students::list(&self.app, call.workspace, &filter, page).await?;
        let (pagination, link) = paging::onward(&call, sort, found.next);
        let data = found.items.into_iter().map(Into::into).collect();
        Ok(ListStudentsResponse::Ok(Json::Value(StudentList { data, pagination }), link))
    }

    async fn create_student(
        &self,
        call: Call,
        request: CreateStudentRequest,
    ) -> Reply<CreateStudentResponse> {
        let (app, workspace, path) = (self.app.clone(), call.workspace, call.operation.path);
        idempotency::once(&self.app, call, request.idempotency_key, move |write| {
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
