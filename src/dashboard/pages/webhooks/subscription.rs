//! One subscription: how it stands, what came of its deliveries, and the list of them, which is live while it is open.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::filter::{choices, event_type, kinds};
use super::outcomes::{Rate, outcomes};
use super::{counted, delivery_path, events, last, path, some, standing, state};
use crate::chart::Chart;
use crate::flash::Flash;
use crate::form::{Faults, Form};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::position::{self, ROWS};
use crate::query::{Asked, FAR};
use crate::routes::{Route, get, post};
use crate::span::span;
use crate::ui::{self, Choice, Tone, piece};
use domain::audit::Action;
use domain::outbox::{KINDS, TOLD};
use domain::page::{Page as Found, PageRequest};
use domain::webhooks::{
    self, Counted, Delivery, DeliveryFilter, DeliveryState, Origin, Subscription, SubscriptionState,
};
use domain::{Error, Result};
use foundation::id::SubscriptionId;

/// The fields of the filter.
const FIELDS: &[&str] = &["state", "event", "from", "to", FAR];
/// Hours of the chart, and of the success rate, which are the last of these.
const HOURS: i64 = 48;
const RATE_HOURS: usize = 24;

pub(super) fn routes(route: Route) -> Route {
    route
        .at("/dashboard/developer/webhooks/:subscription", get(show))
        .at("/dashboard/developer/webhooks/:subscription/test", post(test))
}

#[derive(Template)]
#[template(path = "webhooks/subscription.html")]
struct SubscriptionPage {
    frame: Frame,
    of: Subscription,
    rate: Rate,
    chart: Option<Chart>,
    waiting: Counted,
    asked: Asked,
    faults: Faults,
    table: Table,
    pager: ui::Pager,
    /// The list as it is now, and whether it looks for news by itself.
    here: String,
    live: bool,
}

impl SubscriptionPage {
    fn is_enabled(&self) -> bool {
        self.of.state == SubscriptionState::Enabled
    }

    fn notice(&self) -> Notice<'_> {
        Notice { of: &self.of, waiting: self.waiting }
    }

    fn switch(&self) -> Switch<'_> {
        Switch { of: &self.of }
    }

    fn tests(&self) -> Vec<Choice<'_>> {
        let first = self.of.event_types.first().map_or("", String::as_str);
        choices(KINDS.iter().map(|kind| (*kind, *kind)), first)
    }

    fn events(&self) -> Vec<(&str, &'static str)> {
        let told = |kind: &str| TOLD.iter().find(|(known, _)| *known == kind).map_or("", |(_, told)| told);
        self.of.event_types.iter().map(|kind| (kind.as_str(), told(kind))).collect()
    }

    fn states(&self) -> Vec<Choice<'_>> {
        let states = DeliveryState::ALL.iter().map(|state| (state.as_str(), state.as_str()));
        choices(std::iter::once(("", "All states")).chain(states), self.asked.text("state"))
    }

    fn kinds(&self) -> Vec<Choice<'_>> {
        kinds(self.asked.text("event"))
    }

    fn is_filtered(&self) -> bool {
        self.asked.any(FIELDS)
    }
}

piece!(Table, Notice<'_>, Switch<'_>);

/// What is live of the page: the deliveries, the way to those before them, and how the subscription stands.
#[derive(Template)]
#[template(path = "webhooks/news.html")]
struct News {
    of: Subscription,
    waiting: Counted,
    table: Table,
    pager: ui::Pager,
}

impl News {
    fn notice(&self) -> Notice<'_> {
        Notice { of: &self.of, waiting: self.waiting }
    }

    fn switch(&self) -> Switch<'_> {
        Switch { of: &self.of }
    }
}

/// What pauses an enabled subscription, or enables another. The form that the button sends stands beside it: its token is
/// new each time, and what looks for news would never find things as they were.
#[derive(Template)]
#[template(path = "webhooks/switch.html")]
struct Switch<'a> {
    of: &'a Subscription,
}

/// What is to be known of a subscription that does not fare well; empty for others.
#[derive(Template)]
#[template(path = "webhooks/notice.html")]
struct Notice<'a> {
    of: &'a Subscription,
    waiting: Counted,
}

impl Notice<'_> {
    fn is_enabled(&self) -> bool {
        self.of.state == SubscriptionState::Enabled
    }
}

/// The deliveries as a table.
#[derive(Template)]
#[template(path = "webhooks/deliveries.html")]
struct Table {
    deliveries: Vec<Delivery>,
    /// Why there are none.
    none: (&'static str, &'static str),
}

