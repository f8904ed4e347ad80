//! The data of the scenes: a workspace with a year of demo data, API keys, logged requests, webhooks and refunds.

use domain::roles::{Role, Roles};
use domain::users;
use feed::{ApplyOptions, demo};
use reqwest::Method;
use serde_json::json;

use super::window::Window;
use crate::support::browser::{PASSWORD, first_match, html};
use crate::support::members::member_browser;
use crate::support::platform::sign_in_link;
use crate::support::sandbox::sandbox_browser;
use crate::support::second_factor::set_up;
use crate::support::{Browser, Endpoint, TestApp, TestWorkspace, send};

/// Session tokens, and the paths of pages.
pub struct SceneData {
    /// The session token of the owner of the workspace.
    pub owner_session: String,
    /// The session token of the owner of an empty workspace.
    pub new_owner_session: String,
    /// The session token of a viewer of the workspace with data.
    pub viewer_session: String,
    /// The session token of a developer who sees the sandbox of the workspace with data.
    pub sandbox_session: String,
    /// The session token of a member with a second factor.
    pub factor_owner_session: String,
    /// The token of a password link.
    pub password_link_token: String,
    /// The path of a link that signs another person in.
    pub sign_in_link: String,
    pub course: String,
    pub student: String,
    /// The confirmation before an enrollment is revoked.
    pub revoke_enrollment: String,
    pub order: String,
    /// The confirmation before a key is revoked.
    pub revoke_key: String,
    /// The confirmation before another member is removed.
    pub remove_member: String,
    /// The form that changes the roles of another member.
    pub member_roles: String,
    /// A request in the request log.
    pub logged_request: String,
    pub webhooks: WebhookPages,
}

/// The paths of pages of webhooks.
pub struct WebhookPages {
    /// A webhook whose deliveries succeed.
    pub working: String,
    /// A webhook whose deliveries fail.
    pub failing: String,
    pub paused: String,
    pub delivery: String,
    pub replay: String,
}

/// The email address of a member with a second factor.
pub const FACTOR_OWNER: &str = "ines@demo.example";

const NEW_KEY: &str = "/dashboard/developer/keys/new";

impl SceneData {
    /// Creates the data in the database of this server.
    pub async fn create(app: &TestApp) -> Self {
        demo::load(&app.app, ApplyOptions::default()).await.expect("the demo is applied");
        let workspace = app.workspace(demo::WORKSPACE).await;
        let owner = workspace.owner_browser().await;
        // The platform names another owner in the demo data.
        let write = app.begin_write().await;
        let member = users::by_email_in(&write, workspace.id, "owner@demo.example").await.unwrap();
        let member = member.expect("a member").id;
        users::set_roles(&write, workspace.id, member, Roles::OWNER).await.expect("the roles are set");
        write.commit().await.expect("the commit succeeds");
        create_keys(&owner).await;
        send_requests(&workspace).await;
        let webhooks = create_webhooks(&workspace, &owner).await;
        // A second session on another device.
        Browser::new(app).sign_in("owner@demo.example", PASSWORD).await.assert_status(303);
        let new_owner = app.workspace("empty").await.owner_browser().await;
        // The owner of the empty workspace is also a user of another workspace.
        app.workspace("another").await.password_link_token("owner@empty.example").await;
        let viewer = member_browser(&workspace, "viewer@demo.example", &[Role::Viewer]).await;
        let tester = sandbox_browser(&workspace, "tester@demo.example", Role::Developer).await;
        workspace.add_user(FACTOR_OWNER).await;
        let factor_owner = Browser::new(app);
        factor_owner.sign_in(FACTOR_OWNER, PASSWORD).await.assert_status(303);
        set_up(app, &factor_owner).await;
        let password_link_token = workspace.password_link_token("teacher@demo.example").await;
        let session = |browser: &Browser<'_>| browser.cookie("session").expect("the user is signed in");
        let find = async |list: &str, pattern: &str| first_match(&html(&owner.get(list).await), pattern);
        let order = refund_order(&owner).await;
        let student = find(&order, "(/dashboard/students/stu_[a-z0-9]+)").await;
        Self {
            revoke_enrollment: find(&student, "href=\"(/dashboard/students/[^\"]+/revoke)\"").await,
            course: find(&order, "(/dashboard/courses/crs_[a-z0-9]+)").await,
            revoke_key: find("/dashboard/developer", "href=\"(/dashboard/developer/keys/[^\"]+/revoke)\"")
                .await,
            member_roles: find("/dashboard/settings/people", "href=\"([^\"]+/roles)\"").await,
            remove_member: find("/dashboard/settings/people", "href=\"([^\"]+/remove)\" aria-label=\"Remove")
                .await,
            logged_request: find(
                "/dashboard/developer/logs?status=422",
                "(/dashboard/developer/logs/log_[a-z0-9]+)",
            )
            .await,
            owner_session: session(&owner),
            new_owner_session: session(&new_owner),
            viewer_session: session(&viewer),
            sandbox_session: session(&tester),
            factor_owner_session: session(&factor_owner),
            webhooks,
            password_link_token,
            sign_in_link: sign_in_link(app, demo::WORKSPACE, "teacher@demo.example").await,
            order,
            student,
        }
    }
}

