//! The dead letters of all subscriptions: narrowed down, chosen, and replayed after a question.

use std::collections::HashMap;

use askama::Template;
use poem::handler;

use super::filter::{choices, event_type, kinds};
use super::{DEAD_LETTERS, deliveries, delivery_path, last, replay_path};
use crate::flash::Flash;
use crate::form::{Faults, Form};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::position::{self, ROWS};
use crate::query::{Asked, FAR};
use crate::routes::{Route, get};
use crate::span::span;
use crate::ui::{self, Choice};
use domain::audit::Action;
use domain::page::{Page as Found, PageRequest};
use domain::webhooks::{self, Begun, Counted, DeadFilter, Delivery, Replay, Subscription};
use domain::{Error, Fault, Result};
use foundation::id::{DeliveryId, SubscriptionId};

/// The fields of the filter.
const FIELDS: &[&str] = &["subscription", "event", "from", "to"];
/// The same, and how far the list looks.
const LISTED: &[&str] = &["subscription", "event", "from", "to", FAR];
/// The page that asks before a replay.
const REPLAY: &str = "/dashboard/developer/webhooks/dead-letters/replay";

pub(super) fn routes(route: Route) -> Route {
    route.at(DEAD_LETTERS, get(list)).at(REPLAY, get(ask).post(replay))
}

#[derive(Template)]
#[template(path = "webhooks/dead_letters.html")]
struct DeadLettersPage {
    frame: Frame,
    asked: Asked,
    faults: Faults,
    subscriptions: Vec<(String, String)>,
    letters: Vec<Letter>,
    /// What the filter finds, on whichever page, of the newest letters.
    total: Counted,
    running: Vec<Replay>,
    pager: ui::Pager,
}

/// A dead letter as the list shows it.
struct Letter {
    delivery: Delivery,
    url: String,
}

impl DeadLettersPage {
    fn subscriptions(&self) -> Vec<Choice<'_>> {
        let all = self.subscriptions.iter().map(|(id, url)| (id.as_str(), url.as_str()));
        choices(std::iter::once(("", "All webhooks")).chain(all), self.asked.text("subscription"))
    }

    /// The button that replays all: "Replay all 1,204".
    fn replay_words(&self) -> String {
        match self.total {
            Counted::Exactly(1) => "Replay this one".to_owned(),
            Counted::Exactly(total) => format!("Replay all {}", ui::number(total)),
            Counted::MoreThan(_) | Counted::AtLeast(_) => "Replay all".to_owned(),
        }
    }

    fn kinds(&self) -> Vec<Choice<'_>> {
        kinds(self.asked.text("event"))
    }

    fn is_filtered(&self) -> bool {
        self.asked.any(FIELDS)
    }

    /// The filter, as the form sends it on.
    fn fields(&self) -> Vec<(&'static str, &str)> {
        fields(&self.asked)
    }

    /// Where all that the filter finds is replayed.
    fn replay_all(&self) -> String {
        self.asked.path(REPLAY, FIELDS)
    }
}

#[handler]
async fn list(page: Page, asked: Asked) -> Answer {
    let (app, workspace) = (page.app(), page.workspace());
    let mut faults = Faults::default();
    let filter = filter(|field| asked.text(field), &mut faults);
    let after = asked.after().and_then(position::read);
    let none = || (Found { items: Vec::new(), next: None }, Counted::Exactly(0));
    let mut to = None;
    let (found, total) = if !faults.is_empty() {
        none()
    } else if asked.is_far() {
        let found = webhooks::unreplayed(app, workspace, &filter, PageRequest::newest(after, ROWS)).await?;
        (found, Counted::Exactly(webhooks::wish(app, workspace, &filter).await?.total))
    } else {
        to = webhooks::reach_dead(app, workspace, &filter, after).await?;
        let within = PageRequest { to, ..PageRequest::newest(after, ROWS) };
        let found = webhooks::unreplayed(app, workspace, &filter, within).await?;
        (found, webhooks::count_some(app, workspace, &filter).await?)
    };
    let path = asked.path(DEAD_LETTERS, LISTED);
    let pager = ui::pager(&path, asked.after(), found.next.map(position::text));
    let subscriptions = webhooks::list(app, workspace).await?;
    let shown = DeadLettersPage {
        frame: page.frame(Section::DeadLetters, "Dead letters"),
        pager: pager.beyond(&path, after, to).among("Of the dead letters, sent again or not"),
        letters: letters(found.items, &subscriptions),
        subscriptions: subscriptions.into_iter().map(|one| (one.id.to_string(), one.url)).collect(),
        total,
        running: webhooks::running_in(app, workspace).await?,
        asked,
        faults,
    };
    if shown.faults.is_empty() { page.show(&shown) } else { page.show_faults(&shown) }
}

/// The deliveries with where they went; those of a subscription that is being deleted are as good as gone.
fn letters(found: Vec<Delivery>, subscriptions: &[Subscription]) -> Vec<Letter> {
    let urls: HashMap<SubscriptionId, &str> =
        subscriptions.iter().map(|one| (one.id, one.url.as_str())).collect();
    let letter = |delivery: Delivery| {
        let url = (*urls.get(&delivery.subscription)?).to_owned();
        Some(Letter { delivery, url })
    };
    found.into_iter().filter_map(letter).collect()
}

