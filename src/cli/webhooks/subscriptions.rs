//! Subscriptions: made, changed, listed, rotated, tried, paused, enabled, deleted.

use jiff::Span;
use jiff::tz::TimeZone;
use secrecy::ExposeSecret;
use serde_json::json;

use super::super::failure::Failure;
use super::super::progress::Progress;
use super::super::{noted, output, start, workspaces};
use super::find;
use domain::Changed;
use domain::app::App;
use domain::audit::{Action, Actor};
use domain::outbox::KINDS;
use domain::webhooks::{self, Held, NewSubscription, Subscription, SubscriptionChange};
use foundation::config::{WEBHOOKS, flags};
use foundation::id::SubscriptionId;
use foundation::secret::{Purpose, Seal};

#[derive(Debug, clap::Args)]
#[command(args = flags(WEBHOOKS))]
pub(in crate::cli) struct Create {
    /// The workspace's key
    #[arg(long, value_name = "KEY")]
    workspace: String,
    /// Where events are sent: https, to a public address
    #[arg(long)]
    url: String,
    /// What is sent; one or several types of event, or `all`
    #[arg(long = "event", value_name = "TYPE", required = true, num_args = 1.., value_delimiter = ',')]
    events: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("change").required(true).multiple(true).args(["url", "events"])))]
