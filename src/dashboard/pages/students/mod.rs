//! Students: list with search, one student with enrollments and progress, and deletion.

use std::collections::HashMap;

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::flash::Flash;
use crate::frame::{Frame, Section};
use crate::position;
use crate::query::{PageQuery, SEARCH_ALL};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui::{self, Badge, Tone};
use domain::Result;
use domain::audit::Action;
use domain::courses::{self, Course};
use domain::enrollments::{Enrollment, EnrollmentStatus};
use domain::page::{PageRequest, SortKey};
use domain::roles::Permission;
use domain::students::{self, Student, StudentFilter, StudentSummary};
use foundation::id::{CourseId, StudentId};

mod access;

const LIST: &str = "/dashboard/students";
/// The parameters of the search.
const FIELDS: &[&str] = &["q", "course", SEARCH_ALL];

pub(super) fn routes(route: RouteTable) -> RouteTable {
    access::routes(route)
        .at(LIST, get(Permission::ReadWorkspace, list))
        .at("/dashboard/students/:student", get(Permission::ReadWorkspace, show))
        .at(
            "/dashboard/students/:student/delete",
            get(Permission::ManageStudents, confirm_delete).post(Permission::ManageStudents, delete),
        )
}

/// Returns the student's name, or the email address of a student without a name.
fn display_name(student: &StudentSummary) -> &str {
    student.name.as_deref().unwrap_or(&student.email)
}

#[derive(Template)]
#[template(path = "students/list.html")]
struct StudentListPage {
    frame: Frame,
    query: PageQuery,
    /// The course to whose students the list is limited.
    course: Option<Course>,
    students: Vec<StudentSummary>,
    pager: ui::Pager,
}

#[handler]
async fn list(request: DashboardRequest, query: PageQuery) -> PageResponse {
    let (app, workspace) = (request.app(), request.workspace());
    let course = match query.non_empty("course") {
        Some(course) => Some(courses::get_any_status(app, workspace, course.parse()?).await?.course),
        None => None,
    };
    let filter = StudentFilter {
        search: query.non_empty("q"),
        course: course.as_ref().map(|course| course.id),
        ..StudentFilter::default()
    };
    let page_request = position::page_request(query.after(), SortKey::CreatedAt);
    let is_id = query.text("q").parse::<StudentId>().is_ok();
    let search_end = match &filter.search {
        Some(_) if !query.is_full_search() && !is_id => {
            students::search_end(app, workspace, &filter, page_request).await?
        }
        _ => None,
    };
    let searched_page = PageRequest { to: search_end, ..page_request };
    let found = students::list(app, workspace, &filter, searched_page).await?;
    let mut students: Vec<StudentSummary> = found.items.into_iter().map(|student| student.summary).collect();
    if query.continues_limited_search() {
        let listed_first =
            exact_match(&request, &filter, PageRequest { after: None, ..page_request }).await?;
        students.retain(|student| listed_first.as_ref().is_none_or(|listed| listed.id != student.id));
    } else if search_end.is_some() {
        students.splice(..0, exact_match(&request, &filter, page_request).await?);
    }
    let path = query.path(LIST, FIELDS);
    let pager = ui::pager(&path, query.after(), found.next.map(position::format));
    let pager = pager.limited_to(&path, request.zone(), page_request.after, search_end);
    request.show(&StudentListPage {
        frame: request.frame(Section::Students, "Students"),
        pager: if course.is_some() { pager.searched("students of all courses") } else { pager },
        course,
        students,
        query,
    })
}

/// Returns the student beyond the searched rows whose email address matches the search exactly. The first page lists that
/// student first, and later pages leave the student out.
async fn exact_match(
    request: &DashboardRequest,
    filter: &StudentFilter,
    first_page: PageRequest,
) -> Result<Option<StudentSummary>> {
    let (app, workspace) = (request.app(), request.workspace());
    let Some(email) = filter.search.clone().filter(|text| text.contains('@')) else { return Ok(None) };
    let Some(search_end) = students::search_end(app, workspace, filter, first_page).await? else {
        return Ok(None);
    };
    let exact = StudentFilter { email: Some(email), course: filter.course, ..StudentFilter::default() };
    let found =
        students::list(app, workspace, &exact, PageRequest::newest_first(Some(search_end), 1)).await?;
    Ok(found.items.into_iter().next().map(|student| student.summary))
}

