//! All messages that the server sends, rendered as plain text and as HTML.

mod keys;

use std::borrow::Cow;

use jiff::Timestamp;
use url::Url;

use foundation::id::SubscriptionId;
pub use keys::KeyItem;

/// Maximum number of characters of a line, except in lines with a single long word, a link or a command.
const COLUMNS: usize = 72;
/// Maximum number of characters of an error in a message.
const MAX_ERROR_CHARACTERS: usize = 300;

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
    /// Sends a link to set a password to a person who requested it.
    ResetPassword {
        /// The link, which works once.
        url: String,
    },
    /// Notifies a user who needs no link to set a password that they have access to a workspace.
    AccessGranted {
        /// The workspace's name.
        workspace: String,
        /// The name of the provider with which the user signs in; `None` if they sign in with their existing password.
        provider: Option<String>,
        /// The sign-in page.
        url: String,
    },
    /// Notifies a person of an event of their account.
    AccountEvent {
        /// What happened.
        event: AccountEvent,
        /// Who did it, such as the email address of the person.
        by: String,
        /// The IP address of that person, if it is known.
        address: Option<String>,
        /// When it happened.
        at: Timestamp,
        /// The page to request a link to set a password; `None` if its URL is not known, or passwords are switched off.
        url: Option<String>,
    },
    /// Warns the owner that all attempts of a subscription have failed for some days and that the subscription
    /// will be disabled.
    WebhookFailing {
        /// The workspace's name.
        workspace: String,
        /// The subscription.
        subscription: SubscriptionId,
        /// The endpoint.
        url: String,
        /// When the first of the failed attempts ended.
        failing_since: Timestamp,
        /// When the subscription will be disabled.
        disables_at: Timestamp,
        /// Why the last attempt failed.
        last_error: String,
    },
    /// Notifies the owner that a subscription was disabled because all attempts failed for too long.
    WebhookDisabled {
        /// The workspace's name.
        workspace: String,
        /// The subscription.
        subscription: SubscriptionId,
        /// The endpoint.
        url: String,
        /// The dashboard page of the subscription, if the server's URL is known.
        page: Option<String>,
        /// When the first of the failed attempts ended.
        failing_since: Timestamp,
        /// Why the last attempt failed.
        last_error: String,
    },
    /// Notifies the owner that a subscription succeeds again after an outage in which deliveries died.
    WebhookRecovered {
        /// The workspace's name.
        workspace: String,
        /// The subscription.
        subscription: SubscriptionId,
        /// The endpoint.
        url: String,
        /// The dashboard page of the subscription, if the server's URL is known.
        page: Option<String>,
        /// When the first of the failed attempts ended.
        failing_since: Timestamp,
    },
    /// Notifies the owner that integrations of a workspace use what is deprecated.
    Deprecated {
        /// The workspace's name.
        workspace: String,
        /// What they use.
        items: Vec<DeprecatedItem>,
        /// The number of days until the first sunset, if the mail is a reminder.
        days_left: Option<i32>,
        /// The changelog of the API, if the server's URL is known.
        page: Option<String>,
    },
    /// Notifies the owner that API keys of a workspace expire soon.
    KeysExpire {
        /// The workspace's name.
        workspace: String,
        /// The keys, with the times at which they expire.
        keys: Vec<KeyItem>,
        /// The dashboard page of the keys, if the server's URL is known.
        page: Option<String>,
    },
    /// Notifies the owner that API keys of a workspace are not used.
    KeysUnused {
        /// The workspace's name.
        workspace: String,
        /// The keys, with the times at which they were last used.
        keys: Vec<KeyItem>,
        /// The dashboard page of the keys, if the server's URL is known.
        page: Option<String>,
    },
    /// Notifies an owner that a program rotated the secret of an API key.
    KeyRotated {
        /// The workspace's name.
        workspace: String,
        /// The key with its new secret, and when the old one expires; `None` if it expired at once.
        key: KeyItem,
        /// The IP address of the program.
        address: String,
        /// When the secret was rotated.
        at: Timestamp,
        /// The dashboard page of the keys, if the server's URL is known.
        page: Option<String>,
    },
}

/// Something deprecated that a workspace uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeprecatedItem {
    /// What it is, until when it works, and what to use instead, as sentences.
    pub text: String,
    /// The names of the API keys that use it.
    pub keys: String,
    /// When it was last used.
    pub last_used: Timestamp,
}

/// An event that a person is notified of, since it can be the work of somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountEvent {
    /// The password was replaced.
    PasswordChanged,
    /// A second factor was set up.
    SecondFactorSetUp,
    /// The second factor was removed.
    SecondFactorRemoved,
    /// New recovery codes replaced the earlier ones.
    RecoveryCodesCreated,
    /// A recovery code was used.
    RecoveryCodeUsed {
        /// Number of unused recovery codes.
        left: u64,
    },
    /// Several wrong codes of the second factor were entered.
    WrongCodes,
    /// An account at the provider for single sign-on was linked.
    ProviderLinked,
    /// The account for single sign-on was unlinked.
    ProviderUnlinked,
}

