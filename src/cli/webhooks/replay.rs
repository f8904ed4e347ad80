//! Sends deliveries again: specified deliveries directly, or all dead letters by a replay job. Also cancels replay
//! jobs.

use std::collections::BTreeMap;

use super::super::outcome::CommandError;
use super::super::progress::ProgressDisplay;
use super::super::{audited, output, workspaces as workspace_lookup};
use super::deliveries::DeadFilterArgs;
use super::find;
use domain::app::App;
use domain::audit::{self, Action, Actor};
use domain::webhooks::{self, DeadFilter, ReplayPreview, ReplayState, replays};
use domain::{Error, WriteOutcome, workspaces};
use foundation::id::{DeliveryId, ReplayId, WorkspaceId};

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("selection").required(true).args(["deliveries", "all", "cancel"])))]
pub(in crate::cli) struct ReplayArgs {
    /// Ids of the deliveries to send again
    #[arg(value_name = "DELIVERY")]
    deliveries: Vec<DeliveryId>,
    /// Replay all dead letters, of all workspaces unless --workspace or --subscription is specified
    #[arg(long)]
    all: bool,
    /// Key of the workspace whose dead letters are replayed; requires --all
    #[arg(long, value_name = "KEY", requires = "all")]
    workspace: Option<String>,
    #[command(flatten, next_help_heading = "Filters of --all")]
    filter: DeadFilterArgs,
    /// Only print the number of dead letters that would be replayed; requires --all
    #[arg(long, requires = "all")]
    dry_run: bool,
    /// Id of a replay to cancel, as printed by --all
    #[arg(long, value_name = "REPLAY")]
    cancel: Option<ReplayId>,
}

pub(super) async fn run(app: &App, args: ReplayArgs) -> Result<(), CommandError> {
    let filter = DeadFilter::from(args.filter.clone());
    if !args.all && filter != DeadFilter::default() {
        return Err(CommandError::usage("--subscription, --event, --from and --to require --all"));
    }
    match args {
        ReplayArgs { cancel: Some(replay), .. } => cancel(app, replay).await,
        ReplayArgs { all: true, .. } => replay_all(app, &args, &filter).await,
        ReplayArgs { deliveries, .. } => send_again(app, &deliveries).await,
    }
}

/// Creates a new delivery for each specified one, in one transaction, and prints the new ids. A worker sends them.
async fn send_again(app: &App, deliveries: &[DeliveryId]) -> Result<(), CommandError> {
    let mut by_workspace: BTreeMap<WorkspaceId, Vec<DeliveryId>> = BTreeMap::new();
    for &delivery in deliveries {
        match webhooks::workspace_of(app, delivery).await {
            Err(Error::NotFound(_)) => {
                return Err(CommandError::new(format!(
                    "delivery {delivery} not found; `creator-api webhooks dead --workspace KEY` lists the dead letters of a workspace"
                )));
            }
            workspace => by_workspace.entry(workspace?).or_default().push(delivery),
        }
    }
    let mut write = app.begin_write().await?;
    let mut new_deliveries = Vec::with_capacity(deliveries.len());
    for (workspace, deliveries) in by_workspace {
        let created = webhooks::send_again(app, &mut write, workspace, &deliveries).await?;
        if let Some((action, subject, detail)) = webhooks::audit_entry(&created) {
            audit::append(app, &mut write, workspace, &Actor::operator(), (action, subject, &detail)).await?;
        }
        new_deliveries.extend(created);
    }
    write.commit().await?;
    new_deliveries.iter().try_for_each(|delivery| output::print(delivery.id))
}

/// Formats a number of deliveries: "1 delivery", "2 deliveries".
fn format_count(count: u64) -> String {
    if count == 1 { "1 delivery".to_owned() } else { format!("{count} deliveries") }
}

/// Replays the dead letters of the selected workspaces, with one job per workspace. With `--dry-run`, only counts them.
async fn replay_all(app: &App, args: &ReplayArgs, filter: &DeadFilter) -> Result<(), CommandError> {
    let mut replayed = 0;
    for workspace in selected_workspaces(app, args).await? {
        let preview = replays::preview(app, workspace, filter).await?;
        if preview.total > 0 && !args.dry_run {
            replayed += run_job(app, workspace, &preview).await?;
        } else {
            replayed += preview.total;
        }
    }
    let label = if args.dry_run { "to replay" } else { "replayed" };
    output::print(format_args!("{replayed} {label}"))
}

/// Returns the specified workspace, that of the specified subscription, or all workspaces.
async fn selected_workspaces(app: &App, args: &ReplayArgs) -> Result<Vec<WorkspaceId>, CommandError> {
    let subscription = match args.filter.subscription {
        Some(subscription) => Some(find(app, subscription).await?),
        None => None,
    };
    match (&args.workspace, subscription) {
        (Some(key), _) => Ok(vec![workspace_lookup::find(app, key).await?.id]),
        (None, Some(subscription)) => Ok(vec![subscription.workspace]),
        (None, None) => Ok(workspaces::list(app).await?.into_iter().map(|workspace| workspace.id).collect()),
    }
}

/// Starts a replay job and runs it, possibly together with a worker, until it is completed or canceled. Returns the
/// number of deliveries replayed.
async fn run_job(app: &App, workspace: WorkspaceId, preview: &ReplayPreview) -> Result<u64, CommandError> {
    let mut write = app.begin_write().await?;
    let mut job = replays::start(app, &mut write, preview).await?;
    let count = format_count(job.total);
    audited::commit(app, write, workspace, (Action::ReplayStarted, job.id, &count)).await?;
    output::eprint(format_args!(
        "{} replays {count}; if interrupted, a worker completes it, unless canceled with `creator-api webhooks replay --cancel {}`",
        job.id, job.id
    ));
    let mut progress = ProgressDisplay::start("replay", Some(job.total));
    while job.state == ReplayState::Running {
        job = replays::advance(app, workspace, job.id).await?;
        progress.update(job.done, || format!("{} of {} replayed", job.done, job.total));
    }
    progress.finish();
    Ok(job.done)
}

async fn cancel(app: &App, replay: ReplayId) -> Result<(), CommandError> {
    let existing = match replays::get(app, None, replay).await {
        Err(Error::NotFound(_)) => {
            let remedy = "`creator-api webhooks replay --all` prints the id of each replay that it starts";
            return Err(CommandError::new(format!("replay {replay} not found; {remedy}")));
        }
        result => result?,
    };
    let mut write = app.begin_write().await?;
    let WriteOutcome { record: canceled, changed } =
        replays::cancel(&mut write, existing.workspace, replay).await?;
    if changed {
        let detail = format!("{} of {} replayed", canceled.done, canceled.total);
        audited::commit(app, write, existing.workspace, (Action::ReplayCanceled, replay, &detail)).await?;
    }
    output::eprint(format_args!(
        "{replay} is {}: {} of {} replayed",
        canceled.state, canceled.done, canceled.total
    ));
    Ok(())
}
