//! A subscription changed: where its events go, and which it hears.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::events::{self, Events};
use super::path;
use crate::flash::Flash;
use crate::form::{Faults, Form};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::routes::{Route, get};
use crate::ui;
use domain::audit::Action;
use domain::webhooks::{self, Subscription, SubscriptionChange};
use domain::{Changed, Error};
use foundation::id::SubscriptionId;

pub(super) fn routes(route: Route) -> Route {
    route.at("/dashboard/developer/webhooks/:subscription/edit", get(ask).post(edit))
}

#[derive(Template)]
#[template(path = "webhooks/edit.html")]
struct EditPage {
    frame: Frame,
    of: Subscription,
    /// What was sent; `None` before anything was.
    form: Option<Form>,
    faults: Faults,
}

impl EditPage {
    fn of(page: &Page, of: Subscription, form: Option<Form>, faults: Faults) -> Self {
        Self { frame: page.frame(Section::Webhooks, "Edit webhook"), of, form, faults }
    }

    fn url(&self) -> &str {
        self.form.as_ref().map_or(&self.of.url, |form| form.text("url"))
    }

    fn events(&self) -> Events<'_> {
        match &self.form {
            Some(form) => Events::of(form, &self.faults),
            None => Events::chosen(&self.of.event_types),
        }
    }
}

#[handler]
async fn ask(page: Page, Path(of): Path<String>) -> Answer {
    let of: SubscriptionId = of.parse()?;
    let of = webhooks::get(page.app(), page.workspace(), of).await?;
    page.show(&EditPage::of(&page, of, None, Faults::default()))
}

#[handler]
async fn edit(page: Page, Path(of): Path<String>, form: Form) -> Answer {
    let of: SubscriptionId = of.parse()?;
    let (app, workspace) = (page.app(), page.workspace());
    let before = webhooks::get(app, workspace, of).await?;
    let change = SubscriptionChange {
        url: Some(form.text("url").trim().to_owned()),
        event_types: Some(events::read(&form)),
    };
    let mut write = page.begin_write().await?;
    let Changed { record: edited, changed } =
        match webhooks::edit(app, &mut write, workspace, of, change).await {
            Ok(edited) => edited,
            Err(Error::Invalid(faults)) => {
                drop(write);
                return page.show_faults(&EditPage::of(&page, before, Some(form), faults.into()));
            }
            Err(error) => return Err(error.into()),
        };
    if !changed {
        return page.redirect_with(&path(&of), &Flash::note("It was so before; nothing was changed."));
    }
    page.commit(write, Action::WebhookEdited, of, &edited.url).await?;
    page.redirect_with(&path(&of), &Flash::done("The webhook is changed."))
}
