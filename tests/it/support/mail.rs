//! Helpers for tests of mail: queue mails, deliver them, and read the queue.

use domain::app::App;
use entity::mails::{self, Model};
use foundation::database::Write;
use foundation::id::{MailId, SubscriptionId};
use mail::queue::{self, QueueContext};
use mail::{Message, Transport};

use super::{START, SmtpServer, TestApp, TestWorkspace};

/// The recipient of the mails that tests queue.
pub const OWNER: &str = "owner@acme.example";

/// Returns the state that the queue needs.
pub fn queue_context(app: &App) -> QueueContext<'_> {
    QueueContext { db: &app.db, clock: &app.clock, ids: &app.ids }
}

/// Returns the configured transport.
pub fn transport(app: &App) -> Transport {
    Transport::open(&app.config.mail, &app.config.storage.data_dir).expect("a transport")
}

/// Attempts to send each due mail once, and returns the number of mails sent.
pub async fn deliver_mail(app: &TestApp) -> u64 {
    queue::deliver_due(queue_context(&app.app), &transport(&app.app)).await.expect("the query succeeds")
}

/// Starts a server that sends its mail to this SMTP server. The server does not know its public URL, because
/// its port is not fixed, so a new workspace mails no link to its owner.
pub async fn app_sending_to(smtp_server: &SmtpServer) -> TestApp {
    let from = ("mail_from", "Acme <no-reply@school.example>");
    TestApp::start_with(&[("smtp_url", &smtp_server.url()), from, ("listen", "127.0.0.1:0")]).await
}

impl TestWorkspace<'_> {
    /// Queues a mail about a disabled webhook to [`OWNER`] in this write transaction.
    pub async fn enqueue_mail_in(&self, write: &mut Write) -> MailId {
        let message = Message::WebhookDisabled {
            workspace: "Müller & Söhne".to_owned(),
            subscription: SubscriptionId::from_uuid(self.id.uuid()),
            url: "https://hooks.acme.example/in".to_owned(),
            page: Some("https://api.example.com/dashboard/developer/webhooks".to_owned()),
            failing_since: START.parse().expect("a time"),
            last_error: "status 503".to_owned(),
        };
        let app = &self.app.app;
        queue::enqueue(write, &app.ids, self.id, OWNER, &message).await.expect("the mail is queued")
    }

    /// Queues the same mail in its own transaction.
    pub async fn enqueue_mail(&self) -> MailId {
        let mut write = self.app.begin_write().await;
        let id = self.enqueue_mail_in(&mut write).await;
        write.commit().await.expect("the commit succeeds");
        id
    }

    /// Returns the mails of the workspace, including sent ones.
    pub async fn mails(&self) -> Vec<Model> {
        let mails = mails::in_workspace(self.id.uuid()).list(self.app.app.db.read(), 1000).await;
        mails.expect("the query succeeds")
    }

    /// Returns the only mail of the workspace.
    pub async fn only_mail(&self) -> Model {
        let mut mails = self.mails().await;
        assert_eq!(mails.len(), 1);
        mails.remove(0)
    }
}
