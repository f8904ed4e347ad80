//! `creator-api keys`: creates, lists, changes and revokes API keys.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use secrecy::ExposeSecret;
use serde_json::json;

use super::outcome::{CommandError, CommandOutcome};
use super::start::{self, DataFolder};
use super::webhooks::parse_overlap;
use super::workspaces::{QuotaFlags, find};
use super::{audited, output};
use domain::app::App;
use domain::audit::Action;
use domain::keys::{self, KeyRecord, KeyRotation, KeyUsage, Limit, NewKey};
use domain::scope::{Scope, Scopes};
use domain::workspaces::Quota;
use domain::{Error, WriteOutcome};
use foundation::config::{Config, Network};
use foundation::id::KeyId;

#[derive(Debug, clap::Subcommand)]
pub(super) enum KeysCommand {
    /// Create a key; the secret is printed to stdout and cannot be shown again
    Create(CreateKeyArgs),
    /// List a workspace's keys, newest first
    List {
        /// Key of the workspace, such as `acme`; `workspaces list` shows it
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set the quota of a key; a limit that is not specified falls back to that of the workspace
    SetQuota {
        /// Id of the key
        #[arg(value_name = "KEY_ID")]
        key: KeyId,
        #[command(flatten)]
        quota: QuotaFlags,
    },
    /// Set the networks from which a key may be used; without --allow-from, it may be used from everywhere
    SetNetworks {
        /// Id of the key
        #[arg(value_name = "KEY_ID")]
        key: KeyId,
        /// Network in CIDR notation, such as 203.0.113.0/24; can be specified several times
        #[arg(long, value_name = "CIDR", value_parser = network)]
        allow_from: Vec<Network>,
    },
    /// Let removed operations work for a key after their sunset
    ///
    /// Operations that the contract removes at their sunset answer 410 from then on, and during announced brownouts.
    /// For this key, they work before the given day.
    ExtendSunset {
        /// Id of the key
        #[arg(value_name = "KEY_ID")]
        key: KeyId,
        /// Day (UTC) on which they stop working, such as 2027-03-01
        #[arg(long, value_name = "DATE", required_unless_present = "withdraw")]
        until: Option<Date>,
        /// Withdraw the extension
        #[arg(long, conflicts_with = "until")]
        withdraw: bool,
    },
    /// Rotate the secret of a key; the new one is printed to stdout and cannot be shown again
    ///
    /// A key has at most two valid secrets. While the old one is valid, the key cannot be rotated again; a member of the workspace
    /// can end the old one in the dashboard.
    Rotate {
        /// Id of the key
        #[arg(value_name = "KEY_ID")]
        key: KeyId,
        /// How long the old secret stays valid, up to 7d; with 0s, it ends immediately
        #[arg(long, value_name = "DURATION", default_value = "24h")]
        overlap: Span,
    },
    /// Revoke a key; requests with it are then rejected
    Revoke {
        /// Id of the key
        #[arg(value_name = "KEY_ID")]
        key: KeyId,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct CreateKeyArgs {
    /// Key of the workspace, such as `acme`; `workspaces list` shows it
    #[arg(long, value_name = "KEY")]
    workspace: String,
    /// Name of the key, such as the integration that uses it
    #[arg(long)]
    name: String,
    /// One or more scopes, such as `read:courses`, or `all` for those of v1
    ///
    /// `all` does not include the scopes of the Developer API, such as `write:webhooks`.
    #[arg(long = "scope", value_name = "SCOPE", required = true, num_args = 1.., value_delimiter = ',')]
    scopes: Vec<String>,
    #[command(flatten)]
    quota: QuotaFlags,
    /// Time until the key expires, such as 90d or 12h; by default it does not expire
    #[arg(long, value_name = "DURATION")]
    expires_in: Option<Span>,
    /// Network from which the key may be used, in CIDR notation, such as 203.0.113.0/24; by default from everywhere
    ///
    /// Can be specified several times. Behind a proxy, the server knows the addresses of clients only with --trusted-proxies.
    #[arg(long, value_name = "CIDR", value_parser = network)]
    allow_from: Vec<Network>,
}

pub(super) async fn run(config: Config, command: KeysCommand) -> Result<CommandOutcome, CommandError> {
    let app = start::open_app(config, DataFolder::MustExist).await?;
    match command {
        KeysCommand::Create(new) => create(&app, new).await?,
        KeysCommand::List { workspace, json } => list(&app, &workspace, json).await?,
        KeysCommand::SetQuota { key, quota } => set_quota(&app, key, quota.into()).await?,
        KeysCommand::SetNetworks { key, allow_from } => set_networks(&app, key, &allow_from).await?,
        KeysCommand::ExtendSunset { key, until, withdraw: _ } => extend_sunset(&app, key, until).await?,
        KeysCommand::Rotate { key, overlap } => rotate(&app, key, overlap).await?,
        KeysCommand::Revoke { key } => revoke(&app, key).await?,
    }
    app.db.close().await;
    Ok(CommandOutcome::Done)
}

async fn create(app: &App, new: CreateKeyArgs) -> Result<(), CommandError> {
    let scopes = new.scopes.iter().map(|text| parse_scopes(text)).collect::<Result<Vec<_>, _>>()?;
    let workspace = find(app, &new.workspace).await?;
    let expires_at = new.expires_in.map(|span| expiry(app.clock.now(), span)).transpose()?;
    let key = NewKey {
        name: new.name,
        scopes: scopes.into_iter().flatten().collect(),
        quota: new.quota.into(),
        expires_at,
        networks: new.allow_from,
    };
    let mut write = app.begin_write().await?;
    let (record, secret) = keys::create(app, &mut write, workspace.id, key).await?;
    audited::commit(app, write, workspace.id, (Action::KeyCreated, record.id, &record.creation_detail()))
        .await?;
    output::print(secret.expose_secret())?;
    let scopes: Vec<&str> = record.scopes.iter().map(Scope::as_str).collect();
    output::eprint(format_args!("key {} for workspace `{}`: {}", record.id, workspace.key, scopes.join(" ")));
    if let Some(end) = record.expires_at {
        output::eprint(format_args!("the key expires at {}", output::format_time(end)));
    }
    output::eprint("the secret on stdout cannot be shown again; store it in a secret manager");
    Ok(())
}

/// Parses one value of `--scope`: a scope, or `all` for those of v1.
fn parse_scopes(text: &str) -> Result<Vec<Scope>, CommandError> {
    if text == "all" {
        return Ok(Scopes::v1().iter().collect());
    }
    let scope = text.parse().map_err(|error| CommandError::usage(format!("--scope: {error}")))?;
    Ok(vec![scope])
}

/// Returns the expiry time of a key or token that is created now. A day has 24 hours.
pub(super) fn expiry(now: Timestamp, span: Span) -> Result<Timestamp, CommandError> {
    match now.to_zoned(TimeZone::UTC).checked_add(span) {
        Ok(end) if end.timestamp() > now => Ok(end.timestamp()),
        _ => Err(CommandError::usage("--expires-in: expected a positive duration, such as 90d or 12h")),
    }
}

async fn list(app: &App, workspace: &str, json: bool) -> Result<(), CommandError> {
    let workspace = find(app, workspace).await?;
    let keys = keys::list_usage(app, workspace.id).await?;
    if json {
        return output::print_json(keys.iter().map(to_json).collect());
    }
    let now = app.clock.now();
    let limit = |limit: Limit| format!("{} ({})", limit.requests, limit.source.as_str());
    let rows: Vec<[String; 8]> = keys
        .into_iter()
        .map(|KeyUsage { key, quota, .. }| {
            let scopes: Vec<&str> = key.scopes.iter().map(Scope::as_str).collect();
            let last_used = key.last_used_at.map_or_else(|| "never".to_owned(), output::format_time);
            let masked = format!("{}...{}", key.prefix, key.last4);
            let (per_minute, per_day) = (limit(quota.per_minute), limit(quota.per_day));
            [
                key.id.to_string(),
                state(&key, now),
                key.name,
                masked,
                last_used,
                per_minute,
                per_day,
                scopes.join(" "),
            ]
        })
        .collect();
    output::print_table(
        ["ID", "STATE", "NAME", "SECRET", "LAST USED", "PER MINUTE", "PER DAY", "SCOPES"],
        &rows,
    )
}

fn state(key: &KeyRecord, now: Timestamp) -> String {
    match (key.revoked_at, key.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(end)) if end <= now => "expired",
        _ => "active",
    }
    .to_owned()
}

fn to_json(KeyUsage { key, quota, old_secret, .. }: &KeyUsage) -> serde_json::Value {
    json!({
        "id": key.id.to_string(),
        "name": key.name,
        "scopes": key.scopes.iter().map(Scope::as_str).collect::<Vec<_>>(),
        "prefix": key.prefix,
        "last4": key.last4,
        "old_secret": old_secret.as_ref().map(|old| json!({
            "prefix": old.prefix,
            "last4": old.last4,
            "expires_at": output::format_time(old.expires_at),
        })),
        "per_minute": quota.per_minute.requests,
        "per_minute_source": quota.per_minute.source.as_str(),
        "per_day": quota.per_day.requests,
        "per_day_source": quota.per_day.source.as_str(),
        "created_at": output::format_time(key.created_at),
        "last_used_at": key.last_used_at.map(output::format_time),
        "expires_at": key.expires_at.map(output::format_time),
        "revoked_at": key.revoked_at.map(output::format_time),
        "networks": key.networks.iter().map(Network::to_string).collect::<Vec<_>>(),
        "sunset_extended_until": key.sunset_extended_until.map(output::format_time),
    })
}

async fn set_quota(app: &App, key: KeyId, quota: Quota) -> Result<(), CommandError> {
    let mut write = app.begin_write().await?;
    let result = keys::set_quota(app, &mut write, key, quota).await;
    let WriteOutcome { record: key, changed } = result.map_err(|error| key_error(error, key))?;
    let limit = |limit: Option<i32>| {
        limit.map_or_else(|| "the workspace's limit".to_owned(), |limit| limit.to_string())
    };
    let limits = format!("per minute: {}, per day: {}", limit(quota.per_minute), limit(quota.per_day));
    if changed {
        let detail = format!("{} ({limits})", key.name);
        audited::commit(app, write, key.workspace, (Action::KeyQuotaSet, key.id, &detail)).await?;
    }
    output::eprint(format_args!(
        "key {} ({}): {limits}; other processes apply this within 2 s",
        key.id, key.name
    ));
    Ok(())
}

fn network(text: &str) -> Result<Network, String> {
    text.parse().map_err(|()| "expected a network such as 203.0.113.0/24 or 2001:db8::/32".to_owned())
}

async fn set_networks(app: &App, key: KeyId, networks: &[Network]) -> Result<(), CommandError> {
    let mut write = app.begin_write().await?;
    let result = keys::set_networks(app, &mut write, key, networks).await;
    let WriteOutcome { record: key, changed } = result.map_err(|error| key_error(error, key))?;
    let effect = key.allowed_from();
    if changed {
        let detail = format!("{} ({effect})", key.name);
        audited::commit(app, write, key.workspace, (Action::KeyNetworksSet, key.id, &detail)).await?;
    }
    output::eprint(format_args!(
        "key {} ({}): {effect}; other processes apply this within 2 s",
        key.id, key.name
    ));
    Ok(())
}

async fn extend_sunset(app: &App, key: KeyId, until: Option<Date>) -> Result<(), CommandError> {
    let invalid = || CommandError::usage("--until: expected a day in the future, such as 2027-03-01");
    let start = |day: Date| day.to_zoned(TimeZone::UTC).map(|start| start.timestamp());
    let end = until.map(start).transpose().map_err(|_| invalid())?;
    let mut write = app.begin_write().await?;
    let result = keys::extend_sunset(app, &mut write, key, end).await;
    let WriteOutcome { record: key, changed } = result.map_err(|error| match error {
        Error::Invalid(_) => invalid(),
        error => key_error(error, key),
    })?;
    let effect = match until {
        Some(day) => format!("removed operations work before {day}"),
        None => "removed operations do not work".to_owned(),
    };
    if changed {
        let detail = format!("{} ({effect})", key.name);
        audited::commit(app, write, key.workspace, (Action::KeySunsetExtended, key.id, &detail)).await?;
    }
    output::eprint(format_args!(
        "key {} ({}): {effect}; other processes apply this within 2 s",
        key.id, key.name
    ));
    Ok(())
}

/// Converts the error of an operation on a key. If the key does not exist, the message names the command that lists
/// keys.
fn key_error(error: Error, key: KeyId) -> CommandError {
    match error {
        Error::NotFound(_) => CommandError::new(format!(
            "API key {key} not found; `creator-api keys list --workspace KEY` lists the keys of a workspace"
        )),
        error => error.into(),
    }
}

async fn rotate(app: &App, key: KeyId, overlap: Span) -> Result<(), CommandError> {
    let overlap = parse_overlap(app, overlap)?;
    let mut write = app.begin_write().await?;
    let rotation = KeyRotation { workspace: None, key, current_digest: None, overlap };
    let rotated = keys::rotate(app, &mut write, rotation).await;
    let rotated = rotated.map_err(|error| key_error(error, key))?;
    let entry = (Action::KeyRotated, key, &*rotated.audit_detail());
    audited::commit(app, write, rotated.key.workspace, entry).await?;
    output::print(rotated.secret.expose_secret())?;
    match rotated.old_until.map(output::format_time) {
        Some(until) => {
            output::eprint(format_args!("key {key} ({}): the old secret ends at {until}", rotated.key.name))
        }
        None => output::eprint(format_args!(
            "key {key} ({}): the old secret ended; other processes apply this within 2 s",
            rotated.key.name
        )),
    }
    output::eprint("the secret on stdout cannot be shown again; store it in a secret manager");
    Ok(())
}

async fn revoke(app: &App, key: KeyId) -> Result<(), CommandError> {
    let mut write = app.begin_write().await?;
    let result = keys::revoke(app, &mut write, None, key).await;
    let WriteOutcome { record: revoked, changed } = result.map_err(|error| key_error(error, key))?;
    if changed {
        audited::commit(app, write, revoked.workspace, (Action::KeyRevoked, revoked.id, &revoked.name))
            .await?;
    }
    output::eprint(format_args!(
        "key {} ({}) is revoked; other processes apply this within 2 s",
        revoked.id, revoked.name
    ));
    Ok(())
}
