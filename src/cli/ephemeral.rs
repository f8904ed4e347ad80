//! `creator-api serve --ephemeral`: demo data in a temporary folder, for the tests of clients.

use secrecy::SecretString;
use tempfile::TempDir;

use super::demo;
use super::outcome::CommandError;
use super::workspaces::find;
use domain::app::App;
use domain::keys::{self, NewKey};
use domain::sandbox;
use domain::scope::Scopes;
use domain::workspaces::Quota;
use feed::demo::WORKSPACE;
use foundation::config::Config;

/// The folder of the data, which is deleted on drop.
pub(super) struct EphemeralData {
    folder: TempDir,
}

impl EphemeralData {
    /// Creates the folder, and changes the configuration so that the server uses it. Webhooks can then be sent to this machine.
    pub(super) fn create(config: &mut Config) -> Result<Self, CommandError> {
        let folder = tempfile::Builder::new().prefix("creator-api-").tempdir();
        let folder = folder.map_err(|error| {
            CommandError::new(format!("cannot create a temporary folder: {error}; set TMPDIR"))
        })?;
        folder.path().clone_into(&mut config.storage.data_dir);
        config.database.database_url = None;
        config.database.database_read_url = None;
        demo::allow_local_webhooks(config);
        Ok(Self { folder })
    }

    /// Returns a function that deletes the data when the process ends at once, without a drop.
    pub(super) fn deletion(&self) -> impl FnOnce() + Send + 'static {
        let folder = self.folder.path().to_owned();
        move || {
            // The server still runs, and may have created a file meanwhile.
            let _ = std::fs::remove_dir_all(&folder).or_else(|_| std::fs::remove_dir_all(&folder));
        }
    }
}

/// Loads the demo data, makes its workspace a test workspace, and creates an API key with all scopes.
pub(super) async fn prepare(app: &App) -> Result<SecretString, CommandError> {
    demo::load_data(app).await?;
    let workspace = find(app, WORKSPACE).await?;
    let key = NewKey {
        name: "Ephemeral".to_owned(),
        scopes: Scopes::all(),
        quota: Quota::default(),
        expires_at: None,
        networks: Vec::new(),
    };
    let mut write = app.begin_write().await?;
    sandbox::mark_as_test(&write, workspace.id).await?;
    let (_, secret) = keys::create(app, &mut write, workspace.id, key).await?;
    write.commit().await?;
    Ok(secret)
}
