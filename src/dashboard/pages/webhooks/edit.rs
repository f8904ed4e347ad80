//! Editing a subscription: its URL, description and event types.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::event_types::{self, EventTypesField};
use super::path;
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui;
use domain::audit::Action;
use domain::roles::Permission;
use domain::webhooks::{self, Subscription, SubscriptionChange, controls};
use domain::{Error, WriteOutcome};
use foundation::id::SubscriptionId;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at(
        "/dashboard/developer/webhooks/:subscription/edit",
        get(Permission::ManageWebhooks, show_form).post(Permission::ManageWebhooks, edit),
    )
}

#[derive(Template)]
#[template(path = "webhooks/edit.html")]
struct EditWebhookPage {
    frame: Frame,
    subscription: Subscription,
    /// The submitted form; `None` before the first submission.
    form: Option<Form>,
    errors: FormErrors,
}

impl EditWebhookPage {
    fn new(
        request: &DashboardRequest,
        subscription: Subscription,
        form: Option<Form>,
        errors: FormErrors,
    ) -> Self {
        Self { frame: request.frame(Section::Webhooks, "Edit webhook"), subscription, form, errors }
    }

    fn url(&self) -> &str {
        self.form.as_ref().map_or(&self.subscription.url, |form| form.text("url"))
    }

    fn description(&self) -> &str {
        let stored = || self.subscription.description.as_deref().unwrap_or_default();
        self.form.as_ref().map_or_else(stored, |form| form.text("description"))
    }

    fn event_types_field(&self) -> EventTypesField<'_> {
        match &self.form {
            Some(form) => EventTypesField::from_form(form, &self.errors),
            None => EventTypesField::with_selected(&self.subscription.event_types),
        }
    }
}

#[handler]
async fn show_form(request: DashboardRequest, Path(subscription): Path<String>) -> PageResponse {
    let subscription: SubscriptionId = subscription.parse()?;
    let subscription = webhooks::get(request.app(), request.workspace(), subscription).await?;
    request.show(&EditWebhookPage::new(&request, subscription, None, FormErrors::default()))
}

#[handler]
async fn edit(request: DashboardRequest, Path(subscription): Path<String>, form: Form) -> PageResponse {
    let subscription: SubscriptionId = subscription.parse()?;
    let (app, workspace) = (request.app(), request.workspace());
    let current = webhooks::get(app, workspace, subscription).await?;
    let url = form.text("url").trim().to_owned();
    if url != current.url {
        // The new address receives the events of the workspace, as with a new webhook.
        request.require_recent_sign_in(&format!("{}/edit", path(&subscription)))?;
    }
    let change = SubscriptionChange {
        url: Some(url),
        event_types: Some(event_types::parse(&form)),
        description: Some(form.text("description").to_owned()),
    };
    let mut write = request.begin_write().await?;
    let WriteOutcome { record: edited, changed } =
        match webhooks::edit(app, &mut write, workspace, subscription, change).await {
            Ok(edited) => edited,
            Err(Error::Invalid(errors)) => {
                drop(write);
                return request.show_errors(&EditWebhookPage::new(
                    &request,
                    current,
                    Some(form),
                    errors.into(),
                ));
            }
            Err(error) => return Err(error.into()),
        };
    if !changed {
        return request.redirect_with(&path(&subscription), &Flash::info("No changes."));
    }
    let detail = controls::describe_edit(&current, &edited);
    request.commit(write, Action::WebhookEdited, subscription, &detail).await?;
    request.redirect_with(&path(&subscription), &Flash::success("Webhook updated."))
}
