//! Creation of a subscription. The response to the form shows the secret.

use askama::Template;
use jiff::Timestamp;
use poem::handler;
use secrecy::{ExposeSecret, SecretString};

use super::event_types::{self, EventTypesField};
use super::path;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui;
use domain::Error;
use domain::audit::Action;
use domain::roles::Permission;
use domain::webhooks::{self, NewSubscription, Subscription};

const NEW: &str = "/dashboard/developer/webhooks/new";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at(NEW, get(Permission::ManageWebhooks, new).post(Permission::ManageWebhooks, create))
}

#[derive(Template)]
#[template(path = "webhooks/new.html")]
struct NewWebhookPage {
    frame: Frame,
    form: Form,
    errors: FormErrors,
}

impl NewWebhookPage {
    fn new(request: &DashboardRequest, form: Form, errors: FormErrors) -> Self {
        Self { frame: request.frame(Section::Webhooks, "New webhook"), form, errors }
    }

    fn event_types_field(&self) -> EventTypesField<'_> {
        EventTypesField::from_form(&self.form, &self.errors)
    }
}

#[handler]
async fn new(request: DashboardRequest) -> PageResponse {
    request.require_recent_sign_in(NEW)?;
    request.show(&NewWebhookPage::new(&request, Form::default(), FormErrors::default()))
}

#[handler]
async fn create(request: DashboardRequest, form: Form) -> PageResponse {
    request.require_recent_sign_in(NEW)?;
    let new_subscription = NewSubscription {
        url: form.text("url").trim().to_owned(),
        event_types: event_types::parse(&form),
        description: Some(form.text("description").to_owned()),
    };
    let mut write = request.begin_write().await?;
    match webhooks::create(request.app(), &mut write, request.seal(), request.workspace(), new_subscription)
        .await
    {
        Ok((created, secret)) => {
            request.commit_once(&form, write, Action::WebhookCreated, created.id, &created.url).await?;
            reveal(&request, "Webhook created", &created, &secret, None)
        }
        Err(Error::Invalid(errors)) => {
            drop(write);
            request.show_errors(&NewWebhookPage::new(&request, form, errors.into()))
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Template)]
#[template(path = "webhooks/secret.html")]
struct SecretPage<'a> {
    frame: Frame,
    subscription: &'a Subscription,
    secret: &'a str,
    /// After a rotation, the time until which requests are also signed with the old secrets; `Some(None)` if they no
    /// longer are. `None` for a new subscription.
    old_secret_until: Option<Option<Timestamp>>,
}

/// Renders the only page that shows a secret. It is the response to the form and is not cached.
pub(super) fn reveal(
    request: &DashboardRequest,
    title: &str,
    subscription: &Subscription,
    secret: &SecretString,
    old_secret_until: Option<Option<Timestamp>>,
) -> PageResponse {
    let frame = request.frame(Section::Webhooks, title);
    request.show(&SecretPage { frame, subscription, secret: secret.expose_secret(), old_secret_until })
}
