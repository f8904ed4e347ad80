//! A subscription's secret replaced by a new one, while the old one goes on signing for a while.

use std::time::Duration;

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::filter::choices;
use super::{new, path};
use crate::form::{Faults, Form};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::routes::{Route, get};
use crate::ui::{self, Choice};
use domain::Error;
use domain::audit::Action;
use domain::webhooks::{self, Subscription};
use foundation::id::SubscriptionId;

/// Hours for which the old secret may go on signing, as the form offers them; the first is meant for most.
const OVERLAPS: &[(&str, &str)] = &[
    ("24", "24 hours"),
    ("1", "An hour"),
    ("72", "3 days"),
    ("168", "7 days"),
    ("0", "None: the old secret stops at once"),
];

pub(super) fn routes(route: Route) -> Route {
    route.at("/dashboard/developer/webhooks/:subscription/rotate", get(ask).post(rotate))
}

#[derive(Template)]
#[template(path = "webhooks/rotate.html")]
struct RotatePage {
    frame: Frame,
    of: Subscription,
    form: Form,
    faults: Faults,
}

impl RotatePage {
    fn of(page: &Page, of: Subscription, form: Form, faults: Faults) -> Self {
        Self { frame: page.frame(Section::Webhooks, "Rotate the secret?"), of, form, faults }
    }

    fn overlaps(&self) -> Vec<Choice<'_>> {
        choices(OVERLAPS.iter().copied(), self.form.text("overlap"))
    }
}

#[handler]
async fn ask(page: Page, Path(of): Path<String>) -> Answer {
    let of: SubscriptionId = of.parse()?;
    let of = webhooks::get(page.app(), page.workspace(), of).await?;
    page.show(&RotatePage::of(&page, of, Form::default(), Faults::default()))
}

#[handler]
async fn rotate(page: Page, Path(of): Path<String>, form: Form) -> Answer {
    let of: SubscriptionId = of.parse()?;
    let (app, workspace) = (page.app(), page.workspace());
    let of = webhooks::get(app, workspace, of).await?;
    let hours = form.text("overlap");
    let offered = OVERLAPS.iter().any(|(value, _)| *value == hours);
    let Some(hours) = hours.parse().ok().filter(|_| offered) else {
        let mut faults = Faults::default();
        faults.add("overlap", "must be one of those that are listed");
        return page.show_faults(&RotatePage::of(&page, of, form, faults));
    };
    let mut write = page.begin_write().await?;
    let overlap = Duration::from_hours(hours);
    match webhooks::rotate(app, &mut write, page.seal(), workspace, of.id, overlap).await {
        Ok(rotated) => {
            page.commit_once(&form, write, Action::WebhookRotated, of.id, &of.url).await?;
            new::reveal(&page, "The new secret", &of, &rotated.secret, Some(rotated.older_until))
        }
        Err(Error::Invalid(faults)) => {
            drop(write);
            page.show_faults(&RotatePage::of(&page, of, form, faults.into()))
        }
        Err(error) => Err(error.into()),
    }
}
