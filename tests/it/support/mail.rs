//! What stories about mail are told with: the queue, and one pass over it.

use domain::app::App;
use entity::mails::{self, Model};
use foundation::database::Write;
use foundation::id::{MailId, SubscriptionId};
use mail::queue::{self, Parts};
use mail::{Message, Transport};

use super::{Mailbox, START, TestApp, Workspace};

/// Whom the mail of these stories goes to.
pub const OWNER: &str = "owner@acme.example";

/// What the queue needs of a process.
pub fn parts(app: &App) -> Parts<'_> {
    Parts { db: &app.db, clock: &app.clock, ids: &app.ids }
}

/// The transport as configured.
pub fn transport(app: &App) -> Transport {
    Transport::open(&app.config.mail, &app.config.storage.data_dir).expect("a transport")
}

/// One pass over the queue, as configured; how many were sent.
pub async fn deliver(app: &TestApp) -> u64 {
    queue::deliver_due(parts(&app.app), &transport(&app.app)).await.expect("the database answers")
}

/// A story's server, which sends its mail there. It does not know its address, so that a new workspace mails its owner no link.
pub async fn sending_to(mailbox: &Mailbox) -> TestApp {
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
        queue::enqueue(write, &app.ids, self.id, OWNER, &message).await.expect("the queue takes it")
    }

    /// Queues a mail to the owner.
    pub async fn mail(&self) -> MailId {
        let mut write = self.app.write().await;
        let id = self.mail_in(&mut write).await;
        write.commit().await.expect("it commits");
        id
    }

    /// The queue of the workspace, sent mail included.
    pub async fn mails(&self) -> Vec<Model> {
        let mails = mails::in_workspace(self.id.uuid()).list(self.app.app.db.read(), 1000).await;
        mails.expect("the database answers")
    }

    /// The one mail of the workspace.
    pub async fn only_mail(&self) -> Model {
        let mut mails = self.mails().await;
        assert_eq!(mails.len(), 1);
        mails.remove(0)
    }
}
