//! The members of a workspace and its audit log.

use domain::audit;
use domain::page::{PageRequest, Sort, SortKey};
use domain::users;

use super::{Browser, TestResponse, TestWorkspace};

/// The path of the Members page.
pub const MEMBERS: &str = "/dashboard/settings/people";

/// Submits the invitation form.
pub async fn invite(browser: &Browser<'_>, email: &str) -> TestResponse {
    browser.submit(MEMBERS, MEMBERS, &[("email", email)]).await
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
