//! `creator-api workspaces`: makes workspaces, lists them, sets their quotas and owners.

use serde_json::json;

use super::failure::{Failure, Outcome};
use super::{noted, output, start, users};
use domain::app::App;
use domain::audit::{Action, Actor};
use domain::workspaces::{self, NewOwner, Quota, Workspace, WorkspaceUpsert};
use domain::{Error, Given};
use foundation::config::{Config, LINKS, flags};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a workspace; its id goes to stdout, a link for its owner's password to stderr
    #[command(args = flags(LINKS))]
    Create {
        /// Short name, unique on this server, as commands and changes use it
        #[arg(long)]
        key: String,
        /// Name that people see
        #[arg(long)]
        name: String,
        /// Address that warnings go to
        #[arg(long, value_name = "EMAIL")]
        owner_email: String,
    },
    /// List all workspaces
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make somebody else the owner; the previous owner is removed from the workspace
    ///
    /// The sessions of the previous owner in the workspace and the links made in it end at once. To keep that person, add them
    /// again with `creator-api users add`. A new owner who has no password gets a link to set one, on stdout.
    #[command(args = flags(LINKS))]
    SetOwner {
        /// The workspace's key
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// The new owner's address
        #[arg(long)]
        email: String,
    },
    /// Set a workspace's own quota; a part that is not given falls back to the default
    SetQuota {
        /// The workspace's key
        #[arg(long, value_name = "KEY")]
        workspace: String,
        #[command(flatten)]
        quota: QuotaFlags,
    },
}

/// A quota as flags.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct QuotaFlags {
    /// Requests in a clock minute
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    per_minute: Option<i32>,
    /// Requests in a UTC day
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    per_day: Option<i32>,
}

impl From<QuotaFlags> for Quota {
    fn from(QuotaFlags { per_minute, per_day }: QuotaFlags) -> Self {
        Self { per_minute, per_day }
    }
}

pub(super) async fn run(config: Config, command: Command) -> Result<Outcome, Failure> {
    let app = start::app(config).await?;
    match command {
        Command::Create { key, name, owner_email } => create(&app, key, name, owner_email).await?,
        Command::List { json } => list(&app, json).await?,
        Command::SetOwner { workspace, email } => set_owner(&app, &workspace, &email).await?,
        Command::SetQuota { workspace, quota } => set_quota(&app, &workspace, quota.into()).await?,
    }
    app.db.close().await;
    Ok(Outcome::Done)
}

/// The workspace with this key, or the sentence that tells how to find the right one.
pub(super) async fn find(app: &App, key: &str) -> Result<Workspace, Failure> {
    match workspaces::by_key(app, key).await {
        Err(Error::NotFound(_)) => Err(Failure::new(format!(
            "there is no workspace `{key}`; `creator-api workspaces list` shows those there are"
        ))),
        found => Ok(found?),
    }
}

async fn create(app: &App, key: String, name: String, owner_email: String) -> Result<(), Failure> {
    let mut write = app.begin_write().await?;
    match workspaces::by_key_in(&write, &key).await {
        Ok(taken) => {
            return Err(Failure::new(format!(
                "there is a workspace `{key}` already ({}); choose another key",
                taken.id
            )));
        }
        Err(Error::NotFound(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let (per_minute, per_day) = (Given::Absent, Given::Absent);
    let upsert = WorkspaceUpsert { key: key.clone(), name, owner_email, per_minute, per_day };
    let (workspace, owner) = workspaces::create(app, &mut write, app.clock.now(), upsert).await?;
    let link = users::new_link(app, &mut write, &workspace, &owner).await?;
    write.commit().await?;
    output::line(workspace.id)?;
    output::say(format_args!(
        "made workspace `{key}`; `creator-api keys create --workspace {key}` makes a key for it"
    ));
    output::say(format_args!("{} sets a password for the dashboard at {link}", workspace.owner_email));
    users::about_link(app);
    Ok(())
}

async fn set_owner(app: &App, key: &str, email: &str) -> Result<(), Failure> {
    let workspace = find(app, key).await?;
    let mut write = app.begin_write().await?;
    let actor = Actor::operator();
    let Some(NewOwner { owner, removed }) =
        workspaces::set_owner(app, &mut write, workspace.id, email, &actor).await?
    else {
        output::say(format_args!("{email} owns workspace `{key}` already; nothing was changed"));
        return Ok(());
    };
    let link = users::access_link(app, &mut write, &workspace, &owner).await?;
    write.commit().await?;
    output::say(format_args!("{} owns workspace `{key}` now", owner.email));
    if let Some(removed) = removed {
        output::say(format_args!("removed {}; their sessions and links have ended", removed.email));
    }
    if let Some(link) = link {
        output::line(link)?;
        users::about_link(app);
    }
    Ok(())
}

async fn list(app: &App, json: bool) -> Result<(), Failure> {
    let workspaces = workspaces::list(app).await?;
    if json {
        return output::json(workspaces.iter().map(record).collect());
    }
    let cap = |cap: Option<i32>| cap.map_or_else(|| "default".to_owned(), |cap| cap.to_string());
    let rows: Vec<[String; 6]> = workspaces
        .into_iter()
        .map(|one| {
            let Quota { per_minute, per_day } = one.quota;
            [one.key, one.id.to_string(), one.name, one.owner_email, cap(per_minute), cap(per_day)]
        })
        .collect();
    output::table(["KEY", "ID", "NAME", "OWNER", "PER MINUTE", "PER DAY"], &rows)
}

fn record(workspace: &Workspace) -> serde_json::Value {
    json!({
        "id": workspace.id.to_string(),
        "key": workspace.key,
        "name": workspace.name,
        "owner_email": workspace.owner_email,
        "per_minute": workspace.quota.per_minute,
        "per_day": workspace.quota.per_day,
        "created_at": output::time(workspace.created_at),
        "updated_at": output::time(workspace.updated_at),
    })
}

async fn set_quota(app: &App, key: &str, quota: Quota) -> Result<(), Failure> {
    let workspace = find(app, key).await?;
    let mut write = app.begin_write().await?;
    let changed = workspaces::set_quota(app, &mut write, workspace.id, quota).await?.changed;
    let cap = |cap: Option<i32>| cap.map_or_else(|| "the default".to_owned(), |cap| cap.to_string());
    let caps = format!("{} a minute, {} a day", cap(quota.per_minute), cap(quota.per_day));
    if changed {
        noted::commit(app, write, workspace.id, (Action::QuotaSet, workspace.id, &caps)).await?;
    }
    output::say(format_args!(
        "workspace `{key}`: {caps}; a key whose quota `keys set-quota` or `keys create` set keeps that"
    ));
    Ok(())
}
