//! Commits events to a site's database with the domain crate of the server.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use domain::app::{App, AppParts};
use domain::keys::PrincipalCache;
use domain::outbox::{self, Event};
use domain::students::{StudentProgress, StudentSummary};
use domain::webhooks::controls::{self, ControlsChange};
use domain::webhooks::{self, NewSubscription};
use domain::workspaces;
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, DatabaseOptions, DatabaseSource};
use foundation::id::{Ids, SubscriptionId, WorkspaceId};
use foundation::secret::{MasterKeys, Purpose, Seal};

use super::receiver::EVENT_MARKER;

/// The event type of all subscriptions.
const EVENT_TYPE: &str = "student.created";

/// A filter that all events meet.
const FILTER: &str = "student.created /email starts_with event-
student.created /tags contains spring
student.created /name in \"A Student\", \"Another Student\"";

/// A workspace of a site in which events are committed.
pub struct EventSource {
    pub app: App,
    /// Encrypts the secrets of the webhook subscriptions.
    pub seal: Arc<Seal>,
    workspace: WorkspaceId,
}

impl EventSource {
    /// Opens a workspace by its key. `folder` is the folder of the site. Creates the master key there if it is missing.
    ///
    /// # Errors
    /// Returns an error when the database cannot be reached, the workspace does not exist, or the master key cannot be
    /// read or created.
    pub async fn open(folder: &Path, url: &str, workspace: &str) -> Result<Self> {
        let settings = [
            ("data_dir", folder.display().to_string()),
            ("database_url", url.to_owned()),
            ("webhook_allow", "127.0.0.0/8".to_owned()),
            ("log_format", "json".to_owned()),
            ("max_subscriptions_per_workspace", "100000".to_owned()),
        ];
        let invalid = |_| anyhow::anyhow!("the settings are invalid");
        let (config, _) = Config::read(settings.into(), std::iter::empty()).map_err(invalid)?;
        let db = Database::connect(DatabaseOptions::new(DatabaseSource::new(Some(url), folder)?)).await?;
        let app = App::new(
            db,
            AppParts {
                config,
                clock: Clock::system(),
                ids: Ids::default(),
                encode: api::events::encode,
                example: api::events::example,
                read_fields: api::events::read_fields,
                seed: |_, _, _| Box::pin(async { Ok(()) }),
                principals: PrincipalCache::default(),
            },
        );
        let workspace = workspaces::by_key(&app, workspace).await?.id;
        let master = match MasterKeys::open(folder)? {
            Some(master) => master,
            None => MasterKeys::create(folder)?,
        };
        Ok(Self { app, seal: Arc::new(Seal::new(&master, Purpose::WebhookSecrets)), workspace })
    }

    /// Subscribes a URL to the events.
    ///
    /// # Errors
    /// Returns an error when the URL is rejected.
    pub async fn subscribe(&self, url: String) -> Result<SubscriptionId> {
        let subscription =
            NewSubscription { url, event_types: vec![EVENT_TYPE.to_owned()], description: None };
        let mut write = self.app.begin_write().await?;
        let (created, _) =
            webhooks::create(&self.app, &mut write, &self.seal, self.workspace, subscription).await?;
        write.commit().await?;
        Ok(created.id)
    }

    /// Gives a subscription a filter with conditions of three kinds, which all events of this source meet.
    ///
    /// # Errors
    /// Returns an error when the database fails.
    pub async fn set_filter(&self, subscription: SubscriptionId) -> Result<()> {
        let change = ControlsChange { filter: Some(FILTER.to_owned()), ..ControlsChange::default() };
        let mut write = self.app.begin_write().await?;
        controls::change(&self.app, &mut write, &self.seal, self.workspace, subscription, change).await?;
        Ok(write.commit().await?)
    }

    /// Commits the events with these numbers and their deliveries in one transaction.
    ///
    /// # Errors
    /// Returns an error when the database fails.
    pub async fn commit(&self, numbers: impl Iterator<Item = u64>) -> Result<()> {
        let mut write = self.app.begin_write().await?;
        let at = self.app.clock.now();
        for number in numbers {
            let student = StudentSummary {
                id: self.app.ids.next(at),
                email: format!("{EVENT_MARKER}{number}@example.com"),
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
