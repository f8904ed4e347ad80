//! The delivery controls of a subscription: filter with dry run, request headers, rate and signatures. Also answers the offer
//! to replay what died during an outage.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::{path, replay_path};
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get, post};
use crate::ui::{self, FormChoice};
use domain::audit::Action;
use domain::outbox::EventType;
use domain::outbox::filters::noun;
use domain::roles::Permission;
use domain::webhooks::controls::{self, ControlsChange, DryRun};
use domain::webhooks::headers::MASK;
use domain::webhooks::{self, ReplayStart, Subscription, recovery, signing_keys};
use domain::{Error, WriteOutcome};
use foundation::id::SubscriptionId;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(
            "/dashboard/developer/webhooks/:subscription/delivery",
            get(Permission::ManageWebhooks, show_form).post(Permission::ManageWebhooks, submit),
        )
        .at(
            "/dashboard/developer/webhooks/:subscription/offer",
            post(Permission::ManageWebhooks, answer_offer),
        )
}

#[derive(Template)]
#[template(path = "webhooks/controls.html")]
struct ControlsPage {
    frame: Frame,
    subscription: Subscription,
    filter: String,
    headers: String,
    rate: String,
    ed25519: bool,
    errors: FormErrors,
    dry_run: Option<DryRun>,
}

impl ControlsPage {
    /// Creates the page with the submitted form, or with the stored controls before the first submission.
    fn new(request: &DashboardRequest, subscription: Subscription, form: Option<&Form>) -> Self {
        let text = |name: &str, stored: String| form.map_or(stored, |form| form.text(name).to_owned());
        let header_lines = subscription.header_names.iter().map(|name| format!("{name}: {MASK}\n")).collect();
        let rate = subscription.rate.map(|rate| rate.to_string()).unwrap_or_default();
        Self {
            frame: request.frame(Section::Webhooks, "Delivery"),
            filter: text("filter", subscription.filter.clone()),
            headers: text("headers", header_lines),
            rate: text("rate", rate),
            ed25519: form.map_or(subscription.ed25519, |form| form.contains("ed25519", "yes")),
            errors: FormErrors::default(),
            dry_run: None,
            subscription,
        }
    }

    fn signatures(&self) -> Vec<FormChoice<'_>> {
        let is_selected = self.ed25519;
        let hint = "Receivers can verify them with a public key. The HMAC signatures do not change.";
        vec![FormChoice { value: "yes", label: "Add Ed25519 signatures", hint, is_selected }]
    }

    /// Returns the fields of each subscribed event type: their pointers and kinds.
    fn fields(&self) -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
        let is_subscribed = |event_type: &&EventType| {
            self.subscription.event_types.iter().any(|name| name == event_type.as_str())
        };
        let fields = |event_type: &EventType| {
            let fields = event_type.fields().iter().map(|(pointer, kind)| (*pointer, noun(*kind)));
            (event_type.as_str(), fields.collect())
        };
        EventType::ALL.iter().filter(is_subscribed).map(fields).collect()
    }
}

#[handler]
async fn show_form(request: DashboardRequest, Path(subscription): Path<String>) -> PageResponse {
    let subscription: SubscriptionId = subscription.parse()?;
    let subscription = webhooks::get(request.app(), request.workspace(), subscription).await?;
    request.show(&ControlsPage::new(&request, subscription, None))
}

