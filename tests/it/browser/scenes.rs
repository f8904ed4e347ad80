//! The scenes: each page of the dashboard in each of its important states.
//!
//! When you add a page, add a scene for it. The test in [`tour`](super::tour) opens all scenes, and fails if a page
//! has none.

use super::scene_data::{FACTOR_OWNER, SceneData};
use super::window::Window;
use crate::support::browser::PASSWORD;
use crate::support::second_factor::SECURITY;

/// The user of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SceneUser {
    /// A visitor who is not signed in.
    Visitor,
    /// The owner of a workspace with a year of data.
    Owner,
    /// A viewer of this workspace.
    Viewer,
    /// A developer of this workspace, who sees its sandbox.
    Tester,
    /// A member of this workspace with a second factor.
    FactorOwner,
    /// The owner of an empty workspace.
    NewOwner,
}

/// An action on a page.
#[derive(Debug, Clone)]
pub enum Action {
    /// Fills the field with this label with this text.
    Fill(&'static str, &'static str),
    /// Selects the checkbox with this label.
    Select(&'static str),
    /// Clicks the button with this label, and waits until the page contains this text.
    Click(&'static str, &'static str),
    /// Expands all `<details>` elements.
    ExpandDetails,
}

/// One page in one state.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The name of the scene in the names of its screenshots.
    pub name: &'static str,
    pub user: SceneUser,
    pub path: String,
    pub actions: Vec<Action>,
}

fn scene(user: SceneUser, name: &'static str, path: impl Into<String>) -> Scene {
    Scene { name, user, path: path.into(), actions: Vec::new() }
}

impl Scene {
    /// Appends these actions.
    fn then(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.actions.extend(actions);
        self
    }

    /// Opens the page as the user of the scene, and performs the actions.
    pub async fn perform(&self, window: &Window, data: &SceneData) {
        let session = match self.user {
            SceneUser::Visitor => None,
            SceneUser::Owner => Some(data.owner_session.as_str()),
            SceneUser::Viewer => Some(data.viewer_session.as_str()),
            SceneUser::Tester => Some(data.sandbox_session.as_str()),
            SceneUser::FactorOwner => Some(data.factor_owner_session.as_str()),
            SceneUser::NewOwner => Some(data.new_owner_session.as_str()),
        };
        window.set_session(session).await;
        window.set_cookie("time-zone", TIME_ZONE).await;
        window.open_path(&self.path).await;
        for action in &self.actions {
            match action {
                Action::Fill(label, text) => window.fill(label, text).await,
                Action::Select(label) => window.select(label).await,
                Action::Click(label, text) => {
                    window.click(label).await;
                    window.wait_for_text(text).await;
                }
                Action::ExpandDetails => {
                    let expand = "for (const element of document.querySelectorAll('main details')) element.open = true;";
                    window.run(expand, Vec::new()).await;
                }
            }
        }
    }
}

/// The browser's time zone, which has a long name.
pub const TIME_ZONE: &str = "America/Argentina/ComodRivadavia";

/// Returns all scenes.
pub fn scenes(data: &SceneData) -> Vec<Scene> {
    let mut all = sign_in(data);
    all.extend(developer(data));
    all.extend(webhooks(data));
    all.extend(catalog(data));
    all.extend(members(data));
    all.extend(workspace());
    all.extend(sandbox());
    all.extend(empty_workspace());
    all
}

fn sign_in(data: &SceneData) -> Vec<Scene> {
    use Action::{Click, Fill};
    let wrong_password = [
        Fill("Email", "mara@example.org"),
        Fill("Password", "not this one"),
        Click("Sign in", "Incorrect email or password."),
    ];
    // Leads to the sign-in page first.
    let first_factor = [
        Fill("Email", FACTOR_OWNER),
        Fill("Password", PASSWORD),
        Click("Sign in", "The 6 digits that your authenticator app shows"),
    ];
    vec![
        scene(SceneUser::Visitor, "login", "/login"),
        scene(SceneUser::Visitor, "login-rejected", "/login").then(wrong_password),
        scene(SceneUser::Visitor, "reset-password", "/reset-password"),
        scene(
            SceneUser::Visitor,
            "set-password",
            format!("/set-password?token={}", data.password_link_token),
        ),
        scene(SceneUser::Visitor, "set-password-invalid", "/set-password?token=none"),
        scene(SceneUser::Visitor, "sign-in-invalid", "/sign-in?token=none"),
        scene(SceneUser::Visitor, "sign-in-code", "/sign-in/code").then(first_factor),
        scene(SceneUser::Owner, "sign-in-confirm", data.sign_in_link.clone()),
        scene(SceneUser::Owner, "logout", "/logout"),
    ]
}

