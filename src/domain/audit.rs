//! The audit log: who did what when, on which record, from where.
//!
//! An entry is written in the transaction of the change it tells of; it is never changed.

use std::collections::HashMap;
use std::net::IpAddr;

use entity::audit_entries::{self, Column, Model};
use jiff::Timestamp;

use super::Result;
use super::find::{fresh, id};
use super::page::{Page, PageRequest, SortKey};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Audit, AuditId, UserId, WorkspaceId};

macro_rules! actions {
    ($($variant:ident = $word:literal, $sentence:literal;)*) => {
        /// What was done.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Action { $(#[doc = $sentence] $variant),* }

        impl Action {
            /// As it is stored.
            const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        /// What a stored word says to people; an unknown one says itself.
        fn sentence(word: &str) -> &str {
            match word { $($word => $sentence,)* other => other }
        }
    };
}

actions! {
    SignedIn = "session.begin", "Signed in";
    SignedOut = "session.sign_out", "Signed out";
    WorkspaceLeft = "session.leave", "Went to another workspace";
    WorkspaceEntered = "session.enter", "Came from another workspace";
    SessionEnded = "session.end", "Ended a session";
    SessionsEnded = "session.end_others", "Ended all other sessions";
    PasswordSet = "password.set", "Set a password";
    LinkMade = "password.link", "Made a link to set a password";
    UserAdded = "user.add", "Gave a person access";
    UserInvited = "user.invite", "Invited a person";
    UserRemoved = "user.remove", "Removed a person";
    OwnerChanged = "workspace.owner", "Changed the owner of the workspace";
    QuotaSet = "workspace.quota", "Set the quota of the workspace";
    KeyCreated = "key.create", "Created an API key";
    KeyRevoked = "key.revoke", "Revoked an API key";
    KeyQuotaSet = "key.quota", "Set the quota of an API key";
    CoursePublished = "course.publish", "Published a course";
    CourseArchived = "course.archive", "Archived a course";
    StudentEnrolled = "student.enrol", "Enrolled a student";
    EnrollmentRevoked = "enrollment.revoke", "Revoked an enrolment";
    StudentDeleted = "student.delete", "Deleted a student";
    OrderRefunded = "order.refund", "Refunded an order";
    WebhookCreated = "webhook.create", "Made a webhook";
    WebhookEdited = "webhook.edit", "Changed a webhook";
    WebhookPaused = "webhook.pause", "Paused a webhook";
    WebhookEnabled = "webhook.enable", "Enabled a webhook";
    WebhookDropped = "webhook.drop", "Dropped what a webhook held";
    WebhookRotated = "webhook.rotate", "Gave a webhook a new secret";
    WebhookTested = "webhook.test", "Sent a test event";
    WebhookDeleted = "webhook.delete", "Deleted a webhook";
    DeliveryResent = "delivery.resend", "Sent a delivery again";
    DeadLettersReplayed = "delivery.replay", "Replayed dead letters";
    ReplayStarted = "replay.start", "Started a replay";
    ReplayCancelled = "replay.cancel", "Cancelled a replay";
}

/// Who did it, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The person; `None` for whoever sits at the server.
    pub user: Option<UserId>,
    /// The person's address, or what else did it.
    pub name: String,
    /// The client address.
    pub address: Option<IpAddr>,
}

impl Actor {
    /// Whoever runs the commands on the server itself.
    pub fn operator() -> Self {
        Self { user: None, name: "command line".to_owned(), address: None }
    }

    /// The platform, by a change of its feed.
    pub fn feed() -> Self {
        Self { user: None, name: "change feed".to_owned(), address: None }
    }
}

/// One entry, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: AuditId,
    /// When.
    pub at: Timestamp,
    /// Who: an email address, `command line` or `change feed`.
    pub actor: String,
    /// What was done, as people say it.
    pub action: String,
    /// The id of the record; empty when there is none.
    pub subject: String,
    /// What the record was called; empty when it has no name.
    pub detail: String,
    /// From where; empty when it was done on the server.
    pub address: String,
}

/// Notes that something is done, in the transaction that does it.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn append(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    actor: &Actor,
    told: (Action, String, &str),
) -> Result<()> {
    let row = row(app, write, workspace, actor, told);
    audit_entries::in_workspace(workspace.uuid()).insert(write.conn(), row).await?;
    Ok(())
}

/// Notes what a form did that may be sent once. False when it was sent before: the change must not be committed then.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn append_once(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    actor: &Actor,
    told: (Action, String, &str),
    form: [u8; 16],
) -> Result<bool> {
    let row = Model { form: Some(form.to_vec()), ..row(app, write, workspace, actor, told) };
    Ok(audit_entries::in_workspace(workspace.uuid()).insert_unless_taken(write.conn(), row).await?)
}

fn row(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    actor: &Actor,
    (action, subject, detail): (Action, String, &str),
) -> Model {
    Model {
        id: fresh::<Audit>(app, write),
        workspace_id: workspace.uuid(),
        user_id: actor.user.map(|user| user.uuid()),
        actor: actor.name.clone(),
        action: action.as_str().to_owned(),
        subject,
        detail: detail.chars().take(200).collect(),
        address: actor.address.map(|address| address.to_string()).unwrap_or_default(),
        form: None,
        created_at: write.now_ms(),
    }
}

/// A page of the log.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn list(app: &App, workspace: WorkspaceId, page: PageRequest) -> Result<Page<Entry>> {
    let keyset = page.keyset(app, |key| (key == SortKey::CreatedAt).then_some(Column::CreatedAt)).await?;
    let rows = audit_entries::in_workspace(workspace.uuid()).page(app.db.read(), keyset).await?;
    let (rows, next) = page.cut(rows, |row, _| (row.created_at, row.id));
    Ok(Page { items: rows.into_iter().map(entry).collect(), next })
}

/// When each person last signed in to the workspace or came there from another one; who never did is not among them.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn last_sign_ins(app: &App, workspace: WorkspaceId) -> Result<HashMap<UserId, Timestamp>> {
    let actions = [Action::SignedIn.as_str(), Action::WorkspaceEntered.as_str()];
    let rows = audit_entries::in_workspace(workspace.uuid()).last_by_user(app.db.read(), &actions).await?;
    Ok(rows.into_iter().map(|(user, at)| (id(user), from_ms(at))).collect())
}

fn entry(row: Model) -> Entry {
    Entry {
        id: id(row.id),
        at: from_ms(row.created_at),
        actor: row.actor,
        action: sentence(&row.action).to_owned(),
        subject: row.subject,
        detail: row.detail,
        address: row.address,
    }
}
