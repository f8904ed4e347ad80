//! `creator-api demo`: everything in one process, on demo data.
//!
//! Owns the demo's key: its secret is kept in the data folder, so that the next run shows the same one, and so is the
//! [login]'s password. The demo's [webhook] and its [receiver] show the whole round.

mod login;
mod receiver;
mod webhook;

use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use super::background::Background;
use super::failure::{Failure, Outcome};
use super::progress::Progress;
use super::workspaces::find;
use super::{files, output, serve, signals, start};
use domain::app::App;
use domain::keys::{self, NewKey};
use domain::scope::Scopes;
use domain::workspaces::Quota;
use feed::demo;
use foundation::config::{Config, Network};
use foundation::secret::write_private;
use login::Login;
use webhook::Webhook;

/// Where the demo's receiver is.
const LOOPBACK: [&str; 2] = ["127.0.0.0/8", "::1/128"];
/// The demo key's secret in the data folder.
const KEY_FILE: &str = "demo.key";

pub(super) async fn run(mut config: Config) -> Result<Outcome, Failure> {
    files::raise_limit();
    let listener = serve::bind(config.server.listen, "--listen")?;
    let address = listener.local_addr()?;
    let data_dir = config.storage.data_dir.clone();
    // The demo's receiver is on this machine.
    config
        .webhooks
        .webhook_allow
        .extend(LOOPBACK.iter().filter_map(|network| network.parse::<Network>().ok()));
    let app = start::app_migrated(config).await?;
    let master = start::master_key(&app).await?;
    let server = serve::server(&app, &master, address)?;
    fill(&app).await?;
    let secret = demo_key(&app, &data_dir).await?;
    let login = login::ready(&app, &data_dir).await?;
    let webhook = webhook::ready(&app, &master, &data_dir, address).await?;
    let stop = signals::stop("running requests finish")?;
    let background = Background::start(&app, &master, &stop)?;
    output::line(welcome(&app, address, &secret, &login, &webhook))?;
    let receiver = tokio::spawn(receiver::run(webhook.listener, webhook.secret));
    let (served, ()) = tokio::join!(server.run(listener, stop), background.ended());
    receiver.abort();
    served?;
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

/// Where this machine's own browser finds what listens there: every address of a machine is none to go to.
fn near(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// What a newcomer can do now.
fn welcome(
    app: &App,
    address: SocketAddr,
    secret: &SecretString,
    login: &Login,
    webhook: &Webhook,
) -> String {
    let secret = secret.expose_secret();
    let local = format!("http://{}", near(address));
    let url = app.config.server.public_url.as_ref().map_or(local.as_str(), |url| url.base());
    let data = app.config.storage.data_dir.display();
    let receiver = &webhook.url;
    let (email, password) = (&login.email, login.password.expose_secret());
    format!(
        "\
listening on http://{address}

The demo is ready.

  Dashboard   {url}/dashboard
  Sign in     {email} with the password {password}
  API key     {secret}
  Try it      curl -H 'Authorization: Bearer {secret}' '{url}/api/v1/courses?limit=2'
  Make events curl -H 'Authorization: Bearer {secret}' --json '{{\"email\": \"ada@example.com\"}}' '{url}/api/v1/students'
  Swagger UI  {url}/docs (press Authorize and paste the key)
  Webhooks    {receiver} prints below what it receives; {url}/docs/webhooks tells how to write one
  Data        {data}; run again, the demo goes on where it was
  Stop        Ctrl-C
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_is_found_on_its_own_machine() {
        let near = |text: &str| near(text.parse().unwrap()).to_string();
        assert_eq!(near("0.0.0.0:8080"), "127.0.0.1:8080");
        assert_eq!(near("[::]:8080"), "[::1]:8080");
        for one in ["127.0.0.1:80", "192.0.2.7:8080", "[2001:db8::1]:8080"] {
            assert_eq!(near(one), one);
        }
    }
}
