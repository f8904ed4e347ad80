//! The subscriptions of a workspace, with how each fares.

use askama::Template;
use poem::handler;

use super::outcomes::Rate;
use super::{DEAD_LETTERS, LIST, events, path, some, standing};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::routes::{Route, get};
use crate::ui;
use domain::webhooks::{self, Counted, DeadFilter, Subscription};

/// Hours over which the success rate is told.
const HOURS: i64 = 24;

pub(super) fn routes(route: Route) -> Route {
    route.at(LIST, get(list))
}

#[derive(Template)]
#[template(path = "webhooks/list.html")]
struct ListPage {
    frame: Frame,
    rows: Vec<Row>,
    dead: Counted,
}

/// A subscription as the list shows it.
struct Row {
    subscription: Subscription,
    rate: Rate,
}

impl ListPage {
    /// Whether a row tells of fewer hours than the others.
    fn is_cut(&self) -> bool {
        self.rows.iter().any(|row| row.rate.is_cut)
    }
}

#[handler]
async fn list(page: Page) -> Answer {
    let (app, workspace) = (page.app(), page.workspace());
    let dead = webhooks::count_some(app, workspace, &DeadFilter::default()).await?;
    let mut rows = Vec::new();
    for subscription in webhooks::list(app, workspace).await? {
        let outcomes = webhooks::outcomes(app, workspace, Some(subscription.id), HOURS).await?;
        rows.push(Row { rate: Rate::of(&outcomes), subscription });
    }
    page.show(&ListPage { frame: page.frame(Section::Webhooks, "Webhooks"), rows, dead })
}
