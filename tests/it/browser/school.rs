//! The workspace of the scenes: a year of demo data, with keys, requests, webhooks and refunds.

use feed::{ApplyOptions, demo};
use reqwest::Method;
use serde_json::json;

use super::window::Window;
use crate::support::browser::{PASSWORD, first, html};
use crate::support::{Browser, Endpoint, TestApp, Workspace, send};

/// The data of the scenes.
pub struct School {
    /// The session tokens of the owner, and of a user with an empty workspace.
    pub sessions: (String, String),
    /// The token of a password link.
    pub link: String,
    pub course: String,
    pub student: String,
    pub enrollment: String,
    pub order: String,
    pub key: String,
    /// The confirmations of removing a person and of leaving.
    pub remove: String,
    pub leave: String,
    pub request: String,
    pub webhooks: Webhooks,
}

/// Pages of webhooks: one that works, one that fails, one that is paused, a delivery and a replay.
pub struct Webhooks {
    pub well: String,
    pub ill: String,
    pub paused: String,
    pub delivery: String,
    pub replay: String,
}

const NEW_KEY: &str = "/dashboard/developer/keys/new";

impl School {
    /// Creates a workspace with a year of data.
    pub async fn of(app: &TestApp) -> Self {
        demo::load(&app.app, ApplyOptions::default()).await.expect("the demo is applied");
        let workspace = app.workspace(demo::WORKSPACE).await;
        let owner = workspace.signed_in().await;
        keys(&owner).await;
        requests(&workspace).await;
        let webhooks = webhooks(&workspace, &owner).await;
        // A second session on another device.
        Browser::new(app).sign_in("owner@demo.example", PASSWORD).await.assert_status(303);
        let newcomer = app.workspace("empty").await.signed_in().await;
        // The newcomer is a user of two workspaces.
        app.workspace("another").await.link("owner@empty.example").await;
        let link = workspace.link("teacher@demo.example").await;
        let session = |browser: &Browser<'_>| browser.cookie("session").expect("a user is signed in");
        let sessions = (session(&owner), session(&newcomer));
        let find = async |list: &str, pattern: &str| first(&html(&owner.get(list).await), pattern);
        let order = refunded(&owner).await;
        let student = find(&order, "(/dashboard/students/stu_[a-z0-9]+)").await;
        Self {
            enrollment: find(&student, "href=\"(/dashboard/students/[^\"]+/revoke)\"").await,
            course: find(&order, "(/dashboard/courses/crs_[a-z0-9]+)").await,
            key: find("/dashboard/developer", "href=\"(/dashboard/developer/keys/[^\"]+/revoke)\"").await,
            leave: find("/dashboard/settings/people", "href=\"([^\"]+/remove)\" aria-label=\"Leave").await,
            remove: find("/dashboard/settings/people", "href=\"([^\"]+/remove)\" aria-label=\"Remove").await,
            request: find(
                "/dashboard/developer/logs?status=422",
                "(/dashboard/developer/logs/log_[a-z0-9]+)",
            )
            .await,
            sessions,
            webhooks,
            link,
            order,
            student,
        }
    }
}

/// Creates keys with many scopes and one, with an expiry, and revoked.
async fn keys(owner: &Browser<'_>) {
    let make = async |name: &str, scopes: &[&str], expires: &str| {
        let mut fields = vec![("name", name), ("expires", expires)];
        fields.extend(scopes.iter().map(|scope| ("scopes", *scope)));
        html(&owner.submit(NEW_KEY, NEW_KEY, &fields).await.assert_status(200))
    };
    let old = make("Spreadsheet of last summer", &["read:orders"], "365").await;
    let old = format!("/dashboard/developer/keys/{}/revoke", first(&old, "key_[a-z0-9]{26}"));
    owner.submit(&old, &old, &[]).await.assert_status(303);
    make("Newsletter", &["read:students"], "7").await;
    make("CRM sync", &["read:courses", "read:students", "write:students", "read:orders"], "").await;
}

/// Sends successful and failed requests.
async fn requests(workspace: &Workspace<'_>) {
    let key = workspace.full_key().await;
    for n in 1..=12 {
        key.get(&format!("/api/v1/courses?limit={n}")).await.assert_status(200);
    }
    key.get("/api/v1/courses/crs_01h2xcejqtf2nbrexx3vqjhp41").await.assert_status(404);
    let mistaken = key.request(Method::POST, "/api/v1/students").json(&json!({"email": "no address"}));
    send(mistaken).await.assert_status(422);
    domain::requests::flush(&workspace.app.app).await.expect("the log is written");
}

/// Creates an endpoint that works, one that fails, one with dead letters and a running replay, and one that is paused.
async fn webhooks(workspace: &Workspace<'_>, owner: &Browser<'_>) -> Webhooks {
    let (well, ill, gone) = (Endpoint::start().await, Endpoint::start().await, Endpoint::start().await);
    ill.always_answers(500);
    gone.always_answers(410);
    let created: &[&str] = &["student.created"];
    let well = workspace.subscribe_at(&well, &["student.created", "student.deleted"]).await;
    let ill = workspace.subscribe_at(&ill, created).await;
    let gone = workspace.subscribe_at(&gone, created).await;
    let paused = workspace
        .subscribe_to("https://partner.example/a/rather/long/path/to/hooks".to_owned(), created)
        .await;
    paused.pause().await;
    for name in ["grace", "edsger", "barbara"] {
        workspace.student_by_change(name).await;
    }
    workspace.app.deliver_due().await;
    let replays = "/dashboard/developer/webhooks/dead-letters/replay";
    let begun = owner.submit(replays, replays, &[]).await.assert_status(303);
    let path = |id| format!("/dashboard/developer/webhooks/{id}");
    let failed = gone.deliveries().await[0].id;
    Webhooks {
        delivery: format!("{}/deliveries/{failed}", path(gone.id)),
        well: path(well.id),
        ill: path(ill.id),
        paused: path(paused.id),
        replay: begun.header("location").to_owned(),
    }
}

/// Creates a partially refunded order.
async fn refunded(owner: &Browser<'_>) -> String {
    let list = html(&owner.get("/dashboard/orders?status=paid").await);
    let order = first(&list, "href=\"(/dashboard/orders/ord_[a-z0-9]+)\"");
    let refund = format!("{order}/refund");
    let fields = [("amount", "1"), ("reason", "Arrived a week late"), ("refunded", "0")];
    owner.submit(&refund, &refund, &fields).await.assert_status(303);
    order
}

impl Window {
    /// Opens a window in which the owner of a new workspace is signed in.
    pub async fn signed_in(app: &TestApp) -> Self {
        let owner = app.workspace("acme").await.signed_in().await;
        let window = Self::open(app).await;
        window.set_session(owner.cookie("session").as_deref()).await;
        window
    }
}
