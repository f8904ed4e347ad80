//! Access to courses, given and taken away by hand.

use askama::Template;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use poem::handler;
use poem::web::Path;

use super::{LIST, called};
use crate::flash::Flash;
use crate::form::{Faults, Form};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::query::Asked;
use crate::routes::{Route, get};
use crate::ui::{self, Choice};
use domain::audit::Action;
use domain::courses::{self, Course, CourseSearch, CourseStatus};
use domain::enrollments::{
    self, Enrolled, Enrollment, EnrollmentGrant, EnrollmentRevoke, EnrollmentSource, EnrollmentStatus,
};
use domain::students::{self, Student, StudentSummary};
use domain::{Error, Result};
use foundation::id::{CourseId, EnrollmentId, StudentId};

/// Courses to choose from at once; a search finds the others.
const CHOICES: u32 = 50;

pub(super) fn routes(route: Route) -> Route {
    route
        .at("/dashboard/students/:student/enrol", get(choose).post(enrol))
        .at("/dashboard/students/:student/enrollments/:enrollment/revoke", get(ask).post(revoke))
}

#[derive(Template)]
#[template(path = "students/enrol.html")]
struct EnrolPage {
    frame: Frame,
    student: StudentSummary,
    search: String,
    courses: Vec<(String, String)>,
    more: bool,
    form: Form,
    faults: Faults,
}

impl EnrolPage {
    /// The courses that fit the search, those that are published first.
    async fn of(page: &Page, student: StudentId, search: &str, form: Form, faults: Faults) -> Result<Self> {
        let (app, workspace) = (page.app(), page.workspace());
        let student = students::get(app, workspace, student).await?.summary;
        let search = search.trim().to_owned();
        let wanted = CourseSearch { text: Some(search.clone()), status: None };
        let mut found = courses::all(app, workspace, &wanted, None, CHOICES).await?;
        found.items.sort_by_key(|course| course.status != CourseStatus::Published);
        Ok(Self {
            frame: page.frame(Section::Students, format!("Enrol {}", called(&student))),
            student,
            search,
            courses: found.items.iter().map(|course| (course.id.to_string(), label(course))).collect(),
            more: found.next.is_some(),
            form,
            faults,
        })
    }

    fn choices(&self) -> Vec<Choice<'_>> {
        let chosen = self.form.text("course");
        self.courses
            .iter()
            .map(|(value, label)| Choice { value, label, hint: "", chosen: value == chosen })
            .collect()
    }
}

/// A course as the list of choices names it.
fn label(course: &Course) -> String {
    match course.status {
        CourseStatus::Published => course.title.clone(),
        status => format!("{} ({status})", course.title),
    }
}

#[handler]
async fn choose(page: Page, Path(student): Path<String>, asked: Asked) -> Answer {
    let form = Form::default();
    let shown = EnrolPage::of(&page, student.parse()?, asked.text("q"), form, Faults::default()).await?;
    page.show(&shown)
}

#[handler]
async fn enrol(page: Page, Path(student): Path<String>, form: Form) -> Answer {
    let student: StudentId = student.parse()?;
    let mut faults = Faults::default();
    let (course, expires_at) = read(&form, &mut faults);
    let again = async |faults: Faults| {
        let search = form.text("q").to_owned();
        let shown = EnrolPage::of(&page, student, &search, form.clone(), faults).await?;
        page.show_faults(&shown)
    };
    let Some(course) = course.filter(|_| faults.is_empty()) else { return again(faults).await };
    let (app, workspace) = (page.app(), page.workspace());
    // Also what tells whether the course is of this workspace.
    let title = courses::detail(app, workspace, course).await?.course.title;
    let grant = EnrollmentGrant {
        student: student.into(),
        course: course.into(),
        source: EnrollmentSource::Manual,
        expires_at,
    };
    let mut write = page.begin_write().await?;
    let enrolled = match enrollments::give(app, &mut write, workspace, app.clock.now(), grant).await {
        Ok(enrolled) => enrolled,
        Err(Error::Invalid(faults)) => {
            drop(write);
            return again(faults.into()).await;
        }
        Err(error) => return Err(error.into()),
    };
    let to = format!("{LIST}/{student}");
    let (changed, told) = told(&enrolled, &title);
    if !changed {
        return page.redirect_with(&to, &Flash::note(told));
    }
    page.commit(write, Action::StudentEnrolled, student, &title).await?;
    page.redirect_with(&to, &Flash::done(told))
}

