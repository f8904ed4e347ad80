//! `creator-api demo`: runs the server, the worker and a webhook receiver in one process, on demo data.
//!
//! The API key, the password of the [login] and the secret of the [webhook] are stored in the data folder, so that the
//! next run uses the same ones. The [receiver] prints the events that it verified.

mod lock;
mod login;
mod receiver;
mod webhook;

use std::fs;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use super::background::Background;
use super::heartbeats::Heartbeats;
use super::master_key::{self, KeyUse};
use super::outcome::{CommandError, CommandOutcome};
use super::progress::ProgressDisplay;
use super::start::{self, DataFolder};
use super::workspaces::find;
use super::{file_limit, health, output, serve, signals};
use crate::server::drain_time;
use domain::app::App;
use domain::keys::{self, NewKey};
use domain::processes::Roles;
use domain::scope::Scopes;
use domain::workspaces::Quota;
use feed::demo;
use foundation::config::{Config, Network};
use foundation::secret::create_private_file;
use lock::DemoLock;
use login::DemoLogin;
use webhook::DemoWebhook;

/// The loopback networks, which webhooks of the demo can reach: the demo's receiver listens on 127.0.0.1.
const LOOPBACK: [&str; 2] = ["127.0.0.0/8", "::1/128"];
/// Name of the file in the data folder that holds the secret of the API key.
const KEY_FILE: &str = "demo.key";

/// `database_url` is the value of the flag `--database-url`, if it was specified.
pub(super) async fn run(
    mut config: Config,
    database_url: Option<String>,
) -> Result<CommandOutcome, CommandError> {
    file_limit::raise();
    let data_dir = config.storage.data_dir.clone();
    let mut lock = DemoLock::acquire(&data_dir)?;
    let socket = serve::bind(config.server.listen, "--listen")?;
    let address = socket.local_addr()?;
    config.server.listen = address;
    lock.store_url(&local_url(address))?;
    allow_local_webhooks(&mut config);
    serve::prepare_in_background(true);
    let app = start::open_migrated_app(config).await?;
    let master = master_key::load(&app, KeyUse::Server, DataFolder::MayBeCreated).await?;
    let mut server = serve::build_server(&app, &master, address)?;
    load_data(&app).await?;
    let secret = ensure_key(&app, &data_dir).await?;
    if address.ip().is_loopback() && app.config.server.public_url.is_none() {
        server = server.with_demo_key(secret.clone());
    }
    let login = login::ensure(&app, &data_dir).await?;
    let webhook = webhook::ensure(&app, &master, &data_dir, address).await?;
    let listener = serve::listen(socket, "--listen")?;
    let stop = signals::listen("waiting for requests in flight")?;
    let stop_background = signals::delayed(&stop, drain_time(&app.config.server));
    let heartbeats = Heartbeats::start(&app, Roles { serves: true, runs_worker: true }, &stop).await;
    let background = Background::start(&app, &master, &stop_background)?;
    let list = format!("webhooks list --workspace {}", demo::WORKSPACE);
    let command = command_line(&list, &data_dir, database_url.as_deref());
    output::print(welcome(&app, address, &command, &secret, &login, &webhook))?;
    let receiver = tokio::spawn(receiver::run(webhook.listener, webhook.secret));
    let (served, ()) = tokio::join!(server.run(listener, stop), background.wait(&app));
    receiver.abort();
    heartbeats.stop().await;
    app.db.close().await;
    served?;
    Ok(CommandOutcome::Done)
}

/// Allows webhooks to receivers on this machine.
pub(super) fn allow_local_webhooks(config: &mut Config) {
    let networks = LOOPBACK.iter().filter_map(|network| network.parse::<Network>().ok());
    config.webhooks.webhook_allow.extend(networks);
}

/// Applies the demo's changes. Changes that a previous run applied are skipped.
pub(super) async fn load_data(app: &App) -> Result<(), CommandError> {
    let mut progress = ProgressDisplay::start("demo data", u64::try_from(demo::change_count()).ok());
    let options = feed::ApplyOptions {
        on_progress: Box::new(|feed::ApplyProgress { outcome, .. }| {
            progress.update(outcome.applied + outcome.repeated, || format!("{} changes", outcome.applied));
        }),
        ..feed::ApplyOptions::default()
    };
    let outcome = demo::load(app, options).await?;
    progress.finish();
    if outcome.rejected > 0 {
        let message = "some demo changes conflict with the data in this database; use another data folder with --data-dir DIR";
        return Err(CommandError::new(message));
    }
    Ok(())
}