fn developer(data: &SceneData) -> Vec<Scene> {
    use Action::{Click, Fill, Select};
    let new = "/dashboard/developer/keys/new";
    let without_scopes =
        [Fill("Name", "CRM sync"), Click("Create key", "Scopes must have at least one scope.")];
    let created =
        [Fill("Name", "Nightly export"), Select("read:orders"), Click("Create key", "API key created")];
    let key_page = |page| data.revoke_key.replace("/revoke", page);
    let rotated = [Click("Rotate key", "API key rotated")];
    vec![
        scene(SceneUser::Owner, "keys", "/dashboard/developer"),
        scene(SceneUser::Owner, "key-new", new),
        scene(SceneUser::Owner, "key-errors", new).then(without_scopes),
        scene(SceneUser::Owner, "key-created", new).then(created),
        scene(SceneUser::Owner, "key-revoke", data.revoke_key.as_str()),
        scene(SceneUser::Owner, "key-edit", key_page("/edit")),
        scene(SceneUser::Owner, "key-rotate", key_page("/rotate")),
        scene(SceneUser::Owner, "key-rotated", key_page("/rotate")).then(rotated),
        scene(SceneUser::Owner, "key-end-old-secret", key_page("/end-old-secret")),
        scene(SceneUser::Owner, "keys-rotated", "/dashboard/developer"),
        scene(SceneUser::Owner, "logs", "/dashboard/developer/logs"),
        scene(SceneUser::Owner, "logs-errors", "/dashboard/developer/logs?status=lots&request=unknown"),
        scene(SceneUser::Owner, "log-entry", data.logged_request.as_str()),
    ]
}

fn webhooks(data: &SceneData) -> Vec<Scene> {
    use Action::{Click, ExpandDetails, Fill, Select};
    let list = "/dashboard/developer/webhooks";
    let (working, failing) = (&data.webhooks.working, &data.webhooks.failing);
    let dead = format!("{list}/dead-letters");
    let without_events = [
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
        scene(SceneUser::Owner, "webhook-errors", format!("{list}/new")).then(without_events),
        scene(SceneUser::Owner, "webhook-created", format!("{list}/new")).then(created),
        scene(SceneUser::Owner, "webhook", working.as_str()),
        scene(SceneUser::Owner, "webhook-failing", failing.as_str()).then([ExpandDetails]),
        scene(SceneUser::Owner, "webhook-edit", format!("{working}/edit")),
        scene(SceneUser::Owner, "webhook-rotate", format!("{working}/rotate")),
        scene(SceneUser::Owner, "webhook-delete", format!("{working}/delete")),
        scene(SceneUser::Owner, "webhook-enable", format!("{}/enable", data.webhooks.paused)),
        scene(SceneUser::Owner, "webhook-delivery", format!("{working}/delivery")),
        scene(SceneUser::Owner, "signing-keys", format!("{list}/signing-keys")),
        scene(SceneUser::Owner, "delivery", data.webhooks.delivery.as_str()).then([ExpandDetails]),
        scene(SceneUser::Owner, "dead-letters", dead.as_str()),
        scene(SceneUser::Owner, "dead-letters-replay", format!("{dead}/replay")),
        scene(SceneUser::Owner, "replay", data.webhooks.replay.as_str()),
    ]
}

fn catalog(data: &SceneData) -> Vec<Scene> {
    let SceneData { course, student, order, .. } = data;
    vec![
        scene(SceneUser::Owner, "courses", "/dashboard/courses"),
        scene(SceneUser::Owner, "courses-no-match", "/dashboard/courses?q=alchemy"),
        scene(SceneUser::Owner, "course", course.as_str()),
        scene(SceneUser::Owner, "course-archive", format!("{course}/archive")),
        scene(SceneUser::Owner, "students", "/dashboard/students"),
        scene(SceneUser::Owner, "student", student.as_str()),
        scene(SceneUser::Owner, "student-enroll", format!("{student}/enroll")),
        scene(SceneUser::Owner, "student-delete", format!("{student}/delete")),
        scene(SceneUser::Owner, "enrollment-revoke", data.revoke_enrollment.as_str()),
        scene(SceneUser::Owner, "orders", "/dashboard/orders"),
        scene(SceneUser::Owner, "order", order.as_str()),
        scene(SceneUser::Owner, "order-refund", format!("{order}/refund"))
            .then([Action::Fill("Amount", "lots"), Action::Click("Refund", "must be an amount")]),
    ]
}

