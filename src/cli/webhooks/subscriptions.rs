//! Creates, edits, lists, tests, pauses, enables and deletes subscriptions, and rotates their secrets.

use std::time::Duration;

use jiff::Span;
use jiff::tz::TimeZone;
use secrecy::ExposeSecret;
use serde_json::json;

use super::super::master_key::{self, KeyUse};
use super::super::outcome::CommandError;
use super::super::progress::ProgressDisplay;
use super::super::start::DataFolder;
use super::super::{audited, output, workspaces};
use super::find;
use domain::WriteOutcome;
use domain::app::App;
use domain::audit::{Action, Actor};
use domain::outbox::EVENT_TYPES;
use domain::webhooks::{self, HeldAction, NewSubscription, Subscription, SubscriptionChange, controls};
use foundation::config::{ENDPOINT_SETTINGS, flags};
use foundation::id::SubscriptionId;
use foundation::secret::{Purpose, Seal};

#[derive(Debug, clap::Args)]
#[command(args = flags(ENDPOINT_SETTINGS))]
pub(in crate::cli) struct CreateSubscriptionArgs {
    /// Key of the workspace, such as `acme`; `workspaces list` shows it
    #[arg(long, value_name = "KEY")]
    workspace: String,
    /// Endpoint URL: `https` and a public IP address, unless --webhook-allow permits others
    #[arg(long)]
    url: String,
    /// One or more event types, such as `order.paid`, or `all`
    #[arg(long = "event", value_name = "TYPE", required = true, num_args = 1.., value_delimiter = ',')]
    event_types: Vec<String>,
    /// What the endpoint is for, in one line
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(group(
    clap::ArgGroup::new("change").required(true).multiple(true).args(["url", "event_types", "description"])
))]
#[command(args = flags(ENDPOINT_SETTINGS))]
pub(in crate::cli) struct EditSubscriptionArgs {
    /// Id of the subscription
    #[arg(value_name = "SUBSCRIPTION")]
    subscription: SubscriptionId,
    /// New endpoint URL, to which pending deliveries are also sent
    #[arg(long)]
    url: Option<String>,
    /// One or more new event types, or `all`
    #[arg(long = "event", value_name = "TYPE", num_args = 1.., value_delimiter = ',')]
    event_types: Option<Vec<String>>,
    /// What the endpoint is for, in one line; empty to remove it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RotateSecretArgs {
    /// Id of the subscription
    #[arg(value_name = "SUBSCRIPTION")]
    subscription: SubscriptionId,
    /// How long requests are also signed with the old secret, up to 7d; with 0s, the old secret becomes invalid
    /// immediately
    #[arg(long, value_name = "DURATION", default_value = "24h")]
    overlap: Span,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct EnableSubscriptionArgs {
    /// Id of the subscription
    #[arg(value_name = "SUBSCRIPTION")]
    subscription: SubscriptionId,
    /// What to do with held deliveries
    #[arg(long, value_enum, default_value = "send")]
    held: HeldChoice,
}

/// What to do with held deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum HeldChoice {
    /// Send them
    Send,
    /// Delete them
    Drop,
}

pub(super) async fn create(app: &App, new: CreateSubscriptionArgs) -> Result<(), CommandError> {
    let workspace = workspaces::find(app, &new.workspace).await?;
    let event_types = expand_all(new.event_types);
    let seal = seal(app).await?;
    let mut write = app.begin_write().await?;
    let new = NewSubscription { url: new.url, event_types, description: new.description };
    let (created, secret) = webhooks::create(app, &mut write, &seal, workspace.id, new).await?;
    audited::commit(app, write, workspace.id, (Action::WebhookCreated, created.id, &created.url)).await?;
    output::print(secret.expose_secret())?;
    output::eprint(format_args!(
        "subscription {} of workspace `{}` to {}: {}",
        created.id,
        workspace.key,
        created.url,
        created.event_types.join(" ")
    ));
    output::eprint("the secret on stdout cannot be shown again; the receiver verifies signatures with it");
    Ok(())
}

