//! `creator-api users`: adds, lists and removes members of workspaces, sets their roles, creates password links, and resets second
//! factors.

use serde_json::json;

use super::outcome::{CommandError, CommandOutcome};
use super::start::{self, DataFolder};
use super::workspaces::find;
use super::{access_links, audited, output};
use domain::app::App;
use domain::audit::{self, Action, Actor};
use domain::people::{self, Factors};
use domain::roles::{Role, Roles};
use domain::users::{self, AccountEvent, RoleChange, User, UserRemoval};
use domain::workspaces::Workspace;
use foundation::config::{Config, LINK_SETTINGS, flags};
use foundation::database::Write;

#[derive(Debug, clap::Subcommand)]
pub(super) enum UsersCommand {
    /// Add a member, who has access to the workspace's dashboard; a password link is printed to stdout
    ///
    /// A member who has access already keeps their roles.
    Add {
        #[command(flatten)]
        user: UserArgs,
        /// Role of the member: owner, developer, manager or viewer; repeat the flag for several
        #[arg(long = "role", value_name = "ROLE", default_values = ["developer", "manager"])]
        roles: Vec<Role>,
    },
    /// Create a new password link, which is printed to stdout; earlier links from the workspace become invalid
    Link(UserArgs),
    /// Replace the roles of a member; they apply to open sessions from the next request on
    ///
    /// The owner of the workspace keeps the role owner. Set another owner first, with `creator-api workspaces set-owner` or a
    /// `workspace.upsert` change.
    SetRole {
        /// Key of the workspace, such as `acme`; `workspaces list` shows it
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Email address of the member
        #[arg(long)]
        email: String,
        /// Role of the member: owner, developer, manager or viewer; repeat the flag for several
        #[arg(long = "role", value_name = "ROLE", required = true)]
        roles: Vec<Role>,
    },
    /// Remove the second factor of a member who has lost it, in all of their workspaces, and end their sessions
    ///
    /// Verify first who asks for it: from then on, the password alone signs the member in. The audit log contains an entry. If
    /// their workspace requires a second factor, they set up a new one at the next sign-in.
    ResetSecondFactor {
        /// Key of the workspace, such as `acme`; `workspaces list` shows it
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Email address of the member
        #[arg(long)]
        email: String,
    },
    /// Unlink the account with which a member signs in with single sign-on; the next one with their email address is linked
    UnlinkProvider {
        /// Key of the workspace, such as `acme`; `workspaces list` shows it
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Email address of the member
        #[arg(long, required_unless_present = "all", conflicts_with = "all")]
        email: Option<String>,
        /// Unlink the accounts of all members, for example before you change the provider
        #[arg(long)]
        all: bool,
    },
    /// Remove a member from a workspace; their sessions and password links for it become invalid
    ///
    /// The owner cannot be removed. Set another owner first, with `creator-api workspaces set-owner` or a
    /// `workspace.upsert` change.
    Remove {
        /// Key of the workspace, such as `acme`; `workspaces list` shows it
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Email address of the member
        #[arg(long)]
        email: String,
    },
    /// List the members of a workspace
    List {
        /// Key of the workspace, such as `acme`; `workspaces list` shows it
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// The member that a command applies to.
#[derive(Debug, clap::Args)]
#[command(args = flags(LINK_SETTINGS))]
pub(super) struct UserArgs {
    /// Key of the workspace, such as `acme`; `workspaces list` shows it
    #[arg(long, value_name = "KEY")]
    workspace: String,
    /// Email address of the member
    #[arg(long)]
    email: String,
}

pub(super) async fn run(config: Config, command: UsersCommand) -> Result<CommandOutcome, CommandError> {
    let app = start::open_app(config, DataFolder::MustExist).await?;
    match command {
        UsersCommand::Add { user, roles } => add(&app, &user, roles.into_iter().collect()).await?,
        UsersCommand::Link(args) => link(&app, &args).await?,
        UsersCommand::SetRole { workspace, email, roles } => {
            set_roles(&app, &workspace, &email, roles.into_iter().collect()).await?
        }
        UsersCommand::ResetSecondFactor { workspace, email } => {
            reset_second_factor(&app, &workspace, &email).await?
        }
        UsersCommand::UnlinkProvider { workspace, email, all: _ } => {
            unlink_providers(&app, &workspace, email).await?
        }
        UsersCommand::Remove { workspace, email } => remove(&app, &workspace, &email).await?,
        UsersCommand::List { workspace, json } => list(&app, &workspace, json).await?,
    }
    app.db.close().await;
    Ok(CommandOutcome::Done)
}

async fn add(app: &App, args: &UserArgs, roles: Roles) -> Result<(), CommandError> {
    let workspace = find(app, &args.workspace).await?;
    let mut write = app.begin_write().await?;
    let added = users::add(app, &mut write, workspace.id, &args.email, roles).await?;
    if added.changed {
        let detail = format!("{}: {roles}", added.record.email);
        let entry = (Action::UserAdded, added.record.id.to_string(), detail.as_str());
        audit::append(app, &mut write, workspace.id, &Actor::operator(), entry).await?;
    }
    let link = access_links::create(app, &mut write, &workspace, &added.record).await?;
    write.commit().await?;
    if let Some(link) = link {
        output::print(link)?;
    }
    access_links::explain(app);
    Ok(())
}

async fn link(app: &App, args: &UserArgs) -> Result<(), CommandError> {
    let workspace = find(app, &args.workspace).await?;
    let mut write = app.begin_write().await?;
    let user = find_locked(&write, &workspace, &args.email).await?;
    let Some(link) = access_links::create(app, &mut write, &workspace, &user).await? else {
        return Err(CommandError::new(
            "password sign-in is switched off (password_sign_in), so links would not work",
        ));
    };
    write.commit().await?;
    output::print(link)?;
    access_links::explain(app);
    Ok(())
}

async fn set_roles(app: &App, workspace: &str, email: &str, roles: Roles) -> Result<(), CommandError> {
    let workspace = find(app, workspace).await?;
    let write = app.begin_write().await?;
    let user = find_locked(&write, &workspace, email).await?;
    let key = &workspace.key;
    match users::set_roles(&write, workspace.id, user.id, roles).await? {
        RoleChange::Owner(owner) => Err(CommandError::new(format!(
            "{} owns workspace `{key}` and keeps the role owner; set another owner first: `creator-api workspaces set-owner \
             --workspace {key} --email EMAIL`, or a `workspace.upsert` change with another `owner_email`",
            owner.email
        ))),
        RoleChange::Unchanged(user) => {
            output::eprint(format_args!(
                "{} already has these roles in workspace `{key}`: {roles}",
                user.email
            ));
            Ok(())
        }
        RoleChange::Changed(user) => {
            let detail = format!("{}: {roles}", user.email);
            audited::commit(app, write, workspace.id, (Action::RolesChanged, user.id, &detail)).await?;
            output::eprint(format_args!("{} now has these roles in workspace `{key}`: {roles}", user.email));
            Ok(())
        }
    }
}

async fn reset_second_factor(app: &App, workspace: &str, email: &str) -> Result<(), CommandError> {
    let workspace = find(app, workspace).await?;
    let mut write = app.begin_write().await?;
    let user = find_locked(&write, &workspace, email).await?;
    if !people::reset_second_factor(&write, &user.email).await? {
        return Err(CommandError::new(format!("{} has no second factor", user.email)));
    }
    let (event, operator) = (AccountEvent::SecondFactorRemoved, Actor::operator());
    users::notify(app, &mut write, workspace.id, &user.email, event, &operator).await?;
    audited::commit(app, write, workspace.id, (Action::SecondFactorRemoved, user.id, &user.email)).await?;
    output::eprint(format_args!(
        "removed the second factor of {}; their sessions and sign-in links are no longer valid",
        user.email
    ));
    Ok(())
}

/// Unlinks the account of the member with this email address, or those of all members.
async fn unlink_providers(app: &App, workspace: &str, email: Option<String>) -> Result<(), CommandError> {
    let workspace = find(app, workspace).await?;
    if let Some(email) = email {
        return match unlink_provider(app, &workspace, &email).await? {
            true => Ok(()),
            false => Err(CommandError::new(format!("{email} has no linked account"))),
        };
    }
    let mut unlinked = 0;
    for user in users::list(app, workspace.id).await? {
        unlinked += usize::from(unlink_provider(app, &workspace, &user.email).await?);
    }
    output::eprint(format_args!("unlinked accounts: {unlinked}"));
    Ok(())
}

/// Unlinks the account of a member. Returns whether there was one.
async fn unlink_provider(app: &App, workspace: &Workspace, email: &str) -> Result<bool, CommandError> {
    let mut write = app.begin_write().await?;
    let user = find_locked(&write, workspace, email).await?;
    if !people::unlink_provider(&write, &user.email).await? {
        return Ok(false);
    }
    let (event, operator) = (AccountEvent::ProviderUnlinked, Actor::operator());
    users::notify(app, &mut write, workspace.id, &user.email, event, &operator).await?;
    audited::commit(app, write, workspace.id, (Action::ProviderUnlinked, user.id, &user.email)).await?;
    output::eprint(format_args!(
        "unlinked the account of {} for single sign-on; their sessions and sign-in links are no longer valid",
        user.email
    ));
    Ok(true)
}

async fn remove(app: &App, workspace: &str, email: &str) -> Result<(), CommandError> {
    let workspace = find(app, workspace).await?;
    let write = app.begin_write().await?;
    let user = find_locked(&write, &workspace, email).await?;
    let key = &workspace.key;
    match users::remove(&write, workspace.id, user.id).await? {
        UserRemoval::Owner(owner) => Err(CommandError::new(format!(
            "{} owns workspace `{key}` and cannot be removed; set another owner first: `creator-api workspaces set-owner \
             --workspace {key} --email EMAIL`, or a `workspace.upsert` change with another `owner_email`",
            owner.email
        ))),
        UserRemoval::Removed(user) => {
            audited::commit(app, write, workspace.id, (Action::UserRemoved, user.id, &user.email)).await?;
            output::eprint(format_args!(
                "removed {} from workspace `{key}`; their sessions and password links for it are no longer valid",
                user.email
            ));
            Ok(())
        }
    }
}

/// Returns the user with this email address, locked against removal until the write ends.
async fn find_locked(write: &Write, workspace: &Workspace, email: &str) -> Result<User, CommandError> {
    users::lock(write, workspace.id).await?;
    let user = users::by_email_in(write, workspace.id, email).await?;
    user.ok_or_else(|| {
        CommandError::new(format!(
            "no member with this email address in workspace `{0}`; `creator-api users list --workspace {0}` lists its \
             members, `creator-api users add` adds one",
            workspace.key
        ))
    })
}

async fn list(app: &App, workspace: &str, json: bool) -> Result<(), CommandError> {
    let workspace = find(app, workspace).await?;
    let users = users::list(app, workspace.id).await?;
    let mut members = Vec::new();
    for user in users {
        let factors = people::factors(app, &user.email).await?;
        members.push((user, factors));
    }
    if json {
        return output::print_json(members.iter().map(|member| to_json(&workspace, member)).collect());
    }
    let set = |is_set: bool| if is_set { "set" } else { "not set" }.to_owned();
    let row = |(user, factors): &(User, Factors)| {
        let roles = users::roles(&workspace, user).to_string();
        [
            user.id.to_string(),
            user.email.clone(),
            roles,
            set(user.has_password),
            set(factors.has_second_factor),
            if factors.has_linked_account { "linked" } else { "not linked" }.to_owned(),
            output::format_time(user.created_at),
        ]
    };
    output::print_table(
        ["ID", "EMAIL", "ROLES", "PASSWORD", "SECOND FACTOR", "SINGLE SIGN-ON", "CREATED"],
        &members.iter().map(row).collect::<Vec<_>>(),
    )
}

fn to_json(workspace: &Workspace, (user, factors): &(User, Factors)) -> serde_json::Value {
    json!({
        "id": user.id.to_string(),
        "email": user.email,
        "roles": users::roles(workspace, user).iter().map(Role::as_str).collect::<Vec<_>>(),
        "has_password": user.has_password,
        "has_second_factor": factors.has_second_factor,
        "has_linked_account": factors.has_linked_account,
        "created_at": output::format_time(user.created_at),
    })
}
