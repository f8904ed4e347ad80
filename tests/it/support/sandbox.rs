//! Sandboxes of workspaces.

use domain::roles::Role;

use super::members::member_browser;
use super::{Browser, TestWorkspace};

/// The page about the sandbox.
pub const SANDBOX: &str = "/dashboard/sandbox";
/// The form that switches to the sandbox.
pub const ENTER: &str = "/dashboard/sandbox/enter";
/// The form that switches to live data.
pub const LEAVE: &str = "/dashboard/sandbox/leave";

/// Returns the sandbox of a workspace.
pub async fn sandbox_of<'a>(workspace: &TestWorkspace<'a>) -> TestWorkspace<'a> {
    let found = domain::sandbox::of(&workspace.app.app, workspace.id).await.unwrap();
    TestWorkspace { id: found.expect("the workspace has a sandbox").id, ..*workspace }
}

/// Adds a member with this role, who may use the sandbox, and returns a browser in which the member is signed in and sees it. Creates
/// the sandbox if there is none.
pub async fn sandbox_browser<'a>(workspace: &TestWorkspace<'a>, email: &str, role: Role) -> Browser<'a> {
    let browser = member_browser(workspace, email, &[role]).await;
    let entered = browser.submit("/dashboard", ENTER, &[]).await.assert_status(303);
    if entered.header("location") == SANDBOX {
        browser.submit(SANDBOX, SANDBOX, &[]).await.assert_status(303);
    }
    browser
}
