//! One delivery with its requests and responses, and the form that resends it.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::body::{self, DisplayedBody};
use super::{attempt_outcome, delivery_badge, delivery_path, path};
use crate::error::PageError;
use crate::flash::Flash;
use crate::form::Form;
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get, post};
use crate::ui::{self, Precision, RawHtml, Tone};
use domain::roles::Permission;
use domain::webhooks::{
    self, Attempt, AttemptMessages, Delivery, DeliveryDetail, DeliveryOrigin, DeliveryState, Subscription,
    SubscriptionState,
};
use foundation::id::{DeliveryId, SubscriptionId};

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(
            "/dashboard/developer/webhooks/:subscription/deliveries/:delivery",
            get(Permission::ReadMessages, show),
        )
        .at(
            "/dashboard/developer/webhooks/:subscription/deliveries/:delivery/resend",
            post(Permission::ManageWebhooks, resend),
        )
}

#[derive(Template)]
#[template(path = "webhooks/delivery.html")]
struct DeliveryPage {
    frame: Frame,
    subscription: Subscription,
    delivery: Delivery,
    /// Whether it waits only because of the rate of the subscription.
    waits_for_rate: bool,
    /// The delivery that this one resends or replays.
    original: Option<DeliveryId>,
    /// The deliveries that resend or replay this one.
    resends: Vec<DeliveryId>,
    body: DisplayedBody,
    attempts: Vec<AttemptRow>,
}

impl DeliveryPage {
    /// Returns whether the delivery has ended: it was delivered or is a dead letter.
    fn is_settled(&self) -> bool {
        matches!(self.delivery.state, DeliveryState::Delivered | DeliveryState::Dead)
    }

    /// Returns whether the delivery can be resent. A dead letter can be replayed only once.
    fn can_be_resent(&self) -> bool {
        match self.delivery.state {
            DeliveryState::Delivered => true,
            DeliveryState::Dead => self.resends.is_empty(),
            DeliveryState::Pending | DeliveryState::Held => false,
        }
    }

    fn is_enabled(&self) -> bool {
        self.subscription.state == SubscriptionState::Enabled
    }
}

/// An attempt, as shown on the page.
struct AttemptRow {
    attempt: Attempt,
    request_headers: String,
    /// The headers and body of the response; `None` without a response.
    response: Option<(String, DisplayedBody)>,
}

impl AttemptRow {
    fn new(attempt: Attempt, messages: AttemptMessages) -> Self {
        let lines = |headers: std::collections::BTreeMap<String, String>| {
            headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect::<String>()
        };
        let response =
            messages.response.map(|response| (lines(response.headers), body::display(&response.body, true)));
        Self { attempt, request_headers: lines(messages.request_headers), response }
    }

    fn badge(&self) -> RawHtml<String> {
        let succeeded = self.attempt.status.is_some_and(|status| (200..300).contains(&status));
        let tone = if succeeded { Tone::Good } else { Tone::Bad };
        RawHtml(ui::badge(tone, &attempt_outcome(&self.attempt)).to_string())
    }

    /// Returns the duration of the attempt.
    fn duration(&self) -> String {
        let duration = self.attempt.ended_at.duration_since(self.attempt.started_at);
        ui::duration(duration.unsigned_abs(), Precision::Milliseconds)
    }

    /// Returns the explanation of the attempt's failure code; empty if the attempt did not fail.
    fn error_explanation(&self) -> &'static str {
        match self.attempt.error.as_deref().unwrap_or_default() {
            "bad_url" => "The URL is invalid. Edit the webhook.",
            "no_secret" => {
                "The secret could not be decrypted, so the request could not be signed. Rotate the secret."
            }
            "forbidden_address" => {
                "The host resolves to an IP address that webhooks must not call, such as a private one."
            }
            "dns" => "The host name could not be resolved.",
            "connect" => "The connection could not be established.",
            "tls" => "The TLS handshake failed, or the certificate is not trusted.",
            "certificate_expired" => "The certificate of the endpoint has expired. Renew it.",
            "reset" => "The endpoint reset the connection before it responded.",
            "closed" => "The endpoint closed the connection before it responded.",
            "protocol" => {
                "The response is not valid HTTP, has more than 100 headers, or has headers larger than 16 KiB."
            }
            "interim_responses" => "The endpoint sent more than 8 interim responses (status 1xx).",
            "timeout" => "The endpoint did not respond within 15 seconds.",
            _ => "",
        }
    }
}

