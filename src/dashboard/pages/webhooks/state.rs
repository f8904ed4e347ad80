//! Pausing, enabling and deleting a subscription.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::{LIST, delivery_count, exact_delivery_count, path};
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get, post};
use crate::ui;
use domain::audit::Action;
use domain::roles::Permission;
use domain::webhooks::{self, CappedCount, HeldAction, Subscription, SubscriptionState};
use domain::{Error, Result, WriteOutcome};
use foundation::id::SubscriptionId;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at("/dashboard/developer/webhooks/:subscription/pause", post(Permission::ManageWebhooks, pause))
        .at(
            "/dashboard/developer/webhooks/:subscription/enable",
            get(Permission::ManageWebhooks, confirm_enable).post(Permission::ManageWebhooks, enable),
        )
        .at(
            "/dashboard/developer/webhooks/:subscription/delete",
            get(Permission::ManageWebhooks, confirm_delete).post(Permission::ManageWebhooks, delete),
        )
}

/// Loads a subscription. Do not call it during an open write transaction, which already holds a connection.
async fn find(request: &DashboardRequest, subscription: SubscriptionId) -> Result<Subscription> {
    webhooks::get(request.app(), request.workspace(), subscription).await
}

#[handler]
async fn pause(request: DashboardRequest, Path(subscription): Path<String>) -> PageResponse {
    let subscription: SubscriptionId = subscription.parse()?;
    let mut write = request.begin_write().await?;
    let state = match webhooks::pause(&mut write, request.workspace(), subscription).await {
        Ok(WriteOutcome { record: paused, changed: true }) => {
            request.commit(write, Action::WebhookPaused, subscription, &paused.url).await?;
            let text = "Webhook paused. Deliveries are held until you enable it.";
            return request.redirect_with(&path(&subscription), &Flash::success(text));
        }
        Ok(_) => SubscriptionState::Paused,
        Err(Error::Invalid(_)) => SubscriptionState::Disabled,
        Err(error) => return Err(error.into()),
    };
    let text = format!("The webhook is already {state}.");
    request.redirect_with(&path(&subscription), &Flash::info(text))
}

#[derive(Template)]
#[template(path = "webhooks/enable.html")]
struct EnableWebhookPage {
    frame: Frame,
    subscription: Subscription,
    /// The number of held deliveries, including pending ones that are in flight or about to be held.
    held: CappedCount,
    form: Form,
    errors: FormErrors,
}

impl EnableWebhookPage {
    async fn load(
        request: &DashboardRequest,
        subscription: Subscription,
        form: Form,
        errors: FormErrors,
    ) -> Result<Self> {
        let held = webhooks::count_unsettled(request.app(), request.workspace(), subscription.id).await?;
        Ok(Self {
            frame: request.frame(Section::Webhooks, "Enable webhook"),
            subscription,
            held,
            form,
            errors,
        })
    }
}

/// Redirects to the page of a subscription that is already enabled.
fn already_enabled(request: &DashboardRequest, subscription: SubscriptionId) -> PageResponse {
    request.redirect_with(&path(&subscription), &Flash::info("The webhook is already enabled."))
}

#[handler]
async fn confirm_enable(request: DashboardRequest, Path(subscription): Path<String>) -> PageResponse {
    let subscription = find(&request, subscription.parse()?).await?;
    if subscription.state == SubscriptionState::Enabled {
        return already_enabled(&request, subscription.id);
    }
    request
        .show(&EnableWebhookPage::load(&request, subscription, Form::default(), FormErrors::default()).await?)
}

#[handler]
async fn enable(request: DashboardRequest, Path(subscription): Path<String>, form: Form) -> PageResponse {
    let subscription: SubscriptionId = subscription.parse()?;
    let current = find(&request, subscription).await?;
    let held = match form.text("held") {
        "send" => HeldAction::Send,
        "drop" => HeldAction::Drop,
        _ => {
            let mut errors = FormErrors::default();
            errors.add("held", "must be sent or dropped");
            return request.show_errors(&EnableWebhookPage::load(&request, current, form, errors).await?);
        }
    };
    let (app, workspace, actor) = (request.app(), request.workspace(), request.actor());
    let enabled = webhooks::enable_in_batches(app, workspace, subscription, held, &actor, |_| ()).await?;
    if !enabled.changed && enabled.released_or_dropped == 0 {
        return already_enabled(&request, subscription);
    }
    if !enabled.changed {
        let dropped = delivery_count_with_verb(enabled.released_or_dropped);
        let text = format!("{dropped} dropped before someone else enabled the webhook.");
        return request.redirect_with(&path(&subscription), &Flash::info(text));
    }
    let text = match held {
        HeldAction::Send if enabled.released_or_dropped > 0 => {
            "Webhook enabled. Held deliveries are being sent.".to_owned()
        }
        HeldAction::Drop if enabled.released_or_dropped > 0 => {
            format!("Webhook enabled. {} dropped.", delivery_count_with_verb(enabled.released_or_dropped))
        }
        HeldAction::Send | HeldAction::Drop => "Webhook enabled. No deliveries were held.".to_owned(),
    };
    request.redirect_with(&path(&subscription), &Flash::success(text))
}

/// Formats the beginning of a sentence: "One delivery was", "2 deliveries were".
fn delivery_count_with_verb(count: u64) -> String {
    format!("{} {}", exact_delivery_count(count), if count == 1 { "was" } else { "were" })
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct DeleteWebhookPage<'a> {
    frame: Frame,
    confirm: ui::ConfirmForm<'a>,
}

#[handler]
async fn confirm_delete(request: DashboardRequest, Path(subscription): Path<String>) -> PageResponse {
    let subscription = find(&request, subscription.parse()?).await?;
    let unsettled = webhooks::count_unsettled(request.app(), request.workspace(), subscription.id).await?;
    let pending = match unsettled {
        CappedCount::Exactly(0) => String::new(),
        CappedCount::Exactly(1) => "One delivery is still pending and will never be sent. ".to_owned(),
        _ => format!("{} are still pending and will never be sent. ", delivery_count(&unsettled)),
    };
    let frame = request.frame(Section::Webhooks, "Delete this webhook?");
    let confirm = ui::ConfirmForm {
        csrf: frame.csrf(),
        text: &format!(
            "Events will no longer be sent to {}. This deletes the secret, all deliveries with their logs, and all dead \
             letters. {pending}This cannot be undone. To stop deliveries temporarily, pause the webhook instead.",
            subscription.url
        ),
        action: &format!("{}/delete", path(&subscription.id)),
        button: "Delete webhook",
        back: &path(&subscription.id),
    };
    request.show(&DeleteWebhookPage { frame, confirm })
}

#[handler]
async fn delete(request: DashboardRequest, Path(subscription): Path<String>) -> PageResponse {
    let subscription: SubscriptionId = subscription.parse()?;
    let url = find(&request, subscription).await?.url;
    let mut write = request.begin_write().await?;
    webhooks::delete(&mut write, request.workspace(), subscription).await?;
    request.commit(write, Action::WebhookDeleted, subscription, &url).await?;
    request.redirect_with(LIST, &Flash::success("Webhook deleted, with all of its deliveries."))
}