#[handler]
async fn show(page: Page, Path(of): Path<String>, asked: Asked) -> Answer {
    let of: SubscriptionId = of.parse()?;
    let mut faults = Faults::default();
    let filter = filter(&asked, &mut faults);
    let after = asked.after().and_then(position::read);
    let reach = match faults.is_empty() && !asked.is_far() {
        true => webhooks::reach(page.app(), page.workspace(), of, &filter, after).await?,
        false => None,
    };
    let found = if faults.is_empty() {
        let within = PageRequest { to: reach, ..PageRequest::newest(after, ROWS) };
        webhooks::deliveries(page.app(), page.workspace(), of, &filter, within).await?
    } else {
        Found { items: Vec::new(), next: None }
    };
    let here = asked.path(&path(&of), FIELDS);
    let pager = ui::pager(&here, asked.after(), found.next.map(position::text)).beyond(&here, after, reach);
    let news = News {
        of: webhooks::get(page.app(), page.workspace(), of).await?,
        waiting: webhooks::waiting(page.app(), page.workspace(), of).await?,
        table: Table { none: none(&asked, &faults, &pager), deliveries: found.items },
        pager,
    };
    if page.is_partial() {
        return page.show(&news);
    }
    let shown = whole(&page, news, here, asked, faults).await?;
    if shown.faults.is_empty() { page.show(&shown) } else { page.show_faults(&shown) }
}

async fn whole(
    page: &Page,
    news: News,
    here: String,
    asked: Asked,
    faults: Faults,
) -> Result<SubscriptionPage> {
    let News { of, waiting, table, pager } = news;
    let counted = webhooks::outcomes(page.app(), page.workspace(), Some(of.id), HOURS).await?;
    Ok(SubscriptionPage {
        frame: page.frame(Section::Webhooks, "Webhook"),
        rate: Rate::of(&counted.last(RATE_HOURS)),
        chart: outcomes(&counted),
        // What takes long is not asked for again and again.
        live: asked.after().is_none() && faults.is_empty() && !asked.is_far(),
        here,
        of,
        waiting,
        asked,
        faults,
        table,
        pager,
    })
}

/// The filter that an address describes.
fn filter(asked: &Asked, faults: &mut Faults) -> DeliveryFilter {
    let state = asked.given("state").and_then(|state| {
        state.parse().map_err(|_| faults.add("state", "must be one of those that are listed")).ok()
    });
    DeliveryFilter {
        state,
        event_type: event_type(asked.text("event"), faults),
        created: span(asked.text("from"), asked.text("to"), faults),
    }
}

/// What an empty table says.
fn none(asked: &Asked, faults: &Faults, pager: &ui::Pager) -> (&'static str, &'static str) {
    if !faults.is_empty() {
        ("Nothing was looked for", "Mend what is named beside the fields above, and filter again.")
    } else if pager.is_cut() {
        ("No delivery fits so far", "None of those that were looked through fits this filter.")
    } else if asked.any(FIELDS) {
        ("No delivery fits", "No delivery of the last 30 days fits this filter.")
    } else if asked.after().is_some() {
        ("Nothing further", "The list ends here.")
    } else {
        ("No deliveries yet", "Send a test event, or wait until something happens: it shows here by itself.")
    }
}

#[handler]
async fn test(page: Page, Path(of): Path<String>, form: Form) -> Answer {
    let of: SubscriptionId = of.parse()?;
    let (app, workspace) = (page.app(), page.workspace());
    let kind = form.text("type");
    let mut write = page.begin_write().await?;
    let sent = match webhooks::test(app, &mut write, workspace, of, Some(kind)).await {
        Ok(sent) => sent,
        Err(Error::Invalid(faults)) => {
            let told = match faults.first() {
                Some(fault) if fault.field == "subscription" => {
                    "The webhook is not enabled, so nothing would be sent. Enable it first."
                }
                _ => "Choose one of the events that are listed.",
            };
            return page.redirect_with(&path(&of), &Flash::note(told));
        }
        Err(error) => return Err(error.into()),
    };
    page.commit_once(&form, write, Action::WebhookTested, of, &sent.event_type).await?;
    let told = format!("An example of {} is on its way.", sent.event_type);
    page.redirect_with(&path(&of), &Flash::done(told))
}

/// Why there is a delivery, where it is not that its event happened.
fn origin(of: &Delivery) -> Option<ui::Badge<'static>> {
    (of.origin != Origin::Event).then(|| ui::badge(Tone::Quiet, of.origin.as_str()))
}
