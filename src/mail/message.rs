//! Defines all messages and renders each of them as plain text and as HTML.

use std::borrow::Cow;

use jiff::Timestamp;
use url::Url;

use foundation::id::SubscriptionId;

/// Maximum number of columns of a line, unless a single word is longer.
const COLUMNS: usize = 72;
/// Maximum number of characters of an error that are shown.
const ERROR_CHARACTERS: usize = 300;

/// A message to a user of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Sends a link to set a password for the dashboard.
    SetPassword {
        /// The workspace's name.
        workspace: String,
        /// The link, which works once.
        url: String,
        /// The lifetime of the link, in hours.
        hours: i64,
    },
    /// Notifies a user who already has a password that they have access to another workspace.
    AccessGranted {
        /// The workspace's name.
        workspace: String,
        /// The sign-in page.
        url: String,
    },
    /// Warns that all deliveries of a subscription have failed for some days and that it will be disabled.
    WebhookFailing {
        /// The workspace's name.
        workspace: String,
        /// The subscription.
        subscription: SubscriptionId,
        /// The endpoint.
        url: String,
        /// When the first failed delivery was attempted.
        since: Timestamp,
        /// When the subscription will be disabled.
        disables_at: Timestamp,
        /// Why the last delivery failed.
        last_error: String,
    },
    /// Notifies the owner that a subscription was disabled because all deliveries failed for too long.
    WebhookDisabled {
        /// The workspace's name.
        workspace: String,
        /// The subscription.
        subscription: SubscriptionId,
        /// The endpoint.
        url: String,
        /// The dashboard page of the subscription, if the server's URL is known.
        page: Option<String>,
        /// When the first failed delivery was attempted.
        failed_since: Timestamp,
        /// Why the last delivery failed.
        last_error: String,
    },
}

/// A rendered message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedMessage {
    /// The subject line.
    pub subject: String,
    /// The plain text part, with wrapped lines.
    pub text: String,
    /// The HTML part, with wrapped lines and all external input escaped.
    pub html: String,
}

/// A block of a message.
enum MessageBlock<'a> {
    /// A paragraph of text.
    Paragraph(Cow<'a, str>),
    /// Pairs of name and value, one per line.
    Facts(&'a [(&'static str, &'a str)]),
    /// A URL on its own line.
    Link(&'a str),
    /// A shell command on its own line.
    Command(&'a str),
}

use MessageBlock::{Command, Facts, Link, Paragraph};

impl Message {
    /// The kinds of messages that invite users.
    pub const INVITATIONS: &[&str] = &["set_password", "access_given"];

    /// Returns the kind of the message, as stored and logged.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::SetPassword { .. } => "set_password",
            Self::AccessGranted { .. } => "access_given",
            Self::WebhookFailing { .. } => "webhook_failing",
            Self::WebhookDisabled { .. } => "webhook_disabled",
        }
    }

    /// Renders the subject and both parts.
    pub fn render(&self) -> RenderedMessage {
        match self {
            Self::SetPassword { workspace, url, hours } => {
                let intro = format!(
                    "Set a password to sign in to the dashboard of the {} workspace. This link works once and expires in \
                     {hours} hours:",
                    plain(workspace)
                );
                let note = "If you did not expect this email, you can ignore it.";
                let subject = "Set your dashboard password".to_owned();
                rendered(subject, &[Paragraph(intro.into()), Link(url), Paragraph(note.into())])
            }
            Self::AccessGranted { workspace, url } => {
                let intro = format!(
                    "You now have access to the dashboard of the {} workspace. Sign in with your existing password:",
                    plain(workspace)
                );
                let note =
                    "If you did not expect this email, you can leave the workspace under Settings, People.";
                let subject = "You have access to another workspace".to_owned();
                rendered(subject, &[Paragraph(intro.into()), Link(url), Paragraph(note.into())])
            }
            Self::WebhookFailing { workspace, subscription, url, since, disables_at, last_error } => {
                let intro = format!(
                    "All deliveries to a webhook endpoint of the {} workspace have failed since {}. If no delivery succeeds by \
                     {}, the subscription will be disabled.",
                    plain(workspace),
                    time(*since),
                    time(*disables_at)
                );
                let (id, error) = (subscription.to_string(), shortened(last_error));
                let facts = facts(&id, url, &error);
                let remedy = "Failed deliveries are retried automatically. To keep the subscription enabled, make sure that \
                              the endpoint responds with a status from 200 to 299.";
                let subject = format!("Webhook endpoint on {} is failing", host(url));
                rendered(subject, &[Paragraph(intro.into()), Facts(&facts), Paragraph(remedy.into())])
            }
            Self::WebhookDisabled { workspace, subscription, url, page, failed_since, last_error } => {
                let intro = format!(
                    "A webhook subscription of the {} workspace was disabled because all deliveries have failed since {}. New \
                     events are held until you enable it again.",
                    plain(workspace),
                    time(*failed_since)
                );
                let (id, error) = (subscription.to_string(), shortened(last_error));
                let facts = facts(&id, url, &error);
                let means =
                    if page.is_some() { "in the dashboard" } else { "in the dashboard or with a command" };
                let remedy = format!(
                    "After you fix the endpoint, enable the subscription {means}. You can send or drop the held deliveries:"
                );
                let command = format!("creator-api webhooks enable {id}");
                let action = page.as_ref().map_or(Command(&command), |page| Link(page));
                let subject = format!("Webhook endpoint on {} was disabled", host(url));
                rendered(subject, &[Paragraph(intro.into()), Facts(&facts), Paragraph(remedy.into()), action])
            }
        }
    }
}

/// Returns the facts about a subscription that both webhook messages contain.
fn facts<'a>(id: &'a str, url: &'a str, error: &'a str) -> [(&'static str, &'a str); 3] {
    [("Subscription", id), ("Endpoint", url), ("Last error", error)]
}

