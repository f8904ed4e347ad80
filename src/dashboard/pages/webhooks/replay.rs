//! One replay: its progress, and its cancellation.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::{DEAD_LETTERS, replay_path};
use crate::flash::Flash;
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get, post};
use crate::ui::{self, Badge, PageZone, Tone, badge, html_safe};
use domain::WriteOutcome;
use domain::audit::Action;
use domain::roles::Permission;
use domain::webhooks::{Replay, ReplayState, replays};
use foundation::id::ReplayId;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at("/dashboard/developer/webhooks/replays/:replay", get(Permission::ReadWorkspace, show))
        .at("/dashboard/developer/webhooks/replays/:replay/cancel", post(Permission::ManageWebhooks, cancel))
}

#[derive(Template)]
#[template(path = "webhooks/replay.html")]
struct ReplayPage {
    frame: Frame,
    progress: ReplayProgress,
}

html_safe!(ReplayProgress);

/// The progress of a replay. The page polls this part while the replay runs. The final update removes the form that
/// cancels the replay.
#[derive(Template)]
#[template(path = "webhooks/progress.html")]
struct ReplayProgress {
    zone: PageZone,
    replay: Replay,
    path: String,
}

impl ReplayProgress {
    fn is_running(&self) -> bool {
        self.replay.state == ReplayState::Running
    }

    /// Returns whether the replay is done and skipped some of the dead letters counted at its start.
    fn has_skipped(&self) -> bool {
        self.replay.state == ReplayState::Done && self.replay.done < self.replay.total
    }

    fn badge(&self) -> Badge<'static> {
        match self.replay.state {
            ReplayState::Running => badge(Tone::Busy, "running"),
            ReplayState::Done => badge(Tone::Good, "done"),
            ReplayState::Canceled => badge(Tone::Warn, "canceled"),
        }
    }

    /// Returns the maximum of the progress bar. A finished replay counts only the dead letters that it replayed itself.
    fn maximum(&self) -> u64 {
        match self.replay.state {
            ReplayState::Done => self.replay.done.max(1),
            ReplayState::Running | ReplayState::Canceled => self.replay.total.max(self.replay.done).max(1),
        }
    }

    fn value(&self) -> u64 {
        if self.replay.state == ReplayState::Done { self.maximum() } else { self.replay.done }
    }
}

#[handler]
async fn show(request: DashboardRequest, Path(replay): Path<String>) -> PageResponse {
    let replay: ReplayId = replay.parse()?;
    let replay = replays::get(request.app(), Some(request.workspace()), replay).await?;
    let progress = ReplayProgress { zone: request.zone().clone(), path: replay_path(&replay.id), replay };
    if request.is_partial() {
        return request.show(&progress);
    }
    request.show(&ReplayPage { frame: request.frame(Section::DeadLetters, "Replay"), progress })
}

#[handler]
async fn cancel(request: DashboardRequest, Path(replay): Path<String>) -> PageResponse {
    let replay: ReplayId = replay.parse()?;
    let path = replay_path(&replay);
    let mut write = request.begin_write().await?;
    let WriteOutcome { record: ended, changed } =
        replays::cancel(&mut write, request.workspace(), replay).await?;
    if !changed {
        return request.redirect_with(&path, &Flash::info("The replay has already ended."));
    }
    let detail = format!("{} of {} replayed", ui::number(ended.done), ui::number(ended.total));
    request.commit(write, Action::ReplayCanceled, replay, &detail).await?;
    request.redirect_with(
        &path,
        &Flash::success("Replay canceled. Deliveries that it already replayed are still sent."),
    )
}
