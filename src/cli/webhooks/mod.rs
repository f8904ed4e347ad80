//! `creator-api webhooks`: manages subscriptions, and lists and replays deliveries.
//!
//! Operators can access every workspace, so subscriptions and deliveries are specified by id only.

mod controls;
mod deliveries;
mod delivery;
mod replay;
mod subscriptions;

use super::outcome::{CommandError, CommandOutcome};
use super::start::{self, DataFolder};
use domain::Error;
use domain::app::App;
use domain::webhooks::{self, Subscription};
use foundation::config::Config;
use foundation::id::SubscriptionId;
pub(super) use subscriptions::{parse_overlap, pause_subscription};

#[derive(Debug, clap::Subcommand)]
pub(super) enum WebhooksCommand {
    /// Create a subscription; the secret is printed to stdout and cannot be shown again
    Create(subscriptions::CreateSubscriptionArgs),
    /// List a workspace's subscriptions, newest first
    List {
        /// Key of the workspace, such as `acme`; `workspaces list` shows it
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List a subscription's deliveries, newest first
    Deliveries(deliveries::DeliveriesArgs),
    /// Show a delivery with the request and the response of each attempt
    Delivery(delivery::DeliveryArgs),
    /// List the dead letters of a workspace, newest first
    Dead(deliveries::DeadArgs),
    /// Replay deliveries
    ///
    /// Sends the specified dead or delivered deliveries again, and prints the ids of the new deliveries to stdout.
    /// With --all, replays every dead letter that was not replayed before, with one job per workspace. If this command
    /// is interrupted, a worker completes the running job; run the command again for the remaining workspaces.
    Replay(replay::ReplayArgs),
    /// Rotate the secret of a subscription; the new secret is printed to stdout and cannot be shown again
    Rotate(subscriptions::RotateSecretArgs),
    /// Send an example event, marked as a test, to a subscription
    Test {
        /// Id of the subscription
        #[arg(value_name = "SUBSCRIPTION")]
        subscription: SubscriptionId,
        /// Event type; defaults to the first event type of the subscription
        #[arg(long = "event", value_name = "TYPE")]
        event_type: Option<String>,
    },
    /// Change the URL, the event types or the description of a subscription
    Edit(subscriptions::EditSubscriptionArgs),
    /// Show or change the delivery controls of a subscription: filter, headers, rate and Ed25519 signatures
    Controls(controls::ControlsArgs),
    /// List the public keys of a workspace that verify Ed25519 signatures
    SigningKeys {
        /// Key of the workspace, such as `acme`; `workspaces list` shows it
        #[arg(long, value_name = "KEY")]
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Rotate the Ed25519 key of a workspace; the new public key is printed to stdout
    RotateSigningKey(controls::RotateSigningKeyArgs),
    /// Pause a subscription; its deliveries are held until it is enabled again
    Pause {
        /// Id of the subscription
        #[arg(value_name = "SUBSCRIPTION")]
        subscription: SubscriptionId,
    },
    /// Enable a paused or disabled subscription again
    Enable(subscriptions::EnableSubscriptionArgs),
    /// Delete a subscription with its deliveries and their attempts
    Delete {
        /// Id of the subscription
        #[arg(value_name = "SUBSCRIPTION")]
        subscription: SubscriptionId,
    },
}

pub(super) async fn run(config: Config, command: WebhooksCommand) -> Result<CommandOutcome, CommandError> {
    let app = start::open_app(config, DataFolder::MustExist).await?;
    match command {
        WebhooksCommand::Create(new) => subscriptions::create(&app, new).await?,
        WebhooksCommand::List { workspace, json } => subscriptions::list(&app, &workspace, json).await?,
        WebhooksCommand::Deliveries(args) => deliveries::list_of_subscription(&app, &args).await?,
        WebhooksCommand::Delivery(args) => delivery::show(&app, &args).await?,
        WebhooksCommand::Dead(args) => deliveries::list_dead(&app, &args).await?,
        WebhooksCommand::Replay(args) => replay::run(&app, args).await?,
        WebhooksCommand::Rotate(args) => subscriptions::rotate(&app, &args).await?,
        WebhooksCommand::Test { subscription, event_type } => {
            subscriptions::test(&app, subscription, event_type.as_deref()).await?;
        }
        WebhooksCommand::Edit(args) => subscriptions::edit(&app, args).await?,
        WebhooksCommand::Controls(args) => controls::run(&app, args).await?,
        WebhooksCommand::SigningKeys { workspace, json } => {
            controls::list_keys(&app, &workspace, json).await?
        }
        WebhooksCommand::RotateSigningKey(args) => controls::rotate_key(&app, &args).await?,
        WebhooksCommand::Pause { subscription } => subscriptions::pause(&app, subscription).await?,
        WebhooksCommand::Enable(args) => subscriptions::enable(&app, &args).await?,
        WebhooksCommand::Delete { subscription } => subscriptions::delete(&app, subscription).await?,
    }
    app.db.close().await;
    Ok(CommandOutcome::Done)
}

/// Returns the subscription with this id, or an error that names the command to list subscriptions.
async fn find(app: &App, subscription: SubscriptionId) -> Result<Subscription, CommandError> {
    match webhooks::find(app, subscription).await {
        Err(Error::NotFound(_)) => Err(CommandError::new(format!(
            "subscription {subscription} not found; `creator-api webhooks list --workspace KEY` lists the subscriptions of a workspace"
        ))),
        result => Ok(result?),
    }
}