#[derive(Template)]
#[template(path = "students/student.html")]
struct StudentPage {
    frame: Frame,
    student: StudentSummary,
    enroll_path: String,
    enrollments: Vec<EnrollmentRow>,
}

/// A row of the list of enrollments.
struct EnrollmentRow {
    enrollment: Enrollment,
    /// The title of the course.
    course: String,
}

impl EnrollmentRow {
    fn badge(&self) -> Badge<'static> {
        let tone = match self.enrollment.status {
            EnrollmentStatus::Active => Tone::Good,
            EnrollmentStatus::Completed => Tone::Busy,
            EnrollmentStatus::Expired => Tone::Warn,
            EnrollmentStatus::Revoked => Tone::Quiet,
        };
        ui::badge(tone, self.enrollment.status.as_str())
    }

    fn is_revoked(&self) -> bool {
        self.enrollment.status == EnrollmentStatus::Revoked
    }
}

#[handler]
async fn show(request: DashboardRequest, Path(student): Path<String>) -> PageResponse {
    let student: StudentId = student.parse()?;
    let Student { summary, enrollments } = students::get(request.app(), request.workspace(), student).await?;
    let mut titles = titles(&request, &enrollments).await?;
    let row = |enrollment: Enrollment| {
        let course = titles.remove(&enrollment.course_id).unwrap_or_default();
        EnrollmentRow { enrollment, course }
    };
    request.show(&StudentPage {
        frame: request.frame(Section::Students, display_name(&summary)),
        enrollments: enrollments.into_iter().map(row).collect(),
        enroll_path: format!("{LIST}/{student}/enroll"),
        student: summary,
    })
}

/// Returns the titles of the courses of these enrollments. A student has at most one enrollment per course.
async fn titles(request: &DashboardRequest, enrollments: &[Enrollment]) -> Result<HashMap<CourseId, String>> {
    let ids: Vec<CourseId> = enrollments.iter().map(|enrollment| enrollment.course_id).collect();
    let courses = courses::by_ids(request.app(), request.workspace(), &ids).await?;
    Ok(courses.into_iter().map(|course| (course.id, course.title)).collect())
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct DeleteStudentPage<'a> {
    frame: Frame,
    confirm: ui::ConfirmForm<'a>,
}

#[handler]
async fn confirm_delete(request: DashboardRequest, Path(student): Path<String>) -> PageResponse {
    let student: StudentId = student.parse()?;
    let summary = students::get(request.app(), request.workspace(), student).await?.summary;
    let frame = request.frame(Section::Students, format!("Delete {}?", display_name(&summary)));
    let confirm = ui::ConfirmForm {
        csrf: frame.csrf(),
        text: "This deletes the student with all enrollments and progress. Orders are kept, with the name and the email \
               address of the customer. This cannot be undone.",
        action: &format!("{LIST}/{student}/delete"),
        button: "Delete student",
        back: &format!("{LIST}/{student}"),
    };
    request.show(&DeleteStudentPage { frame, confirm })
}

#[handler]
async fn delete(request: DashboardRequest, Path(student): Path<String>) -> PageResponse {
    let student: StudentId = student.parse()?;
    let (app, workspace) = (request.app(), request.workspace());
    let mut write = request.begin_write().await?;
    students::delete(app, &mut write, workspace, app.clock.now(), &student.into()).await?;
    // The audit log stores only the id, so that no name or email address of a deleted person remains.
    request.commit(write, Action::StudentDeleted, student, "").await?;
    request.redirect_with(LIST, &Flash::success("Student deleted."))
}
