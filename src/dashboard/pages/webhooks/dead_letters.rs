//! Dead letters of all subscriptions: list with filters, selection, and replay after a confirmation.

use std::collections::HashMap;

use askama::Template;
use poem::handler;

use super::filter::{event_type, event_type_choices};
use super::{DEAD_LETTERS, delivery_path, exact_delivery_count, last_outcome, origin_badge, replay_path};
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::position::{self, ROWS_PER_PAGE};
use crate::query::{PageQuery, SEARCH_ALL, TIME_ZONE};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::time_span;
use crate::ui::{self, FormChoice, PageZone, choices};
use domain::audit::Action;
use domain::page::{Page, PageRequest};
use domain::roles::Permission;
use domain::webhooks::{self, CappedCount, DeadFilter, Delivery, Replay, ReplayStart, Subscription, replays};
use domain::{Error, FieldError, Result};
use foundation::id::{DeliveryId, SubscriptionId};

/// The parameters of the filter.
const FIELDS: &[&str] = &["subscription", "event", "from", "to", TIME_ZONE];
/// The parameters of the list: the filter, and how far to search.
const LIST_FIELDS: &[&str] = &["subscription", "event", "from", "to", TIME_ZONE, SEARCH_ALL];
/// Path of the confirmation of a replay.
const REPLAY: &str = "/dashboard/developer/webhooks/dead-letters/replay";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(DEAD_LETTERS, get(Permission::ReadWorkspace, list))
        .at(REPLAY, get(Permission::ManageWebhooks, confirm).post(Permission::ManageWebhooks, replay))
}

#[derive(Template)]
#[template(path = "webhooks/dead_letters.html")]
struct DeadLettersPage {
    frame: Frame,
    query: PageQuery,
    errors: FormErrors,
    /// Id and URL of each subscription.
    subscriptions: Vec<(String, String)>,
    letters: Vec<DeadLetterRow>,
    /// The number of dead letters on all pages: those that match the filter and were not replayed.
    total: CappedCount,
    /// The running replays of the workspace.
    running: Vec<Replay>,
    pager: ui::Pager,
}

/// A row of the list.
struct DeadLetterRow {
    delivery: Delivery,
    url: String,
}

impl DeadLettersPage {
    fn subscriptions(&self) -> Vec<FormChoice<'_>> {
        let subscriptions = self.subscriptions.iter().map(|(id, url)| (id.as_str(), url.as_str()));
        choices(std::iter::once(("", "All webhooks")).chain(subscriptions), self.query.text("subscription"))
    }

    /// Returns the label of the button that replays all: "Replay all 1,204".
    fn replay_all_label(&self) -> String {
        match self.total {
            CappedCount::Exactly(1) => "Replay 1 dead letter".to_owned(),
            CappedCount::Exactly(total) => format!("Replay all {}", ui::number(total)),
            CappedCount::MoreThan(_) | CappedCount::AtLeast(_) => "Replay all".to_owned(),
        }
    }

    fn event_types(&self) -> Vec<FormChoice<'_>> {
        event_type_choices(self.query.text("event"))
    }

    fn is_filtered(&self) -> bool {
        self.query.has_any(FIELDS)
    }

    /// Returns the filter as hidden form fields.
    fn fields(&self) -> Vec<(&'static str, &str)> {
        fields(&self.query)
    }

    /// Returns the path of the confirmation of a replay of all matching dead letters.
    fn replay_all_path(&self) -> String {
        self.query.path(REPLAY, FIELDS)
    }
}

