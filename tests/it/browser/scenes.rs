//! Scenes: every page of the dashboard and its notable states, as data.
//!
//! To add a page, add a scene. The [`tour`](super::tour) fails for a page without a scene.

use super::school::School;
use super::window::Window;

/// The user of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SceneUser {
    /// A visitor who is not signed in.
    Visitor,
    /// The owner of a workspace with a year of data.
    Owner,
    /// The owner of an empty workspace.
    Newcomer,
}

/// An action on a page.
#[derive(Debug, Clone)]
pub enum Action {
    /// Fills the field with this label.
    Fill(&'static str, &'static str),
    /// Selects the checkbox with this label.
    Select(&'static str),
    /// Clicks the button with this label, and waits for a page that contains the text.
    Click(&'static str, &'static str),
    /// Expands all details.
    ExpandDetails,
}

/// One page in one state.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The name of its screenshots.
    pub name: &'static str,
    pub user: SceneUser,
    pub path: String,
    pub actions: Vec<Action>,
}

fn scene(user: SceneUser, name: &'static str, path: impl Into<String>) -> Scene {
    Scene { name, user, path: path.into(), actions: Vec::new() }
}

impl Scene {
    fn then(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.actions.extend(actions);
        self
    }

    /// Opens the page and performs the actions.
    pub async fn perform(&self, window: &Window, school: &School) {
        let session = match self.user {
            SceneUser::Visitor => None,
            SceneUser::Owner => Some(school.sessions.0.as_str()),
            SceneUser::Newcomer => Some(school.sessions.1.as_str()),
        };
        window.set_session(session).await;
        window.open_path(&self.path).await;
        for action in &self.actions {
            match action {
                Action::Fill(label, text) => window.fill(label, text).await,
                Action::Select(label) => window.select(label).await,
                Action::Click(words, then) => {
                    window.click(words).await;
                    window.wait_for_text(then).await;
                }
                Action::ExpandDetails => {
                    let unfold =
                        "for (const one of document.querySelectorAll('main details')) one.open = true;";
                    window.run(unfold, Vec::new()).await;
                }
            }
        }
    }
}

/// Returns all scenes.
pub fn scenes(school: &School) -> Vec<Scene> {
    let mut all = sign_in(school);
    all.extend(developer(school));
    all.extend(webhooks(school));
    all.extend(catalog(school));
    all.extend(people(school));
    all.extend(workspace());
    all.extend(beginnings());
    all
}

fn sign_in(school: &School) -> Vec<Scene> {
    use Action::{Click, Fill};
    let wrong = [
        Fill("Email", "mara@example.org"),
        Fill("Password", "not this one"),
        Click("Sign in", "Incorrect email or password."),
    ];
    vec![
        scene(SceneUser::Visitor, "login", "/login"),
        scene(SceneUser::Visitor, "login-refused", "/login").then(wrong),
        scene(SceneUser::Visitor, "set-password", format!("/set-password?token={}", school.link)),
        scene(SceneUser::Visitor, "set-password-gone", "/set-password?token=none"),
        scene(SceneUser::Owner, "logout", "/logout"),
    ]
}

fn developer(school: &School) -> Vec<Scene> {
    use Action::{Click, Fill, Select};
    let new = "/dashboard/developer/keys/new";
    let nameless = [Fill("Name", "CRM sync"), Click("Create key", "Scopes must have at least one scope.")];
    let created =
        [Fill("Name", "Nightly export"), Select("read:orders"), Click("Create key", "API key created")];
    vec![
        scene(SceneUser::Owner, "keys", "/dashboard/developer"),
        scene(SceneUser::Owner, "key-new", new),
        scene(SceneUser::Owner, "key-errors", new).then(nameless),
        scene(SceneUser::Owner, "key-created", new).then(created),
        scene(SceneUser::Owner, "key-revoke", school.key.as_str()),
        scene(SceneUser::Owner, "logs", "/dashboard/developer/logs"),
        scene(SceneUser::Owner, "logs-errors", "/dashboard/developer/logs?status=lots&request=unknown"),
        scene(SceneUser::Owner, "log-entry", school.request.as_str()),
    ]
}