impl AccountEvent {
    /// Returns the subject line, and what it means.
    fn texts(self) -> (&'static str, Cow<'static, str>) {
        match self {
            Self::PasswordChanged => (
                "Your dashboard password was changed",
                "The password of your dashboard account was changed, and all of your sessions have ended.".into(),
            ),
            Self::SecondFactorSetUp => (
                "A second factor was set up for your dashboard account",
                "A second factor was set up for your dashboard account. From now on, your password signs you in only with a \
                 code of the authenticator app."
                    .into(),
            ),
            Self::SecondFactorRemoved => (
                "The second factor of your dashboard account was removed",
                "The second factor of your dashboard account was removed. From now on, your password alone signs you in.".into(),
            ),
            Self::RecoveryCodesCreated => (
                "New recovery codes for your dashboard account",
                "New recovery codes were created for your dashboard account. Earlier ones are no longer valid.".into(),
            ),
            Self::RecoveryCodeUsed { left } => (
                "A recovery code of your dashboard account was used",
                format!(
                    "A recovery code was used instead of a code of your authenticator app. You have {left} unused recovery \
                     codes. You can create new ones in Settings, Second factor."
                )
                .into(),
            ),
            Self::WrongCodes => (
                "Sign-in attempts with wrong codes at your dashboard account",
                "Somebody entered five wrong codes of your second factor within a day. Entering a code requires your password, a sign-in \
                 link of your platform, or one of your sessions. If it was not you, set another password, which also ends your sessions."
                    .into(),
            ),
            Self::ProviderLinked => (
                "Single sign-on was set up for your dashboard account",
                "An account for single sign-on was linked to your dashboard account. From now on, it signs you in.".into(),
            ),
            Self::ProviderUnlinked => (
                "Single sign-on was removed from your dashboard account",
                "The account for single sign-on was unlinked from your dashboard account, and all of your sessions have ended."
                    .into(),
            ),
        }
    }
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
    /// A list of names with their values, each on its own lines.
    Fields(&'a [(&'static str, &'a str)]),
    /// A URL on its own line.
    Link(&'a str),
    /// A shell command on its own line.
    Command(&'a str),
}

use MessageBlock::{Command, Fields, Link, Paragraph};

impl Message {
    /// The kinds of the messages that invite users: [`SetPassword`](Self::SetPassword) and
    /// [`AccessGranted`](Self::AccessGranted).
    pub const INVITATIONS: &[&str] = &["set_password", "access_given"];

    /// Returns the kind of the message, as stored and logged.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::SetPassword { .. } => "set_password",
            Self::ResetPassword { .. } => "password_reset",
            Self::AccessGranted { .. } => "access_given",
            Self::AccountEvent { .. } => "account_event",
            Self::WebhookFailing { .. } => "webhook_failing",
            Self::WebhookDisabled { .. } => "webhook_disabled",
            Self::WebhookRecovered { .. } => "webhook_recovered",
            Self::Deprecated { .. } => "deprecated",
            Self::KeysExpire { .. } => "keys_expire",
            Self::KeysUnused { .. } => "keys_unused",
            Self::KeyRotated { .. } => "key_rotated",
        }
    }

    /// Renders the subject, the plain text and the HTML.
    pub fn render(&self) -> RenderedMessage {
        match self {
            Self::SetPassword { workspace, url, hours } => render_set_password(workspace, url, *hours),
            Self::ResetPassword { url } => {
                let intro = "A link to set your dashboard password was requested on the sign-in page. It works once and \
                     expires in an hour:";
                let note = "Setting a password signs out all of your sessions. If you did not request this email, you can \
                     ignore it: your password stays the same.";
                let subject = "Reset your dashboard password".to_owned();
                render_message(subject, &[Paragraph(intro.into()), Link(url), Paragraph(note.into())])
            }
            Self::AccessGranted { workspace, provider, url } => {
                render_access_granted(workspace, provider.as_deref(), url)
            }
            Self::AccountEvent { event, by, address, at, url } => {
                render_account_event(*event, by, address.as_deref(), *at, url.as_deref())
            }
            Self::WebhookFailing { workspace, subscription, url, failing_since, disables_at, last_error } => {
                let intro = format!(
                    "All attempts to deliver events to a webhook endpoint of the {} workspace have failed since {}. \
                     If no attempt succeeds by {}, the webhook will be disabled.",
                    single_line(workspace),
                    format_time(*failing_since),
                    format_time(*disables_at)
                );
                let (id, error) = (subscription.to_string(), truncate_error(last_error));
                let fields = subscription_fields(&id, url, &error);
                let remedy = "Pending deliveries are retried automatically. To keep the webhook enabled, make sure \
                              that the endpoint responds with a status from 200 to 299. The dashboard shows the \
                              response to each attempt.";
                let subject = format!("Webhook endpoint on {} is failing", host(url));
                render_message(subject, &[Paragraph(intro.into()), Fields(&fields), Paragraph(remedy.into())])
            }
            Self::WebhookDisabled { workspace, subscription, url, page, failing_since, last_error } => {
                let intro = format!(
                    "A webhook of the {} workspace was disabled because all attempts to deliver events to it have \
                     failed since {}. Deliveries are held until you enable the webhook.",
                    single_line(workspace),
                    format_time(*failing_since)
                );
                let (id, error) = (subscription.to_string(), truncate_error(last_error));
                let fields = subscription_fields(&id, url, &error);
                let command = format!("creator-api webhooks enable {id}");
                let (remedy, action) = match page {
                    Some(page) => (
                        "After you fix the endpoint, enable the webhook and choose whether to send or drop the held \
                         deliveries:",
                        Link(page),
                    ),
                    None => (
                        "After you fix the endpoint, enable the webhook in the dashboard, or ask the operator of this \
                         server to run the command below. The command sends the held deliveries; with --held drop, it \
                         drops them.",
                        Command(&command),
                    ),
                };
                let subject = format!("Webhook endpoint on {} was disabled", host(url));
                render_message(
                    subject,
                    &[Paragraph(intro.into()), Fields(&fields), Paragraph(remedy.into()), action],
                )
            }
            Self::WebhookRecovered { workspace, subscription, url, page, failing_since } => {
                render_recovered(workspace, *subscription, url, page.as_deref(), *failing_since)
            }
            Self::Deprecated { workspace, items, days_left, page } => {
                render_deprecated(workspace, items, *days_left, page.as_deref())
            }
            Self::KeysExpire { workspace, keys, page } => keys::expire(workspace, keys, page.as_deref()),
            Self::KeysUnused { workspace, keys, page } => keys::unused(workspace, keys, page.as_deref()),
            Self::KeyRotated { workspace, key, address, at, page } => {
                keys::rotated(workspace, key, address, *at, page.as_deref())
            }
        }
    }
}

/// Renders [`Message::SetPassword`].
fn render_set_password(workspace: &str, url: &str, hours: i64) -> RenderedMessage {
    let intro = format!(
        "Set a password to sign in to the dashboard of the {} workspace. This link works once and expires in {hours} hours:",
        single_line(workspace)
    );
    let note = "If you did not expect this email, you can ignore it.";
    let subject = "Set your dashboard password".to_owned();
    render_message(subject, &[Paragraph(intro.into()), Link(url), Paragraph(note.into())])
}

/// Renders [`Message::Deprecated`].
fn render_deprecated(
    workspace: &str,
    items: &[DeprecatedItem],
    days_left: Option<i32>,
    page: Option<&str>,
) -> RenderedMessage {
    let intro = format!(
        "Integrations of the {} workspace use deprecated parts of the API. Please ask the people who maintain the integrations \
         to replace these parts.",
        single_line(workspace)
    );
    let times: Vec<String> = items.iter().map(|item| format_time(item.last_used)).collect();
    let fields: Vec<[(&str, &str); 2]> = items
        .iter()
        .zip(&times)
        .map(|(item, time)| [("API keys", &*item.keys), ("Last used", &**time)])
        .collect();
    let mut blocks = vec![Paragraph(intro.into())];
    for (item, fields) in items.iter().zip(&fields) {
        blocks.extend([Paragraph((&*item.text).into()), Fields(fields)]);
    }
    let advice = match page {
        Some(_) => "The overview of the dashboard shows the last requests. All changes of the API:",
        None => "The overview of the dashboard shows the last requests.",
    };
    blocks.push(Paragraph(advice.into()));
    blocks.extend(page.map(Link));
    let subject = match days_left {
        None => "Your integrations use deprecated parts of the API".to_owned(),
        Some(1) => "Your integrations can stop working in 1 day".to_owned(),
        Some(days) => format!("Your integrations can stop working in {days} days"),
    };
    render_message(subject, &blocks)
}

/// Renders [`Message::AccessGranted`].
fn render_access_granted(workspace: &str, provider: Option<&str>, url: &str) -> RenderedMessage {
    let intro = format!(
        "You now have access to the dashboard of the {} workspace. Sign in with {}:",
        single_line(workspace),
        provider.unwrap_or("your existing password")
    );
    let note = "If you did not expect this email, you can leave the workspace under Settings, Members.";
    let subject = match provider {
        Some(_) => "You have access to a workspace".to_owned(),
        None => "You have access to another workspace".to_owned(),
    };
    render_message(subject, &[Paragraph(intro.into()), Link(url), Paragraph(note.into())])
}

/// Renders [`Message::AccountEvent`].
fn render_account_event(
    event: AccountEvent,
    by: &str,
    address: Option<&str>,
    at: Timestamp,
    url: Option<&str>,
) -> RenderedMessage {
    let (subject, intro) = event.texts();
    let time = format_time(at);
    let mut fields = vec![("Time", &*time), ("By", by)];
    fields.extend(address.map(|address| ("IP address", address)));
    let ask = "If you did not expect this, tell the operator of this server";
    let advice = match url {
        Some(_) => format!("{ask}, and set a new password:"),
        None => format!("{ask}."),
    };
    let mut blocks = vec![Paragraph(intro), Fields(&fields), Paragraph(advice.into())];
    blocks.extend(url.map(Link));
    render_message(subject.to_owned(), &blocks)
}

/// Renders [`Message::WebhookRecovered`].
fn render_recovered(
    workspace: &str,
    subscription: SubscriptionId,
    url: &str,
    page: Option<&str>,
    failing_since: Timestamp,
) -> RenderedMessage {
    let intro = format!(
        "A webhook endpoint of the {} workspace accepts events again. Attempts had failed since {}. Deliveries that failed \
         permanently since then are not sent automatically.",
        single_line(workspace),
        format_time(failing_since)
    );
    let id = subscription.to_string();
    let fields = [("Webhook ID", &*id), ("Endpoint", url)];
    let command = format!("creator-api webhooks replay --all --subscription {id}");
    let (remedy, action) = match page {
        Some(page) => ("You can replay them on the page of the webhook:", Link(page)),
        None => (
            "You can replay them on the page of the webhook in the dashboard, or ask the operator of this server to run the \
             command below.",
            Command(&command),
        ),
    };
    let subject = format!("Webhook endpoint on {} has recovered", host(url));
    render_message(subject, &[Paragraph(intro.into()), Fields(&fields), Paragraph(remedy.into()), action])
}

/// Returns the values that both webhook messages contain, with their names.
fn subscription_fields<'a>(id: &'a str, url: &'a str, error: &'a str) -> [(&'static str, &'a str); 3] {
    [("Webhook ID", id), ("Endpoint", url), ("Last error", error)]
}

