//! Every page of the dashboard and the states worth a look, as data: who looks, where, and what they do there first.
//!
//! A new page is one more line. What no line visits is told by the gate in [`tour`](super::tour).

use super::school::School;
use super::window::Window;

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Somebody who is not signed in.
    Visitor,
    /// The owner of a school with a year behind it.
    Owner,
    /// The owner of a workspace in which nothing has happened.
    Newcomer,
}

/// What is done on a page before it is looked at.
#[derive(Debug, Clone)]
pub enum Deed {
    /// Writes into the field with this label.
    Fill(&'static str, &'static str),
    /// Ticks the box with this label.
    Tick(&'static str),
    /// Presses the button that says this, and waits for a page that says that.
    Press(&'static str, &'static str),
    /// Opens all that can be unfolded.
    Unfold,
}

/// One look at the dashboard.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The name of its pictures.
    pub name: &'static str,
    pub who: Who,
    pub path: String,
    pub deeds: Vec<Deed>,
}

fn scene(who: Who, name: &'static str, path: impl Into<String>) -> Scene {
    Scene { name, who, path: path.into(), deeds: Vec::new() }
}

impl Scene {
    fn then(mut self, deeds: impl IntoIterator<Item = Deed>) -> Self {
        self.deeds.extend(deeds);
        self
    }

    /// Goes there and does what is to be done first.
    pub async fn plays(&self, window: &Window, school: &School) {
        let session = match self.who {
            Who::Visitor => None,
            Who::Owner => Some(school.sessions.0.as_str()),
            Who::Newcomer => Some(school.sessions.1.as_str()),
        };
        window.is_signed_in(session).await;
        window.go(&self.path).await;
        for deed in &self.deeds {
            match deed {
                Deed::Fill(label, text) => window.fill(label, text).await,
                Deed::Tick(label) => window.tick(label).await,
                Deed::Press(words, then) => {
                    window.press(words).await;
                    window.sees(then).await;
                }
                Deed::Unfold => {
                    let unfold =
                        "for (const one of document.querySelectorAll('main details')) one.open = true;";
                    window.run(unfold, Vec::new()).await;
                }
            }
        }
    }
}

/// All there is to see.
pub fn scenes(school: &School) -> Vec<Scene> {
    let mut all = entrance(school);
    all.extend(developer(school));
    all.extend(webhooks(school));
    all.extend(catalogue(school));
    all.extend(people(school));
    all.extend(workspace());
    all.extend(beginnings());
    all
}

fn entrance(school: &School) -> Vec<Scene> {
    use Deed::{Fill, Press};
    let wrong = [
        Fill("Email", "mara@example.org"),
        Fill("Password", "not this one"),
        Press("Sign in", "The address or the password is wrong."),
    ];
    vec![
        scene(Who::Visitor, "login", "/login"),
        scene(Who::Visitor, "login-refused", "/login").then(wrong),
        scene(Who::Visitor, "set-password", format!("/set-password?token={}", school.link)),
        scene(Who::Visitor, "set-password-gone", "/set-password?token=none"),
        scene(Who::Owner, "logout", "/logout"),
    ]
}

fn developer(school: &School) -> Vec<Scene> {
    use Deed::{Fill, Press, Tick};
    let new = "/dashboard/developer/keys/new";
    let nameless = [Fill("Name", "CRM sync"), Press("Create key", "Scopes must have at least one scope.")];
    let made = [Fill("Name", "Nightly export"), Tick("read:orders"), Press("Create key", "Your new API key")];
    vec![
        scene(Who::Owner, "keys", "/dashboard/developer"),
        scene(Who::Owner, "key-new", new),
        scene(Who::Owner, "key-faults", new).then(nameless),
        scene(Who::Owner, "key-created", new).then(made),
        scene(Who::Owner, "key-revoke", school.key.as_str()),
        scene(Who::Owner, "logs", "/dashboard/developer/logs"),
        scene(Who::Owner, "logs-faults", "/dashboard/developer/logs?status=lots&request=unknown"),
        scene(Who::Owner, "log-entry", school.request.as_str()),
    ]
}