fn webhooks(school: &School) -> Vec<Scene> {
    use Action::{Click, ExpandDetails, Fill, Select};
    let list = "/dashboard/developer/webhooks";
    let (well, ill) = (&school.webhooks.well, &school.webhooks.ill);
    let dead = format!("{list}/dead-letters");
    let nothing = [
        Fill("Endpoint URL", "https://example.com/hooks"),
        Click("Create webhook", "Events must include at least one"),
    ];
    let created = [
        Fill("Endpoint URL", "https://example.com/hooks"),
        Select("All events"),
        Click("Create webhook", "I have copied the secret"),
    ];
    vec![
        scene(SceneUser::Owner, "webhooks", list),
        scene(SceneUser::Owner, "webhook-new", format!("{list}/new")),
        scene(SceneUser::Owner, "webhook-errors", format!("{list}/new")).then(nothing),
        scene(SceneUser::Owner, "webhook-created", format!("{list}/new")).then(created),
        scene(SceneUser::Owner, "webhook", well.as_str()),
        scene(SceneUser::Owner, "webhook-failing", ill.as_str()).then([ExpandDetails]),
        scene(SceneUser::Owner, "webhook-edit", format!("{well}/edit")),
        scene(SceneUser::Owner, "webhook-rotate", format!("{well}/rotate")),
        scene(SceneUser::Owner, "webhook-delete", format!("{well}/delete")),
        scene(SceneUser::Owner, "webhook-enable", format!("{}/enable", school.webhooks.paused)),
        scene(SceneUser::Owner, "delivery", school.webhooks.delivery.as_str()).then([ExpandDetails]),
        scene(SceneUser::Owner, "dead-letters", dead.as_str()),
        scene(SceneUser::Owner, "dead-letters-replay", format!("{dead}/replay")),
        scene(SceneUser::Owner, "replay", school.webhooks.replay.as_str()),
    ]
}

fn catalog(school: &School) -> Vec<Scene> {
    let School { course, student, order, .. } = school;
    vec![
        scene(SceneUser::Owner, "courses", "/dashboard/courses"),
        scene(SceneUser::Owner, "courses-none-fits", "/dashboard/courses?q=alchemy"),
        scene(SceneUser::Owner, "course", course.as_str()),
        scene(SceneUser::Owner, "course-archive", format!("{course}/archive")),
        scene(SceneUser::Owner, "students", "/dashboard/students"),
        scene(SceneUser::Owner, "student", student.as_str()),
        scene(SceneUser::Owner, "student-enrol", format!("{student}/enrol")),
        scene(SceneUser::Owner, "student-delete", format!("{student}/delete")),
        scene(SceneUser::Owner, "enrollment-revoke", school.enrollment.as_str()),
        scene(SceneUser::Owner, "orders", "/dashboard/orders"),
        scene(SceneUser::Owner, "order", order.as_str()),
        scene(SceneUser::Owner, "order-refund", format!("{order}/refund"))
            .then([Action::Fill("Amount", "lots"), Action::Click("Refund", "must be an amount")]),
    ]
}

fn people(school: &School) -> Vec<Scene> {
    use Action::{Click, Fill};
    let people = "/dashboard/settings/people";
    let twice = [
        Fill("Email", "teacher@demo.example"),
        Click("Invite", "already belongs to a person in this workspace"),
    ];
    let invited = [Fill("Email", "grace@demo.example"), Click("Invite", "grace@demo.example was invited")];
    vec![
        scene(SceneUser::Owner, "people", people),
        scene(SceneUser::Owner, "people-errors", people).then(twice),
        scene(SceneUser::Owner, "people-invited", people).then(invited),
        scene(SceneUser::Owner, "person-remove", school.remove.as_str()),
        scene(SceneUser::Owner, "person-leave", school.leave.as_str()),
        scene(SceneUser::Newcomer, "people-alone", people),
    ]
}

fn workspace() -> Vec<Scene> {
    vec![
        scene(SceneUser::Owner, "overview", "/dashboard"),
        scene(SceneUser::Owner, "overview-unfolded", "/dashboard?days=7").then([Action::ExpandDetails]),
        scene(SceneUser::Owner, "overview-quarter", "/dashboard?days=90"),
        scene(SceneUser::Owner, "settings", "/dashboard/settings"),
        scene(SceneUser::Owner, "audit", "/dashboard/settings/audit"),
        scene(SceneUser::Owner, "nothing-here", "/dashboard/orders/nonsense"),
    ]
}

/// The pages of an empty workspace.
fn beginnings() -> Vec<Scene> {
    vec![
        scene(SceneUser::Newcomer, "empty-overview", "/dashboard"),
        scene(SceneUser::Newcomer, "empty-keys", "/dashboard/developer"),
        scene(SceneUser::Newcomer, "empty-logs", "/dashboard/developer/logs"),
        scene(SceneUser::Newcomer, "empty-webhooks", "/dashboard/developer/webhooks"),
        scene(SceneUser::Newcomer, "empty-dead-letters", "/dashboard/developer/webhooks/dead-letters"),
        scene(SceneUser::Newcomer, "empty-courses", "/dashboard/courses"),
        scene(SceneUser::Newcomer, "empty-students", "/dashboard/students"),
        scene(SceneUser::Newcomer, "empty-orders", "/dashboard/orders"),
    ]
}