pub(super) async fn edit(app: &App, args: EditSubscriptionArgs) -> Result<(), CommandError> {
    let subscription = find(app, args.subscription).await?;
    let event_types = args.event_types.map(expand_all);
    let change = SubscriptionChange { url: args.url, event_types, description: args.description };
    let mut write = app.begin_write().await?;
    let WriteOutcome { record: edited, changed } =
        webhooks::edit(app, &mut write, subscription.workspace, subscription.id, change).await?;
    if changed {
        let detail = controls::describe_edit(&subscription, &edited);
        audited::commit(app, write, subscription.workspace, (Action::WebhookEdited, edited.id, &detail))
            .await?;
    }
    output::eprint(format_args!("{} to {}: {}", edited.id, edited.url, edited.event_types.join(" ")));
    Ok(())
}

/// Replaces the single value `all` with every event type.
fn expand_all(event_types: Vec<String>) -> Vec<String> {
    if event_types == ["all"] {
        EVENT_TYPES.iter().map(|&event_type| event_type.to_owned()).collect()
    } else {
        event_types
    }
}

/// Returns the seal that encrypts webhook secrets.
pub(super) async fn seal(app: &App) -> Result<Seal, CommandError> {
    Ok(Seal::new(
        &master_key::load(app, KeyUse::Command, DataFolder::MustExist).await?,
        Purpose::WebhookSecrets,
    ))
}

pub(super) async fn list(app: &App, workspace: &str, json: bool) -> Result<(), CommandError> {
    let workspace = workspaces::find(app, workspace).await?;
    let subscriptions = webhooks::list(app, workspace.id).await?;
    if json {
        return output::print_json(subscriptions.iter().map(to_json).collect());
    }
    let row = |subscription: Subscription| {
        let failing = subscription
            .failing_since
            .map_or_else(|| "no".to_owned(), |since| format!("since {}", output::format_time(since)));
        let event_types = subscription.event_types.join(" ");
        [subscription.id.to_string(), subscription.state.to_string(), subscription.url, failing, event_types]
    };
    let rows: Vec<_> = subscriptions.into_iter().map(row).collect();
    output::print_table(["ID", "STATE", "URL", "FAILING", "EVENTS"], &rows)
}

fn to_json(subscription: &Subscription) -> serde_json::Value {
    json!({
        "id": subscription.id.to_string(),
        "url": subscription.url,
        "description": subscription.description,
        "event_types": subscription.event_types,
        "state": subscription.state.as_str(),
        "filter": subscription.filter.lines().collect::<Vec<_>>(),
        "headers": subscription.header_names,
        "rate": subscription.rate,
        "ed25519": subscription.ed25519,
        "failing_since": subscription.failing_since.map(output::format_time),
        "disabled_at": subscription.disabled_at.map(output::format_time),
        "created_at": output::format_time(subscription.created_at),
        "updated_at": output::format_time(subscription.updated_at),
    })
}

pub(super) async fn rotate(app: &App, args: &RotateSecretArgs) -> Result<(), CommandError> {
    let overlap = parse_overlap(app, args.overlap)?;
    let subscription = find(app, args.subscription).await?;
    let seal = seal(app).await?;
    let mut write = app.begin_write().await?;
    let rotated =
        webhooks::rotate(app, &mut write, &seal, subscription.workspace, subscription.id, overlap).await?;
    audited::commit(
        app,
        write,
        subscription.workspace,
        (Action::WebhookRotated, subscription.id, &subscription.url),
    )
    .await?;
    output::print(rotated.secret.expose_secret())?;
    match rotated.older_until.map(output::format_time) {
        Some(until) => output::eprint(format_args!(
            "deliveries are signed with the old and the new secret until {until}; update the receiver by then"
        )),
        None => output::eprint(
            "deliveries are signed with the new secret only; the receiver rejects them until you update it",
        ),
    }
    output::eprint("the secret on stdout cannot be shown again");
    Ok(())
}