fn rendered(subject: String, blocks: &[MessageBlock<'_>]) -> RenderedMessage {
    let text = blocks.iter().fold("Hello,\n".to_owned(), |text, block| text + "\n" + &as_text(block));
    let body = blocks.iter().fold("<p>Hello,</p>\n".to_owned(), |html, block| html + &as_html(block));
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title></head>\n\
         <body style=\"font-family: sans-serif; max-width: 40em\">\n{body}</body>\n</html>\n",
        escaped(&subject)
    );
    RenderedMessage { subject, text, html }
}

fn as_text(block: &MessageBlock<'_>) -> String {
    match block {
        Paragraph(sentences) => wrapped(sentences, ""),
        Facts(facts) => {
            facts.iter().map(|(name, value)| wrapped(&format!("{name}: {}", plain(value)), "    ")).collect()
        }
        Link(text) | Command(text) => format!("    {text}\n"),
    }
}

fn as_html(block: &MessageBlock<'_>) -> String {
    match block {
        Paragraph(sentences) => wrapped(&format!("<p>{}</p>", escaped(sentences)), ""),
        Facts(facts) => {
            let fact = |(name, value): &(&str, &str)| {
                wrapped(&format!("<dt>{name}</dt> <dd><code>{}</code></dd>", escaped(&plain(value))), "")
            };
            format!("<dl>\n{}</dl>\n", facts.iter().map(fact).collect::<String>())
        }
        Command(command) => format!("<pre>{}</pre>\n", escaped(command)),
        Link(link) => {
            let link = escaped(link);
            format!("<p><a href=\"{link}\">{link}</a></p>\n")
        }
    }
}

/// Wraps a text into lines of at most [`COLUMNS`] columns and indents all lines but the first. Does not break longer words.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > COLUMNS {
            lines.push('\n');
            lines.push_str(indent);
            column = indent.len();
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += width;
    }
    lines.push('\n');
    lines
}

/// Joins a text into one line without control characters, so that external input cannot imitate other parts of the message.
fn plain(text: &str) -> String {
    text.split(|character: char| character.is_control() || character.is_whitespace())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn shortened(error: &str) -> String {
    error.chars().take(ERROR_CHARACTERS).collect()
}

/// Escapes a text for HTML, including attribute values.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

fn time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Returns the host of a URL for a subject line.
fn host(url: &str) -> String {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(plain));
    host.unwrap_or_else(|| "your server".to_owned())
}

#[cfg(test)]
mod tests;