/// Renders a message from its blocks, after a greeting.
fn render_message(subject: String, blocks: &[MessageBlock<'_>]) -> RenderedMessage {
    let text = blocks.iter().fold("Hello,\n".to_owned(), |text, block| text + "\n" + &as_text(block));
    let body = blocks.iter().fold("<p>Hello,</p>\n".to_owned(), |html, block| html + &as_html(block));
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title></head>\n\
         <body style=\"font-family: sans-serif; max-width: 40em\">\n{body}</body>\n</html>\n",
        escape_html(&subject)
    );
    RenderedMessage { subject, text, html }
}

fn as_text(block: &MessageBlock<'_>) -> String {
    match block {
        Paragraph(text) => wrap(text, ""),
        Fields(fields) => fields
            .iter()
            .map(|(name, value)| wrap(&format!("{name}: {}", single_line(value)), "    "))
            .collect(),
        Link(text) | Command(text) => format!("    {text}\n"),
    }
}

fn as_html(block: &MessageBlock<'_>) -> String {
    match block {
        Paragraph(text) => wrap(&format!("<p>{}</p>", escape_html(text)), ""),
        Fields(fields) => {
            let field = |(name, value): &(&str, &str)| {
                wrap(
                    &format!("<dt>{name}</dt> <dd><code>{}</code></dd>", escape_html(&single_line(value))),
                    "",
                )
            };
            format!("<dl>\n{}</dl>\n", fields.iter().map(field).collect::<String>())
        }
        Command(command) => format!("<pre>{}</pre>\n", escape_html(command)),
        Link(link) => {
            let link = escape_html(link);
            format!("<p><a href=\"{link}\">{link}</a></p>\n")
        }
    }
}

/// Wraps a text into lines of at most [`COLUMNS`] characters and indents all lines except the first. Does not break
/// long words.
fn wrap(text: &str, indent: &str) -> String {
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
fn single_line(text: &str) -> String {
    text.split(|character: char| character.is_control() || character.is_whitespace())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn truncate_error(error: &str) -> String {
    error.chars().take(MAX_ERROR_CHARACTERS).collect()
}

/// Escapes a text for HTML, including attribute values.
fn escape_html(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(character),
        }
    }
    html
}

fn format_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Returns the host of a URL for a subject line, or "your server" if the URL has no host.
fn host(url: &str) -> String {
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(single_line));
    host.unwrap_or_else(|| "your server".to_owned())
}

#[cfg(test)]
mod tests;
