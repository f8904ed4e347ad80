//! Deliveries sent again: those that are named, or all dead ones by a job.

use std::collections::BTreeMap;

use super::super::failure::Failure;
use super::super::progress::Progress;
use super::super::{noted, output, workspaces as named};
use super::deliveries::FilterFlags;
use super::find;
use domain::app::App;
use domain::audit::{self, Action, Actor};
use domain::webhooks::{self, DeadFilter, ReplayState, Wish};
use domain::{Changed, Error, workspaces};
use foundation::id::{DeliveryId, ReplayId, WorkspaceId};

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["deliveries", "all", "cancel"])))]
pub(in crate::cli) struct Replay {
    /// Deliveries to send again, by their ids
    #[arg(value_name = "DELIVERY")]
    deliveries: Vec<DeliveryId>,
    /// Replay all dead deliveries, of all workspaces unless one is named
    #[arg(long)]
    all: bool,
    /// The key of the workspace, with --all
    #[arg(long, value_name = "KEY", requires = "all")]
    workspace: Option<String>,
    #[command(flatten)]
    filter: FilterFlags,
    /// Only say how many there are, with --all
    #[arg(long, requires = "all")]
    dry_run: bool,
    /// End a replay that was begun with --all
    #[arg(long, value_name = "REPLAY")]
    cancel: Option<ReplayId>,
}

pub(super) async fn run(app: &App, args: Replay) -> Result<(), Failure> {
    let filter = DeadFilter::from(args.filter.clone());
    if !args.all && filter != DeadFilter::default() {
        return Err(Failure::usage(
            "--subscription, --event, --from and --to choose among all: give --all with them",
        ));
    }
    match args {
        Replay { cancel: Some(replay), .. } => cancel(app, replay).await,
        Replay { all: true, .. } => all(app, &args, &filter).await,
        Replay { deliveries, .. } => some(app, &deliveries).await,
    }
}

/// Sends the named deliveries again, all or none.
async fn some(app: &App, deliveries: &[DeliveryId]) -> Result<(), Failure> {
    let mut by_workspace: BTreeMap<WorkspaceId, Vec<DeliveryId>> = BTreeMap::new();
    for &delivery in deliveries {
        match webhooks::workspace_of(app, delivery).await {
            Err(Error::NotFound(_)) => {
                return Err(Failure::new(format!(
                    "there is no delivery {delivery}; `creator-api webhooks dead --workspace KEY` shows the dead ones"
                )));
            }
            workspace => by_workspace.entry(workspace?).or_default().push(delivery),
        }
    }
    let mut write = app.begin_write().await?;
    let mut again = Vec::with_capacity(deliveries.len());
    for (workspace, deliveries) in by_workspace {
        let made = webhooks::send_again(app, &mut write, workspace, &deliveries).await?;
        if let Some((action, subject, detail)) = webhooks::told(&made) {
            audit::append(app, &mut write, workspace, &Actor::operator(), (action, subject, &detail)).await?;
        }
        again.extend(made);
    }
    write.commit().await?;
    again.iter().try_for_each(|delivery| output::line(delivery.id))
}

/// "1 delivery", "2 deliveries".
fn counted(count: u64) -> String {
    if count == 1 { "1 delivery".to_owned() } else { format!("{count} deliveries") }
}

/// Replays the dead deliveries of one workspace or all, a job each.
async fn all(app: &App, args: &Replay, filter: &DeadFilter) -> Result<(), Failure> {
    let mut replayed = 0;
    for workspace in chosen(app, args).await? {
        let wish = webhooks::wish(app, workspace, filter).await?;
        if wish.total > 0 && !args.dry_run {
            replayed += job(app, workspace, &wish).await?;
        } else {
            replayed += wish.total;
        }
    }
    let said = if args.dry_run { "to replay" } else { "replayed" };
    output::line(format_args!("{replayed} {said}"))
}

/// The workspaces whose dead deliveries are wanted.
async fn chosen(app: &App, args: &Replay) -> Result<Vec<WorkspaceId>, Failure> {
    let of = match args.filter.subscription {
        Some(subscription) => Some(find(app, subscription).await?),
        None => None,
    };
    match (&args.workspace, of) {
        (Some(key), _) => Ok(vec![named::find(app, key).await?.id]),
        (None, Some(subscription)) => Ok(vec![subscription.workspace]),
        (None, None) => Ok(workspaces::list(app).await?.into_iter().map(|workspace| workspace.id).collect()),
    }
}

/// Begins a job and goes on with it to its end, as a worker may do at the same time. Says how many it replayed.
async fn job(app: &App, workspace: WorkspaceId, wish: &Wish) -> Result<u64, Failure> {
    let mut write = app.begin_write().await?;
    let mut job = webhooks::start(app, &mut write, wish).await?;
    let told = counted(job.total);
    noted::commit(app, write, workspace, (Action::ReplayStarted, job.id, &told)).await?;
    output::say(format_args!(
        "{} replays {told}; stopped here, a worker goes on with it until `creator-api webhooks replay --cancel {}`",
        job.id, job.id
    ));
    let mut progress = Progress::start("replay", Some(job.total));
    while job.state == ReplayState::Running {
        job = webhooks::advance(app, workspace, job.id).await?;
        progress.at(job.done, || format!("{} of {} replayed", job.done, job.total));
    }
    progress.finish();
    Ok(job.done)
}

async fn cancel(app: &App, replay: ReplayId) -> Result<(), Failure> {
    let found = match webhooks::replay(app, None, replay).await {
        Err(Error::NotFound(_)) => {
            let remedy = "`creator-api webhooks replay --all` says the id of what it begins";
            return Err(Failure::new(format!("there is no replay {replay}; {remedy}")));
        }
        found => found?,
    };
    let mut write = app.begin_write().await?;
    let Changed { record: ended, changed } = webhooks::cancel(&mut write, found.workspace, replay).await?;
    if changed {
        let told = format!("{} of {} replayed", ended.done, ended.total);
        noted::commit(app, write, found.workspace, (Action::ReplayCancelled, replay, &told)).await?;
    }
    output::say(format_args!("{replay} is {}: {} of {} replayed", ended.state, ended.done, ended.total));
    Ok(())
}
