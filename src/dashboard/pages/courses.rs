//! Courses: list with search, course with modules and lessons, publishing and archiving.

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::flash::Flash;
use crate::frame::{Frame, Section};
use crate::position::{self, ROWS_PER_PAGE};
use crate::query::PageQuery;
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get, post};
use crate::ui::{self, Badge, FormChoice, Tone};
use domain::WriteOutcome;
use domain::audit::Action;
use domain::courses::{self, Course, CourseDetail, CourseSearch, CourseStatus};
use domain::roles::Permission;
use foundation::id::CourseId;

const LIST: &str = "/dashboard/courses";
/// The parameters of the search.
const FIELDS: &[&str] = &["q", "status"];

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(LIST, get(Permission::ReadWorkspace, list))
        .at("/dashboard/courses/:course", get(Permission::ReadWorkspace, show))
        .at("/dashboard/courses/:course/publish", post(Permission::ManageCourses, publish))
        .at(
            "/dashboard/courses/:course/archive",
            get(Permission::ManageCourses, confirm_archive).post(Permission::ManageCourses, archive),
        )
}

/// Renders a course's status.
fn badge(status: &CourseStatus) -> Badge<'static> {
    let tone = match status {
        CourseStatus::Draft => Tone::Busy,
        CourseStatus::Published => Tone::Good,
        CourseStatus::Archived => Tone::Quiet,
    };
    ui::badge(tone, status.as_str())
}

/// Formats a duration: `1 h 5 min`.
fn duration(seconds: &i64) -> String {
    match (seconds / 3600, seconds % 3600 / 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, _) => format!("{minutes} min"),
        (hours, minutes, _) => format!("{} h {minutes} min", ui::number(hours)),
    }
}

/// Formats a course's price.
fn price(course: &Course) -> String {
    match &course.price {
        Some(price) => ui::money(price.amount, &price.currency),
        None => "not sold separately".to_owned(),
    }
}

#[derive(Template)]
#[template(path = "courses/list.html")]
struct CourseListPage {
    frame: Frame,
    query: PageQuery,
    courses: Vec<Course>,
    pager: ui::Pager,
}

impl CourseListPage {
    fn statuses(&self) -> Vec<FormChoice<'_>> {
        let selected = self.query.text("status");
        let statuses = CourseStatus::ALL.iter().map(|status| (status.as_str(), status.as_str()));
        std::iter::once(("", "Any"))
            .chain(statuses)
            .map(|(value, label)| FormChoice { value, label, hint: "", is_selected: value == selected })
            .collect()
    }
}

#[handler]
async fn list(request: DashboardRequest, query: PageQuery) -> PageResponse {
    let search = CourseSearch { text: query.non_empty("q"), status: query.text("status").parse().ok() };
    let after = query.after().and_then(position::parse);
    let found = courses::search(request.app(), request.workspace(), &search, after, ROWS_PER_PAGE).await?;
    request.show(&CourseListPage {
        frame: request.frame(Section::Courses, "Courses"),
        pager: ui::pager(&query.path(LIST, FIELDS), query.after(), found.next.map(position::format)),
        courses: found.items,
        query,
    })
}

#[derive(Template)]
#[template(path = "courses/course.html")]
struct CoursePage {
    frame: Frame,
    detail: CourseDetail,
}

#[handler]
async fn show(request: DashboardRequest, Path(course): Path<String>) -> PageResponse {
    let course: CourseId = course.parse()?;
    let detail = courses::get_any_status(request.app(), request.workspace(), course).await?;
    let frame = request.frame(Section::Courses, detail.course.title.clone());
    request.show(&CoursePage { frame, detail })
}

#[handler]
async fn publish(request: DashboardRequest, Path(course): Path<String>) -> PageResponse {
    let message = "was published. The API lists it and students can be enrolled.";
    set_status(&request, course.parse()?, CourseStatus::Published, Action::CoursePublished, message).await
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct ArchiveCoursePage<'a> {
    frame: Frame,
    confirm: ui::ConfirmForm<'a>,
}

#[handler]
async fn confirm_archive(request: DashboardRequest, Path(course): Path<String>) -> PageResponse {
    let course: CourseId = course.parse()?;
    let course = courses::get_any_status(request.app(), request.workspace(), course).await?.course;
    let frame = request.frame(Section::Courses, format!("Archive {}?", course.title));
    let confirm = ui::ConfirmForm {
        csrf: frame.csrf(),
        text: "The API will no longer list the course or accept new enrollments in it. Enrolled students keep access. \
               You can publish the course again.",
        action: &format!("{LIST}/{}/archive", course.id),
        button: "Archive course",
        back: &format!("{LIST}/{}", course.id),
    };
    request.show(&ArchiveCoursePage { frame, confirm })
}

#[handler]
async fn archive(request: DashboardRequest, Path(course): Path<String>) -> PageResponse {
    let message = "was archived.";
    set_status(&request, course.parse()?, CourseStatus::Archived, Action::CourseArchived, message).await
}

/// Sets a course's status, unless the course already has it.
async fn set_status(
    request: &DashboardRequest,
    course: CourseId,
    status: CourseStatus,
    action: Action,
    message: &str,
) -> PageResponse {
    let (app, workspace) = (request.app(), request.workspace());
    let mut write = request.begin_write().await?;
    let WriteOutcome { record, changed } =
        courses::set_status(app, &mut write, workspace, app.clock.now(), course, status).await?;
    let to = format!("{LIST}/{course}");
    if !changed {
        let text = format!("\u{201c}{}\u{201d} is already {status}.", record.title);
        return request.redirect_with(&to, &Flash::info(text));
    }
    request.commit(write, action, course, &record.title).await?;
    request.redirect_with(&to, &Flash::success(format!("\u{201c}{}\u{201d} {message}", record.title)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_units() {
        assert_eq!(
            [45, 60, 3599, 3600, 5_400].map(|s| duration(&s)).join(", "),
            "45 s, 1 min, 59 min, 1 h 0 min, 1 h 30 min"
        );
    }
}
