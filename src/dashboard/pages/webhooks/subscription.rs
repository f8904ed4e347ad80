//! One subscription: its state, the outcomes of its deliveries, and the list of deliveries, which updates itself.

use askama::Template;
use jiff::Timestamp;
use poem::handler;
use poem::web::Path;

use super::filter::{event_type, event_type_choices};
use super::outcomes::{SuccessRate, outcomes_chart};
use super::{
    delivery_badge, delivery_count, delivery_path, event_types, format_count, last_outcome, origin_badge,
    path, subscription_badge,
};
use crate::chart::Chart;
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::position::{self, ROWS_PER_PAGE};
use crate::query::{PageQuery, SEARCH_ALL, TIME_ZONE};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get, post};
use crate::time_span;
use crate::ui::{self, FormChoice, PageZone, choices, html_safe};
use domain::audit::Action;
use domain::outbox::{EVENT_TYPES, EventType};
use domain::page::{Page, PageRequest};
use domain::roles::Permission;
use domain::webhooks::{
    self, CappedCount, Delivery, DeliveryFilter, DeliveryState, Subscription, SubscriptionState, controls,
};
use domain::{Error, Result};
use foundation::id::SubscriptionId;

/// The parameters of the filter.
const FIELDS: &[&str] = &["state", "event", "from", "to", TIME_ZONE, SEARCH_ALL];
/// Hours covered by the chart, and by the success rate.
const HOURS: i64 = 48;
const RATE_HOURS: usize = 24;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at("/dashboard/developer/webhooks/:subscription", get(Permission::ReadWorkspace, show))
        .at("/dashboard/developer/webhooks/:subscription/test", post(Permission::ManageWebhooks, test))
}

#[derive(Template)]
#[template(path = "webhooks/subscription.html")]
struct SubscriptionPage {
    frame: Frame,
    subscription: Subscription,
    /// The success rate of the last 24 hours.
    rate: SuccessRate,
    chart: Option<Chart>,
    /// The number of pending and held deliveries.
    unsettled: CappedCount,
    query: PageQuery,
    errors: FormErrors,
    table: DeliveryTable,
    pager: ui::Pager,
    /// Whether the filter of the subscription has matched no event for 30 days.
    matched_nothing: bool,
    /// The path of the list with its filter.
    path: String,
    /// Whether the list updates itself.
    is_live: bool,
}

impl SubscriptionPage {
    fn is_enabled(&self) -> bool {
        self.subscription.state == SubscriptionState::Enabled
    }

    fn health_notice(&self) -> HealthNotice<'_> {
        HealthNotice { zone: &self.table.zone, subscription: &self.subscription, unsettled: self.unsettled }
    }

    fn state_button(&self) -> StateButton<'_> {
        StateButton { subscription: &self.subscription }
    }

    /// Returns the event types of the form that sends a test event.
    fn test_event_types(&self) -> Vec<FormChoice<'_>> {
        let first = self.subscription.event_types.first().map_or("", String::as_str);
        choices(EVENT_TYPES.iter().map(|event_type| (*event_type, *event_type)), first)
    }

    /// Returns the subscribed event types with their descriptions.
    fn subscribed_event_types(&self) -> Vec<(&str, &'static str)> {
        let description = |name: &str| {
            let event_type = EventType::ALL.iter().find(|event_type| event_type.as_str() == name);
            event_type.map_or("", |event_type| event_type.description())
        };
        let event_types = self.subscription.event_types.iter();
        event_types.map(|event_type| (event_type.as_str(), description(event_type))).collect()
    }

    fn states(&self) -> Vec<FormChoice<'_>> {
        let states = DeliveryState::ALL.iter().map(|state| (state.as_str(), state.as_str()));
        choices(std::iter::once(("", "All states")).chain(states), self.query.text("state"))
    }

    fn event_types(&self) -> Vec<FormChoice<'_>> {
        event_type_choices(self.query.text("event"))
    }

    fn is_filtered(&self) -> bool {
        self.query.has_any(FIELDS)
    }
}

html_safe!(DeliveryTable, HealthNotice<'_>, StateButton<'_>);

/// The parts of the page that update themselves: the deliveries, the pager, and the state of the subscription.
#[derive(Template)]
#[template(path = "webhooks/live_update.html")]
struct LiveUpdate {
    /// Whether the user may pause and enable the subscription.
    can_manage: bool,
    subscription: Subscription,
    unsettled: CappedCount,
    table: DeliveryTable,
    pager: ui::Pager,
}

impl LiveUpdate {
    fn health_notice(&self) -> HealthNotice<'_> {
        HealthNotice { zone: &self.table.zone, subscription: &self.subscription, unsettled: self.unsettled }
    }

    fn state_button(&self) -> StateButton<'_> {
        StateButton { subscription: &self.subscription }
    }
}

/// The button that pauses an enabled subscription, or enables it. The form of the button is outside of this part, since its
/// CSRF token differs each time, and the HTML of this part must be the same in each update if the state is the same.
#[derive(Template)]
#[template(path = "webhooks/state_button.html")]
struct StateButton<'a> {
    subscription: &'a Subscription,
}

/// A notice about a subscription that is failing, paused or disabled; empty for others.
#[derive(Template)]
#[template(path = "webhooks/notice.html")]
struct HealthNotice<'a> {
    zone: &'a PageZone,
    subscription: &'a Subscription,
    unsettled: CappedCount,
}

impl HealthNotice<'_> {
    fn is_enabled(&self) -> bool {
        self.subscription.state == SubscriptionState::Enabled
    }
}

