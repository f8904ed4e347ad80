//! Messages about API keys that expire soon, are not used, or were rotated by a program.

use jiff::Timestamp;

use super::MessageBlock::{Fields, Link, Paragraph};
use super::{RenderedMessage, format_time, render_message, single_line};

/// An API key that a mail is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyItem {
    /// The name of the key.
    pub name: String,
    /// The first and last characters of the secret.
    pub secret: String,
    /// When it expires, was last used, or its old secret expires; `None` if it does not or was not, or the old secret has expired.
    pub at: Option<Timestamp>,
}

/// Renders [`Message::KeysExpire`](super::Message::KeysExpire).
pub(super) fn expire(workspace: &str, keys: &[KeyItem], page: Option<&str>) -> RenderedMessage {
    let intro = format!(
        "API keys of the {} workspace expire soon. Requests with an expired key are rejected. Create new keys in the dashboard, \
         and replace the old ones before the dates below.",
        single_line(workspace)
    );
    render("Your API keys expire soon", &intro, "Expires", keys, page)
}

/// Renders [`Message::KeysUnused`](super::Message::KeysUnused).
pub(super) fn unused(workspace: &str, keys: &[KeyItem], page: Option<&str>) -> RenderedMessage {
    let intro = format!(
        "These API keys of the {} workspace were not used for 60 days. Please revoke keys that nobody needs, so that nobody else \
         can use them.",
        single_line(workspace)
    );
    render("Some of your API keys are not used", &intro, "Last used", keys, page)
}

/// Renders [`Message::KeyRotated`](super::Message::KeyRotated).
pub(super) fn rotated(
    workspace: &str,
    key: &KeyItem,
    address: &str,
    at: Timestamp,
    page: Option<&str>,
) -> RenderedMessage {
    let intro = format!(
        "A program that uses an API key of the {} workspace rotated the secret of this key. All programs that use the key need the \
         new secret before the old one ends.",
        single_line(workspace)
    );
    let (time, end) = (format_time(at), key.at.map_or_else(|| "immediately".to_owned(), format_time));
    let fields = [
        ("API key", &*key.name),
        ("New secret", &*key.secret),
        ("Old secret ends", &*end),
        ("Rotated", &*time),
        ("IP address", address),
    ];
    let advice = "If you did not expect this, somebody else may know the key. In this case, revoke the key, which ends both secrets";
    let advice = if page.is_some() { format!("{advice}:") } else { format!("{advice}.") };
    let mut blocks = vec![Paragraph(intro.into()), Fields(&fields), Paragraph(advice.into())];
    blocks.extend(page.map(Link));
    render_message("The secret of an API key was rotated".to_owned(), &blocks)
}

/// Renders a list of keys. `label` says what their times are.
fn render(
    subject: &str,
    intro: &str,
    label: &'static str,
    keys: &[KeyItem],
    page: Option<&str>,
) -> RenderedMessage {
    let times: Vec<String> =
        keys.iter().map(|key| key.at.map_or_else(|| "never".to_owned(), format_time)).collect();
    let fields: Vec<[(&'static str, &str); 3]> = keys
        .iter()
        .zip(&times)
        .map(|(key, time)| [("API key", &*key.name), ("Secret", &*key.secret), (label, &**time)])
        .collect();
    let mut blocks = vec![Paragraph(intro.into())];
    blocks.extend(fields.iter().map(|fields| Fields(fields)));
    blocks.extend(page.map(Link));
    render_message(subject.to_owned(), &blocks)
}