/// Converts the value of `--overlap`.
pub(in crate::cli) fn parse_overlap(app: &App, overlap: Span) -> Result<Duration, CommandError> {
    let now = app.clock.now();
    match now.to_zoned(TimeZone::UTC).checked_add(overlap) {
        Ok(end) if end.timestamp() >= now => Ok(end.timestamp().duration_since(now).unsigned_abs()),
        _ => Err(CommandError::usage("--overlap: expected a duration from 0s to 7d, such as 24h")),
    }
}

pub(super) async fn test(
    app: &App,
    id: SubscriptionId,
    event_type: Option<&str>,
) -> Result<(), CommandError> {
    let subscription = find(app, id).await?;
    let mut write = app.begin_write().await?;
    let delivery =
        webhooks::send_test(app, &mut write, subscription.workspace, subscription.id, event_type).await?;
    audited::commit(
        app,
        write,
        subscription.workspace,
        (Action::WebhookTested, subscription.id, &delivery.event_type),
    )
    .await?;
    output::print(delivery.id)?;
    output::eprint(format_args!(
        "an example `{}` event is queued for {}; `creator-api webhooks deliveries {}` shows the result",
        delivery.event_type, subscription.url, subscription.id
    ));
    Ok(())
}

/// Pauses a subscription, with an entry in the audit log.
pub(in crate::cli) async fn pause_subscription(
    app: &App,
    subscription: &Subscription,
) -> Result<(), CommandError> {
    let mut write = app.begin_write().await?;
    if webhooks::pause(&mut write, subscription.workspace, subscription.id).await?.changed {
        audited::commit(
            app,
            write,
            subscription.workspace,
            (Action::WebhookPaused, subscription.id, &subscription.url),
        )
        .await?;
    }
    Ok(())
}

pub(super) async fn pause(app: &App, id: SubscriptionId) -> Result<(), CommandError> {
    pause_subscription(app, &find(app, id).await?).await?;
    output::eprint(format_args!(
        "{id} is paused; its deliveries are held until `creator-api webhooks enable {id}`"
    ));
    Ok(())
}

pub(super) async fn enable(app: &App, args: &EnableSubscriptionArgs) -> Result<(), CommandError> {
    let subscription = find(app, args.subscription).await?;
    let held = if args.held == HeldChoice::Drop { HeldAction::Drop } else { HeldAction::Send };
    let mut progress = None;
    let report_deleted = |deleted| {
        let progress = progress.get_or_insert_with(|| ProgressDisplay::start("delete", None));
        progress.update(deleted, || format!("{deleted} deliveries"));
    };
    let (workspace, operator) = (subscription.workspace, Actor::operator());
    let enabled =
        webhooks::enable_in_batches(app, workspace, subscription.id, held, &operator, report_deleted).await?;
    if let Some(progress) = progress {
        progress.finish();
    }
    let detail = match held {
        _ if !enabled.changed && enabled.released_or_dropped == 0 => "it was enabled already",
        _ if !enabled.changed => {
            "another process enabled it while held deliveries were being deleted; the remaining ones are sent"
        }
        HeldAction::Send => "held deliveries are sent",
        HeldAction::Drop => "held deliveries were deleted",
    };
    output::eprint(format_args!("{} is enabled: {detail}", subscription.id));
    Ok(())
}

pub(super) async fn delete(app: &App, id: SubscriptionId) -> Result<(), CommandError> {
    let subscription = find(app, id).await?;
    let mut write = app.begin_write().await?;
    webhooks::delete(&mut write, subscription.workspace, subscription.id).await?;
    audited::commit(
        app,
        write,
        subscription.workspace,
        (Action::WebhookDeleted, subscription.id, &subscription.url),
    )
    .await?;
    output::eprint(format_args!("deleted {id} to {}, with its deliveries", subscription.url));
    Ok(())
}
