//! One attempt at a leased delivery: signs it, sends it, and measures its duration.
//!
//! Records nothing; see [`settle`](super::settle).

use entity::webhook_subscriptions::Model as Subscription;
use tracing::Instrument as _;
use url::Url;

use super::claim::LeasedDelivery;
use super::outbound::{
    self, ATTEMPT_TIMEOUT, AttemptFailure, AttemptOutcome, DeliveryVerdict, WebhookClient, WebhookRequest,
};
use super::schedule::MIN_LEASE_LEFT;
use domain::app::App;
use domain::outbox::MESSAGING_SYSTEM;
use foundation::id::{DeliveryId, EventId};
use foundation::telemetry::activity::Activity;
use foundation::telemetry::traces::{Span, SpanKind};

/// An attempt that has ended.
#[derive(Debug)]
pub(super) struct CompletedAttempt {
    /// The delivery.
    pub(super) leased: LeasedDelivery,
    /// The result of the attempt.
    pub(super) outcome: AttemptOutcome,
    /// When it started, in milliseconds since the epoch, by the clock of this process.
    pub(super) local_started_ms: i64,
    /// When it ended, in milliseconds since the epoch, by the clock of this process.
    pub(super) local_ended_ms: i64,
    /// How far the clock of write transactions is ahead of this process's clock, in milliseconds; 0 until the attempt
    /// is recorded. The recorded times and the time of the retry use the clock of write transactions, as due times do.
    pub(super) clock_offset_ms: i64,
}

impl CompletedAttempt {
    /// Returns the number of the attempt; a delivery's first attempt is 1.
    pub(super) fn number(&self) -> i32 {
        self.leased.delivery.attempts + 1
    }

    /// Returns when it ended, in milliseconds since the epoch, by the clock of write transactions.
    pub(super) fn ended_ms(&self) -> i64 {
        self.local_ended_ms + self.clock_offset_ms
    }

    /// Returns whether nothing was sent, because this machine lacked the resources for a connection.
    pub(super) fn is_exhausted(&self) -> bool {
        matches!(self.outcome.result, Err(AttemptFailure::Exhausted))
    }

    /// Returns whether the attempt was made at the URL that the subscription has now.
    pub(super) fn went_to_url_of(&self, subscription: &Subscription) -> bool {
        self.leased.target.has_url_of(subscription)
    }
}

/// Makes one attempt. Returns the delivery unsent as an error when its lease could expire before the attempt is
/// recorded, since another worker could then send it, too.
pub(super) async fn attempt(
    app: &App,
    client: &WebhookClient,
    leased: LeasedDelivery,
) -> Result<CompletedAttempt, LeasedDelivery> {
    let started_ms = app.clock.now_ms();
    let lease_left_ms = leased.lease.ends_ms - started_ms;
    if lease_left_ms < i64::try_from(MIN_LEASE_LEFT.as_millis()).unwrap_or(i64::MAX) {
        return Err(leased);
    }
    let mut span = start_span(&leased);
    let activity = Activity::new(None, span.as_ref());
    // Receivers compare the time of a signature with their own clock.
    let signed_ms = app.clock.external_ms();
    let outcome = activity.run(send(client, &leased, signed_ms, span.as_ref())).await;
    end_span(span.as_mut(), &outcome);
    drop(span);
    let local_ended_ms = app.clock.now_ms();
    Ok(CompletedAttempt { outcome, local_started_ms: started_ms, local_ended_ms, clock_offset_ms: 0, leased })
}

async fn send(
    client: &WebhookClient,
    leased: &LeasedDelivery,
    now_ms: i64,
    span: Option<&Span>,
) -> AttemptOutcome {
    let (delivery, target) = (&leased.delivery, &leased.target);
    // Without a key, the request could not be signed.
    if target.keys.is_empty() {
        return unsent(AttemptFailure::NoSecret);
    }
    let Some(url) = &target.url else { return unsent(AttemptFailure::BadUrl) };
    let delivery_id = DeliveryId::from_uuid(delivery.id);
    let log_span =
        tracing::debug_span!("webhook", delivery.id = %delivery_id, attempt = delivery.attempts + 1);
    let mut request_span = span.and_then(|span| start_request_span(span, url, delivery.attempts));
    let request = WebhookRequest {
        workspace: delivery.workspace_id,
        mode: target.mode,
        url,
        event_id: &EventId::from_uuid(delivery.event_id).to_string(),
        event_type: &delivery.event_type,
        delivery_id: &delivery_id.to_string(),
        body: leased.body.clone(),
        keys: &target.keys,
        ed25519_keys: &target.ed25519_keys,
        custom_headers: &target.headers,
        now: now_ms.div_euclid(1000),
        timeout: ATTEMPT_TIMEOUT,
        traceparent: request_span.as_ref().map(Span::traceparent),
    };
    let outcome = outbound::send(client, request).instrument(log_span).await;
    if let (Some(span), Ok(response)) = (&mut request_span, &outcome.result) {
        span.set("http.response.status_code", i64::from(response.status));
    }
    end_span(request_span.as_mut(), &outcome);
    outcome
}

/// Returns the outcome of an attempt that failed before anything was sent.
fn unsent(failure: AttemptFailure) -> AttemptOutcome {
    AttemptOutcome { request_headers: Default::default(), result: Err(failure) }
}

/// Starts the span of an attempt, if the trace of the event is recorded.
fn start_span(leased: &LeasedDelivery) -> Option<Span> {
    let delivery = &leased.delivery;
    let sent_by = delivery.traceparent.as_deref()?;
    let mut span = Span::start_processing(format!("process {}", delivery.event_type), Some(sent_by))?;
    span.set("messaging.system", MESSAGING_SYSTEM);
    span.set("messaging.operation.name", "process");
    span.set("messaging.operation.type", "process");
    span.set("messaging.destination.name", delivery.event_type.clone());
    span.set("messaging.message.id", EventId::from_uuid(delivery.event_id).to_string());
    span.set("delivery.id", DeliveryId::from_uuid(delivery.id).to_string());
    span.set("delivery.attempt", i64::from(delivery.attempts + 1));
    Some(span)
}

/// Starts the span of the HTTP request of an attempt. It contains no path, since that can contain secrets.
fn start_request_span(attempt: &Span, url: &Url, earlier_attempts: i32) -> Option<Span> {
    let mut span = attempt.start_child("POST", SpanKind::Client)?;
    span.set("http.request.method", "POST");
    span.set("url.scheme", url.scheme().to_owned());
    span.set("server.address", url.host_str().unwrap_or_default().to_owned());
    span.set("server.port", i64::from(url.port_or_known_default().unwrap_or_default()));
    if earlier_attempts > 0 {
        span.set("http.request.resend_count", i64::from(earlier_attempts));
    }
    Some(span)
}

/// Marks a span as failed if the delivery was not accepted.
fn end_span(span: Option<&mut Span>, outcome: &AttemptOutcome) {
    let Some(span) = span else { return };
    match &outcome.result {
        Ok(_) if outcome.verdict() == DeliveryVerdict::Delivered => {}
        Ok(response) => span.fail(response.status.to_string()),
        Err(failure) => span.fail(failure.as_str()),
    }
}
