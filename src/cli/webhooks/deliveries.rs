//! Deliveries listed: a subscription's, and the dead ones of a workspace.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::failure::Failure;
use super::super::{output, workspaces};
use super::find;
use domain::Result as Found;
use domain::app::App;
use domain::page::{Page, PageRequest, Span};
use domain::webhooks::{self, Attempt, DeadFilter, Delivery, DeliveryFilter, DeliveryState};
use foundation::id::SubscriptionId;

/// Deliveries read at once.
const PAGE: u32 = 500;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Deliveries {
    /// The subscription's id
    #[arg(value_name = "SUBSCRIPTION")]
    subscription: SubscriptionId,
    /// Only those that stand there: pending, delivered, dead or held
    #[arg(long)]
    state: Option<DeliveryState>,
    /// Only of events of this type
    #[arg(long = "event", value_name = "TYPE")]
    event: Option<String>,
    /// Only made from this time on
    #[arg(long, value_name = "TIME")]
    from: Option<Timestamp>,
    /// Only made before this time
    #[arg(long, value_name = "TIME")]
    to: Option<Timestamp>,
    #[command(flatten)]
    show: Show,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Dead {
    /// The workspace's key
    #[arg(long, value_name = "KEY")]
    workspace: String,
    #[command(flatten)]
    filter: FilterFlags,
    #[command(flatten)]
    show: Show,
}

/// How a list is shown.
#[derive(Debug, clap::Args)]
struct Show {
    /// Deliveries to show at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Which dead deliveries are wanted.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct FilterFlags {
    /// Only of this subscription
    #[arg(long, value_name = "SUBSCRIPTION")]
    pub(super) subscription: Option<SubscriptionId>,
    /// Only of events of this type
    #[arg(long = "event", value_name = "TYPE")]
    event: Option<String>,
    /// Only made from this time on
    #[arg(long, value_name = "TIME")]
    from: Option<Timestamp>,
    /// Only made before this time
    #[arg(long, value_name = "TIME")]
    to: Option<Timestamp>,
}

impl From<FilterFlags> for DeadFilter {
    fn from(FilterFlags { subscription, event, from, to }: FilterFlags) -> Self {
        Self { subscription, event_type: event, created: Span { from, to } }
    }
}

pub(super) async fn of_subscription(app: &App, args: &Deliveries) -> Result<(), Failure> {
    let of = find(app, args.subscription).await?;
    let filter = DeliveryFilter {
        state: args.state,
        event_type: args.event.clone(),
        created: Span { from: args.from, to: args.to },
    };
    let page = async |page| webhooks::deliveries(app, of.workspace, of.id, &filter, page).await;
    show(&args.show, page).await
}

pub(super) async fn dead(app: &App, args: &Dead) -> Result<(), Failure> {
    let workspace = workspaces::find(app, &args.workspace).await?;
    let filter = DeadFilter::from(args.filter.clone());
    if let Some(subscription) = args.filter.subscription {
        find(app, subscription).await?;
    }
    let page = async |page| webhooks::dead(app, workspace.id, &filter, page).await;
    show(&args.show, page).await
}

/// Prints the first deliveries of a list that comes page by page.
async fn show(how: &Show, page: impl AsyncFn(PageRequest) -> Found<Page<Delivery>>) -> Result<(), Failure> {
    let wanted = usize::try_from(how.limit).unwrap_or(usize::MAX);
    let (mut deliveries, mut next) = (Vec::new(), None);
    loop {
        let missing = u32::try_from(wanted - deliveries.len()).unwrap_or(PAGE);
        let found = page(PageRequest::newest(next, missing.min(PAGE))).await?;
        deliveries.extend(found.items);
        next = found.next;
        if next.is_none() || deliveries.len() >= wanted {
            break;
        }
    }
    if how.json {
        output::json(deliveries.iter().map(record).collect())?;
    } else {
        let rows: Vec<_> = deliveries.iter().map(row).collect();
        output::table(
            ["ID", "STATE", "TYPE", "ORIGIN", "CREATED", "ATTEMPTS", "LAST", "NEXT ATTEMPT"],
            &rows,
        )?;
    }
    if next.is_some() {
        output::say(format_args!("there are older ones; --limit {} shows more", wanted.saturating_mul(10)));
    }
    Ok(())
}

fn row(delivery: &Delivery) -> [String; 8] {
    let none = || "-".to_owned();
    [
        delivery.id.to_string(),
        delivery.state.to_string(),
        delivery.event_type.clone(),
        delivery.origin.to_string(),
        output::time(delivery.created_at),
        delivery.attempts.len().to_string(),
        delivery.attempts.last().map_or_else(none, outcome),
        delivery.next_attempt_at.map_or_else(none, output::time),
    ]
}

/// What came of an attempt, in a word.
fn outcome(attempt: &Attempt) -> String {
    match (attempt.status, &attempt.error) {
        (Some(status), _) => status.to_string(),
        (None, Some(error)) => error.clone(),
        (None, None) => "-".to_owned(),
    }
}

fn record(delivery: &Delivery) -> Value {
    let attempt = |one: &Attempt| {
        json!({
            "started_at": output::time(one.started_at),
            "ended_at": output::time(one.ended_at),
            "status": one.status,
            "error": one.error,
        })
    };
    json!({
        "id": delivery.id.to_string(),
        "subscription_id": delivery.subscription.to_string(),
        "event_id": delivery.event.to_string(),
        "type": delivery.event_type,
        "state": delivery.state.as_str(),
        "origin": delivery.origin.as_str(),
        "next_attempt_at": delivery.next_attempt_at.map(output::time),
        "attempts": delivery.attempts.iter().map(attempt).collect::<Vec<_>>(),
    })
}
