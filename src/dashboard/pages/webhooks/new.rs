//! A new subscription, and its secret on the page that answers the form.

use askama::Template;
use jiff::Timestamp;
use poem::handler;
use secrecy::{ExposeSecret, SecretString};

use super::events::{self, Events};
use super::path;
use crate::form::{Faults, Form};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::routes::{Route, get};
use crate::ui;
use domain::Error;
use domain::audit::Action;
use domain::webhooks::{self, NewSubscription, Subscription};

const NEW: &str = "/dashboard/developer/webhooks/new";

pub(super) fn routes(route: Route) -> Route {
    route.at(NEW, get(new).post(create))
}

#[derive(Template)]
#[template(path = "webhooks/new.html")]
struct NewPage {
    frame: Frame,
    form: Form,
    faults: Faults,
}

impl NewPage {
    fn of(page: &Page, form: Form, faults: Faults) -> Self {
        Self { frame: page.frame(Section::Webhooks, "New webhook"), form, faults }
    }

    fn events(&self) -> Events<'_> {
        Events::of(&self.form, &self.faults)
    }
}

#[handler]
async fn new(page: Page) -> Answer {
    page.show(&NewPage::of(&page, Form::default(), Faults::default()))
}

#[handler]
async fn create(page: Page, form: Form) -> Answer {
    let wanted =
        NewSubscription { url: form.text("url").trim().to_owned(), event_types: events::read(&form) };
    let mut write = page.begin_write().await?;
    match webhooks::create(page.app(), &mut write, page.seal(), page.workspace(), wanted).await {
        Ok((made, secret)) => {
            page.commit_once(&form, write, Action::WebhookCreated, made.id, &made.url).await?;
            reveal(&page, "Your new webhook", &made, &secret, None)
        }
        Err(Error::Invalid(faults)) => {
            drop(write);
            page.show_faults(&NewPage::of(&page, form, faults.into()))
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Template)]
#[template(path = "webhooks/secret.html")]
struct SecretPage<'a> {
    frame: Frame,
    of: &'a Subscription,
    secret: &'a str,
    /// Told after a rotation: until when the older secrets sign, unless they have stopped.
    older: Option<Option<Timestamp>>,
}

/// The one page that shows a secret: the answer to the form itself, which nobody keeps.
pub(super) fn reveal(
    page: &Page,
    title: &str,
    of: &Subscription,
    secret: &SecretString,
    older: Option<Option<Timestamp>>,
) -> Answer {
    let frame = page.frame(Section::Webhooks, title);
    page.show(&SecretPage { frame, of, secret: secret.expose_secret(), older })
}
