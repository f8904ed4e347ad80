//! Conversions of webhooks, deliveries and errors between the domain and the contract.

use anyhow::anyhow;

use super::generated::schemas::{self, NewWebhookHeader};
use crate::error::{ApiError, Reply};
use crate::v1::{enum_map, id_string, optional_id_string};
use contract_runtime::validate::{RequestPart, Violation};
use domain::FieldError;
use domain::outbox::EventType;
use domain::webhooks::controls::DryRun;
use domain::webhooks::headers::MASK;
use domain::webhooks::{
    Attempt, AttemptMessages, Delivery, DeliveryOrigin, DeliveryState, Subscription, SubscriptionState,
};
use foundation::id::{Id, IdKind};

enum_map!(SubscriptionState => schemas::WebhookState);
enum_map!(DeliveryState => schemas::DeliveryState, and back);
enum_map!(DeliveryOrigin => schemas::DeliveryOrigin);
enum_map!(schemas::EventType => EventType);

/// Parses the id in the path.
pub(super) fn parse<K: IdKind>(id: &str) -> Reply<Id<K>> {
    Ok(id.parse().map_err(domain::Error::from)?)
}

/// Returns the event type with this name.
///
/// # Errors
/// Returns 500 if the contract has no such type. The domain stores only those of v1, which are the same.
fn event_type(name: &str) -> Reply<schemas::EventType> {
    let found = schemas::EventType::ALL.iter().find(|event_type| event_type.as_str() == name);
    found.copied().ok_or_else(|| ApiError::internal(anyhow!("the contract has no event type `{name}`")))
}

/// Returns the names of event types.
pub(super) fn event_type_names(event_types: &[schemas::EventType]) -> Vec<String> {
    event_types.iter().map(|event_type| event_type.as_str().to_owned()).collect()
}

/// Returns custom headers as the domain reads them.
pub(super) fn header_lines(headers: Vec<NewWebhookHeader>) -> Vec<String> {
    headers.into_iter().map(|header| format!("{}: {}", header.name, header.value)).collect()
}

/// Converts a webhook.
pub(super) fn webhook(subscription: Subscription) -> Reply<schemas::Webhook> {
    let mask = |name| schemas::WebhookHeader { name, value: MASK.to_owned() };
    Ok(schemas::Webhook {
        id: id_string(subscription.id),
        url: subscription.url,
        description: subscription.description,
        event_types: subscription.event_types.iter().map(|name| event_type(name)).collect::<Reply<_>>()?,
        state: subscription.state.into(),
        failing_since: subscription.failing_since.map(Into::into),
        disabled_at: subscription.disabled_at.map(Into::into),
        filter: subscription.filter.lines().map(str::to_owned).collect(),
        headers: subscription.header_names.into_iter().map(mask).collect(),
        rate: subscription.rate,
        ed25519: subscription.ed25519,
        created_at: subscription.created_at.into(),
        updated_at: subscription.updated_at.into(),
    })
}

/// Adds the secret to a new webhook.
pub(super) fn webhook_with_secret(webhook: schemas::Webhook, secret: String) -> schemas::WebhookWithSecret {
    schemas::WebhookWithSecret {
        id: webhook.id,
        url: webhook.url,
        description: webhook.description,
        event_types: webhook.event_types,
        state: webhook.state,
        failing_since: webhook.failing_since,
        disabled_at: webhook.disabled_at,
        filter: webhook.filter,
        headers: webhook.headers,
        rate: webhook.rate,
        ed25519: webhook.ed25519,
        created_at: webhook.created_at,
        updated_at: webhook.updated_at,
        secret,
    }
}

/// Converts a delivery.
pub(super) fn delivery(delivery: Delivery) -> Reply<schemas::Delivery> {
    let last = delivery.attempts.last();
    Ok(schemas::Delivery {
        id: id_string(delivery.id),
        webhook_id: id_string(delivery.subscription),
        event_id: id_string(delivery.event),
        event_type: event_type(&delivery.event_type)?,
        origin: delivery.origin.into(),
        replay_of: optional_id_string(delivery.replayed_from),
        state: delivery.state.into(),
        attempts: i32::try_from(delivery.attempts.len()).unwrap_or(i32::MAX),
        last_status: last.and_then(|attempt| attempt.status),
        last_error: last.and_then(|attempt| attempt.error.clone()),
        next_attempt_at: delivery.next_attempt_at.map(Into::into),
        created_at: delivery.created_at.into(),
        settled_at: delivery.settled_at.map(Into::into),
    })
}

/// Converts an attempt.
pub(super) fn attempt((attempt, messages): (Attempt, AttemptMessages)) -> schemas::DeliveryAttempt {
    schemas::DeliveryAttempt {
        number: attempt.number,
        started_at: attempt.started_at.into(),
        ended_at: attempt.ended_at.into(),
        status: attempt.status,
        error: attempt.error,
        response_headers: messages.response.map(|response| response.headers),
    }
}

/// Converts the result of a dry run.
pub(super) fn filter_preview(dry_run: DryRun) -> Reply<schemas::FilterPreview> {
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let event_types = dry_run.counts.iter().map(|(name, examined, matched)| {
        Ok(schemas::FilterPreviewCount {
            event_type: event_type(name)?,
            examined: count(*examined),
            matched: count(*matched),
        })
    });
    let examples = dry_run.examples.iter().map(|example| {
        Ok(schemas::FilterPreviewExample {
            event_id: id_string(example.event),
            event_type: event_type(&example.event_type)?,
            created_at: example.created_at.into(),
        })
    });
    Ok(schemas::FilterPreview {
        examined: count(dry_run.examined()),
        matched: count(dry_run.matched()),
        is_complete: dry_run.is_complete,
        event_types: event_types.collect::<Reply<_>>()?,
        examples: examples.collect::<Reply<_>>()?,
    })
}

/// Converts an error of the domain, with the names of the contract. An error that concerns the webhook or the delivery itself is
/// assigned to the id in the path.
pub(super) fn error(error: domain::Error) -> ApiError {
    error_at("id", error)
}

/// Converts an error as [`error`] does, but assigns one that concerns the webhook itself to this field.
pub(super) fn error_at(subject: &str, error: domain::Error) -> ApiError {
    let domain::Error::Invalid(errors) = error else { return error.into() };
    // The limit of webhooks concerns no field of the body.
    if let [FieldError { field, message }] = errors.as_slice()
        && field == "subscriptions"
    {
        let field = String::new();
        let violation = Violation { part: RequestPart::Body, field, message: format!("webhooks {message}") };
        let mut error = ApiError::invalid(vec![violation]);
        error.message = format!("Webhooks {message}.").into();
        return error;
    }
    domain::Error::Invalid(errors.into_iter().map(|error| rename(subject, error)).collect()).into()
}

fn rename(subject: &str, FieldError { field, message }: FieldError) -> FieldError {
    match field.as_str() {
        // The message begins with the id, which the name of the field replaces.
        "subscription" | "deliveries/0" => {
            let predicate = message.find(" is ").map_or(message.as_str(), |at| &message[at + 1..]);
            FieldError { field: subject.to_owned(), message: predicate.to_owned() }
        }
        "overlap" => FieldError { field: "overlap_seconds".to_owned(), message },
        // The message begins with the number of the line, which is the index in the list.
        _ if message.starts_with("line ") => {
            let text = message.split_once(": ").map_or(message.as_str(), |(_, text)| text);
            FieldError { field, message: text.to_owned() }
        }
        _ => FieldError { field, message },
    }
}
