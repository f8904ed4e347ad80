//! The platform's side: the server's own parts on a site's data, which commit events and send them.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use domain::app::{App, Parts};
use domain::keys::Principals;
use domain::outbox::{self, Event};
use domain::students::{StudentProgress, StudentSummary};
use domain::webhooks::{self, NewSubscription};
use domain::workspaces;
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, Options, Source};
use foundation::id::{Ids, WorkspaceId};
use foundation::secret::{MasterKey, Purpose, Seal};

use super::receiver::MARK;

/// What every subscription wants.
const KIND: &str = "student.created";

/// One workspace of a site.
pub struct Host {
    pub app: App,
    pub seal: Arc<Seal>,
    workspace: WorkspaceId,
}

impl Host {
    /// Opens a site's data; the folder holds its master key.
    ///
    /// # Errors
    /// There is no such workspace, or no key.
    pub async fn open(folder: &Path, url: &str, workspace: &str) -> Result<Self> {
        let settings = [
            ("data_dir", folder.display().to_string()),
            ("database_url", url.to_owned()),
            ("webhook_allow", "127.0.0.0/8".to_owned()),
            ("log_format", "json".to_owned()),
            ("max_subscriptions_per_workspace", "100000".to_owned()),
        ];
        let refused = |_| anyhow::anyhow!("the settings are refused");
        let (config, _) = Config::read(settings.into(), std::iter::empty()).map_err(refused)?;
        let db = Database::connect(Options::new(Source::new(Some(url), folder)?)).await?;
        let app = App::new(Parts {
            config,
            db,
            clock: Clock::system(),
            ids: Ids::default(),
            encode: api::events::encode,
            example: api::events::example,
            principals: Principals::default(),
        });
        let workspace = workspaces::by_key(&app, workspace).await?.id;
        let master = match MasterKey::open(folder)? {
            Some(master) => master,
            None => MasterKey::create(folder)?,
        };
        Ok(Self { app, seal: Arc::new(Seal::new(&master, Purpose::WebhookSecrets)), workspace })
    }

    /// Lets this URL hear of every event.
    ///
    /// # Errors
    /// It is refused.
    pub async fn subscribe(&self, url: String) -> Result<()> {
        let new = NewSubscription { url, event_types: vec![KIND.to_owned()] };
        let mut write = self.app.begin_write().await?;
        webhooks::create(&self.app, &mut write, &self.seal, self.workspace, new).await?;
        Ok(write.commit().await?)
    }

    /// Commits the events of these numbers in one transaction, each with its deliveries.
    ///
    /// # Errors
    /// The database fails.
    pub async fn commit(&self, numbers: impl Iterator<Item = u64>) -> Result<()> {
        let mut write = self.app.begin_write().await?;
        let at = self.app.clock.now();
        for number in numbers {
            let student = StudentSummary {
                id: self.app.ids.next(at),
                email: format!("{MARK}{number}@example.com"),
                name: Some("A Student".to_owned()),
                external_id: None,
                tags: vec!["newsletter".to_owned(), "spring".to_owned()],
                metadata: Default::default(),
                progress: StudentProgress::default(),
                created_at: at,
                updated_at: at,
            };
            let event = Event::StudentCreated(student);
            outbox::append(&self.app, &mut write, self.workspace, at, event).await?;
        }
        Ok(write.commit().await?)
    }
}
