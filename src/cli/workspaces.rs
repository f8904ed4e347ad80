//! `creator-api workspaces`: creates and lists workspaces, sets their quotas and owners, and manages their sandboxes.

use serde_json::json;

use super::outcome::{CommandError, CommandOutcome};
use super::start::{self, DataFolder};
use super::{access_links, audited, output};
use domain::app::App;
use domain::audit::{Action, Actor};
use domain::workspaces::{self, OwnershipTransfer, Quota, Workspace, WorkspaceUpsert};
use domain::{Error, FieldUpdate, sandbox};
use foundation::config::{Config, LINK_SETTINGS, flags};

#[derive(Debug, clap::Subcommand)]
pub(super) enum WorkspacesCommand {
    /// Create a workspace; its id is printed to stdout, a password link for the owner to stderr
    #[command(args = flags(LINK_SETTINGS))]
    Create {
        /// Unique key of the workspace, such as `acme`, by which commands and changes refer to it
        #[arg(long)]
        key: String,
        /// Display name
        #[arg(long)]
        name: String,
        /// Email address of the owner, to which warnings are sent
        #[arg(long, value_name = "EMAIL")]
        owner_email: String,
    },
    /// List all workspaces
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set the owner of a workspace; the previous owner loses access
    ///
    /// The sessions and password links of the previous owner for this workspace become invalid. To keep the previous
    /// owner as a member, add them again with `creator-api users add`. If the new owner has no password, a password
    /// link is printed to stdout.
    #[command(args = flags(LINK_SETTINGS))]
    SetOwner {
        /// Key of the workspace, such as `acme`; `workspaces list` shows it
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Email address of the new owner
        #[arg(long)]
        email: String,
    },
    /// Create the sandbox of a workspace, with the demo data; its id is printed to stdout
    ///
    /// A sandbox is a workspace with test data. The members of the workspace can switch to it in the dashboard. The secrets of its
    /// API keys begin with `svc_test_`.
    CreateSandbox {
        /// Key of the live workspace, such as `acme`; the key of the sandbox is then `acme-sandbox`
        #[arg(value_name = "KEY")]
        workspace: String,
    },
    /// Replace the data of a workspace's sandbox by the demo data; its API keys and webhooks stay
    ResetSandbox {
        /// Key of the live workspace, such as `acme`
        #[arg(value_name = "KEY")]
        workspace: String,
    },
    /// Delete the sandbox of a workspace, with its API keys and webhooks
    DeleteSandbox {
        /// Key of the live workspace, such as `acme`
        #[arg(value_name = "KEY")]
        workspace: String,
        /// Confirm the deletion, which cannot be undone
        #[arg(long)]
        yes: bool,
    },
    /// Set the quota of each API key in a workspace; a limit that is not specified falls back to the default
    SetQuota {
        /// Key of the workspace, such as `acme`; `workspaces list` shows it
        #[arg(long, value_name = "KEY")]
        workspace: String,
        #[command(flatten)]
        quota: QuotaFlags,
    },
}

/// The flags of a quota.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct QuotaFlags {
    /// Maximum number of requests per API key and clock minute
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    per_minute: Option<i32>,
    /// Maximum number of requests per API key and UTC day
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    per_day: Option<i32>,
}

impl From<QuotaFlags> for Quota {
    fn from(QuotaFlags { per_minute, per_day }: QuotaFlags) -> Self {
        Self { per_minute, per_day }
    }
}

pub(super) async fn run(config: Config, command: WorkspacesCommand) -> Result<CommandOutcome, CommandError> {
    let folder = match command {
        WorkspacesCommand::Create { .. } => DataFolder::MayBeCreated,
        _ => DataFolder::MustExist,
    };
    let app = start::open_app(config, folder).await?;
    match command {
        WorkspacesCommand::Create { key, name, owner_email } => create(&app, key, name, owner_email).await?,
        WorkspacesCommand::List { json } => list(&app, json).await?,
        WorkspacesCommand::SetOwner { workspace, email } => set_owner(&app, &workspace, &email).await?,
        WorkspacesCommand::CreateSandbox { workspace } => create_sandbox(&app, &workspace).await?,
        WorkspacesCommand::ResetSandbox { workspace } => reset_sandbox(&app, &workspace).await?,
        WorkspacesCommand::DeleteSandbox { workspace, yes } => delete_sandbox(&app, &workspace, yes).await?,
        WorkspacesCommand::SetQuota { workspace, quota } => set_quota(&app, &workspace, quota.into()).await?,
    }
    app.db.close().await;
    Ok(CommandOutcome::Done)
}

/// Returns the workspace with this key, or an error that names the command to list the workspaces.
pub(super) async fn find(app: &App, key: &str) -> Result<Workspace, CommandError> {
    match workspaces::by_key(app, key).await {
        Err(Error::NotFound(_)) => Err(CommandError::new(format!(
            "workspace `{key}` not found; `creator-api workspaces list` lists the workspaces"
        ))),
        result => Ok(result?),
    }
}

