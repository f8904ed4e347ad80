//! A replay of many dead letters: how far it is, and its early end.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::{DEAD_LETTERS, replay_path};
use crate::flash::Flash;
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::routes::{Route, get, post};
use crate::ui::{self, Badge, Tone, badge, piece};
use domain::Changed;
use domain::audit::Action;
use domain::webhooks::{self, Replay, ReplayState};
use foundation::id::ReplayId;

pub(super) fn routes(route: Route) -> Route {
    route
        .at("/dashboard/developer/webhooks/replays/:replay", get(show))
        .at("/dashboard/developer/webhooks/replays/:replay/cancel", post(cancel))
}

#[derive(Template)]
#[template(path = "webhooks/replay.html")]
struct ReplayPage {
    frame: Frame,
    progress: Progress,
}

piece!(Progress);

/// How far it is: the part of the page that looks for news until there are no more. The last news take the form to
/// cancel away.
#[derive(Template)]
#[template(path = "webhooks/progress.html")]
struct Progress {
    replay: Replay,
    here: String,
}

impl Progress {
    fn is_running(&self) -> bool {
        self.replay.state == ReplayState::Running
    }

    /// Whether it has ended with fewer than were counted when it began.
    fn is_overtaken(&self) -> bool {
        self.replay.state == ReplayState::Done && self.replay.done < self.replay.total
    }

    fn badge(&self) -> Badge<'static> {
        match self.replay.state {
            ReplayState::Running => badge(Tone::Busy, "running"),
            ReplayState::Done => badge(Tone::Good, "done"),
            ReplayState::Cancelled => badge(Tone::Warn, "cancelled"),
        }
    }

    /// The whole of the bar: some of those that were counted may have been sent again by others meanwhile.
    fn whole(&self) -> u64 {
        match self.replay.state {
            ReplayState::Done => self.replay.done.max(1),
            ReplayState::Running | ReplayState::Cancelled => self.replay.total.max(self.replay.done).max(1),
        }
    }

    fn bar(&self) -> u64 {
        if self.replay.state == ReplayState::Done { self.whole() } else { self.replay.done }
    }
}

#[handler]
async fn show(page: Page, Path(replay): Path<String>) -> Answer {
    let replay: ReplayId = replay.parse()?;
    let replay = webhooks::replay(page.app(), Some(page.workspace()), replay).await?;
    let progress = Progress { here: replay_path(&replay.id), replay };
    if page.is_partial() {
        return page.show(&progress);
    }
    page.show(&ReplayPage { frame: page.frame(Section::DeadLetters, "Replay"), progress })
}

#[handler]
async fn cancel(page: Page, Path(replay): Path<String>) -> Answer {
    let replay: ReplayId = replay.parse()?;
    let here = replay_path(&replay);
    let mut write = page.begin_write().await?;
    let Changed { record: ended, changed } = webhooks::cancel(&mut write, page.workspace(), replay).await?;
    if !changed {
        return page.redirect_with(&here, &Flash::note("It had ended before; nothing was changed."));
    }
    let told = format!("{} of {} replayed", ui::number(ended.done), ui::number(ended.total));
    page.commit(write, Action::ReplayCancelled, replay, &told).await?;
    page.redirect_with(&here, &Flash::done("The replay is cancelled. What it replayed before is sent."))
}
