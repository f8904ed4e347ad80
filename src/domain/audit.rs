//! Writes and reads the audit log: who did what, when, on which record, and from where.
//!
//! An entry is written in the transaction of the change that it describes, and is never updated.

use std::collections::HashMap;
use std::net::IpAddr;

use entity::audit_entries::{self, Column, Model};
use entity::rollups::DAY_MS;
use jiff::Timestamp;

use super::Result;
use super::page::{Page, PageRequest, SortKey};
use super::records::{id, new_uuid};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::{DELETE_BATCH, Write};
use foundation::id::{self, Audit, AuditId, UserId, WorkspaceId};

/// How many days entries are stored.
pub const RETENTION_DAYS: i64 = 400;

macro_rules! actions {
    ($($variant:ident = $stored:literal, $description:literal;)*) => {
        /// An audited action.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Action { $(#[doc = $description] $variant),* }

        impl Action {
            /// Returns the stored form.
            const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $stored),* }
            }
        }

        /// Returns the description of a stored action, or the stored form itself if the action is unknown.
        fn description(stored: &str) -> &str {
            match stored { $($stored => $description,)* other => other }
        }
    };
}

impl Action {
    /// Returns whether the action is about members, their sign-in, or the sandbox. It belongs to the audit log of the live workspace,
    /// also if a member performs it in the sandbox.
    pub fn concerns_account(self) -> bool {
        let subject = self.as_str().split('.').next().unwrap_or_default();
        ["session", "password", "second_factor", "provider", "user", "workspace", "sandbox"]
            .contains(&subject)
    }
}

actions! {
    SignedIn = "session.begin", "Signed in";
    SignedInByLink = "session.link", "Signed in from the platform";
    SignedInByProvider = "session.provider", "Signed in with single sign-on";
    IdentityConfirmed = "session.confirm", "Confirmed their identity";
    SignedOut = "session.sign_out", "Signed out";
    WorkspaceLeft = "session.leave", "Switched to another workspace";
    WorkspaceEntered = "session.enter", "Switched from another workspace";
    SessionEnded = "session.end", "Signed out a session";
    SessionsEnded = "session.end_others", "Signed out all other sessions";
    PasswordSet = "password.set", "Set a password";
    PasswordLinkCreated = "password.link", "Created a password link";
    SecondFactorSetUp = "second_factor.set_up", "Set up a second factor";
    SecondFactorRemoved = "second_factor.remove", "Removed a second factor";
    RecoveryCodesCreated = "second_factor.codes", "Created new recovery codes";
    WrongCode = "second_factor.wrong_code", "Entered an incorrect code of the second factor";
    RecoveryCodeUsed = "second_factor.recover", "Used a recovery code";
    ProviderLinked = "provider.link", "Linked an account for single sign-on";
    ProviderUnlinked = "provider.unlink", "Unlinked an account for single sign-on";
    SecondFactorRequirement = "workspace.second_factor", "Changed whether members need a second factor";
    UserAdded = "user.add", "Added a member";
    UserInvited = "user.invite", "Invited a member";
    UserRemoved = "user.remove", "Removed a member";
    RolesChanged = "user.roles", "Changed the roles of a member";
    OwnerChanged = "workspace.owner", "Changed the owner of the workspace";
    SandboxCreated = "sandbox.create", "Created the sandbox";
    SandboxReset = "sandbox.reset", "Reset the sandbox";
    SandboxDeleted = "sandbox.delete", "Deleted the sandbox";
    SandboxEntered = "sandbox.enter", "Switched to the sandbox";
    SandboxLeft = "sandbox.leave", "Switched from the sandbox";
    QuotaSet = "workspace.quota", "Set the quota of the workspace";
    KeyCreated = "key.create", "Created an API key";
    KeyRevoked = "key.revoke", "Revoked an API key";
    KeyEdited = "key.edit", "Changed an API key";
    KeyRotated = "key.rotate", "Rotated the secret of an API key";
    OldKeySecretEnded = "key.end_secret", "Ended the old secret of an API key";
    KeyQuotaSet = "key.quota", "Set the quota of an API key";
    KeyNetworksSet = "key.networks", "Set the networks of an API key";
    KeySunsetExtended = "key.sunset", "Changed how long removed operations work for an API key";
    CoursePublished = "course.publish", "Published a course";
    CourseArchived = "course.archive", "Archived a course";
    StudentEnrolled = "student.enrol", "Enrolled a student";
    EnrollmentRevoked = "enrollment.revoke", "Revoked an enrollment";
    StudentDeleted = "student.delete", "Deleted a student";
    OrderRefunded = "order.refund", "Refunded an order";
    WebhookCreated = "webhook.create", "Created a webhook";
    WebhookEdited = "webhook.edit", "Updated a webhook";
    WebhookControlsChanged = "webhook.controls", "Changed the delivery controls of a webhook";
    SigningKeyRotated = "webhook.signing_key", "Rotated the signing key of webhooks";
    OfferDismissed = "webhook.dismiss", "Dismissed the offer to replay dead letters";
    WebhookPaused = "webhook.pause", "Paused a webhook";
    WebhookEnabled = "webhook.enable", "Enabled a webhook";
    WebhookDropped = "webhook.drop", "Dropped held deliveries";
    WebhookRotated = "webhook.rotate", "Rotated a webhook secret";
    WebhookTested = "webhook.test", "Sent a test event";
    WebhookDeleted = "webhook.delete", "Deleted a webhook";
    DeliveryResent = "delivery.resend", "Resent a delivery";
    DeadLettersReplayed = "delivery.replay", "Replayed dead letters";
    ReplayStarted = "replay.start", "Started a replay";
    ReplayCanceled = "replay.cancel", "Canceled a replay";
    SandboxEventCreated = "event.create", "Made an event happen in the sandbox";
    ClockAdvanced = "clock.advance", "Advanced the clock of the server";
}

