//! Granting and revoking access to courses manually.

use askama::Template;
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};
use poem::handler;
use poem::web::Path;

use super::{LIST, display_name};
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::query::{PageQuery, TIME_ZONE};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui::{self, FormChoice, PageZone};
use domain::audit::Action;
use domain::courses::{self, Course, CourseSearch, CourseStatus};
use domain::enrollments::{
    self, EnrollOutcome, Enrollment, EnrollmentGrant, EnrollmentRevoke, EnrollmentSource, EnrollmentStatus,
};
use domain::roles::Permission;
use domain::students::{self, Student, StudentSummary};
use domain::{Error, Result};
use foundation::id::{CourseId, EnrollmentId, StudentId};

/// Maximum number of courses in the list. A search finds the others.
const MAX_CHOICES: u32 = 50;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(
            "/dashboard/students/:student/enroll",
            get(Permission::ManageStudents, show_form).post(Permission::ManageStudents, enroll),
        )
        .at(
            "/dashboard/students/:student/enrollments/:enrollment/revoke",
            get(Permission::ManageStudents, confirm_revoke).post(Permission::ManageStudents, revoke),
        )
}

#[derive(Template)]
#[template(path = "students/enroll.html")]
struct EnrollPage {
    frame: Frame,
    student: StudentSummary,
    search: String,
    /// Id and label of each course.
    courses: Vec<(String, String)>,
    /// Whether more courses match the search than are listed.
    is_truncated: bool,
    form: Form,
    errors: FormErrors,
}

impl EnrollPage {
    /// Loads the page with the courses that match the search, published courses first.
    async fn load(
        request: &DashboardRequest,
        student: StudentId,
        search: &str,
        form: Form,
        errors: FormErrors,
    ) -> Result<Self> {
        let (app, workspace) = (request.app(), request.workspace());
        let student = students::get(app, workspace, student).await?.summary;
        let search = search.trim().to_owned();
        let course_search = CourseSearch { text: Some(search.clone()), status: None };
        let mut found = courses::search(app, workspace, &course_search, None, MAX_CHOICES).await?;
        found.items.sort_by_key(|course| course.status != CourseStatus::Published);
        Ok(Self {
            frame: request.frame(Section::Students, format!("Enroll {}", display_name(&student))),
            student,
            search,
            courses: found.items.iter().map(|course| (course.id.to_string(), course_label(course))).collect(),
            is_truncated: found.next.is_some(),
            form,
            errors,
        })
    }

    fn choices(&self) -> Vec<FormChoice<'_>> {
        let selected = self.form.text("course");
        self.courses
            .iter()
            .map(|(value, label)| FormChoice { value, label, hint: "", is_selected: value == selected })
            .collect()
    }
}

/// Formats a course for the list.
fn course_label(course: &Course) -> String {
    match course.status {
        CourseStatus::Published => course.title.clone(),
        status => format!("{} ({status})", course.title),
    }
}

#[handler]
async fn show_form(request: DashboardRequest, Path(student): Path<String>, query: PageQuery) -> PageResponse {
    let form = Form::default();
    let page =
        EnrollPage::load(&request, student.parse()?, query.text("q"), form, FormErrors::default()).await?;
    request.show(&page)
}

#[handler]
async fn enroll(request: DashboardRequest, Path(student): Path<String>, form: Form) -> PageResponse {
    let student: StudentId = student.parse()?;
    let mut errors = FormErrors::default();
    let (course, expires_at) = parse(request.zone(), &form, &mut errors);
    let show_errors = async |errors: FormErrors| {
        let search = form.text("q").to_owned();
        let page = EnrollPage::load(&request, student, &search, form.clone(), errors).await?;
        request.show_errors(&page)
    };
    let Some(course) = course.filter(|_| errors.is_empty()) else { return show_errors(errors).await };
    let (app, workspace) = (request.app(), request.workspace());
    // This also checks that the course belongs to the workspace.
    let title = courses::get_any_status(app, workspace, course).await?.course.title;
    let grant = EnrollmentGrant {
        student: student.into(),
        course: course.into(),
        source: EnrollmentSource::Manual,
        expires_at,
    };
    let mut write = request.begin_write().await?;
    let enrolled =
        match enrollments::enroll_manually(app, &mut write, workspace, app.clock.now(), grant).await {
            Ok(enrolled) => enrolled,
            Err(Error::Invalid(errors)) => {
                drop(write);
                return show_errors(errors.into()).await;
            }
            Err(error) => return Err(error.into()),
        };
    let to = format!("{LIST}/{student}");
    let (changed, text) = outcome(&enrolled, &title);
    if !changed {
        return request.redirect_with(&to, &Flash::info(text));
    }
    request.commit(write, Action::StudentEnrolled, student, &title).await?;
    request.redirect_with(&to, &Flash::success(text))
}

/// Returns whether access changed, and the flash message.
fn outcome(enrolled: &EnrollOutcome, title: &str) -> (bool, String) {
    match enrolled {
        EnrollOutcome::New(_) => (true, format!("Enrolled the student in \u{201c}{title}\u{201d}.")),
        EnrollOutcome::Reactivated(_) => (true, format!("Restored access to \u{201c}{title}\u{201d}.")),
        EnrollOutcome::Existing(_) => {
            (false, format!("The student already has access to \u{201c}{title}\u{201d}."))
        }
    }
}

