//! Encodes queued mail for sending. Every attempt with the same sender sends the same bytes.

use std::time::{Duration, UNIX_EPOCH};

use entity::mails;
use lettre::Address;
use lettre::address::Envelope;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart, SinglePart};

use super::SendFailure;
use foundation::id::MailId;

/// Returns whether mail can be sent to this email address.
pub fn is_recipient(address: &str) -> bool {
    address.parse::<Address>().is_ok()
}

/// A mail that is encoded for sending, with its text and HTML parts.
#[derive(Debug)]
pub(super) struct EncodedMail {
    /// The id of the queued mail.
    pub(super) id: MailId,
    /// Sender and recipient.
    pub(super) envelope: Envelope,
    /// Headers and body in ASCII, with CRLF line endings.
    pub(super) bytes: Vec<u8>,
}

impl EncodedMail {
    /// Encodes a queued mail. `Message-ID`, `Date` and the multipart boundary depend only on its row and the domain of
    /// `from`, so recipients can recognize repeated sends.
    ///
    /// # Errors
    /// Returns a permanent failure when the recipient is not an email address or the mail cannot be encoded.
    pub(super) fn encode(from: &Mailbox, mail: &mails::Model) -> Result<Self, SendFailure> {
        let id = MailId::from_uuid(mail.id);
        let unsendable =
            |detail: String| SendFailure { permanent: true, class: "unsendable".to_owned(), detail };
        let recipient = mail
            .recipient
            .parse()
            .map_err(|_| unsendable("the recipient is not an email address".to_owned()))?;
        let created_at = Duration::from_millis(mail.created_at.try_into().unwrap_or(0));
        // Prevents automatic replies (RFC 3834).
        let automatic =
            HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned());
        let parts = MultiPart::alternative()
            .boundary(id.to_string())
            .singlepart(SinglePart::plain(mail.text_body.clone()))
            .singlepart(SinglePart::html(mail.html_body.clone()));
        let message = Message::builder()
            .message_id(Some(format!("<{id}@{}>", from.email.domain())))
            .date(UNIX_EPOCH + created_at)
            .from(from.clone())
            .to(Mailbox::new(None, recipient))
            .subject(&mail.subject)
            .raw_header(automatic)
            .multipart(parts)
            .map_err(|error| unsendable(error.to_string()))?;
        Ok(Self { id, envelope: message.envelope().clone(), bytes: message.formatted() })
    }
}
