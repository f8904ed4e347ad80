//! The texts of all mail, each as plain text and as HTML made from the same paragraphs.
//!
//! Owns every word that people get by mail. Never knows to whom it goes or how.

use std::borrow::Cow;

use jiff::Timestamp;
use url::Url;

use foundation::id::SubscriptionId;

/// Columns that a line of text has at most, unless one word is longer.
const COLUMNS: usize = 72;
/// Characters of an error that are shown.
const ERROR_CHARACTERS: usize = 300;

/// A message to somebody who runs a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A link to set a password for the dashboard.
    SetPassword {
        /// The workspace's name.
        workspace: String,
        /// The link, which opens once.
        link: String,
        /// For how long.
        hours: i64,
    },
    /// Access to another workspace's dashboard, for somebody who has a password already.
    AccessGiven {
        /// The workspace's name.
        workspace: String,
        /// The page to sign in on.
        page: String,
    },
    /// Every delivery to a webhook has failed for some days; it will be disabled if that goes on.
    WebhookFailing {
        /// The workspace's name.
        workspace: String,
        /// The webhook.
        subscription: SubscriptionId,
        /// Its address.
        url: String,
        /// When the first of the failed deliveries was.
        since: Timestamp,
        /// When it will be disabled.
        disables_at: Timestamp,
        /// Why the last delivery failed.
        last_error: String,
    },
    /// A webhook was disabled, since every delivery had failed for too long.
    WebhookDisabled {
        /// The workspace's name.
        workspace: String,
        /// The webhook.
        subscription: SubscriptionId,
        /// Its address.
        url: String,
        /// The page of the dashboard that enables it, where its address is known.
        page: Option<String>,
        /// When the first of the failed deliveries was.
        failed_since: Timestamp,
        /// Why the last delivery failed.
        last_error: String,
    },
}

/// A message as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The subject line.
    pub subject: String,
    /// The part in plain text, lines wrapped.
    pub text: String,
    /// The part in HTML, lines wrapped, everything that came from outside escaped.
    pub html: String,
}

/// A piece of a message.
enum Part<'a> {
    /// Sentences.
    Paragraph(Cow<'a, str>),
    /// Names and values, one pair a line.
    Facts(&'a [(&'static str, &'a str)]),
    /// An address, on a line of its own.
    Link(&'a str),
    /// What somebody types on the server.
    Command(&'a str),
}

use Part::{Command, Facts, Link, Paragraph};

impl Message {
    /// The kinds by which people are given access.
    pub const INVITATIONS: &[&str] = &["set_password", "access_given"];

    /// Which message it is, in one word.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::SetPassword { .. } => "set_password",
            Self::AccessGiven { .. } => "access_given",
            Self::WebhookFailing { .. } => "webhook_failing",
            Self::WebhookDisabled { .. } => "webhook_disabled",
        }
    }

    /// The subject and both parts.
    pub fn render(&self) -> Rendered {
        match self {
            Self::SetPassword { workspace, link, hours } => {
                let about = format!(
                    "You can sign in to the dashboard of the workspace {}, once you have set a password. This link opens once, \
                     within {hours} hours:",
                    plain(workspace)
                );
                let remedy =
                    "If you did not expect this, leave it: nothing happens until the link is opened.";
                let subject = "Set your password for the dashboard".to_owned();
                rendered(subject, &[Paragraph(about.into()), Link(link), Paragraph(remedy.into())])
            }
            Self::AccessGiven { workspace, page } => {
                let about = format!(
                    "You have been given access to the dashboard of the workspace {}. Sign in with the password that you already \
                     have for this address:",
                    plain(workspace)
                );
                let remedy = "If you did not expect this, you can leave the workspace on its People page, under Settings.";
                let subject = "You have access to another workspace".to_owned();
                rendered(subject, &[Paragraph(about.into()), Link(page), Paragraph(remedy.into())])
            }
            Self::WebhookFailing { workspace, subscription, url, since, disables_at, last_error } => {
                let about = format!(
                    "Every delivery to a webhook of the workspace {} has failed since {}. If none succeeds until {}, the webhook \
                     will be disabled.",
                    plain(workspace),
                    time(*since),
                    time(*disables_at)
                );
                let (id, error) = (subscription.to_string(), shortened(last_error));
                let facts = facts(&id, url, &error);
                let remedy = "Failed deliveries are tried again on their schedule. Once the address answers with a \
                              status of 200 to 299, this warning is void and nothing needs to be done here.";
                let subject = format!("Webhook to {} is failing", host(url));
                rendered(subject, &[Paragraph(about.into()), Facts(&facts), Paragraph(remedy.into())])
            }
            Self::WebhookDisabled { workspace, subscription, url, page, failed_since, last_error } => {
                let about = format!(
                    "A webhook of the workspace {} was disabled: every delivery to it has failed since {}. Nothing is sent to it \
                     any more; events that happen from now on are kept for it.",
                    plain(workspace),
                    time(*failed_since)
                );
                let (id, error) = (subscription.to_string(), shortened(last_error));
                let facts = facts(&id, url, &error);
                let place = if page.is_some() {
                    "on its page of the dashboard"
                } else {
                    "on the dashboard or by a command"
                };
                let remedy = format!(
                    "Once the address answers again, enable the webhook {place}. You then choose whether the events that were \
                     kept are sent or dropped:"
                );
                let command = format!("creator-api webhooks enable {id}");
                let way = page.as_ref().map_or(Command(&command), |page| Link(page));
                let subject = format!("Webhook to {} was disabled", host(url));
                rendered(subject, &[Paragraph(about.into()), Facts(&facts), Paragraph(remedy.into()), way])
            }
        }
    }
}

/// What both messages tell of their webhook.
fn facts<'a>(id: &'a str, url: &'a str, error: &'a str) -> [(&'static str, &'a str); 3] {
    [("Webhook", id), ("Address", url), ("Last error", error)]
}

fn rendered(subject: String, parts: &[Part<'_>]) -> Rendered {
    let text = parts.iter().fold("Hello,\n".to_owned(), |text, part| text + "\n" + &as_text(part));
    let body = parts.iter().fold("<p>Hello,</p>\n".to_owned(), |html, part| html + &as_html(part));
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title></head>\n\
         <body style=\"font-family: sans-serif; max-width: 40em\">\n{body}</body>\n</html>\n",
        escaped(&subject)
    );
    Rendered { subject, text, html }
}

fn as_text(part: &Part<'_>) -> String {
    match part {
        Paragraph(sentences) => wrapped(sentences, ""),
        Facts(facts) => {
            facts.iter().map(|(name, value)| wrapped(&format!("{name}: {}", plain(value)), "    ")).collect()
        }
        Link(text) | Command(text) => format!("    {text}\n"),
    }
}

fn as_html(part: &Part<'_>) -> String {
    match part {
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

/// The words in lines of at most [`COLUMNS`], all but the first indented; a longer word has a line of its own.
fn wrapped(words: &str, indent: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > COLUMNS {
            text.push('\n');
            text.push_str(indent);
            column = indent.len();
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
    text
}

/// The text as one line without control characters: what comes from outside cannot pretend to be ours.
fn plain(text: &str) -> String {
    text.split(|character: char| character.is_control() || character.is_whitespace())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn shortened(error: &str) -> String {
    error.chars().take(ERROR_CHARACTERS).collect()
}

/// The text with every character replaced that means something in HTML, in attributes too.
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

/// The host of an address, for a subject line.
fn host(url: &str) -> String {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(plain));
    host.unwrap_or_else(|| "your server".to_owned())
}

#[cfg(test)]
mod tests;