/// Whether anything was changed, and what there is to say about it.
fn told(enrolled: &Enrolled, title: &str) -> (bool, String) {
    match enrolled {
        Enrolled::New(_) => (true, format!("The student is enrolled in \u{201c}{title}\u{201d}.")),
        Enrolled::Reactivated(_) => {
            (true, format!("The student has access to \u{201c}{title}\u{201d} again."))
        }
        Enrolled::Already(_) => {
            let told = "nothing was changed";
            (false, format!("The student has access to \u{201c}{title}\u{201d} already; {told}."))
        }
    }
}

/// The course and the end of the access that a form names.
fn read(form: &Form, faults: &mut Faults) -> (Option<CourseId>, Option<Timestamp>) {
    let course = form.text("course").parse().ok();
    if course.is_none() {
        faults.add("course", "must be one of those that are listed");
    }
    let last_day = form.text("expires_at").trim();
    if last_day.is_empty() {
        return (course, None);
    }
    let expires_at = end_of(last_day);
    if expires_at.is_none() {
        faults.add("expires_at", "must be a day such as 2026-12-31");
    }
    (course, expires_at)
}

/// The end of a day, UTC.
fn end_of(day: &str) -> Option<Timestamp> {
    let next = day.parse::<Date>().ok()?.checked_add(1.day()).ok()?;
    Some(next.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[derive(Template)]
#[template(path = "students/revoke.html")]
struct RevokePage {
    frame: Frame,
    student: StudentSummary,
    enrollment: EnrollmentId,
    course: String,
    form: Form,
    faults: Faults,
}

/// A student's enrolment, with the student and the title of the course.
async fn find(page: &Page, student: &str, enrollment: &str) -> Result<(StudentSummary, Enrollment, String)> {
    let (student, enrollment): (StudentId, EnrollmentId) = (student.parse()?, enrollment.parse()?);
    let Student { summary, enrollments } = students::get(page.app(), page.workspace(), student).await?;
    let mut titles = super::titles(page, &enrollments).await?;
    let found = enrollments.into_iter().find(|found| found.id == enrollment);
    let found = found.ok_or_else(|| Error::not_found("enrollment", enrollment))?;
    let title = titles.remove(&found.course_id).unwrap_or_default();
    Ok((summary, found, title))
}

fn already(student: StudentId, course: &str, page: &Page) -> Answer {
    let told = format!("Access to \u{201c}{course}\u{201d} was taken away before; nothing was changed.");
    page.redirect_with(&format!("{LIST}/{student}"), &Flash::note(told))
}

#[handler]
async fn ask(page: Page, Path((student, enrollment)): Path<(String, String)>) -> Answer {
    let (student, found, course) = find(&page, &student, &enrollment).await?;
    if found.status == EnrollmentStatus::Revoked {
        return already(student.id, &course, &page);
    }
    let frame = page.frame(Section::Students, format!("Take away {course}?"));
    let (form, faults) = (Form::default(), Faults::default());
    page.show(&RevokePage { frame, student, enrollment: found.id, course, form, faults })
}

#[handler]
async fn revoke(page: Page, Path((student, enrollment)): Path<(String, String)>, form: Form) -> Answer {
    let (app, workspace) = (page.app(), page.workspace());
    let (student, found, course) = find(&page, &student, &enrollment).await?;
    let reason = Some(form.text("reason").trim().to_owned()).filter(|reason| !reason.is_empty());
    let asked = EnrollmentRevoke { student: student.id.into(), course: found.course_id.into(), reason };
    let mut write = page.begin_write().await?;
    let revoked = match enrollments::revoke(app, &mut write, workspace, app.clock.now(), asked).await {
        Ok(revoked) => revoked,
        Err(Error::Invalid(faults)) => {
            let frame = page.frame(Section::Students, format!("Take away {course}?"));
            let faults = faults.into();
            return page.show_faults(&RevokePage {
                frame,
                student,
                enrollment: found.id,
                course,
                form,
                faults,
            });
        }
        Err(error) => return Err(error.into()),
    };
    if !revoked.changed {
        return already(student.id, &course, &page);
    }
    page.commit(write, Action::EnrollmentRevoked, found.id, &course).await?;
    let told = format!("Access to \u{201c}{course}\u{201d} is taken away.");
    page.redirect_with(&format!("{LIST}/{}", student.id), &Flash::done(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_lasts_to_the_end_of_the_day() {
        assert_eq!(end_of("2026-12-31").unwrap().to_string(), "2027-01-01T00:00:00Z");
        for wrong in ["", "2026-02-30", "31.12.2026", "9999-12-31", "soon"] {
            assert_eq!(end_of(wrong), None, "{wrong}");
        }
    }
}