/// Who performed an action, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The user. `None` for an API key, the command line, the platform and the change feed.
    pub user: Option<UserId>,
    /// The user's email address, `API key` with the name of the key, `command line`, `platform` or `change feed`.
    pub name: String,
    /// The client's IP address. `None` if the action is performed on the server.
    pub address: Option<IpAddr>,
}

impl Actor {
    /// Returns the operator, who runs commands on the server.
    pub fn operator() -> Self {
        Self { user: None, name: "command line".to_owned(), address: None }
    }

    /// Returns the API key with this name, which calls the Developer API from this address.
    pub fn api_key(name: &str, address: IpAddr) -> Self {
        Self { user: None, name: format!("API key {name}"), address: Some(address) }
    }

    /// Returns the platform, which calls the Platform API.
    pub fn platform() -> Self {
        Self { user: None, name: "platform".to_owned(), address: None }
    }

    /// Returns the actor of changes that are imported from the change feed.
    pub fn feed() -> Self {
        Self { user: None, name: "change feed".to_owned(), address: None }
    }
}

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// The id of the entry.
    pub id: AuditId,
    /// When the action was performed.
    pub at: Timestamp,
    /// Who performed the action, see [`Actor::name`].
    pub actor: String,
    /// The description of the action.
    pub action: String,
    /// The id of the record. Empty if there is none.
    pub subject: String,
    /// The name of the record at that time, or details such as the new quota or a number of deliveries. Empty if there
    /// are none.
    pub detail: String,
    /// The client's IP address. Empty if the action was performed on the server.
    pub address: String,
}

/// Writes an entry in the transaction of the action. `entry` is the action, the [`subject`](AuditEntry::subject) and
/// the [`detail`](AuditEntry::detail), of which the first 200 characters are stored.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the insert fails.
pub async fn append(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    actor: &Actor,
    entry: (Action, String, &str),
) -> Result<()> {
    let row = row(app, write, workspace, actor, entry);
    audit_entries::in_workspace(workspace.uuid()).insert(write.conn(), row).await?;
    Ok(())
}

/// Writes an entry as [`append`] does, for a form that may be submitted only once. Returns false when the form with
/// this token was submitted before. The caller must then roll the transaction back.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the insert fails.
pub async fn append_once(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    actor: &Actor,
    entry: (Action, String, &str),
    form_token: [u8; 16],
) -> Result<bool> {
    let row = Model { form: Some(form_token.to_vec()), ..row(app, write, workspace, actor, entry) };
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
        id: new_uuid::<Audit>(app, write),
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

/// Returns a page of the log.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::Error::Invalid) for a page that is not sorted by creation time, and
/// [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn list(app: &App, workspace: WorkspaceId, page: PageRequest) -> Result<Page<AuditEntry>> {
    let keyset = page
        .keyset(&app.db, &app.clock, |key| (key == SortKey::CreatedAt).then_some(Column::CreatedAt))
        .await?;
    let rows = audit_entries::in_workspace(workspace.uuid()).page(app.db.read(), keyset).await?;
    let (rows, next) = page.trim_to_page(rows, |row, _| (row.created_at, row.id));
    Ok(Page { items: rows.into_iter().map(entry).collect(), next })
}

/// Returns when each user last signed in to the workspace or switched to it from another one. Omits users who did not in the
/// last [`RETENTION_DAYS`].
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn last_sign_ins(app: &App, workspace: WorkspaceId) -> Result<HashMap<UserId, Timestamp>> {
    let actions =
        [Action::SignedIn, Action::SignedInByLink, Action::SignedInByProvider, Action::WorkspaceEntered];
    let actions = actions.map(Action::as_str);
    let rows = audit_entries::in_workspace(workspace.uuid()).last_by_user(app.db.read(), &actions).await?;
    Ok(rows.into_iter().map(|(user, at)| (id(user), from_ms(at))).collect())
}

/// Deletes entries that are older than [`RETENTION_DAYS`]. Returns the number of entries deleted.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn prune(app: &App) -> Result<u64> {
    let entries = app.db.delete_in_batches(&app.clock, |write| {
        let before = id::min_uuid_at(write.now_ms() - RETENTION_DAYS * DAY_MS);
        Box::pin(audit_entries::prune(write.conn(), before, DELETE_BATCH))
    });
    Ok(entries.await?)
}

fn entry(row: Model) -> AuditEntry {
    AuditEntry {
        id: id(row.id),
        at: from_ms(row.created_at),
        actor: row.actor,
        action: description(&row.action).to_owned(),
        subject: row.subject,
        detail: row.detail,
        address: row.address,
    }
}