/// Returns the secret of the previous run's API key if it is still valid, or creates a key.
async fn ensure_key(app: &App, data_dir: &Path) -> Result<SecretString, CommandError> {
    let path = data_dir.join(KEY_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let secret = SecretString::from(text.trim());
            if keys::authenticate(app, secret.expose_secret()).await?.is_some() {
                return Ok(secret);
            }
            fs::remove_file(&path).map_err(|error| not_written(&path, &error))?;
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(not_read(&path, &error)),
    }
    let workspace = find(app, demo::WORKSPACE).await?;
    let key = NewKey {
        name: "Demo".to_owned(),
        scopes: Scopes::v1(),
        quota: Quota::default(),
        expires_at: None,
        networks: Vec::new(),
    };
    let mut write = app.begin_write().await?;
    let (_, secret) = keys::create(app, &mut write, workspace.id, key).await?;
    create_private_file(&path, secret.expose_secret().as_bytes())
        .map_err(|error| not_written(&path, &error))?;
    write.commit().await?;
    Ok(secret)
}

/// Returns the error of a file in the data folder that cannot be read.
fn not_read(path: &Path, error: &io::Error) -> CommandError {
    CommandError::new(format!("cannot read {}: {error}; check the file's permissions", path.display()))
}

/// Returns the error of a file in the data folder that cannot be written or removed.
fn not_written(path: &Path, error: &io::Error) -> CommandError {
    CommandError::new(format!(
        "cannot write {}: {error}; check its permissions and the free disk space, or specify another folder with --data-dir",
        path.display()
    ))
}

/// Returns the URL at which this machine reaches the server.
fn local_url(address: SocketAddr) -> String {
    format!("http://{}", health::local(address))
}

/// Returns the command line of another command of this program on the same data, to paste into a shell.
fn command_line(arguments: &str, data_dir: &Path, database_url: Option<&str>) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "creator-api".to_owned());
    let data_dir = data_dir.display().to_string();
    let mut line = format!("{} {arguments} --data-dir {}", shell_word(&program), shell_word(&data_dir));
    if let Some(url) = database_url {
        // What the demo prints may be logged, so the shell provides the password.
        let url = if has_password(url) { r#""$DATABASE_URL""#.to_owned() } else { shell_word(url) };
        line += &format!(" --database-url {url}");
    }
    line
}

/// Returns whether a database URL contains a password, before the host or as a parameter.
fn has_password(url: &str) -> bool {
    let user = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.contains(':')) || url.contains("password=")
}

/// Quotes a word for a shell if necessary.
fn shell_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Returns the message that describes what the user can try.
fn welcome(
    app: &App,
    address: SocketAddr,
    command: &str,
    secret: &SecretString,
    login: &DemoLogin,
    webhook: &DemoWebhook,
) -> String {
    let secret = secret.expose_secret();
    let local = local_url(address);
    let url = app.config.server.public_url.as_ref().map_or(local.as_str(), |url| url.base());
    let (data, workspace) = (app.config.storage.data_dir.display(), demo::WORKSPACE);
    let receiver_url = &webhook.url;
    let (email, password) = (&login.email, login.password.expose_secret());
    format!(
        "\
listening on http://{address}

The demo is ready.

  Dashboard   {url}/dashboard
  Sign in     {email} with the password {password}
  API key     {secret}
  Try it      curl -H 'Authorization: Bearer {secret}' '{url}/api/v1/courses?limit=2'
  Send event  curl -H 'Authorization: Bearer {secret}' --json '{{\"email\": \"ada-'$(date +%s%N)$RANDOM'@example.com\"}}' '{url}/api/v1/students'
  Workspace   {workspace}
  Command     {command}
  Docs        {url}/docs (guides, events, and a reference that sends requests)
  Webhooks    {receiver_url} prints each event below; {url}/docs/webhooks describes how to write a receiver
  Data        {data}; the next run uses the same data
  Stop        Ctrl-C
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_command_contains_no_password() {
        for url in ["postgres://app:s@cret@db/x", "postgres://db/x?user=app&password=s%40cret"] {
            let command = command_line("doctor", Path::new("data"), Some(url));
            assert!(
                command.ends_with(r#" doctor --data-dir data --database-url "$DATABASE_URL""#),
                "{command}"
            );
        }
        let command = command_line("doctor", Path::new("data"), Some("postgres://app@db:5432/x"));
        assert!(command.ends_with(" --database-url postgres://app@db:5432/x"), "{command}");
    }
}
