//! The members of a workspace and its audit log.

use domain::audit;
use domain::page::{PageRequest, Sort, SortKey};
use domain::roles::Role;
use domain::users::{self, LinkHolder};
use secrecy::ExposeSecret;

use super::{Browser, TestResponse, TestWorkspace};

/// The path of the Members page.
pub const MEMBERS: &str = "/dashboard/settings/people";

/// Submits the invitation form with the default roles.
pub async fn invite(browser: &Browser<'_>, email: &str) -> TestResponse {
    let fields = [("email", email), ("role", "developer"), ("role", "manager")];
    browser.submit(MEMBERS, MEMBERS, &fields).await
}

/// Adds a member with these roles, and returns a browser in which the member is signed in.
pub async fn member_browser<'a>(workspace: &TestWorkspace<'a>, email: &str, roles: &[Role]) -> Browser<'a> {
    let app = &workspace.app.app;
    let found = domain::workspaces::get(app, workspace.id).await.unwrap();
    let holder = LinkHolder { email, name: None, roles: roles.iter().copied().collect() };
    let mut write = workspace.app.begin_write().await;
    let link = users::create_sign_in_link(app, &mut write, &found, holder, "").await.unwrap();
    write.commit().await.unwrap();
    let browser = Browser::new(workspace.app);
    browser.get(link.url.expose_secret()).await.assert_status(303);
    browser
}

/// Returns the id of the member with this email address.
pub async fn member_id(workspace: &TestWorkspace<'_>, email: &str) -> String {
    let users = users::list(&workspace.app.app, workspace.id).await.unwrap();
    users.into_iter().find(|user| user.email == email).expect("the user exists").id.to_string()
}

/// Returns the email addresses of the users of a workspace, oldest first.
pub async fn user_emails(workspace: &TestWorkspace<'_>) -> Vec<String> {
    let users = entity::users::in_workspace(workspace.id.uuid());
    users.list(workspace.app.app.db.read()).await.unwrap().into_iter().map(|row| row.email).collect()
}

/// Returns the entries of the audit log, newest first, each as `actor action detail`.
pub async fn audit_entries(workspace: &TestWorkspace<'_>) -> Vec<String> {
    let sort = Sort { key: SortKey::CreatedAt, descending: true };
    let page = PageRequest { sort, after: None, to: None, limit: 100 };
    let entries = audit::list(&workspace.app.app, workspace.id, page).await.unwrap().items;
    entries.into_iter().map(|entry| format!("{} {} {}", entry.actor, entry.action, entry.detail)).collect()
}
