//! `creator-api demo`: everything in one process, on demo data.
//!
//! Owns the demo's key: its secret is kept in the data folder, so that the next run shows the same one.

use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use super::failure::{Failure, Outcome};
use super::progress::Progress;
use super::workspaces::find;
use super::{output, serve, signals, start};
use crate::app::App;
use crate::config::Config;
use crate::domain::keys::{self, NewKey};
use crate::domain::scope::Scopes;
use crate::domain::workspaces::Quota;
use crate::feed::{self, demo};
use crate::secret::write_private;

/// The demo key's secret in the data folder.
const KEY_FILE: &str = "demo.key";

pub(super) async fn run(config: Config) -> Result<Outcome, Failure> {
    let listener = serve::bind(config.server.listen).await?;
    let address = listener.local_addr()?;
    let data_dir = config.storage.data_dir.clone();
    let app = start::app_migrated(config).await?;
    let server = serve::server(&app, address).await?;
    fill(&app).await?;
    let secret = demo_key(&app, &data_dir).await?;
    let stop = signals::stop()?;
    output::line(welcome(&app, address, &secret))?;
    server.run(listener, stop).await?;
    app.db.close().await;
    Ok(Outcome::Done)
}

/// Applies the demo's changes; those that were applied before are passed over.
async fn fill(app: &App) -> Result<(), Failure> {
    let mut progress = Progress::start("demo data", u64::try_from(demo::len()).ok());
    let options = feed::Options {
        progress: Box::new(|feed::Progress { outcome, .. }| {
            progress.at(outcome.applied + outcome.repeated, || format!("{} changes", outcome.applied));
        }),
        ..feed::Options::default()
    };
    let outcome = demo::load(app, options).await?;
    progress.finish();
    if outcome.rejected > 0 {
        let message = "some demo changes do not fit this database; begin with another folder, --data-dir DIR";
        return Err(Failure::new(message));
    }
    Ok(())
}

/// The secret of the demo's key: the one of the last run while it still opens, or a new one.
async fn demo_key(app: &App, data_dir: &Path) -> Result<SecretString, Failure> {
    let path = data_dir.join(KEY_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let secret = SecretString::from(text.trim());
            if keys::authenticate(app, secret.expose_secret()).await?.is_some() {
                return Ok(secret);
            }
            fs::remove_file(&path)?;
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            return Err(Failure::new(format!("cannot read {}: {error}; make it readable", path.display())));
        }
    }
    let workspace = find(app, demo::WORKSPACE).await?;
    let key =
        NewKey { name: "Demo".to_owned(), scopes: Scopes::all(), quota: Quota::default(), expires_at: None };
    let mut write = app.begin_write().await?;
    let (_, secret) = keys::create(app, &mut write, workspace.id, key).await?;
    write_private(&path, secret.expose_secret().as_bytes())?;
    write.commit().await?;
    Ok(secret)
}

/// What a newcomer can do now.
fn welcome(app: &App, address: SocketAddr, secret: &SecretString) -> String {
    let secret = secret.expose_secret();
    let local = format!("http://{address}");
    let url = app.config.server.public_url.as_ref().map_or(local.as_str(), |url| url.base());
    let data = app.config.storage.data_dir.display();
    format!(
        "\
listening on {local}

The demo is ready.

  API key     {secret}
  Try it      curl -H 'Authorization: Bearer {secret}' '{url}/api/v1/courses?limit=2'
  Swagger UI  {url}/docs (press Authorize and paste the key)
  Data        {data}; run again, the demo goes on where it was
  Stop        Ctrl-C
"
    )
}
