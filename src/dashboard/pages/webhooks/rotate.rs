//! Rotation of a subscription's secret. During the overlap, requests are also signed with the old secret.

use std::time::Duration;

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::{new, path};
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui::{self, FormChoice, choices};
use domain::Error;
use domain::audit::Action;
use domain::roles::Permission;
use domain::webhooks::{self, Subscription};
use foundation::id::SubscriptionId;

/// Options for the overlap: hours and label. The first is the default.
pub(in crate::pages) const OVERLAPS: &[(&str, &str)] = &[
    ("24", "24 hours"),
    ("1", "1 hour"),
    ("72", "3 days"),
    ("168", "7 days"),
    ("0", "None: the old secret ends immediately"),
];

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at(
        "/dashboard/developer/webhooks/:subscription/rotate",
        get(Permission::ManageWebhooks, show_form).post(Permission::ManageWebhooks, rotate),
    )
}

/// Returns the overlap that is selected in a form. `None` if it is not one of the options.
pub(in crate::pages) fn overlap(form: &Form) -> Option<Duration> {
    let hours = form.text("overlap");
    let is_offered = OVERLAPS.iter().any(|(value, _)| *value == hours);
    hours.parse().ok().filter(|_| is_offered).map(Duration::from_hours)
}

#[derive(Template)]
#[template(path = "webhooks/rotate.html")]
struct RotateSecretPage {
    frame: Frame,
    subscription: Subscription,
    form: Form,
    errors: FormErrors,
}

impl RotateSecretPage {
    fn new(request: &DashboardRequest, subscription: Subscription, form: Form, errors: FormErrors) -> Self {
        Self { frame: request.frame(Section::Webhooks, "Rotate secret?"), subscription, form, errors }
    }

    fn overlaps(&self) -> Vec<FormChoice<'_>> {
        choices(OVERLAPS.iter().copied(), self.form.text("overlap"))
    }
}

#[handler]
async fn show_form(request: DashboardRequest, Path(subscription): Path<String>) -> PageResponse {
    let subscription: SubscriptionId = subscription.parse()?;
    let subscription = webhooks::get(request.app(), request.workspace(), subscription).await?;
    request.require_recent_sign_in(&format!("{}/rotate", path(&subscription.id)))?;
    request.show(&RotateSecretPage::new(&request, subscription, Form::default(), FormErrors::default()))
}

#[handler]
async fn rotate(request: DashboardRequest, Path(subscription): Path<String>, form: Form) -> PageResponse {
    let subscription: SubscriptionId = subscription.parse()?;
    let (app, workspace) = (request.app(), request.workspace());
    let subscription = webhooks::get(app, workspace, subscription).await?;
    request.require_recent_sign_in(&format!("{}/rotate", path(&subscription.id)))?;
    let Some(overlap) = overlap(&form) else {
        let mut errors = FormErrors::default();
        errors.add("overlap", "must be one of the listed values");
        return request.show_errors(&RotateSecretPage::new(&request, subscription, form, errors));
    };
    let mut write = request.begin_write().await?;
    match webhooks::rotate(app, &mut write, request.seal(), workspace, subscription.id, overlap).await {
        Ok(rotated) => {
            request
                .commit_once(&form, write, Action::WebhookRotated, subscription.id, &subscription.url)
                .await?;
            new::reveal(
                &request,
                "New signing secret",
                &subscription,
                &rotated.secret,
                Some(rotated.older_until),
            )
        }
        Err(Error::Invalid(errors)) => {
            drop(write);
            request.show_errors(&RotateSecretPage::new(&request, subscription, form, errors.into()))
        }
        Err(error) => Err(error.into()),
    }
}