/// The table of deliveries.
#[derive(Template)]
#[template(path = "webhooks/deliveries.html")]
struct DeliveryTable {
    zone: PageZone,
    subscription: Subscription,
    now: Timestamp,
    /// Whether the user may open a delivery.
    has_links: bool,
    deliveries: Vec<Delivery>,
    /// The heading and text of an empty table.
    empty_state: (&'static str, &'static str),
}

impl DeliveryTable {
    /// Returns whether a delivery waits only because of the rate of the subscription.
    fn waits_for_rate(&self, delivery: &Delivery) -> bool {
        delivery.waits_for_rate(&self.subscription, self.now)
    }
}

#[handler]
async fn show(request: DashboardRequest, Path(subscription): Path<String>, query: PageQuery) -> PageResponse {
    let subscription: SubscriptionId = subscription.parse()?;
    let mut errors = FormErrors::default();
    let filter = filter(request.zone(), &query, &mut errors);
    let after = query.after().and_then(position::parse);
    let search_end = match errors.is_empty() && !query.is_full_search() {
        true => {
            webhooks::search_end(request.app(), request.workspace(), subscription, &filter, after).await?
        }
        false => None,
    };
    let found = if errors.is_empty() {
        let page_request = PageRequest { to: search_end, ..PageRequest::newest_first(after, ROWS_PER_PAGE) };
        webhooks::deliveries(request.app(), request.workspace(), subscription, &filter, page_request).await?
    } else {
        Page { items: Vec::new(), next: None }
    };
    let list_path = query.path(&path(&subscription), FIELDS);
    let pager = ui::pager(&list_path, query.after(), found.next.map(position::format)).limited_to(
        &list_path,
        request.zone(),
        after,
        search_end,
    );
    let subscription = webhooks::get(request.app(), request.workspace(), subscription).await?;
    let update = LiveUpdate {
        can_manage: request.viewer().roles.allow(Permission::ManageWebhooks),
        unsettled: webhooks::count_unsettled(request.app(), request.workspace(), subscription.id).await?,
        table: DeliveryTable {
            zone: request.zone().clone(),
            subscription: subscription.clone(),
            now: request.app().clock.now(),
            has_links: request.viewer().roles.allow(Permission::ReadMessages),
            empty_state: empty_state(&query, &errors, &pager),
            deliveries: found.items,
        },
        pager,
        subscription,
    };
    if request.is_partial() {
        return request.show(&update);
    }
    let page = full_page(&request, update, list_path, query, errors).await?;
    if page.errors.is_empty() { request.show(&page) } else { request.show_errors(&page) }
}

async fn full_page(
    request: &DashboardRequest,
    update: LiveUpdate,
    path: String,
    query: PageQuery,
    errors: FormErrors,
) -> Result<SubscriptionPage> {
    let LiveUpdate { subscription, unsettled, table, pager, .. } = update;
    let outcomes =
        webhooks::outcomes(request.app(), request.workspace(), Some(subscription.id), HOURS).await?;
    Ok(SubscriptionPage {
        frame: request.frame(Section::Webhooks, "Webhook"),
        rate: SuccessRate::new(&outcomes.last(RATE_HOURS)),
        chart: outcomes_chart(&outcomes, request.zone()),
        // A full search takes long, and is not repeated periodically.
        matched_nothing: controls::matched_nothing(request.app(), &subscription).await?,
        is_live: query.after().is_none() && errors.is_empty() && !query.is_full_search(),
        path,
        subscription,
        unsettled,
        query,
        errors,
        table,
        pager,
    })
}

/// Parses the filter. Adds an error for each invalid parameter.
fn filter(zone: &PageZone, query: &PageQuery, errors: &mut FormErrors) -> DeliveryFilter {
    let state = query.non_empty("state").and_then(|state| {
        state.parse().map_err(|_| errors.add("state", "must be one of the listed values")).ok()
    });
    DeliveryFilter {
        state,
        event_type: event_type(query.text("event"), errors),
        created: time_span::parse(zone, |field| query.text(field), errors),
    }
}

/// Returns the heading and text of an empty table.
fn empty_state(query: &PageQuery, errors: &FormErrors, pager: &ui::Pager) -> (&'static str, &'static str) {
    if !errors.is_empty() {
        ("Invalid filter", "Correct the fields above and filter again.")
    } else if pager.is_limited() {
        ("No matching deliveries so far", "None of the deliveries searched so far match this filter.")
    } else if query.has_any(FIELDS) {
        ("No matching deliveries", "No delivery in the last 30 days matches this filter.")
    } else if query.after().is_some() {
        ("No more results", "You have reached the end of the list.")
    } else {
        (
            "No deliveries yet",
            "Send a test event, or wait for an event. Deliveries appear here automatically.",
        )
    }
}

#[handler]
async fn test(request: DashboardRequest, Path(subscription): Path<String>, form: Form) -> PageResponse {
    let subscription: SubscriptionId = subscription.parse()?;
    let (app, workspace) = (request.app(), request.workspace());
    let event_type = form.text("type");
    let mut write = request.begin_write().await?;
    let delivery = match webhooks::send_test(app, &mut write, workspace, subscription, Some(event_type)).await
    {
        Ok(delivery) => delivery,
        Err(Error::Invalid(errors)) => {
            let text = match errors.first() {
                Some(error) if error.field == "subscription" => {
                    "The webhook is not enabled. Enable it before you send a test event."
                }
                _ => "Select one of the listed event types.",
            };
            return request.redirect_with(&path(&subscription), &Flash::info(text));
        }
        Err(error) => return Err(error.into()),
    };
    request.commit_once(&form, write, Action::WebhookTested, subscription, &delivery.event_type).await?;
    let text = format!("Sending a test event of type {}.", delivery.event_type);
    request.redirect_with(&path(&subscription), &Flash::success(text))
}