/// Creates a revoked key, a key that expires soon, and a key with many scopes.
async fn create_keys(owner: &Browser<'_>) {
    let create = async |name: &str, scopes: &[&str], expires: &str| {
        let mut fields = vec![("name", name), ("expires", expires)];
        fields.extend(scopes.iter().map(|scope| ("scopes", *scope)));
        html(&owner.submit(NEW_KEY, NEW_KEY, &fields).await.assert_status(200))
    };
    let old = create("Spreadsheet of last summer", &["read:orders"], "365").await;
    let old = format!("/dashboard/developer/keys/{}/revoke", first_match(&old, "key_[a-z0-9]{26}"));
    owner.submit(&old, &old, &[]).await.assert_status(303);
    create("Newsletter", &["read:students"], "7").await;
    create("CRM sync", &["read:courses", "read:students", "write:students", "read:orders"], "").await;
}

/// Sends successful and failed requests.
async fn send_requests(workspace: &TestWorkspace<'_>) {
    let key = workspace.key_with_all_scopes().await;
    for n in 1..=12 {
        key.get(&format!("/api/v1/courses?limit={n}")).await.assert_status(200);
    }
    key.get("/api/v1/courses/crs_01h2xcejqtf2nbrexx3vqjhp41").await.assert_status(404);
    let invalid = key.request(Method::POST, "/api/v1/students").json(&json!({"email": "no address"}));
    send(invalid).await.assert_status(422);
    domain::requests::flush(&workspace.app.app).await.expect("the log is written");
}

/// Creates four webhooks: one works, one fails, one has dead letters and a running replay, and one is paused.
async fn create_webhooks(workspace: &TestWorkspace<'_>, owner: &Browser<'_>) -> WebhookPages {
    let (working, failing, gone) =
        (Endpoint::start().await, Endpoint::start().await, Endpoint::start().await);
    failing.always_respond_with(500);
    gone.always_respond_with(410);
    let event_types: &[&str] = &["student.created"];
    let working = workspace.subscribe_endpoint(&working, &["student.created", "student.deleted"]).await;
    let failing = workspace.subscribe_endpoint(&failing, event_types).await;
    let gone = workspace.subscribe_endpoint(&gone, event_types).await;
    let paused = workspace
        .subscribe_url("https://partner.example/a/rather/long/path/to/hooks".to_owned(), event_types)
        .await;
    paused.pause().await;
    for name in ["grace", "edsger", "barbara"] {
        workspace.upsert_student(name).await;
    }
    workspace.app.deliver_due().await;
    let replays = "/dashboard/developer/webhooks/dead-letters/replay";
    let started = owner.submit(replays, replays, &[]).await.assert_status(303);
    let path = |id| format!("/dashboard/developer/webhooks/{id}");
    let dead = gone.deliveries().await[0].id;
    WebhookPages {
        delivery: format!("{}/deliveries/{dead}", path(gone.id)),
        working: path(working.id),
        failing: path(failing.id),
        paused: path(paused.id),
        replay: started.header("location").to_owned(),
    }
}

/// Refunds a part of an order, and returns the path of the order.
async fn refund_order(owner: &Browser<'_>) -> String {
    let list = html(&owner.get("/dashboard/orders?status=paid").await);
    let order = first_match(&list, "href=\"(/dashboard/orders/ord_[a-z0-9]+)\"");
    let refund = format!("{order}/refund");
    let fields = [("amount", "1"), ("reason", "Arrived a week late"), ("refunded", "0")];
    owner.submit(&refund, &refund, &fields).await.assert_status(303);
    order
}

impl Window {
    /// Opens a window in which the owner of a new workspace is signed in.
    pub async fn open_signed_in(app: &TestApp) -> Self {
        let owner = app.workspace("acme").await.owner_browser().await;
        let window = Self::open(app).await;
        window.set_session(owner.cookie("session").as_deref()).await;
        window
    }
}
