//! `creator-api users`: the people who may sign in to the dashboard, and links by which they set their passwords.

use secrecy::ExposeSecret;
use serde_json::json;

use super::failure::{Failure, Outcome};
use super::workspaces::find;
use super::{output, start};
use crate::app::App;
use crate::config::{CommonFlags, Config, LinkFlags};
use crate::database::Write;
use crate::domain::audit::Actor;
use crate::domain::users::{self, LINK_HOURS, User};
use crate::domain::workspaces::Workspace;
use crate::mail::message::Message;
use crate::mail::queue;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Let somebody sign in to a workspace's dashboard; the link to set a password goes to stdout
    Add(Person),
    /// Make another link to set a password, on stdout; the ones before open nothing any more
    Link(Person),
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
pub(super) struct Person {
    /// The workspace's key
    #[arg(long, value_name = "KEY")]
    workspace: String,
    /// The person's address
    #[arg(long)]
    email: String,
    #[command(flatten)]
    links: LinkFlags,
}

impl Command {
    /// All flags of the command line that are settings.
    pub(super) fn flags(&self, common: CommonFlags) -> Vec<(&'static str, String)> {
        match self {
            Self::Add(person) | Self::Link(person) => {
                common.0.into_iter().chain(person.links.0.iter().cloned()).collect()
            }
            Self::List { .. } => common.0,
        }
    }
}

pub(super) async fn run(config: Config, command: Command) -> Result<Outcome, Failure> {
    let app = start::app(config).await?;
    match command {
        Command::Add(person) => link(&app, &person, true).await?,
        Command::Link(person) => link(&app, &person, false).await?,
        Command::List { workspace, json } => list(&app, &workspace, json).await?,
    }
    app.db.close().await;
    Ok(Outcome::Done)
}

async fn link(app: &App, person: &Person, add: bool) -> Result<(), Failure> {
    let workspace = find(app, &person.workspace).await?;
    let known = users::list(app, workspace.id).await?;
    let known = known.iter().any(|user| users::same_address(&user.email, &person.email));
    if !add && !known {
        return Err(Failure::new(format!(
            "nobody with that address is in workspace `{}`; `creator-api users add` lets somebody in",
            workspace.key
        )));
    }
    let mut write = app.begin_write().await?;
    let link = welcome(app, &mut write, &workspace, &person.email).await?;
    write.commit().await?;
    output::line(link)?;
    about_link(app);
    Ok(())
}

/// Says what is to be known of the link that [`welcome`] made.
pub(super) fn about_link(app: &App) {
    output::say(format_args!("the link opens once, within {LINK_HOURS} hours"));
    if app.config.server.known_address().is_none() {
        output::say("--public-url is missing: put the server's address before the link; it was not mailed");
    }
}

/// Makes a link for a person, who is let into the workspace in passing, and mails it where a mail server is set. Where the
/// server's address is not known, the link is its path alone, and is not mailed.
pub(super) async fn welcome(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    email: &str,
) -> Result<String, Failure> {
    let user = users::ensure(app, write, workspace.id, email).await?;
    let token = users::link(app, write, &user, &Actor::operator()).await?;
    let server = app.config.server.known_address();
    let path = format!("/set-password?token={}", token.expose_secret());
    let link = server.as_ref().map_or_else(|| path.clone(), |server| format!("{server}{path}"));
    if server.is_some() && app.config.mail.smtp_url.is_some() {
        let message =
            Message::SetPassword { workspace: workspace.name.clone(), link: link.clone(), hours: LINK_HOURS };
        queue::enqueue(write, &app.ids, workspace.id, &user.email, &message).await?;
    }
    Ok(link)
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