#[handler]
async fn show(
    request: DashboardRequest,
    Path((subscription, delivery)): Path<(String, String)>,
) -> PageResponse {
    let (subscription, detail) = find(&request, &subscription, &delivery).await?;
    let DeliveryDetail { delivery, original, replays: resends, body, messages } = detail;
    let attempts = delivery.attempts.iter().cloned().zip(messages);
    request.show(&DeliveryPage {
        frame: request.frame(Section::Webhooks, "Delivery"),
        waits_for_rate: delivery.waits_for_rate(&subscription, request.app().clock.now()),
        subscription,
        original,
        resends,
        body: body::display(&body, false),
        attempts: attempts.map(|(attempt, messages)| AttemptRow::new(attempt, messages)).rev().collect(),
        delivery,
    })
}

/// Loads a delivery and its subscription. Fails if the delivery belongs to another subscription.
async fn find(
    request: &DashboardRequest,
    subscription: &str,
    delivery: &str,
) -> std::result::Result<(Subscription, DeliveryDetail), PageError> {
    let (subscription, delivery): (SubscriptionId, DeliveryId) = (subscription.parse()?, delivery.parse()?);
    let subscription = webhooks::get(request.app(), request.workspace(), subscription).await?;
    let detail = webhooks::delivery_detail(request.app(), request.workspace(), delivery).await?;
    if detail.delivery.subscription != subscription.id {
        return Err(PageError::NotFound);
    }
    Ok((subscription, detail))
}

#[handler]
async fn resend(
    request: DashboardRequest,
    Path((subscription, delivery)): Path<(String, String)>,
    form: Form,
) -> PageResponse {
    let (subscription, DeliveryDetail { delivery, .. }) = find(&request, &subscription, &delivery).await?;
    let delivery_url = delivery_path(&subscription.id, &delivery.id);
    let (app, workspace) = (request.app(), request.workspace());
    let mut write = request.begin_write().await?;
    let created = match delivery.state {
        DeliveryState::Dead => webhooks::replay_chosen(app, &mut write, workspace, &[delivery.id]).await?,
        DeliveryState::Delivered => webhooks::send_again(app, &mut write, workspace, &[delivery.id]).await?,
        DeliveryState::Pending | DeliveryState::Held => {
            let text = "This delivery is still pending.";
            return request.redirect_with(&delivery_url, &Flash::info(text));
        }
    };
    let (Some(new_delivery), Some((action, subject, detail))) =
        (created.first(), webhooks::audit_entry(&created))
    else {
        return request.redirect_with(&delivery_url, &Flash::info("This dead letter was already replayed."));
    };
    request.commit_once(&form, write, action, subject, &detail).await?;
    let text = match new_delivery.state {
        DeliveryState::Held => "The delivery will be sent when the webhook is enabled.",
        _ => "The delivery is being sent again. See the newest delivery below.",
    };
    request.redirect_with(&path(&subscription.id), &Flash::success(text))
}

/// Returns why the delivery was created.
const fn origin(delivery: &Delivery) -> &'static str {
    match delivery.origin {
        DeliveryOrigin::Event => "New event",
        DeliveryOrigin::Replay => "Replay of a dead letter",
        DeliveryOrigin::Resend => "Resend of a delivery",
        DeliveryOrigin::Test => "Test event",
    }
}