/// Parses the course and the end of access. Adds an error for each invalid field.
fn parse(
    page_zone: &PageZone,
    form: &Form,
    errors: &mut FormErrors,
) -> (Option<CourseId>, Option<Timestamp>) {
    let course = form.text("course").parse().ok();
    if course.is_none() {
        errors.add("course", "must be one of the listed values");
    }
    let last_day = form.text("expires_at").trim();
    if last_day.is_empty() {
        return (course, None);
    }
    let expires_at = end_of_day(last_day, &page_zone.or_named(form.text(TIME_ZONE)));
    if expires_at.is_none() {
        errors.add("expires_at", "must be a date such as 2026-12-31");
    }
    (course, expires_at)
}

/// Parses a date and returns the end of that day in the time zone.
fn end_of_day(day: &str, zone: &PageZone) -> Option<Timestamp> {
    let next = day.parse::<Date>().ok()?.checked_add(1.day()).ok()?;
    Some(next.to_zoned(zone.rules().clone()).ok()?.start_of_day().ok()?.timestamp())
}

#[derive(Template)]
#[template(path = "students/revoke.html")]
struct RevokeEnrollmentPage {
    frame: Frame,
    student: StudentSummary,
    enrollment: EnrollmentId,
    /// The title of the course.
    course: String,
    form: Form,
    errors: FormErrors,
}

/// Returns a student's enrollment, with the student and the title of the course.
async fn find(
    request: &DashboardRequest,
    student: &str,
    enrollment: &str,
) -> Result<(StudentSummary, Enrollment, String)> {
    let (student, enrollment): (StudentId, EnrollmentId) = (student.parse()?, enrollment.parse()?);
    let Student { summary, enrollments } = students::get(request.app(), request.workspace(), student).await?;
    let mut titles = super::titles(request, &enrollments).await?;
    let found = enrollments.into_iter().find(|candidate| candidate.id == enrollment);
    let enrollment = found.ok_or_else(|| Error::not_found("enrollment", enrollment))?;
    let title = titles.remove(&enrollment.course_id).unwrap_or_default();
    Ok((summary, enrollment, title))
}

fn already_revoked(student: StudentId, course: &str, request: &DashboardRequest) -> PageResponse {
    let text = format!("Access to \u{201c}{course}\u{201d} is already revoked.");
    request.redirect_with(&format!("{LIST}/{student}"), &Flash::info(text))
}

#[handler]
async fn confirm_revoke(
    request: DashboardRequest,
    Path((student, enrollment)): Path<(String, String)>,
) -> PageResponse {
    let (student, enrollment, course) = find(&request, &student, &enrollment).await?;
    if enrollment.status == EnrollmentStatus::Revoked {
        return already_revoked(student.id, &course, &request);
    }
    let frame = request.frame(Section::Students, format!("Revoke access to {course}?"));
    let (form, errors) = (Form::default(), FormErrors::default());
    request.show(&RevokeEnrollmentPage { frame, student, enrollment: enrollment.id, course, form, errors })
}

#[handler]
async fn revoke(
    request: DashboardRequest,
    Path((student, enrollment)): Path<(String, String)>,
    form: Form,
) -> PageResponse {
    let (app, workspace) = (request.app(), request.workspace());
    let (student, enrollment, course) = find(&request, &student, &enrollment).await?;
    let reason = Some(form.text("reason").trim().to_owned()).filter(|reason| !reason.is_empty());
    let revocation =
        EnrollmentRevoke { student: student.id.into(), course: enrollment.course_id.into(), reason };
    let mut write = request.begin_write().await?;
    let revoked = match enrollments::revoke(app, &mut write, workspace, app.clock.now(), revocation).await {
        Ok(revoked) => revoked,
        Err(Error::Invalid(errors)) => {
            let frame = request.frame(Section::Students, format!("Revoke access to {course}?"));
            let errors = errors.into();
            return request.show_errors(&RevokeEnrollmentPage {
                frame,
                student,
                enrollment: enrollment.id,
                course,
                form,
                errors,
            });
        }
        Err(error) => return Err(error.into()),
    };
    if !revoked.changed {
        return already_revoked(student.id, &course, &request);
    }
    request.commit(write, Action::EnrollmentRevoked, enrollment.id, &course).await?;
    let text = format!("Revoked access to \u{201c}{course}\u{201d}.");
    request.redirect_with(&format!("{LIST}/{}", student.id), &Flash::success(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_lasts_to_the_end_of_the_day() {
        for (zone, day, end) in [
            ("UTC", "2026-12-31", "2027-01-01T00:00:00Z"),
            ("America/New_York", "2026-12-31", "2027-01-01T05:00:00Z"),
            // The clocks skip the first hour of the next day.
            ("America/Sao_Paulo", "2018-11-03", "2018-11-04T03:00:00Z"),
        ] {
            let zone = PageZone::named(zone).unwrap();
            assert_eq!(end_of_day(day, &zone).unwrap().to_string(), end, "{day}");
        }
        for invalid in ["", "2026-02-30", "31.12.2026", "9999-12-31", "soon"] {
            assert_eq!(end_of_day(invalid, &PageZone::UTC), None, "{invalid}");
        }
    }
}