fn webhooks(school: &School) -> Vec<Scene> {
    use Deed::{Fill, Press, Tick, Unfold};
    let list = "/dashboard/developer/webhooks";
    let (well, ill) = (&school.webhooks.well, &school.webhooks.ill);
    let dead = format!("{list}/dead-letters");
    let nothing = [
        Fill("Address", "https://example.com/hooks"),
        Press("Create webhook", "Events must name at least one"),
    ];
    let made = [
        Fill("Address", "https://example.com/hooks"),
        Tick("All events"),
        Press("Create webhook", "I have copied the secret"),
    ];
    vec![
        scene(Who::Owner, "webhooks", list),
        scene(Who::Owner, "webhook-new", format!("{list}/new")),
        scene(Who::Owner, "webhook-faults", format!("{list}/new")).then(nothing),
        scene(Who::Owner, "webhook-created", format!("{list}/new")).then(made),
        scene(Who::Owner, "webhook", well.as_str()),
        scene(Who::Owner, "webhook-failing", ill.as_str()).then([Unfold]),
        scene(Who::Owner, "webhook-edit", format!("{well}/edit")),
        scene(Who::Owner, "webhook-rotate", format!("{well}/rotate")),
        scene(Who::Owner, "webhook-delete", format!("{well}/delete")),
        scene(Who::Owner, "webhook-enable", format!("{}/enable", school.webhooks.paused)),
        scene(Who::Owner, "delivery", school.webhooks.delivery.as_str()).then([Unfold]),
        scene(Who::Owner, "dead-letters", dead.as_str()),
        scene(Who::Owner, "dead-letters-replay", format!("{dead}/replay")),
        scene(Who::Owner, "replay", school.webhooks.replay.as_str()),
    ]
}

fn catalogue(school: &School) -> Vec<Scene> {
    let School { course, student, order, .. } = school;
    vec![
        scene(Who::Owner, "courses", "/dashboard/courses"),
        scene(Who::Owner, "courses-none-fits", "/dashboard/courses?q=alchemy"),
        scene(Who::Owner, "course", course.as_str()),
        scene(Who::Owner, "course-archive", format!("{course}/archive")),
        scene(Who::Owner, "students", "/dashboard/students"),
        scene(Who::Owner, "student", student.as_str()),
        scene(Who::Owner, "student-enrol", format!("{student}/enrol")),
        scene(Who::Owner, "student-delete", format!("{student}/delete")),
        scene(Who::Owner, "enrolment-revoke", school.enrolment.as_str()),
        scene(Who::Owner, "orders", "/dashboard/orders"),
        scene(Who::Owner, "order", order.as_str()),
        scene(Who::Owner, "order-refund", format!("{order}/refund"))
            .then([Deed::Fill("Amount", "lots"), Deed::Press("Refund", "must be an amount")]),
    ]
}

fn people(school: &School) -> Vec<Scene> {
    use Deed::{Fill, Press};
    let people = "/dashboard/settings/people";
    let twice = [
        Fill("Email", "teacher@demo.example"),
        Press("Invite", "is the address of somebody who is in this workspace already"),
    ];
    let invited = [Fill("Email", "grace@demo.example"), Press("Invite", "grace@demo.example is invited")];
    vec![
        scene(Who::Owner, "people", people),
        scene(Who::Owner, "people-faults", people).then(twice),
        scene(Who::Owner, "people-invited", people).then(invited),
        scene(Who::Owner, "person-remove", school.remove.as_str()),
        scene(Who::Owner, "person-leave", school.leave.as_str()),
        scene(Who::Newcomer, "people-alone", people),
    ]
}

fn workspace() -> Vec<Scene> {
    vec![
        scene(Who::Owner, "overview", "/dashboard"),
        scene(Who::Owner, "overview-unfolded", "/dashboard?days=7").then([Deed::Unfold]),
        scene(Who::Owner, "overview-quarter", "/dashboard?days=90"),
        scene(Who::Owner, "settings", "/dashboard/settings"),
        scene(Who::Owner, "audit", "/dashboard/settings/audit"),
        scene(Who::Owner, "nothing-here", "/dashboard/orders/nonsense"),
    ]
}

/// A workspace in which nothing has happened.
fn beginnings() -> Vec<Scene> {
    vec![
        scene(Who::Newcomer, "empty-overview", "/dashboard"),
        scene(Who::Newcomer, "empty-keys", "/dashboard/developer"),
        scene(Who::Newcomer, "empty-logs", "/dashboard/developer/logs"),
        scene(Who::Newcomer, "empty-webhooks", "/dashboard/developer/webhooks"),
        scene(Who::Newcomer, "empty-dead-letters", "/dashboard/developer/webhooks/dead-letters"),
        scene(Who::Newcomer, "empty-courses", "/dashboard/courses"),
        scene(Who::Newcomer, "empty-students", "/dashboard/students"),
        scene(Who::Newcomer, "empty-orders", "/dashboard/orders"),
    ]
}