#[command(args = flags(WEBHOOKS))]
pub(in crate::cli) struct Edit {
    /// The subscription's id
    #[arg(value_name = "SUBSCRIPTION")]
    subscription: SubscriptionId,
    /// Where events are sent from now on, those included that still wait
    #[arg(long)]
    url: Option<String>,
    /// What is sent from now on; one or several types of event, or `all`
    #[arg(long = "event", value_name = "TYPE", num_args = 1.., value_delimiter = ',')]
    events: Option<Vec<String>>,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Rotate {
    /// The subscription's id
    #[arg(value_name = "SUBSCRIPTION")]
    subscription: SubscriptionId,
    /// How long the old secret goes on signing beside the new one, up to 7d; 0s ends it at once
    #[arg(long, value_name = "DURATION", default_value = "24h")]
    overlap: Span,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Enable {
    /// The subscription's id
    #[arg(value_name = "SUBSCRIPTION")]
    subscription: SubscriptionId,
    /// What becomes of the deliveries that were held back
    #[arg(long, value_enum, default_value = "send")]
    held: Choice,
}

/// What becomes of held deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Choice {
    /// Send them
    Send,
    /// Delete them
    Drop,
}

pub(super) async fn create(app: &App, new: Create) -> Result<(), Failure> {
    let workspace = workspaces::find(app, &new.workspace).await?;
    let event_types = spelled_out(new.events);
    let seal = seal(app).await?;
    let mut write = app.begin_write().await?;
    let new = NewSubscription { url: new.url, event_types };
    let (made, secret) = webhooks::create(app, &mut write, &seal, workspace.id, new).await?;
    noted::commit(app, write, workspace.id, (Action::WebhookCreated, made.id, &made.url)).await?;
    output::line(secret.expose_secret())?;
    output::say(format_args!(
        "subscription {} of workspace `{}` to {}: {}",
        made.id,
        workspace.key,
        made.url,
        made.event_types.join(" ")
    ));
    output::say("the secret on stdout is shown this once; the receiver verifies signatures with it");
    Ok(())
}

pub(super) async fn edit(app: &App, args: Edit) -> Result<(), Failure> {
    let found = find(app, args.subscription).await?;
    let change = SubscriptionChange { url: args.url, event_types: args.events.map(spelled_out) };
    let mut write = app.begin_write().await?;
    let Changed { record: edited, changed } =
        webhooks::edit(app, &mut write, found.workspace, found.id, change).await?;
    if changed {
        noted::commit(app, write, found.workspace, (Action::WebhookEdited, edited.id, &edited.url)).await?;
    }
    output::say(format_args!("{} to {}: {}", edited.id, edited.url, edited.event_types.join(" ")));
    Ok(())
}

/// The types of event that `all` stands for, or those that were given.
fn spelled_out(events: Vec<String>) -> Vec<String> {
    if events == ["all"] { KINDS.iter().map(|&kind| kind.to_owned()).collect() } else { events }
}

/// What seals the secrets of this data.
async fn seal(app: &App) -> Result<Seal, Failure> {
    Ok(Seal::new(&start::master_key(app).await?, Purpose::WebhookSecrets))
}

pub(super) async fn list(app: &App, workspace: &str, json: bool) -> Result<(), Failure> {
    let workspace = workspaces::find(app, workspace).await?;
    let subscriptions = webhooks::list(app, workspace.id).await?;
    if json {
        return output::json(subscriptions.iter().map(record).collect());
    }
    let row = |one: Subscription| {
        let failing = one
            .failing_since
            .map_or_else(|| "no".to_owned(), |since| format!("since {}", output::time(since)));
        [one.id.to_string(), one.state.to_string(), one.url, failing, one.event_types.join(" ")]
    };
    let rows: Vec<_> = subscriptions.into_iter().map(row).collect();
    output::table(["ID", "STATE", "URL", "FAILING", "EVENTS"], &rows)
}

fn record(subscription: &Subscription) -> serde_json::Value {
    json!({
        "id": subscription.id.to_string(),
        "url": subscription.url,
        "event_types": subscription.event_types,
        "state": subscription.state.as_str(),
        "failing_since": subscription.failing_since.map(output::time),
        "disabled_at": subscription.disabled_at.map(output::time),
        "created_at": output::time(subscription.created_at),
        "updated_at": output::time(subscription.updated_at),
    })
}

pub(super) async fn rotate(app: &App, args: &Rotate) -> Result<(), Failure> {
    let now = app.clock.now();
    let overlap = match now.to_zoned(TimeZone::UTC).checked_add(args.overlap) {
        Ok(end) if end.timestamp() >= now => end.timestamp().duration_since(now).unsigned_abs(),
        _ => {
            return Err(Failure::usage(
                "--overlap names no time to come; give a duration such as 24h, up to 7d",
            ));
        }
    };
    let found = find(app, args.subscription).await?;
    let seal = seal(app).await?;
    let mut write = app.begin_write().await?;
    let rotated = webhooks::rotate(app, &mut write, &seal, found.workspace, found.id, overlap).await?;
    noted::commit(app, write, found.workspace, (Action::WebhookRotated, found.id, &found.url)).await?;
    output::line(rotated.secret.expose_secret())?;
    match rotated.older_until.map(output::time) {
        Some(until) => output::say(format_args!(
            "the old secret signs beside the new one until {until}; change the receiver by then"
        )),
        None => output::say(
            "the old secret has stopped signing; the receiver refuses deliveries until it knows the new one",
        ),
    }
    output::say("the secret on stdout is shown this once");
    Ok(())
}

pub(super) async fn test(
    app: &App,
    subscription: SubscriptionId,
    event: Option<&str>,
) -> Result<(), Failure> {
    let found = find(app, subscription).await?;
    let mut write = app.begin_write().await?;
    let delivery = webhooks::test(app, &mut write, found.workspace, found.id, event).await?;
    noted::commit(app, write, found.workspace, (Action::WebhookTested, found.id, &delivery.event_type))
        .await?;
    output::line(delivery.id)?;
    output::say(format_args!(
        "an example of `{}` is on its way to {}; `creator-api webhooks deliveries {}` shows what came of it",
        delivery.event_type, found.url, found.id
    ));
    Ok(())
}

pub(super) async fn pause(app: &App, subscription: SubscriptionId) -> Result<(), Failure> {
    let found = find(app, subscription).await?;
    let mut write = app.begin_write().await?;
    if webhooks::pause(&mut write, found.workspace, found.id).await?.changed {
        noted::commit(app, write, found.workspace, (Action::WebhookPaused, found.id, &found.url)).await?;
    }
    output::say(format_args!(
        "{subscription} is paused: its deliveries are held until `creator-api webhooks enable {subscription}`"
    ));
    Ok(())
}

pub(super) async fn enable(app: &App, args: &Enable) -> Result<(), Failure> {
    let found = find(app, args.subscription).await?;
    let held = if args.held == Choice::Drop { Held::Drop } else { Held::Send };
    let mut progress = None;
    let dropped = |gone| {
        let progress = progress.get_or_insert_with(|| Progress::start("delete", None));
        progress.at(gone, || format!("{gone} deliveries"));
    };
    let (workspace, operator) = (found.workspace, Actor::operator());
    let enabled = webhooks::enable_whole(app, workspace, found.id, held, &operator, dropped).await?;
    if let Some(progress) = progress {
        progress.finish();
    }
    let then = match held {
        _ if !enabled.changed && enabled.moved == 0 => "as it was before",
        _ if !enabled.changed => {
            "by somebody else, while what was held was deleted; what is left of it is sent"
        }
        Held::Send => "what was held is sent from now on",
        Held::Drop => "what was held is deleted",
    };
    output::say(format_args!("{} is enabled: {then}", found.id));
    Ok(())
}

pub(super) async fn delete(app: &App, subscription: SubscriptionId) -> Result<(), Failure> {
    let found = find(app, subscription).await?;
    let mut write = app.begin_write().await?;
    webhooks::delete(&mut write, found.workspace, found.id).await?;
    noted::commit(app, write, found.workspace, (Action::WebhookDeleted, found.id, &found.url)).await?;
    output::say(format_args!("{subscription} to {} is deleted, with its deliveries", found.url));
    Ok(())
}
