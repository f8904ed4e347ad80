//! A subscription paused, enabled and deleted.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::{LIST, counted, deliveries, path};
use crate::flash::Flash;
use crate::form::{Faults, Form};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::routes::{Route, get, post};
use crate::ui;
use domain::audit::Action;
use domain::webhooks::{self, Counted, Held, Subscription, SubscriptionState};
use domain::{Changed, Error, Result};
use foundation::id::SubscriptionId;

pub(super) fn routes(route: Route) -> Route {
    route
        .at("/dashboard/developer/webhooks/:subscription/pause", post(pause))
        .at("/dashboard/developer/webhooks/:subscription/enable", get(ask_enable).post(enable))
        .at("/dashboard/developer/webhooks/:subscription/delete", get(ask_delete).post(delete))
}

/// The subscription of an address. Never beside an open write, which has a connection already.
async fn find(page: &Page, of: SubscriptionId) -> Result<Subscription> {
    webhooks::get(page.app(), page.workspace(), of).await
}

#[handler]
async fn pause(page: Page, Path(of): Path<String>) -> Answer {
    let of: SubscriptionId = of.parse()?;
    let mut write = page.begin_write().await?;
    let was = match webhooks::pause(&mut write, page.workspace(), of).await {
        Ok(Changed { record: paused, changed: true }) => {
            page.commit(write, Action::WebhookPaused, of, &paused.url).await?;
            let told = "The webhook is paused. What happens from now on is held until you enable it.";
            return page.redirect_with(&path(&of), &Flash::done(told));
        }
        Ok(_) => SubscriptionState::Paused,
        Err(Error::Invalid(_)) => SubscriptionState::Disabled,
        Err(error) => return Err(error.into()),
    };
    let told = format!("The webhook was {was} before; nothing was changed.");
    page.redirect_with(&path(&of), &Flash::note(told))
}

#[derive(Template)]
#[template(path = "webhooks/enable.html")]
struct EnablePage {
    frame: Frame,
    of: Subscription,
    held: Counted,
    form: Form,
    faults: Faults,
}

impl EnablePage {
    async fn of(page: &Page, of: Subscription, form: Form, faults: Faults) -> Result<Self> {
        let held = webhooks::waiting(page.app(), page.workspace(), of.id).await?;
        Ok(Self { frame: page.frame(Section::Webhooks, "Enable webhook"), of, held, form, faults })
    }
}

fn enabled_before(page: &Page, of: SubscriptionId) -> Answer {
    page.redirect_with(&path(&of), &Flash::note("The webhook was enabled before; nothing was changed."))
}

#[handler]
async fn ask_enable(page: Page, Path(of): Path<String>) -> Answer {
    let of = find(&page, of.parse()?).await?;
    if of.state == SubscriptionState::Enabled {
        return enabled_before(&page, of.id);
    }
    page.show(&EnablePage::of(&page, of, Form::default(), Faults::default()).await?)
}

#[handler]
async fn enable(page: Page, Path(of): Path<String>, form: Form) -> Answer {
    let of: SubscriptionId = of.parse()?;
    let found = find(&page, of).await?;
    let held = match form.text("held") {
        "send" => Held::Send,
        "drop" => Held::Drop,
        _ => {
            let mut faults = Faults::default();
            faults.add("held", "must be sent or dropped");
            return page.show_faults(&EnablePage::of(&page, found, form, faults).await?);
        }
    };
    let (app, workspace, actor) = (page.app(), page.workspace(), page.actor());
    let enabled = webhooks::enable_whole(app, workspace, of, held, &actor, |_| ()).await?;
    if !enabled.changed && enabled.moved == 0 {
        return enabled_before(&page, of);
    }
    if !enabled.changed {
        let were = were(enabled.moved);
        let told = format!("Somebody else enabled the webhook meanwhile, after {were} dropped.");
        return page.redirect_with(&path(&of), &Flash::note(told));
    }
    let told = match held {
        Held::Send if enabled.moved > 0 => {
            "The webhook is enabled. What was held is sent from now on.".to_owned()
        }
        Held::Drop if enabled.moved > 0 => {
            format!("The webhook is enabled. {} dropped.", were(enabled.moved))
        }
        Held::Send | Held::Drop => "The webhook is enabled. Nothing was held.".to_owned(),
    };
    page.redirect_with(&path(&of), &Flash::done(told))
}

fn were(count: u64) -> String {
    format!("{} {}", deliveries(count), if count == 1 { "was" } else { "were" })
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct DeletePage<'a> {
    frame: Frame,
    confirm: ui::Confirm<'a>,
}

#[handler]
async fn ask_delete(page: Page, Path(of): Path<String>) -> Answer {
    let of = find(&page, of.parse()?).await?;
    let waiting = webhooks::waiting(page.app(), page.workspace(), of.id).await?;
    let waits = match waiting {
        Counted::Exactly(0) => String::new(),
        Counted::Exactly(1) => "One delivery that still waits is never sent. ".to_owned(),
        _ => format!("{} that still wait are never sent. ", counted(&waiting)),
    };
    let frame = page.frame(Section::Webhooks, "Delete this webhook?");
    let confirm = ui::Confirm {
        csrf: frame.csrf(),
        text: &format!(
            "Nothing is sent to {} any more. Its secret, its deliveries with their log, and its dead letters go with it. \
             {waits}This cannot be undone; pausing can.",
            of.url
        ),
        action: &format!("{}/delete", path(&of.id)),
        button: "Delete webhook",
        back: &path(&of.id),
    };
    page.show(&DeletePage { frame, confirm })
}

#[handler]
async fn delete(page: Page, Path(of): Path<String>) -> Answer {
    let of: SubscriptionId = of.parse()?;
    let url = find(&page, of).await?.url;
    let mut write = page.begin_write().await?;
    webhooks::delete(&mut write, page.workspace(), of).await?;
    page.commit(write, Action::WebhookDeleted, of, &url).await?;
    page.redirect_with(LIST, &Flash::done("The webhook is deleted, with its deliveries."))
}
