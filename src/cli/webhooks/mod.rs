//! `creator-api webhooks`: subscriptions made and managed, their deliveries looked at and sent again.
//!
//! A subscription or a delivery is named by its id alone: an operator's reach is not bound to a workspace.

mod deliveries;
mod replay;
mod subscriptions;

use super::failure::{Failure, Outcome};
use super::start;
use domain::Error;
use domain::app::App;
use domain::webhooks::{self, Subscription};
use foundation::config::Config;
use foundation::id::SubscriptionId;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a subscription; its secret goes to stdout and is shown this once
    Create(subscriptions::Create),
    /// List a workspace's subscriptions, newest first
    List {
        /// The workspace's key
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List a subscription's deliveries, newest first
    Deliveries(deliveries::Deliveries),
    /// List a workspace's dead deliveries, newest first
    Dead(deliveries::Dead),
    /// Send settled deliveries again
    ///
    /// Named deliveries are sent again whether they are dead or delivered; the ids of the new ones go to stdout. With
    /// --all, every dead delivery that no other sends again is replayed by a job, which a worker goes on with when this
    /// command is stopped.
    Replay(replay::Replay),
    /// Give a subscription a new secret; it goes to stdout and is shown this once
    Rotate(subscriptions::Rotate),
    /// Send a subscription an example of what it wants
    Test {
        /// The subscription's id
        #[arg(value_name = "SUBSCRIPTION")]
        subscription: SubscriptionId,
        /// The type of event; the first that it wants when none is named
        #[arg(long = "event", value_name = "TYPE")]
        event: Option<String>,
    },
    /// Change where a subscription's events go, or which it hears
    Edit(subscriptions::Edit),
    /// Hold a subscription's deliveries back until it is enabled
    Pause {
        /// The subscription's id
        #[arg(value_name = "SUBSCRIPTION")]
        subscription: SubscriptionId,
    },
    /// Send a paused or disabled subscription's deliveries again
    Enable(subscriptions::Enable),
    /// Delete a subscription with its deliveries and their log
    Delete {
        /// The subscription's id
        #[arg(value_name = "SUBSCRIPTION")]
        subscription: SubscriptionId,
    },
}

pub(super) async fn run(config: Config, command: Command) -> Result<Outcome, Failure> {
    let app = start::app(config).await?;
    match command {
        Command::Create(new) => subscriptions::create(&app, new).await?,
        Command::List { workspace, json } => subscriptions::list(&app, &workspace, json).await?,
        Command::Deliveries(args) => deliveries::of_subscription(&app, &args).await?,
        Command::Dead(args) => deliveries::dead(&app, &args).await?,
        Command::Replay(args) => replay::run(&app, args).await?,
        Command::Rotate(args) => subscriptions::rotate(&app, &args).await?,
        Command::Test { subscription, event } => {
            subscriptions::test(&app, subscription, event.as_deref()).await?;
        }
        Command::Edit(args) => subscriptions::edit(&app, args).await?,
        Command::Pause { subscription } => subscriptions::pause(&app, subscription).await?,
        Command::Enable(args) => subscriptions::enable(&app, &args).await?,
        Command::Delete { subscription } => subscriptions::delete(&app, subscription).await?,
    }
    app.db.close().await;
    Ok(Outcome::Done)
}

/// The subscription with this id, or the sentence that tells how to find the right one.
async fn find(app: &App, subscription: SubscriptionId) -> Result<Subscription, Failure> {
    match webhooks::find(app, subscription).await {
        Err(Error::NotFound(_)) => Err(Failure::new(format!(
            "there is no subscription {subscription}; `creator-api webhooks list --workspace KEY` shows those there are"
        ))),
        found => Ok(found?),
    }
}
