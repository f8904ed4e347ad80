//! A mail as it goes over the wire: the same bytes at every attempt.

use std::time::{Duration, UNIX_EPOCH};

use entity::mails;
use lettre::Address;
use lettre::address::Envelope;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart, SinglePart};

use super::transport::Failure;
use foundation::id::MailId;

/// Whether mail can be sent to this address: [`Letter::write`] takes it as a recipient.
pub fn is_recipient(address: &str) -> bool {
    address.parse::<Address>().is_ok()
}

/// A mail with both of its parts, ready to be handed over.
#[derive(Debug)]
pub(super) struct Letter {
    /// The mail's row.
    pub(super) id: MailId,
    /// Whom it is from and to.
    pub(super) envelope: Envelope,
    /// Head and body, ASCII alone, lines ending in CRLF.
    pub(super) bytes: Vec<u8>,
}

impl Letter {
    /// Writes a mail out. `Message-ID`, `Date` and the boundary come from its row, so that whoever gets it twice can
    /// tell.
    ///
    /// # Errors
    /// When its recipient is no address: it can never be sent.
    pub(super) fn write(from: &Mailbox, mail: &mails::Model) -> Result<Self, Failure> {
        let id = MailId::from_uuid(mail.id);
        let unsendable = |text: String| Failure { permanent: true, class: "unsendable".to_owned(), text };
        let recipient =
            mail.recipient.parse().map_err(|_| unsendable("the recipient is no address".to_owned()))?;
        let written = Duration::from_millis(mail.created_at.try_into().unwrap_or(0));
        // RFC 3834: nobody's holiday notice is wanted.
        let automatic =
            HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned());
        let parts = MultiPart::alternative()
            .boundary(id.to_string())
            .singlepart(SinglePart::plain(mail.text_body.clone()))
            .singlepart(SinglePart::html(mail.html_body.clone()));
        let message = Message::builder()
            .message_id(Some(format!("<{id}@{}>", from.email.domain())))
            .date(UNIX_EPOCH + written)
            .from(from.clone())
            .to(Mailbox::new(None, recipient))
            .subject(&mail.subject)
            .raw_header(automatic)
            .multipart(parts)
            .map_err(|error| unsendable(error.to_string()))?;
        Ok(Self { id, envelope: message.envelope().clone(), bytes: message.formatted() })
    }
}
