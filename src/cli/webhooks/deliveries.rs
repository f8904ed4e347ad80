//! Lists the deliveries of a subscription, and the dead letters of a workspace: the deliveries that failed permanently.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::outcome::CommandError;
use super::super::{output, workspaces};
use super::find;
use domain::Result as DomainResult;
use domain::app::App;
use domain::page::{Page, PageRequest, TimeSpan};
use domain::webhooks::{self, Attempt, DeadFilter, Delivery, DeliveryFilter, DeliveryState};
use foundation::id::SubscriptionId;

/// The maximum number of deliveries read by one query.
const PAGE_SIZE: u32 = 500;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DeliveriesArgs {
    /// Id of the subscription
    #[arg(value_name = "SUBSCRIPTION")]
    subscription: SubscriptionId,
    /// Only deliveries in this state: pending, delivered, dead or held
    #[arg(long)]
    state: Option<DeliveryState>,
    /// Only deliveries of this event type
    #[arg(long = "event", value_name = "TYPE")]
    event_type: Option<String>,
    /// Only deliveries created at or after this time, in RFC 3339 format
    #[arg(long, value_name = "TIME")]
    from: Option<Timestamp>,
    /// Only deliveries created before this time, in RFC 3339 format
    #[arg(long, value_name = "TIME")]
    to: Option<Timestamp>,
    #[command(flatten)]
    output: ListArgs,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DeadArgs {
    /// Key of the workspace, such as `acme`; `workspaces list` shows it
    #[arg(long, value_name = "KEY")]
    workspace: String,
    #[command(flatten)]
    filter: DeadFilterArgs,
    #[command(flatten)]
    output: ListArgs,
}

/// The output options of a list.
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Maximum number of deliveries
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The filter for dead letters.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct DeadFilterArgs {
    /// Only deliveries of this subscription
    #[arg(long, value_name = "SUBSCRIPTION")]
    pub(super) subscription: Option<SubscriptionId>,
    /// Only deliveries of this event type
    #[arg(long = "event", value_name = "TYPE")]
    event_type: Option<String>,
    /// Only deliveries created at or after this time, in RFC 3339 format
    #[arg(long, value_name = "TIME")]
    from: Option<Timestamp>,
    /// Only deliveries created before this time, in RFC 3339 format
    #[arg(long, value_name = "TIME")]
    to: Option<Timestamp>,
}

impl From<DeadFilterArgs> for DeadFilter {
    fn from(DeadFilterArgs { subscription, event_type, from, to }: DeadFilterArgs) -> Self {
        Self { subscription, event_type, created: TimeSpan { from, to } }
    }
}

pub(super) async fn list_of_subscription(app: &App, args: &DeliveriesArgs) -> Result<(), CommandError> {
    let subscription = find(app, args.subscription).await?;
    let filter = DeliveryFilter {
        state: args.state,
        event_type: args.event_type.clone(),
        created: TimeSpan { from: args.from, to: args.to },
    };
    let read_page =
        async |page| webhooks::deliveries(app, subscription.workspace, subscription.id, &filter, page).await;
    print_list(&args.output, read_page).await
}

pub(super) async fn list_dead(app: &App, args: &DeadArgs) -> Result<(), CommandError> {
    let workspace = workspaces::find(app, &args.workspace).await?;
    let filter = DeadFilter::from(args.filter.clone());
    if let Some(subscription) = args.filter.subscription {
        find(app, subscription).await?;
    }
    let read_page = async |page| webhooks::dead_deliveries(app, workspace.id, &filter, page).await;
    print_list(&args.output, read_page).await
}

/// Prints the newest deliveries of a list, up to the limit. `read_page` reads one page of the list.
async fn print_list(
    args: &ListArgs,
    read_page: impl AsyncFn(PageRequest) -> DomainResult<Page<Delivery>>,
) -> Result<(), CommandError> {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let (mut deliveries, mut next) = (Vec::new(), None);
    loop {
        let remaining = u32::try_from(limit - deliveries.len()).unwrap_or(PAGE_SIZE);
        let batch = read_page(PageRequest::newest_first(next, remaining.min(PAGE_SIZE))).await?;
        deliveries.extend(batch.items);
        next = batch.next;
        if next.is_none() || deliveries.len() >= limit {
            break;
        }
    }
    if args.json {
        output::print_json(deliveries.iter().map(to_json).collect())?;
    } else {
        let rows: Vec<_> = deliveries.iter().map(row).collect();
        output::print_table(
            ["ID", "STATE", "TYPE", "ORIGIN", "CREATED", "ATTEMPTS", "LAST RESPONSE", "NEXT ATTEMPT"],
            &rows,
        )?;
    }
    if next.is_some() {
        output::eprint(format_args!(
            "older deliveries exist; use --limit {} to list more",
            limit.saturating_mul(10)
        ));
    }
    Ok(())
}

fn row(delivery: &Delivery) -> [String; 8] {
    let placeholder = || "-".to_owned();
    [
        delivery.id.to_string(),
        delivery.state.to_string(),
        delivery.event_type.clone(),
        delivery.origin.to_string(),
        output::format_time(delivery.created_at),
        delivery.attempts.len().to_string(),
        delivery.attempts.last().map_or_else(placeholder, attempt_outcome),
        delivery.next_attempt_at.map_or_else(placeholder, output::format_time),
    ]
}

/// Returns the outcome of an attempt: the response status, the failure code, or a dash if it has neither.
pub(super) fn attempt_outcome(attempt: &Attempt) -> String {
    match (attempt.status, &attempt.error) {
        (Some(status), _) => status.to_string(),
        (None, Some(error)) => error.clone(),
        (None, None) => "-".to_owned(),
    }
}

pub(super) fn to_json(delivery: &Delivery) -> Value {
    let attempt = |attempt: &Attempt| {
        json!({
            "started_at": output::format_time(attempt.started_at),
            "ended_at": output::format_time(attempt.ended_at),
            "status": attempt.status,
            "error": attempt.error,
        })
    };
    json!({
        "id": delivery.id.to_string(),
        "subscription_id": delivery.subscription.to_string(),
        "event_id": delivery.event.to_string(),
        "type": delivery.event_type,
        "state": delivery.state.as_str(),
        "origin": delivery.origin.as_str(),
        "next_attempt_at": delivery.next_attempt_at.map(output::format_time),
        "attempts": delivery.attempts.iter().map(attempt).collect::<Vec<_>>(),
    })
}
