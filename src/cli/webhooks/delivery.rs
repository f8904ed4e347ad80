//! Prints one delivery with the request and the response of each attempt, as the dashboard shows them.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::super::outcome::CommandError;
use super::super::output;
use super::deliveries::{attempt_outcome, to_json};
use domain::Error;
use domain::app::App;
use domain::webhooks::{self, AttemptMessages, DeliveryDetail};
use foundation::id::DeliveryId;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DeliveryArgs {
    /// Id of the delivery
    #[arg(value_name = "DELIVERY")]
    delivery: DeliveryId,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn show(app: &App, args: &DeliveryArgs) -> Result<(), CommandError> {
    let workspace = match webhooks::workspace_of(app, args.delivery).await {
        Err(Error::NotFound(_)) => {
            return Err(CommandError::new(format!(
                "delivery {} not found; `creator-api webhooks deliveries SUBSCRIPTION` lists the deliveries of a subscription",
                args.delivery
            )));
        }
        result => result?,
    };
    let detail = webhooks::delivery_detail(app, workspace, args.delivery).await?;
    if args.json {
        return output::print(output::json_text(&detail_json(&detail)));
    }
    let subscription = webhooks::get(app, workspace, detail.delivery.subscription).await?;
    if detail.delivery.waits_for_rate(&subscription, app.clock.now()) {
        output::eprint("the delivery waits because of the rate of its subscription");
    }
    output::print(detail_text(&detail).trim_end())
}

fn detail_json(detail: &DeliveryDetail) -> Value {
    let mut delivery = to_json(&detail.delivery);
    delivery["body"] = text(&detail.body).into();
    delivery["original_id"] = detail.original.map(|id| id.to_string()).into();
    delivery["replay_ids"] = detail.replays.iter().map(ToString::to_string).collect();
    for (attempt, messages) in delivery["attempts"].as_array_mut().into_iter().flatten().zip(&detail.messages)
    {
        let response = |response: &webhooks::AttemptResponse| json!({"headers": response.headers, "body": text(&response.body)});
        attempt["request_headers"] = json!(messages.request_headers);
        attempt["response"] = messages.response.as_ref().map(response).into();
    }
    delivery
}

fn detail_text(detail: &DeliveryDetail) -> String {
    let delivery = &detail.delivery;
    let mut text = format!(
        "delivery      {}\nstate         {}\nsubscription  {}\nevent         {} {}\norigin        {}\ncreated       {}\n",
        delivery.id,
        delivery.state,
        delivery.subscription,
        delivery.event,
        delivery.event_type,
        delivery.origin,
        output::format_time(delivery.created_at)
    );
    if let Some(at) = delivery.next_attempt_at {
        let _ = writeln!(text, "next attempt  {}", output::format_time(at));
    }
    if let Some(original) = detail.original {
        let _ = writeln!(text, "replay of     {original}");
    }
    for replay in &detail.replays {
        let _ = writeln!(text, "replayed as   {replay}");
    }
    let _ = write!(text, "\nrequest body\n{}", body_lines(&detail.body));
    for (number, (attempt, messages)) in delivery.attempts.iter().zip(&detail.messages).enumerate() {
        let duration_ms = attempt.ended_at.as_millisecond() - attempt.started_at.as_millisecond();
        let _ = write!(
            text,
            "\nattempt {}: {}, started {}, {duration_ms} ms\n{}",
            number + 1,
            attempt_outcome(attempt),
            output::format_time(attempt.started_at),
            message_lines(messages)
        );
    }
    text
}

/// Returns the request headers and the response of an attempt.
fn message_lines(messages: &AttemptMessages) -> String {
    let mut lines = format!("  request headers\n{}", header_lines(&messages.request_headers));
    match &messages.response {
        None => lines.push_str("  no response\n"),
        Some(response) => {
            let _ = write!(
                lines,
                "  response headers\n{}  response body (at most the first 16 KiB)\n{}",
                header_lines(&response.headers),
                body_lines(&response.body)
            );
        }
    }
    lines
}

fn header_lines(headers: &BTreeMap<String, String>) -> String {
    headers.iter().map(|(name, value)| format!("    {name}: {}\n", output::plain_text(value))).collect()
}

fn body_lines(body: &[u8]) -> String {
    text(body).lines().map(|line| format!("    {}\n", output::plain_text(line))).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_cannot_control_the_terminal() {
        let body = "\u{1b}[2Jgone\r\n\u{9b}31mtab\tbell\u{7}".as_bytes();
        assert_eq!(body_lines(body), "    \\u{1b}[2Jgone\n    \\u{9b}31mtab\tbell\\u{7}\n");
    }
}