#[handler]
async fn list(request: DashboardRequest, query: PageQuery) -> PageResponse {
    let (app, workspace) = (request.app(), request.workspace());
    let mut errors = FormErrors::default();
    let filter = filter(request.zone(), |field| query.text(field), &mut errors);
    let after = query.after().and_then(position::parse);
    let no_letters = || (Page { items: Vec::new(), next: None }, CappedCount::Exactly(0));
    let mut search_end = None;
    let (found, total) = if !errors.is_empty() {
        no_letters()
    } else if query.is_full_search() {
        let found = webhooks::unreplayed_deliveries(
            app,
            workspace,
            &filter,
            PageRequest::newest_first(after, ROWS_PER_PAGE),
        )
        .await?;
        (found, CappedCount::Exactly(replays::preview(app, workspace, &filter).await?.total))
    } else {
        search_end = webhooks::dead_search_end(app, workspace, &filter, after).await?;
        let page_request = PageRequest { to: search_end, ..PageRequest::newest_first(after, ROWS_PER_PAGE) };
        let found = webhooks::unreplayed_deliveries(app, workspace, &filter, page_request).await?;
        (found, replays::count_newest(app, workspace, &filter).await?)
    };
    let path = query.path(DEAD_LETTERS, LIST_FIELDS);
    let pager = ui::pager(&path, query.after(), found.next.map(position::format));
    let subscriptions = webhooks::list(app, workspace).await?;
    let page = DeadLettersPage {
        frame: request.frame(Section::DeadLetters, "Dead letters"),
        pager: pager
            .limited_to(&path, request.zone(), after, search_end)
            .searched("dead letters, including replayed ones"),
        letters: rows(found.items, &subscriptions),
        subscriptions: subscriptions
            .into_iter()
            .map(|subscription| (subscription.id.to_string(), subscription.url))
            .collect(),
        total,
        running: replays::running_in(app, workspace).await?,
        query,
        errors,
    };
    if page.errors.is_empty() { request.show(&page) } else { request.show_errors(&page) }
}

/// Returns the rows with the URLs of their subscriptions. Leaves out deliveries of a subscription that is being deleted.
fn rows(found: Vec<Delivery>, subscriptions: &[Subscription]) -> Vec<DeadLetterRow> {
    let urls: HashMap<SubscriptionId, &str> =
        subscriptions.iter().map(|subscription| (subscription.id, subscription.url.as_str())).collect();
    let row = |delivery: Delivery| {
        let url = (*urls.get(&delivery.subscription)?).to_owned();
        Some(DeadLetterRow { delivery, url })
    };
    found.into_iter().filter_map(row).collect()
}

/// Parses the filter of a query or form. `text` returns the value of a field. Adds an error for each invalid field.
fn filter<'a>(
    zone: &PageZone,
    text: impl Fn(&'static str) -> &'a str,
    errors: &mut FormErrors,
) -> DeadFilter {
    let subscription = Some(text("subscription")).filter(|id| !id.is_empty()).and_then(|id| {
        id.parse().map_err(|_| errors.add("subscription", "must be one of the listed values")).ok()
    });
    DeadFilter {
        subscription,
        event_type: event_type(text("event"), errors),
        created: time_span::parse(zone, text, errors),
    }
}

/// Returns the fields of the filter that are set.
fn fields(query: &PageQuery) -> Vec<(&'static str, &str)> {
    let fields = FIELDS.iter().map(|field| (*field, query.text(field)));
    fields.filter(|(_, text)| !text.is_empty()).collect()
}

/// The dead letters to replay.
enum ReplaySelection {
    /// Those with these ids.
    Ids(Vec<DeliveryId>),
    /// All that match the filter.
    Filter(DeadFilter),
}

impl ReplaySelection {
    fn parse<'a>(
        zone: &PageZone,
        ids: impl Iterator<Item = &'a str>,
        text: impl Fn(&'static str) -> &'a str,
    ) -> Result<Self> {
        let ids = ids.map(str::parse).collect::<std::result::Result<Vec<DeliveryId>, _>>()?;
        if !ids.is_empty() {
            return Ok(Self::Ids(ids));
        }
        let mut errors = FormErrors::default();
        let filter = filter(zone, text, &mut errors);
        let is_invalid = |field: &&&str| errors.message_for(field).is_some();
        match FIELDS.iter().find(is_invalid) {
            Some(field) => {
                let message = errors.message_for(field).unwrap_or_default().to_owned();
                Err(Error::Invalid(vec![FieldError { field: (*field).to_owned(), message }]))
            }
            None => Ok(Self::Filter(filter)),
        }
    }
}