/// The filter that an address or a form describes.
fn filter<'a>(text: impl Fn(&'static str) -> &'a str, faults: &mut Faults) -> DeadFilter {
    let subscription = Some(text("subscription")).filter(|of| !of.is_empty()).and_then(|of| {
        of.parse().map_err(|_| faults.add("subscription", "must be one of those that are listed")).ok()
    });
    DeadFilter {
        subscription,
        event_type: event_type(text("event"), faults),
        created: span(text("from"), text("to"), faults),
    }
}

/// The fields of the filter that were given.
fn fields(asked: &Asked) -> Vec<(&'static str, &str)> {
    let fields = FIELDS.iter().map(|field| (*field, asked.text(field)));
    fields.filter(|(_, text)| !text.is_empty()).collect()
}

/// What was chosen: some by their ids, or all that a filter finds.
enum Chosen {
    Some(Vec<DeliveryId>),
    All(DeadFilter),
}

impl Chosen {
    fn read<'a>(ids: impl Iterator<Item = &'a str>, text: impl Fn(&'static str) -> &'a str) -> Result<Self> {
        let ids = ids.map(str::parse).collect::<std::result::Result<Vec<DeliveryId>, _>>()?;
        if !ids.is_empty() {
            return Ok(Self::Some(ids));
        }
        let mut faults = Faults::default();
        let filter = filter(text, &mut faults);
        let wrong = |field: &&&str| faults.of(field).is_some();
        match FIELDS.iter().find(wrong) {
            Some(field) => {
                let message = faults.of(field).unwrap_or_default().to_owned();
                Err(Error::Invalid(vec![Fault { field: (*field).to_owned(), message }]))
            }
            None => Ok(Self::All(filter)),
        }
    }
}

#[derive(Template)]
#[template(path = "webhooks/replay_ask.html")]
struct AskPage {
    frame: Frame,
    count: u64,
    back: String,
    asked: Asked,
    /// The ids that were chosen; none when the filter chooses.
    chosen: Vec<DeliveryId>,
}

impl AskPage {
    /// The filter, as the form sends it on.
    fn fields(&self) -> Vec<(&'static str, &str)> {
        fields(&self.asked)
    }
}

#[handler]
async fn ask(page: Page, asked: Asked) -> Answer {
    let back = back(&asked);
    if asked.any(&["chosen"]) && asked.all("delivery").next().is_none() {
        return page
            .redirect_with(&back, &Flash::note("Tick the dead letters that are to be replayed first."));
    }
    let (count, chosen) = match Chosen::read(asked.all("delivery"), |field| asked.text(field))? {
        Chosen::Some(ids) => (webhooks::count_chosen(page.app(), page.workspace(), &ids).await?, ids),
        Chosen::All(filter) => {
            (webhooks::wish(page.app(), page.workspace(), &filter).await?.total, Vec::new())
        }
    };
    if count == 0 {
        return page.redirect_with(&back, &nothing());
    }
    let title = if count == 1 {
        "Replay this dead letter?".to_owned()
    } else {
        format!("Replay {} dead letters?", ui::number(count))
    };
    page.show(&AskPage { frame: page.frame(Section::DeadLetters, title), count, back, asked, chosen })
}

/// The list as it was narrowed down.
fn back(asked: &Asked) -> String {
    asked.path(DEAD_LETTERS, FIELDS)
}

fn nothing() -> Flash {
    Flash::note("There is nothing to replay: all of it was sent again before.")
}

#[handler]
async fn replay(page: Page, form: Form) -> Answer {
    match Chosen::read(form.all("delivery"), |field| form.text(field))? {
        Chosen::Some(ids) => some(&page, &form, &ids).await,
        Chosen::All(filter) => all(&page, &form, &filter).await,
    }
}

/// Replays those that were chosen, in one transaction.
async fn some(page: &Page, form: &Form, ids: &[DeliveryId]) -> Answer {
    let back = back(&form.into());
    let mut write = page.begin_write().await?;
    let made = webhooks::replay_chosen(page.app(), &mut write, page.workspace(), ids).await?;
    let Some((action, subject, detail)) = webhooks::told(&made) else {
        return page.redirect_with(&back, &nothing());
    };
    page.commit_once(form, write, action, subject, &detail).await?;
    let told = deliveries(made.len() as u64);
    let verb = if made.len() == 1 { "is" } else { "are" };
    page.redirect_with(&back, &Flash::done(format!("{told} {verb} sent again.")))
}

/// Begins a job that replays all that the filter finds; the worker does its work.
async fn all(page: &Page, form: &Form, filter: &DeadFilter) -> Answer {
    let (app, workspace) = (page.app(), page.workspace());
    let wish = webhooks::wish(app, workspace, filter).await?;
    let mut write = page.begin_write().await?;
    let job = match webhooks::start_alone(app, &mut write, &wish).await? {
        Begun::Now(job) => job,
        Begun::Before(running) => {
            let told = "This replay was begun before, and still runs. Begin another once it has ended.";
            return page.redirect_with(&replay_path(&running.id), &Flash::note(told));
        }
    };
    if job.total == 0 {
        return page.redirect_with(&back(&form.into()), &nothing());
    }
    page.commit_once(form, write, Action::ReplayStarted, job.id, &deliveries(job.total)).await?;
    page.redirect(&replay_path(&job.id))
}
