//! One delivery with all that was exchanged for it, and the form that sends it again.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::shown::{Shown, shown};
use super::{delivery_path, outcome, path, state};
use crate::failure::Failure;
use crate::flash::Flash;
use crate::form::Form;
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::routes::{Route, get, post};
use crate::ui::{self, Raw, Tone};
use domain::webhooks::{
    self, Attempt, Delivery, DeliveryState, Exchange, Messages, Origin, Subscription, SubscriptionState,
};
use foundation::id::{DeliveryId, SubscriptionId};

pub(super) fn routes(route: Route) -> Route {
    route
        .at("/dashboard/developer/webhooks/:subscription/deliveries/:delivery", get(show))
        .at("/dashboard/developer/webhooks/:subscription/deliveries/:delivery/resend", post(resend))
}

#[derive(Template)]
#[template(path = "webhooks/delivery.html")]
struct DeliveryPage {
    frame: Frame,
    of: Subscription,
    delivery: Delivery,
    earlier: Option<DeliveryId>,
    again: Vec<DeliveryId>,
    body: Shown,
    attempts: Vec<Try>,
}

impl DeliveryPage {
    fn is_settled(&self) -> bool {
        matches!(self.delivery.state, DeliveryState::Delivered | DeliveryState::Dead)
    }

    /// A dead one is sent again once; what came of that is the other delivery's.
    fn can_be_sent_again(&self) -> bool {
        match self.delivery.state {
            DeliveryState::Delivered => true,
            DeliveryState::Dead => self.again.is_empty(),
            DeliveryState::Pending | DeliveryState::Held => false,
        }
    }

    fn is_enabled(&self) -> bool {
        self.of.state == SubscriptionState::Enabled
    }
}

/// An attempt as the page shows it.
struct Try {
    attempt: Attempt,
    request: String,
    answer: Option<(String, Shown)>,
}

impl Try {
    fn of(attempt: Attempt, messages: Messages) -> Self {
        let lines = |headers: std::collections::BTreeMap<String, String>| {
            headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect::<String>()
        };
        let answer = messages.answer.map(|answer| (lines(answer.headers), shown(&answer.body, true)));
        Self { attempt, request: lines(messages.request_headers), answer }
    }

    fn badge(&self) -> Raw<String> {
        let good = self.attempt.status.is_some_and(|status| (200..300).contains(&status));
        let tone = if good { Tone::Good } else { Tone::Bad };
        Raw(ui::badge(tone, &outcome(&self.attempt)).to_string())
    }

    /// How long it took.
    fn took(&self) -> String {
        let took = self.attempt.ended_at.as_millisecond() - self.attempt.started_at.as_millisecond();
        format!("{} ms", ui::number(took))
    }

    /// What the class of an error means.
    fn told(&self) -> &'static str {
        match self.attempt.error.as_deref().unwrap_or_default() {
            "bad_url" => "The URL cannot be called. Edit the webhook.",
            "no_secret" => {
                "The secret could not be opened, so that nothing could be signed. Rotate the secret."
            }
            "forbidden_address" => {
                "The host leads to an address that no webhook may call, such as one of a private network."
            }
            "dns" => "The host's name leads to no address.",
            "connect" => "Nobody took the connection.",
            "tls" => "TLS could not be agreed upon, or the certificate is not to be believed.",
            "reset" => "The receiver reset the connection before it answered.",
            "closed" => "The receiver closed the connection before it answered.",
            "protocol" => {
                "The response is not valid HTTP, or it has more than 100 headers or a head larger than 400 KB."
            }
            "timeout" => "No answer came within 15 seconds.",
            _ => "",
        }
    }
}

#[handler]
async fn show(page: Page, Path((of, delivery)): Path<(String, String)>) -> Answer {
    let (of, exchange) = find(&page, &of, &delivery).await?;
    let Exchange { delivery, earlier, again, body, messages } = exchange;
    let attempts = delivery.attempts.iter().cloned().zip(messages);
    page.show(&DeliveryPage {
        frame: page.frame(Section::Webhooks, "Delivery"),
        of,
        earlier,
        again,
        body: shown(&body, false),
        attempts: attempts.map(|(attempt, messages)| Try::of(attempt, messages)).rev().collect(),
        delivery,
    })
}

/// A delivery of a subscription of the workspace.
async fn find(
    page: &Page,
    of: &str,
    delivery: &str,
) -> std::result::Result<(Subscription, Exchange), Failure> {
    let (of, delivery): (SubscriptionId, DeliveryId) = (of.parse()?, delivery.parse()?);
    let of = webhooks::get(page.app(), page.workspace(), of).await?;
    let exchange = webhooks::exchange(page.app(), page.workspace(), delivery).await?;
    if exchange.delivery.subscription != of.id {
        return Err(Failure::NotFound);
    }
    Ok((of, exchange))
}

#[handler]
async fn resend(page: Page, Path((of, delivery)): Path<(String, String)>, form: Form) -> Answer {
    let (of, Exchange { delivery, .. }) = find(&page, &of, &delivery).await?;
    let here = delivery_path(&of.id, &delivery.id);
    let (app, workspace) = (page.app(), page.workspace());
    let mut write = page.begin_write().await?;
    let made = match delivery.state {
        DeliveryState::Dead => webhooks::replay_chosen(app, &mut write, workspace, &[delivery.id]).await?,
        DeliveryState::Delivered => webhooks::send_again(app, &mut write, workspace, &[delivery.id]).await?,
        DeliveryState::Pending | DeliveryState::Held => {
            let told = "This delivery is still to be sent; nothing was changed.";
            return page.redirect_with(&here, &Flash::note(told));
        }
    };
    let (Some(again), Some((action, subject, detail))) = (made.first(), webhooks::told(&made)) else {
        return page.redirect_with(&here, &Flash::note("It was sent again before; nothing was changed."));
    };
    page.commit_once(&form, write, action, subject, &detail).await?;
    let told = match again.state {
        DeliveryState::Held => "It is sent again once the webhook is enabled.",
        _ => "It is being sent again; the newest delivery below tells what comes of it.",
    };
    page.redirect_with(&path(&of.id), &Flash::done(told))
}

/// Why there is a delivery.
const fn why(of: &Delivery) -> &'static str {
    match of.origin {
        Origin::Event => "The event happened.",
        Origin::Replay => "A dead letter is sent again.",
        Origin::Resend => "A delivered one is sent again.",
        Origin::Test => "A test event.",
    }
}
