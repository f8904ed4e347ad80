//! `creator-api users`: the people who may sign in to the dashboard, and links by which they set their passwords.

use serde_json::json;

use super::failure::{Failure, Outcome};
use super::workspaces::find;
use super::{noted, output, start};
use domain::app::App;
use domain::audit::{self, Action, Actor};
use domain::users::{self, LINK_HOURS, Removal, User};
use domain::workspaces::Workspace;
use foundation::config::{Config, LINKS, flags};
use foundation::database::Write;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Let somebody sign in to a workspace's dashboard; the link to set a password goes to stdout
    Add(Person),
    /// Make another link to set a password, on stdout; the ones before open nothing any more
    Link(Person),
    /// Remove somebody from a workspace; their sessions in it and links made in it end at once
    ///
    /// The owner cannot be removed: change the owner first, with `creator-api workspaces set-owner` or a `workspace.upsert` change.
    Remove {
        /// The workspace's key
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// The person's address
        #[arg(long)]
        email: String,
    },
    /// List the people of a workspace
    List {
        /// The workspace's key
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Whom a command is about.
#[derive(Debug, clap::Args)]
#[command(args = flags(LINKS))]
pub(super) struct Person {
    /// The workspace's key
    #[arg(long, value_name = "KEY")]
    workspace: String,
    /// The person's address
    #[arg(long)]
    email: String,
}

pub(super) async fn run(config: Config, command: Command) -> Result<Outcome, Failure> {
    let app = start::app(config).await?;
    match command {
        Command::Add(person) => add(&app, &person).await?,
        Command::Link(person) => link(&app, &person).await?,
        Command::Remove { workspace, email } => remove(&app, &workspace, &email).await?,
        Command::List { workspace, json } => list(&app, &workspace, json).await?,
    }
    app.db.close().await;
    Ok(Outcome::Done)
}

async fn add(app: &App, person: &Person) -> Result<(), Failure> {
    let workspace = find(app, &person.workspace).await?;
    let mut write = app.begin_write().await?;
    let added = users::add(app, &mut write, workspace.id, &person.email).await?;
    if added.changed {
        let entry = (Action::UserAdded, added.record.id.to_string(), added.record.email.as_str());
        audit::append(app, &mut write, workspace.id, &Actor::operator(), entry).await?;
    }
    let link = new_link(app, &mut write, &workspace, &added.record).await?;
    write.commit().await?;
    output::line(link)?;
    about_link(app);
    Ok(())
}

async fn link(app: &App, person: &Person) -> Result<(), Failure> {
    let workspace = find(app, &person.workspace).await?;
    let mut write = app.begin_write().await?;
    let user = known(&write, &workspace, &person.email).await?;
    let link = new_link(app, &mut write, &workspace, &user).await?;
    write.commit().await?;
    output::line(link)?;
    about_link(app);
    Ok(())
}

async fn remove(app: &App, workspace: &str, email: &str) -> Result<(), Failure> {
    let workspace = find(app, workspace).await?;
    let write = app.begin_write().await?;
    let user = known(&write, &workspace, email).await?;
    let key = &workspace.key;
    match users::remove(&write, workspace.id, user.id).await? {
        Removal::Owner(owner) => Err(Failure::new(format!(
            "{} owns workspace `{key}` and cannot be removed; make somebody else the owner first: `creator-api workspaces \
             set-owner --workspace {key} --email ADDRESS`, or a `workspace.upsert` change with another `owner_email`",
            owner.email
        ))),
        Removal::Removed(person) => {
            noted::commit(app, write, workspace.id, (Action::UserRemoved, person.id, &person.email)).await?;
            output::say(format_args!(
                "removed {} from workspace `{key}`; their sessions and links have ended",
                person.email
            ));
            Ok(())
        }
    }
}

/// The person with this address, whom nobody removes until the write ends.
async fn known(write: &Write, workspace: &Workspace, email: &str) -> Result<User, Failure> {
    users::lock(write, workspace.id).await?;
    let found = users::by_email_in(write, workspace.id, email).await?;
    found.ok_or_else(|| {
        Failure::new(format!(
            "nobody with that address is in workspace `{0}`; `creator-api users list --workspace {0}` lists its people, \
             `creator-api users add` lets somebody in",
            workspace.key
        ))
    })
}

/// Says what is to be known of the link that [`new_link`] made.
pub(super) fn about_link(app: &App) {
    output::say(format_args!("the link opens once, within {LINK_HOURS} hours"));
    if app.config.server.known_address().is_none() {
        output::say("--public-url is missing: put the server's address before the link; it was not mailed");
    }
}

/// Makes a link for a person, and mails it where a mail server is set. Where the server's address is not known, the link is
/// its path alone, and is not mailed.
pub(super) async fn new_link(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    user: &User,
) -> Result<String, Failure> {
    let token = users::link(app, write, user, &Actor::operator()).await?;
    if app.config.server.known_address().is_some() && app.config.mail.smtp_url.is_some() {
        users::queue_link(app, write, workspace, user, &token).await?;
    }
    Ok(users::link_address(app, &token))
}

/// A link for somebody who was just given access and has no password. Somebody who has one is told of the access by mail, where
/// a mail server is set.
pub(super) async fn access_link(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    user: &User,
) -> Result<Option<String>, Failure> {
    if !user.has_password {
        return Ok(Some(new_link(app, write, workspace, user).await?));
    }
    if app.config.mail.smtp_url.is_some() {
        users::invite(app, write, workspace, user).await?;
    }
    Ok(None)
}

async fn list(app: &App, workspace: &str, json: bool) -> Result<(), Failure> {
    let workspace = find(app, workspace).await?;
    let people = users::list(app, workspace.id).await?;
    if json {
        return output::json(people.iter().map(record).collect());
    }
    let row = |user: &User| {
        let password = if user.has_password { "set" } else { "not set" };
        [user.id.to_string(), user.email.clone(), password.to_owned(), output::time(user.created_at)]
    };
    output::table(["ID", "EMAIL", "PASSWORD", "CREATED"], &people.iter().map(row).collect::<Vec<_>>())
}

fn record(user: &User) -> serde_json::Value {
    json!({
        "id": user.id.to_string(),
        "email": user.email,
        "has_password": user.has_password,
        "created_at": output::time(user.created_at),
    })
}
