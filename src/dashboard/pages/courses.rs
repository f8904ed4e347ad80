//! Courses: the list with search, one with its modules and lessons, and its way from draft to archive.

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::flash::Flash;
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::position::{self, ROWS};
use crate::query::Asked;
use crate::routes::{Route, get, post};
use crate::ui::{self, Badge, Choice, Tone};
use domain::Changed;
use domain::audit::Action;
use domain::courses::{self, Course, CourseDetail, CourseSearch, CourseStatus};
use foundation::id::CourseId;

const LIST: &str = "/dashboard/courses";
/// The fields of the search.
const FIELDS: &[&str] = &["q", "status"];

pub(super) fn routes(route: Route) -> Route {
    route
        .at(LIST, get(list))
        .at("/dashboard/courses/:course", get(one))
        .at("/dashboard/courses/:course/publish", post(publish))
        .at("/dashboard/courses/:course/archive", get(ask_archive).post(archive))
}

/// A course's status as the pages show it.
fn badge(status: &CourseStatus) -> Badge<'static> {
    let tone = match status {
        CourseStatus::Draft => Tone::Busy,
        CourseStatus::Published => Tone::Good,
        CourseStatus::Archived => Tone::Quiet,
    };
    ui::badge(tone, status.as_str())
}

/// A length as people say it: `1 h 5 min`.
fn length(seconds: &i64) -> String {
    match (seconds / 3600, seconds % 3600 / 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, _) => format!("{minutes} min"),
        (hours, minutes, _) => format!("{} h {minutes} min", ui::number(hours)),
    }
}

/// What a course costs.
fn price(course: &Course) -> String {
    match &course.price {
        Some(price) => ui::money(price.amount, &price.currency),
        None => "not sold by itself".to_owned(),
    }
}

#[derive(Template)]
#[template(path = "courses/list.html")]
struct ListPage {
    frame: Frame,
    asked: Asked,
    courses: Vec<Course>,
    pager: ui::Pager,
}

impl ListPage {
    fn statuses(&self) -> Vec<Choice<'_>> {
        let chosen = self.asked.text("status");
        let words = CourseStatus::ALL.iter().map(|status| (status.as_str(), status.as_str()));
        std::iter::once(("", "any"))
            .chain(words)
            .map(|(value, label)| Choice { value, label, hint: "", chosen: value == chosen })
            .collect()
    }
}

#[handler]
async fn list(page: Page, asked: Asked) -> Answer {
    let search = CourseSearch { text: asked.given("q"), status: asked.text("status").parse().ok() };
    let after = asked.after().and_then(position::read);
    let found = courses::all(page.app(), page.workspace(), &search, after, ROWS).await?;
    page.show(&ListPage {
        frame: page.frame(Section::Courses, "Courses"),
        pager: ui::pager(&asked.path(LIST, FIELDS), asked.after(), found.next.map(position::text)),
        courses: found.items,
        asked,
    })
}

#[derive(Template)]
#[template(path = "courses/course.html")]
struct CoursePage {
    frame: Frame,
    detail: CourseDetail,
}

#[handler]
async fn one(page: Page, Path(course): Path<String>) -> Answer {
    let course: CourseId = course.parse()?;
    let detail = courses::detail(page.app(), page.workspace(), course).await?;
    let frame = page.frame(Section::Courses, detail.course.title.clone());
    page.show(&CoursePage { frame, detail })
}

#[handler]
async fn publish(page: Page, Path(course): Path<String>) -> Answer {
    let done = "is published. The API lists it, and students can be enrolled.";
    turn(&page, course.parse()?, CourseStatus::Published, Action::CoursePublished, done).await
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct ArchivePage<'a> {
    frame: Frame,
    confirm: ui::Confirm<'a>,
}

#[handler]
async fn ask_archive(page: Page, Path(course): Path<String>) -> Answer {
    let course: CourseId = course.parse()?;
    let course = courses::detail(page.app(), page.workspace(), course).await?.course;
    let frame = page.frame(Section::Courses, format!("Archive {}?", course.title));
    let confirm = ui::Confirm {
        csrf: frame.csrf(),
        text: "The API no longer lists it and takes no new enrolments in it. Whoever is enrolled keeps access. \
               You can publish it again.",
        action: &format!("{LIST}/{}/archive", course.id),
        button: "Archive course",
        back: &format!("{LIST}/{}", course.id),
    };
    page.show(&ArchivePage { frame, confirm })
}

#[handler]
async fn archive(page: Page, Path(course): Path<String>) -> Answer {
    let done = "is archived.";
    turn(&page, course.parse()?, CourseStatus::Archived, Action::CourseArchived, done).await
}

/// Gives a course a status, unless it has it.
async fn turn(page: &Page, course: CourseId, status: CourseStatus, action: Action, done: &str) -> Answer {
    let (app, workspace) = (page.app(), page.workspace());
    let mut write = page.begin_write().await?;
    let Changed { record, changed } =
        courses::set_status(app, &mut write, workspace, app.clock.now(), course, status).await?;
    let to = format!("{LIST}/{course}");
    if !changed {
        let told = format!("\u{201c}{}\u{201d} was {status} before; nothing was changed.", record.title);
        return page.redirect_with(&to, &Flash::note(told));
    }
    page.commit(write, action, course, &record.title).await?;
    page.redirect_with(&to, &Flash::done(format!("\u{201c}{}\u{201d} {done}", record.title)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_its_units() {
        assert_eq!(
            [45, 60, 3599, 3600, 5_400].map(|s| length(&s)).join(", "),
            "45 s, 1 min, 59 min, 1 h 0 min, 1 h 30 min"
        );
    }
}
