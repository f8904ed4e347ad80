//! `creator-api keys`: makes, lists and revokes API keys, and sets their quotas.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use secrecy::ExposeSecret;
use serde_json::json;

use super::failure::{Failure, Outcome};
use super::workspaces::{QuotaFlags, find};
use super::{noted, output, start};
use domain::app::App;
use domain::audit::Action;
use domain::keys::{self, KeyRecord, KeyUsage, Limit, NewKey};
use domain::scope::Scope;
use domain::workspaces::Quota;
use domain::{Changed, Error};
use foundation::config::Config;
use foundation::id::KeyId;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a key; its secret goes to stdout and is shown this once
    Create(Create),
    /// List a workspace's keys, newest first
    List {
        /// The workspace's key
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set a key's own quota, which may exceed the workspace's; a part that is not given falls back to the workspace's
    SetQuota {
        /// The key's id
        #[arg(value_name = "KEY_ID")]
        key: KeyId,
        #[command(flatten)]
        quota: QuotaFlags,
    },
    /// Revoke a key: no request with it is answered from now on
    Revoke {
        /// The key's id
        #[arg(value_name = "KEY_ID")]
        key: KeyId,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct Create {
    /// The workspace's key
    #[arg(long, value_name = "KEY")]
    workspace: String,
    /// Name that tells what the key is for
    #[arg(long)]
    name: String,
    /// What the key may do; one or several scopes, or `all`
    #[arg(long = "scope", value_name = "SCOPE", required = true, num_args = 1.., value_delimiter = ',')]
    scopes: Vec<String>,
    #[command(flatten)]
    quota: QuotaFlags,
    /// Time after which the key ends, such as 90d or 12h; without it, it does not end
    #[arg(long, value_name = "DURATION")]
    expires_in: Option<Span>,
}

pub(super) async fn run(config: Config, command: Command) -> Result<Outcome, Failure> {
    let app = start::app(config).await?;
    match command {
        Command::Create(new) => create(&app, new).await?,
        Command::List { workspace, json } => list(&app, &workspace, json).await?,
        Command::SetQuota { key, quota } => set_quota(&app, key, quota.into()).await?,
        Command::Revoke { key } => revoke(&app, key).await?,
    }
    app.db.close().await;
    Ok(Outcome::Done)
}

async fn create(app: &App, new: Create) -> Result<(), Failure> {
    let scopes = new.scopes.iter().map(|text| scopes(text)).collect::<Result<Vec<_>, _>>()?;
    let workspace = find(app, &new.workspace).await?;
    let expires_at = new.expires_in.map(|span| end(app.clock.now(), span)).transpose()?;
    let key = NewKey {
        name: new.name,
        scopes: scopes.into_iter().flatten().collect(),
        quota: new.quota.into(),
        expires_at,
    };
    let mut write = app.begin_write().await?;
    let (record, secret) = keys::create(app, &mut write, workspace.id, key).await?;
    noted::commit(app, write, workspace.id, (Action::KeyCreated, record.id, &record.name)).await?;
    output::line(secret.expose_secret())?;
    let scopes: Vec<&str> = record.scopes.iter().map(Scope::as_str).collect();
    output::say(format_args!("key {} for workspace `{}`: {}", record.id, workspace.key, scopes.join(" ")));
    if let Some(end) = record.expires_at {
        output::say(format_args!("it ends at {}", output::time(end)));
    }
    output::say("the secret on stdout is shown this once; keep it in a secret manager");
    Ok(())
}

/// The scopes that one word names.
fn scopes(text: &str) -> Result<Vec<Scope>, Failure> {
    if text == "all" {
        return Ok(Scope::ALL.to_vec());
    }
    let scope = text.parse().map_err(|error| Failure::usage(format!("--scope: {error}")))?;
    Ok(vec![scope])
}

/// The end of a key that is made now and lives that long; a day has 24 hours.
fn end(now: Timestamp, span: Span) -> Result<Timestamp, Failure> {
    match now.to_zoned(TimeZone::UTC).checked_add(span) {
        Ok(end) if end.timestamp() > now => Ok(end.timestamp()),
        _ => Err(Failure::usage(
            "--expires-in names no time in the future; give a duration such as 90d or 12h",
        )),
    }
}

async fn list(app: &App, workspace: &str, json: bool) -> Result<(), Failure> {
    let workspace = find(app, workspace).await?;
    let keys = keys::usage(app, workspace.id).await?;
    if json {
        return output::json(keys.iter().map(record).collect());
    }
    let now = app.clock.now();
    let limit = |limit: Limit| format!("{} ({})", limit.requests, limit.source.as_str());
    let rows: Vec<[String; 8]> = keys
        .into_iter()
        .map(|KeyUsage { key, quota, .. }| {
            let scopes: Vec<&str> = key.scopes.iter().map(Scope::as_str).collect();
            let used = key.last_used_at.map_or_else(|| "never".to_owned(), output::time);
            let shown = format!("{}...{}", key.prefix, key.last4);
            let (per_minute, per_day) = (limit(quota.per_minute), limit(quota.per_day));
            [
                key.id.to_string(),
                state(&key, now),
                key.name,
                shown,
                used,
                per_minute,
                per_day,
                scopes.join(" "),
            ]
        })
        .collect();
    output::table(["ID", "STATE", "NAME", "SECRET", "LAST USED", "PER MINUTE", "PER DAY", "SCOPES"], &rows)
}

fn state(key: &KeyRecord, now: Timestamp) -> String {
    match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(end)) if end <= now => "expired",
        _ => "active",
    }
    .to_owned()
}