#[derive(Template)]
#[template(path = "webhooks/replay_confirm.html")]
struct ConfirmReplayPage {
    frame: Frame,
    count: u64,
    back: String,
    query: PageQuery,
    /// The ids of the selected dead letters; empty to replay all that match the filter.
    selected: Vec<DeliveryId>,
}

impl ConfirmReplayPage {
    /// Returns the filter as hidden form fields.
    fn fields(&self) -> Vec<(&'static str, &str)> {
        fields(&self.query)
    }
}

#[handler]
async fn confirm(request: DashboardRequest, query: PageQuery) -> PageResponse {
    let back = list_path(&query);
    if query.has_any(&["chosen"]) && query.values("delivery").next().is_none() {
        return request.redirect_with(&back, &Flash::info("Select the dead letters to replay."));
    }
    let (count, selected) =
        match ReplaySelection::parse(request.zone(), query.values("delivery"), |field| query.text(field))? {
            ReplaySelection::Ids(ids) => {
                (webhooks::count_replayable(request.app(), request.workspace(), &ids).await?, ids)
            }
            ReplaySelection::Filter(filter) => {
                (replays::preview(request.app(), request.workspace(), &filter).await?.total, Vec::new())
            }
        };
    if count == 0 {
        return request.redirect_with(&back, &nothing_to_replay());
    }
    let title = if count == 1 {
        "Replay this dead letter?".to_owned()
    } else {
        format!("Replay {} dead letters?", ui::number(count))
    };
    request.show(&ConfirmReplayPage {
        frame: request.frame(Section::DeadLetters, title),
        count,
        back,
        query,
        selected,
    })
}

/// Returns the path of the filtered list.
fn list_path(query: &PageQuery) -> String {
    query.path(DEAD_LETTERS, FIELDS)
}

fn nothing_to_replay() -> Flash {
    Flash::info("Nothing to replay. The dead letters were already replayed or no longer exist.")
}

#[handler]
async fn replay(request: DashboardRequest, form: Form) -> PageResponse {
    match ReplaySelection::parse(request.zone(), form.values("delivery"), |field| form.text(field))? {
        ReplaySelection::Ids(ids) => replay_ids(&request, &form, &ids).await,
        ReplaySelection::Filter(filter) => replay_filtered(&request, &form, &filter).await,
    }
}

/// Replays the selected dead letters in one transaction.
async fn replay_ids(request: &DashboardRequest, form: &Form, ids: &[DeliveryId]) -> PageResponse {
    let back = list_path(&form.into());
    let mut write = request.begin_write().await?;
    let created = webhooks::replay_chosen(request.app(), &mut write, request.workspace(), ids).await?;
    let Some((action, subject, detail)) = webhooks::audit_entry(&created) else {
        return request.redirect_with(&back, &nothing_to_replay());
    };
    request.commit_once(form, write, action, subject, &detail).await?;
    let count = exact_delivery_count(created.len() as u64);
    request.redirect_with(&back, &Flash::success(format!("{count} queued for replay.")))
}

/// Starts a replay job for all dead letters that match the filter. The worker runs it.
async fn replay_filtered(request: &DashboardRequest, form: &Form, filter: &DeadFilter) -> PageResponse {
    let (app, workspace) = (request.app(), request.workspace());
    let preview = replays::preview(app, workspace, filter).await?;
    let mut write = request.begin_write().await?;
    let job = match replays::start_unless_running(app, &mut write, &preview).await? {
        ReplayStart::Started(job) => job,
        ReplayStart::AlreadyRunning(running) => {
            let text = "This replay is already running. Wait until it ends before you start another.";
            return request.redirect_with(&replay_path(&running.id), &Flash::info(text));
        }
    };
    if job.total == 0 {
        return request.redirect_with(&list_path(&form.into()), &nothing_to_replay());
    }
    request.commit_once(form, write, Action::ReplayStarted, job.id, &exact_delivery_count(job.total)).await?;
    request.redirect(&replay_path(&job.id))
}
