//! The list of subscriptions with their state and success rate.

use askama::Template;
use poem::handler;

use super::outcomes::SuccessRate;
use super::signing_keys::SIGNING_KEYS;
use super::{DEAD_LETTERS, LIST, event_types, format_count, path, subscription_badge};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui;
use domain::roles::Permission;
use domain::webhooks::{self, CappedCount, DeadFilter, Subscription, replays};

/// Hours covered by the success rate.
const HOURS: i64 = 24;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at(LIST, get(Permission::ReadWorkspace, list))
}

#[derive(Template)]
#[template(path = "webhooks/list.html")]
struct WebhookListPage {
    frame: Frame,
    rows: Vec<WebhookRow>,
    /// The number of dead letters of all subscriptions.
    dead_letters: CappedCount,
}

/// A row of the list.
struct WebhookRow {
    subscription: Subscription,
    rate: SuccessRate,
}

#[handler]
async fn list(request: DashboardRequest) -> PageResponse {
    let (app, workspace) = (request.app(), request.workspace());
    let dead_letters = replays::count_newest(app, workspace, &DeadFilter::default()).await?;
    let mut rows = Vec::new();
    for subscription in webhooks::list(app, workspace).await? {
        let outcomes = webhooks::outcomes(app, workspace, Some(subscription.id), HOURS).await?;
        rows.push(WebhookRow { rate: SuccessRate::new(&outcomes), subscription });
    }
    let frame = request.frame(Section::Webhooks, "Webhooks");
    request.show(&WebhookListPage { frame, rows, dead_letters })
}