#[handler]
async fn submit(request: DashboardRequest, Path(subscription): Path<String>, form: Form) -> PageResponse {
    let id: SubscriptionId = subscription.parse()?;
    let (app, workspace) = (request.app(), request.workspace());
    let subscription = webhooks::get(app, workspace, id).await?;
    if form.text("action") == "dry_run" {
        let dry_run = controls::dry_run(app, workspace, id, form.text("filter")).await;
        return show_outcome(&request, subscription, form, dry_run.map(Some));
    }
    let change = ControlsChange {
        filter: Some(form.text("filter").to_owned()),
        headers: Some(form.text("headers").lines().map(str::to_owned).collect()),
        rate: Some(form.text("rate").to_owned()),
        ed25519: Some(form.contains("ed25519", "yes")),
    };
    let mut write = request.begin_write().await?;
    match controls::change(app, &mut write, request.seal(), workspace, id, change).await {
        Ok(WriteOutcome { changed: false, .. }) => {
            request.redirect_with(&path(&id), &Flash::info("No changes."))
        }
        Ok(WriteOutcome { record, .. }) => {
            let detail = controls::describe(&record);
            request.commit(write, Action::WebhookControlsChanged, id, &detail).await?;
            let mut text = "Delivery updated.".to_owned();
            if record.ed25519 && !subscription.ed25519 {
                text.push_str(&signatures_begin(&request).await?);
            }
            request.redirect_with(&path(&id), &Flash::success(text))
        }
        Err(error) => {
            drop(write);
            show_outcome(&request, subscription, form, Err(error))
        }
    }
}

/// Returns a sentence that says when the Ed25519 signatures of the workspace begin; empty if a key signs already.
async fn signatures_begin(request: &DashboardRequest) -> domain::Result<String> {
    let keys = signing_keys::list(request.app(), request.workspace()).await?;
    let now = request.app().clock.now();
    let usable = keys.iter().filter(|key| key.signs_until.is_none_or(|until| until > now));
    let Some(from) = usable.map(|key| key.signs_from).min().filter(|from| *from > now) else {
        return Ok(String::new());
    };
    let minutes = (from.as_second() - now.as_second() + 59) / 60;
    Ok(format!(
        " Ed25519 signatures begin in {minutes} minute{}, when receivers can know the public key.",
        if minutes == 1 { "" } else { "s" }
    ))
}

/// Renders the form again, with the result of a dry run or with errors.
fn show_outcome(
    request: &DashboardRequest,
    subscription: Subscription,
    form: Form,
    outcome: domain::Result<Option<DryRun>>,
) -> PageResponse {
    let page = ControlsPage::new(request, subscription, Some(&form));
    match outcome {
        Ok(dry_run) => request.show(&ControlsPage { dry_run, ..page }),
        Err(Error::Invalid(errors)) => request.show_errors(&ControlsPage { errors: errors.into(), ..page }),
        Err(error) => Err(error.into()),
    }
}

#[handler]
async fn answer_offer(
    request: DashboardRequest,
    Path(subscription): Path<String>,
    form: Form,
) -> PageResponse {
    let id: SubscriptionId = subscription.parse()?;
    let (app, workspace) = (request.app(), request.workspace());
    let closed = Flash::info("The dead letters were replayed already, or the offer was dismissed.");
    if form.text("answer") != "replay" {
        let Some(offer) = webhooks::get(app, workspace, id).await?.offer else {
            return request.redirect_with(&path(&id), &closed);
        };
        let mut write = request.begin_write().await?;
        if !recovery::dismiss(&mut write, workspace, id, offer.from).await? {
            return request.redirect_with(&path(&id), &closed);
        }
        request.commit(write, Action::OfferDismissed, id, "").await?;
        return request.redirect_with(&path(&id), &Flash::info("The dead letters were not replayed."));
    }
    let preview = match recovery::preview(app, workspace, id).await {
        Ok(preview) => preview,
        Err(Error::Invalid(_)) => return request.redirect_with(&path(&id), &closed),
        Err(error) => return Err(error.into()),
    };
    let mut write = request.begin_write().await?;
    match recovery::accept(app, &mut write, workspace, &preview).await? {
        None => request.redirect_with(&path(&id), &closed),
        Some(ReplayStart::Started(replay)) => {
            let detail = format!("{} after the recovery of {id}", ui::number(replay.total));
            request.commit_once(&form, write, Action::ReplayStarted, replay.id, &detail).await?;
            request.redirect_with(&replay_path(&replay.id), &Flash::success("Replay started."))
        }
        Some(ReplayStart::AlreadyRunning(replay)) => {
            request.redirect_with(&replay_path(&replay.id), &Flash::info("This replay is already running."))
        }
    }
}