async fn create(app: &App, key: String, name: String, owner_email: String) -> Result<(), CommandError> {
    let mut write = app.begin_write().await?;
    match workspaces::by_key_in(&write, &key).await {
        Ok(existing) => {
            return Err(CommandError::new(format!(
                "workspace `{key}` already exists ({}); choose another key",
                existing.id
            )));
        }
        Err(Error::NotFound(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let (per_minute, per_day) = (FieldUpdate::Absent, FieldUpdate::Absent);
    let upsert = WorkspaceUpsert { key: key.clone(), name, owner_email, per_minute, per_day };
    let (workspace, owner) = workspaces::create(app, &mut write, app.clock.now(), upsert).await?;
    let link = access_links::create(app, &mut write, &workspace, &owner).await?;
    write.commit().await?;
    output::print(workspace.id)?;
    output::eprint(format_args!(
        "created workspace `{key}`; `creator-api keys create --workspace {key}` creates an API key for it"
    ));
    if let Some(link) = link {
        output::eprint(format_args!(
            "{} can set a password for the dashboard at {link}",
            workspace.owner_email
        ));
    }
    access_links::explain(app);
    Ok(())
}

async fn set_owner(app: &App, key: &str, email: &str) -> Result<(), CommandError> {
    let workspace = find(app, key).await?;
    let mut write = app.begin_write().await?;
    let actor = Actor::operator();
    let Some(OwnershipTransfer { owner, removed }) =
        workspaces::set_owner(app, &mut write, workspace.id, email, &actor).await?
    else {
        output::eprint(format_args!("{email} already owns workspace `{key}`"));
        return Ok(());
    };
    let link = access_links::create_unless_password(app, &mut write, &workspace, &owner).await?;
    write.commit().await?;
    output::eprint(format_args!("{} now owns workspace `{key}`", owner.email));
    if let Some(removed) = removed {
        output::eprint(format_args!(
            "removed {} from workspace `{key}`; their sessions and password links for it are no longer valid",
            removed.email
        ));
    }
    if let Some(link) = link {
        output::print(link)?;
        access_links::explain(app);
    }
    Ok(())
}

async fn create_sandbox(app: &App, key: &str) -> Result<(), CommandError> {
    let live = find(app, key).await?;
    let seeded = sandbox::seed(app, &live, false).await?;
    let mut write = app.begin_write().await?;
    let created = sandbox::create(&mut write, &live, seeded).await?;
    audited::commit(app, write, live.id, (Action::SandboxCreated, created.id, &created.key)).await?;
    output::print(created.id)?;
    let key = created.key;
    output::eprint(format_args!(
        "created sandbox `{key}`; `creator-api keys create --workspace {key}` creates an API key for it"
    ));
    Ok(())
}

async fn reset_sandbox(app: &App, key: &str) -> Result<(), CommandError> {
    let live = find(app, key).await?;
    let seeded = sandbox::seed(app, &live, true).await?;
    let mut write = app.begin_write().await?;
    let reset = sandbox::reset(app, &mut write, &live, seeded).await?;
    audited::commit(app, write, live.id, (Action::SandboxReset, reset.id, &reset.key)).await?;
    output::eprint(format_args!("reset sandbox `{}`; its API keys and webhooks stay", reset.key));
    Ok(())
}

async fn delete_sandbox(app: &App, key: &str, is_confirmed: bool) -> Result<(), CommandError> {
    let live = find(app, key).await?;
    if !is_confirmed {
        return Err(CommandError::usage(format!(
            "this deletes the sandbox of workspace `{key}` with its API keys and webhooks; add --yes to delete it"
        )));
    }
    let mut write = app.begin_write().await?;
    let deleted = sandbox::delete(app, &mut write, &live).await?;
    audited::commit(app, write, live.id, (Action::SandboxDeleted, deleted.id, &deleted.key)).await?;
    output::eprint(format_args!("deleted sandbox `{}`; its API keys and webhooks ended", deleted.key));
    Ok(())
}

async fn list(app: &App, json: bool) -> Result<(), CommandError> {
    let workspaces = workspaces::list(app).await?;
    if json {
        return output::print_json(workspaces.iter().map(to_json).collect());
    }
    let limit = |limit: Option<i32>| limit.map_or_else(|| "default".to_owned(), |limit| limit.to_string());
    let rows: Vec<[String; 7]> = workspaces
        .into_iter()
        .map(|workspace| {
            let Quota { per_minute, per_day } = workspace.quota;
            let id = workspace.id.to_string();
            let mode = workspace.mode.to_string();
            let (per_minute, per_day) = (limit(per_minute), limit(per_day));
            [workspace.key, id, mode, workspace.name, workspace.owner_email, per_minute, per_day]
        })
        .collect();
    output::print_table(["KEY", "ID", "MODE", "NAME", "OWNER", "PER MINUTE", "PER DAY"], &rows)
}

fn to_json(workspace: &Workspace) -> serde_json::Value {
    json!({
        "id": workspace.id.to_string(),
        "key": workspace.key,
        "mode": workspace.mode.as_str(),
        "live_workspace_id": workspace.live_workspace.map(|id| id.to_string()),
        "name": workspace.name,
        "owner_email": workspace.owner_email,
        "per_minute": workspace.quota.per_minute,
        "per_day": workspace.quota.per_day,
        "created_at": output::format_time(workspace.created_at),
        "updated_at": output::format_time(workspace.updated_at),
    })
}

async fn set_quota(app: &App, key: &str, quota: Quota) -> Result<(), CommandError> {
    let workspace = find(app, key).await?;
    let mut write = app.begin_write().await?;
    let changed = workspaces::set_quota(app, &mut write, workspace.id, quota).await?.changed;
    let limit =
        |limit: Option<i32>| limit.map_or_else(|| "the default".to_owned(), |limit| limit.to_string());
    let limits = format!("{} per minute, {} per day", limit(quota.per_minute), limit(quota.per_day));
    if changed {
        audited::commit(app, write, workspace.id, (Action::QuotaSet, workspace.id, &limits)).await?;
    }
    output::eprint(format_args!(
        "workspace `{key}`: {limits}; keys with a quota from `keys set-quota` or `keys create` keep it"
    ));
    Ok(())
}
