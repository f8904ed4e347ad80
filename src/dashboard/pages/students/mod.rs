//! Students: the list with search, one with enrolments and progress, and the end of one.

use std::collections::HashMap;

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::flash::Flash;
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::position;
use crate::query::{Asked, FAR};
use crate::routes::{Route, get};
use crate::ui::{self, Badge, Tone};
use domain::Result;
use domain::audit::Action;
use domain::courses::{self, Course};
use domain::enrollments::{Enrollment, EnrollmentStatus};
use domain::page::{PageRequest, SortKey};
use domain::students::{self, Student, StudentFilter, StudentSummary};
use foundation::id::{CourseId, StudentId};

mod access;

const LIST: &str = "/dashboard/students";
/// The fields of the search.
const FIELDS: &[&str] = &["q", "course", FAR];

pub(super) fn routes(route: Route) -> Route {
    access::routes(route)
        .at(LIST, get(list))
        .at("/dashboard/students/:student", get(one))
        .at("/dashboard/students/:student/delete", get(ask).post(delete))
}

/// What a student is called: the name, or the address.
fn called(student: &StudentSummary) -> &str {
    student.name.as_deref().unwrap_or(&student.email)
}

#[derive(Template)]
#[template(path = "students/list.html")]
struct ListPage {
    frame: Frame,
    asked: Asked,
    course: Option<Course>,
    students: Vec<StudentSummary>,
    pager: ui::Pager,
}

#[handler]
async fn list(page: Page, asked: Asked) -> Answer {
    let (app, workspace) = (page.app(), page.workspace());
    let course = match asked.given("course") {
        Some(course) => Some(courses::detail(app, workspace, course.parse()?).await?.course),
        None => None,
    };
    let filter = StudentFilter {
        search: asked.given("q"),
        course: course.as_ref().map(|course| course.id),
        ..StudentFilter::default()
    };
    let request = position::request(asked.after(), SortKey::CreatedAt);
    let is_id = asked.text("q").parse::<StudentId>().is_ok();
    let reach = match &filter.search {
        Some(_) if !asked.is_far() && !is_id => students::reach(app, workspace, &filter, request).await?,
        _ => None,
    };
    let within = PageRequest { to: reach, ..request };
    let found = students::list(app, workspace, &filter, within).await?;
    let mut students: Vec<StudentSummary> = found.items.into_iter().map(|student| student.summary).collect();
    if asked.is_cut() {
        let first = named(&page, &filter, PageRequest { after: None, ..request }).await?;
        students.retain(|student| first.as_ref().is_none_or(|first| first.id != student.id));
    } else if reach.is_some() {
        students.splice(..0, named(&page, &filter, request).await?);
    }
    let path = asked.path(LIST, FIELDS);
    let pager = ui::pager(&path, asked.after(), found.next.map(position::text));
    let pager = pager.beyond(&path, request.after, reach);
    page.show(&ListPage {
        frame: page.frame(Section::Students, "Students"),
        pager: if course.is_some() { pager.among("Of the students of all courses") } else { pager },
        course,
        students,
        asked,
    })
}

/// Whom a search names by the whole address among those behind where its first page looks: it puts that one first, and the
/// others leave it out.
async fn named(page: &Page, filter: &StudentFilter, first: PageRequest) -> Result<Option<StudentSummary>> {
    let (app, workspace) = (page.app(), page.workspace());
    let Some(email) = filter.search.clone().filter(|text| text.contains('@')) else { return Ok(None) };
    let Some(behind) = students::reach(app, workspace, filter, first).await? else { return Ok(None) };
    let exact = StudentFilter { email: Some(email), course: filter.course, ..StudentFilter::default() };
    let found = students::list(app, workspace, &exact, PageRequest::newest(Some(behind), 1)).await?;
    Ok(found.items.into_iter().next().map(|student| student.summary))
}

#[derive(Template)]
#[template(path = "students/student.html")]
struct StudentPage {
    frame: Frame,
    student: StudentSummary,
    enrol_path: String,
    enrollments: Vec<Row>,
}

/// An enrolment as the page shows it.
struct Row {
    enrollment: Enrollment,
    course: String,
}

impl Row {
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
async fn one(page: Page, Path(student): Path<String>) -> Answer {
    let student: StudentId = student.parse()?;
    let Student { summary, enrollments } = students::get(page.app(), page.workspace(), student).await?;
    let mut titles = titles(&page, &enrollments).await?;
    let row = |enrollment: Enrollment| {
        let course = titles.remove(&enrollment.course_id).unwrap_or_default();
        Row { enrollment, course }
    };
    page.show(&StudentPage {
        frame: page.frame(Section::Students, called(&summary)),
        enrollments: enrollments.into_iter().map(row).collect(),
        enrol_path: format!("{LIST}/{student}/enrol"),
        student: summary,
    })
}

/// The titles of the courses that these enrolments are in. A student is in each course once.
async fn titles(page: &Page, enrollments: &[Enrollment]) -> Result<HashMap<CourseId, String>> {
    let ids: Vec<CourseId> = enrollments.iter().map(|enrollment| enrollment.course_id).collect();
    let courses = courses::by_ids(page.app(), page.workspace(), &ids).await?;
    Ok(courses.into_iter().map(|course| (course.id, course.title)).collect())
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct DeletePage<'a> {
    frame: Frame,
    confirm: ui::Confirm<'a>,
}

#[handler]
async fn ask(page: Page, Path(student): Path<String>) -> Answer {
    let student: StudentId = student.parse()?;
    let summary = students::get(page.app(), page.workspace(), student).await?.summary;
    let frame = page.frame(Section::Students, format!("Delete {}?", called(&summary)));
    let confirm = ui::Confirm {
        csrf: frame.csrf(),
        text: "Enrolments and progress go with the student; orders stay, without the person. This cannot be undone.",
        action: &format!("{LIST}/{student}/delete"),
        button: "Delete student",
        back: &format!("{LIST}/{student}"),
    };
    page.show(&DeletePage { frame, confirm })
}

#[handler]
async fn delete(page: Page, Path(student): Path<String>) -> Answer {
    let student: StudentId = student.parse()?;
    let (app, workspace) = (page.app(), page.workspace());
    let mut write = page.begin_write().await?;
    students::delete(app, &mut write, workspace, app.clock.now(), &student.into()).await?;
    // The audit log keeps the id alone: of a person who was deleted, no name or address stays.
    page.commit(write, Action::StudentDeleted, student, "").await?;
    page.redirect_with(LIST, &Flash::done("The student is deleted."))
}