fn members(data: &SceneData) -> Vec<Scene> {
    use Action::{Click, Fill};
    let members = "/dashboard/settings/people";
    let already_member = [
        Fill("Email", "teacher@demo.example"),
        Click("Invite", "already belongs to a member of this workspace"),
    ];
    let invited = [Fill("Email", "grace@demo.example"), Click("Invite", "grace@demo.example was invited")];
    vec![
        scene(SceneUser::Owner, "members", members),
        scene(SceneUser::Owner, "members-errors", members).then(already_member),
        scene(SceneUser::Owner, "members-invited", members).then(invited),
        scene(SceneUser::Owner, "member-remove", data.remove_member.as_str()),
        scene(SceneUser::Owner, "member-roles", data.member_roles.as_str()),
        scene(SceneUser::Viewer, "member-leave", "/dashboard/settings/leave"),
        scene(SceneUser::Viewer, "viewer-members", members),
        scene(SceneUser::Viewer, "viewer-settings", "/dashboard/settings"),
        scene(SceneUser::Viewer, "viewer-logs", "/dashboard/developer/logs"),
        scene(SceneUser::Viewer, "viewer-forbidden", "/dashboard/developer/keys/new"),
        scene(SceneUser::NewOwner, "members-alone", members),
    ]
}

fn workspace() -> Vec<Scene> {
    vec![
        scene(SceneUser::Owner, "overview", "/dashboard"),
        scene(SceneUser::Owner, "overview-expanded", "/dashboard?days=7").then([Action::ExpandDetails]),
        scene(SceneUser::Owner, "overview-quarter", "/dashboard?days=90"),
        scene(SceneUser::Owner, "settings", "/dashboard/settings"),
        scene(SceneUser::Owner, "audit", "/dashboard/settings/audit"),
        scene(SceneUser::Owner, "security", SECURITY),
        scene(SceneUser::Owner, "security-set-up", SECURITY)
            .then([Action::Click("Set up", "Scan the QR code")]),
        scene(SceneUser::FactorOwner, "security-active", SECURITY),
        scene(SceneUser::FactorOwner, "confirm-identity", "/dashboard/confirm"),
        scene(SceneUser::Owner, "not-found", "/dashboard/orders/nonsense"),
    ]
}

fn sandbox() -> Vec<Scene> {
    let sandbox = "/dashboard/sandbox";
    vec![
        scene(SceneUser::NewOwner, "sandbox-none", sandbox),
        scene(SceneUser::Owner, "sandbox-live", sandbox),
        scene(SceneUser::Tester, "sandbox", sandbox),
        scene(SceneUser::Tester, "sandbox-overview", "/dashboard"),
        scene(SceneUser::Tester, "sandbox-keys", "/dashboard/developer"),
        scene(SceneUser::Tester, "sandbox-members", "/dashboard/settings/people"),
        scene(SceneUser::Tester, "sandbox-reset", format!("{sandbox}/reset")),
        scene(SceneUser::Tester, "sandbox-delete", format!("{sandbox}/delete")),
    ]
}

/// Returns the scenes of an empty workspace.
fn empty_workspace() -> Vec<Scene> {
    vec![
        scene(SceneUser::NewOwner, "empty-overview", "/dashboard"),
        scene(SceneUser::NewOwner, "empty-keys", "/dashboard/developer"),
        scene(SceneUser::NewOwner, "empty-logs", "/dashboard/developer/logs"),
        scene(SceneUser::NewOwner, "empty-webhooks", "/dashboard/developer/webhooks"),
        scene(SceneUser::NewOwner, "empty-dead-letters", "/dashboard/developer/webhooks/dead-letters"),
        scene(SceneUser::NewOwner, "empty-courses", "/dashboard/courses"),
        scene(SceneUser::NewOwner, "empty-students", "/dashboard/students"),
        scene(SceneUser::NewOwner, "empty-orders", "/dashboard/orders"),
    ]
}
