//! Helpers for tests of mail: the queue, and one pass over it.

use domain::app::App;
use entity::mails::{self, Model};
use foundation::database::Write;
use foundation::id::{MailId, SubscriptionId};
use mail::queue::{self, QueueContext};
use mail::{Message, Transport};

use super::{Mailbox, START, TestApp, Workspace};

/// The recipient of the mail.
pub const OWNER: &str = "owner@acme.example";

/// Returns the state that the queue needs.
pub fn queue_context(app: &App) -> QueueContext<'_> {
    QueueContext { db: &app.db, clock: &app.clock, ids: &app.ids }
}

/// Returns the configured transport.
pub fn transport(app: &App) -> Transport {
    Transport::open(&app.config.mail, &app.config.storage.data_dir).expect("a transport")
}

/// Makes one pass over the queue and returns the number of mails sent.
pub async fn deliver_mail(app: &TestApp) -> u64 {
    queue::deliver_due(queue_context(&app.app), &transport(&app.app)).await.expect("the database answers")
}

/// Starts a server that sends its mail to this mailbox. It does not know its own URL, so a new workspace mails no link to its
/// owner.
pub async fn app_sending_to(mailbox: &Mailbox) -> TestApp {
    let from = ("mail_from", "Acme <no-reply@school.example>");
    TestApp::start_with(&[("smtp_url", &mailbox.url()), from, ("listen", "127.0.0.1:0")]).await
}

impl Workspace<'_> {
    /// Queues a mail to the owner in this write.
    pub async fn mail_in(&self, write: &mut Write) -> MailId {
        let message = Message::WebhookDisabled {
            workspace: "Müller & Söhne".to_owned(),
            subscription: SubscriptionId::from_uuid(self.id.uuid()),
            url: "https://hooks.acme.example/in".to_owned(),
            page: Some("https://api.example.com/dashboard/developer/webhooks".to_owned()),
            failed_since: START.parse().expect("a time"),
            last_error: "status 503".to_owned(),
        };
        let app = &self.app.app;
        queue::enqueue(write, &app.ids, self.id, OWNER, &message).await.expect("the mail is queued")
    }

    /// Queues a mail to the owner.
    pub async fn mail(&self) -> MailId {
        let mut write = self.app.write().await;
        let id = self.mail_in(&mut write).await;
        write.commit().await.expect("it commits");
        id
    }

    /// Returns the mails of the workspace, including sent ones.
    pub async fn mails(&self) -> Vec<Model> {
        let mails = mails::in_workspace(self.id.uuid()).list(self.app.app.db.read(), 1000).await;
        mails.expect("the database answers")
    }

    /// Returns the only mail of the workspace.
    pub async fn only_mail(&self) -> Model {
        let mut mails = self.mails().await;
        assert_eq!(mails.len(), 1);
        mails.remove(0)
    }
}
