//! Sends mail through SMTP or to files, and classifies failures.

mod encoding;
mod files;
mod smtp;

use std::path::Path;
use std::time::Duration;

use entity::mails;
use lettre::message::Mailbox;

use encoding::EncodedMail;
pub use encoding::is_recipient;
use files::FileTransport;
use foundation::config;
pub use smtp::Smtp;

/// Maximum time to send one mail, from the DNS lookup until the mail server has accepted the mail.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// A mail transport and the sender address of its mail.
#[derive(Debug)]
pub struct Transport {
    from: Mailbox,
    kind: TransportKind,
}

#[derive(Debug)]
enum TransportKind {
    /// Sends to a mail server.
    Smtp(Box<Smtp>),
    /// Writes to files in the data folder.
    Files(FileTransport),
}

/// Why a transport cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum TransportConfigError {
    /// The TLS configuration for the mail server is not valid.
    #[error("cannot set up TLS for the mail server: {0}; correct --smtp-url")]
    Tls(#[from] lettre::transport::smtp::Error),
}

/// Why one mail was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendFailure {
    /// Whether further attempts cannot succeed. The mail is then not retried.
    pub permanent: bool,
    /// A short description that can be logged, such as `mail 550` (the reply 550 to `MAIL` or another SMTP command that
    /// sends the mail), `tls` or `timeout`.
    pub class: String,
    /// The full error, which can contain email addresses. Stored with the mail, never logged.
    pub detail: String,
}

impl Transport {
    /// Creates the transport of a configuration: SMTP if a mail server is configured, otherwise files in the folder
    /// `mail` of the data folder.
    ///
    /// # Errors
    /// Returns an error when the TLS configuration is not valid.
    pub fn open(mail: &config::MailConfig, data_dir: &Path) -> Result<Self, TransportConfigError> {
        match &mail.smtp_url {
            Some(url) => Ok(Self::smtp(mail.mail_from.clone(), Smtp::new(url, &mail.mail_from, None)?)),
            None => Ok(Self::files(mail.mail_from.clone(), data_dir)),
        }
    }

    /// Creates a transport that sends to a mail server.
    pub fn smtp(from: Mailbox, smtp: Smtp) -> Self {
        Self { from, kind: TransportKind::Smtp(Box::new(smtp)) }
    }

    /// Creates a transport that writes each mail to a file with mode 0600 in the folder `mail` of the data folder.
    pub fn files(from: Mailbox, data_dir: &Path) -> Self {
        Self { from, kind: TransportKind::Files(FileTransport::new(data_dir)) }
    }

    /// Sends a mail. Returns once the mail server has accepted it, or once its file is on disk.
    ///
    /// # Errors
    /// Returns the reason when the mail was not accepted. After a lost connection or a timeout, the mail server may still have
    /// accepted it.
    pub async fn send(&self, mail: &mails::Model) -> Result<(), SendFailure> {
        let mail = EncodedMail::encode(&self.from, mail)?;
        match &self.kind {
            TransportKind::Smtp(smtp) => smtp.send(&mail).await,
            TransportKind::Files(files) => files.write(mail).await,
        }
    }
}