fn record(KeyUsage { key, quota, .. }: &KeyUsage) -> serde_json::Value {
    json!({
        "id": key.id.to_string(),
        "name": key.name,
        "scopes": key.scopes.iter().map(Scope::as_str).collect::<Vec<_>>(),
        "prefix": key.prefix,
        "last4": key.last4,
        "per_minute": quota.per_minute.requests,
        "per_minute_source": quota.per_minute.source.as_str(),
        "per_day": quota.per_day.requests,
        "per_day_source": quota.per_day.source.as_str(),
        "created_at": output::time(key.created_at),
        "last_used_at": key.last_used_at.map(output::time),
        "expires_at": key.expires_at.map(output::time),
        "revoked_at": key.revoked_at.map(output::time),
    })
}

async fn set_quota(app: &App, key: KeyId, quota: Quota) -> Result<(), Failure> {
    let mut write = app.begin_write().await?;
    let set = keys::set_quota(app, &mut write, key, quota).await;
    let Changed { record: key, changed } = set.map_err(|error| failure(error, key))?;
    let limit =
        |own: Option<i32>| own.map_or_else(|| "the workspace's limit".to_owned(), |own| own.to_string());
    let limits = format!("per minute: {}, per day: {}", limit(quota.per_minute), limit(quota.per_day));
    if changed {
        let told = format!("{} ({limits})", key.name);
        noted::commit(app, write, key.workspace, (Action::KeyQuotaSet, key.id, &told)).await?;
    }
    output::say(format_args!(
        "key {} ({}): {limits}; other processes apply this within 2 s",
        key.id, key.name
    ));
    Ok(())
}

/// What to tell an operator who named a key.
fn failure(error: Error, key: KeyId) -> Failure {
    match error {
        Error::NotFound(_) => Failure::new(format!(
            "there is no key {key}; `creator-api keys list --workspace KEY` shows those there are"
        )),
        error => error.into(),
    }
}

async fn revoke(app: &App, key: KeyId) -> Result<(), Failure> {
    let mut write = app.begin_write().await?;
    let revoked = keys::revoke(app, &mut write, None, key).await;
    let Changed { record: revoked, changed } = revoked.map_err(|error| failure(error, key))?;
    if changed {
        noted::commit(app, write, revoked.workspace, (Action::KeyRevoked, revoked.id, &revoked.name)).await?;
    }
    output::say(format_args!(
        "key {} ({}) is revoked; other processes follow within 2 s",
        revoked.id, revoked.name
    ));
    Ok(())
}
