//! The two ways out, and what can go wrong on them.

use std::path::Path;
use std::time::Duration;

use entity::mails;
use lettre::message::Mailbox;

use super::files::Files;
use super::letter::Letter;
pub use super::smtp::Smtp;
use foundation::config;

/// How long one mail may take from the look-up of the server's name to its word that it has the mail.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// How mail leaves, and whom it is from.
#[derive(Debug)]
pub struct Transport {
    from: Mailbox,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// To a mail server.
    Smtp(Box<Smtp>),
    /// Into the data folder.
    Files(Files),
}

/// Why mail cannot be sent at all.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// TLS with the mail server cannot be set up.
    #[error("cannot set up TLS for the mail server: {0}; correct --smtp-url")]
    Tls(#[from] lettre::transport::smtp::Error),
}

/// Why one mail was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// True when it will never be taken as it is.
    pub permanent: bool,
    /// What failed in a few words that may be logged: `recipient 550`, `tls`, `timeout`.
    pub class: String,
    /// What was said, which may name addresses: kept with the mail, never logged.
    pub text: String,
}

impl Transport {
    /// The transport of a configuration: to the mail server it names, or into the folder `mail` of the data folder.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn open(mail: &config::Mail, data_dir: &Path) -> Result<Self, TransportError> {
        match &mail.smtp_url {
            Some(url) => Ok(Self::smtp(mail.mail_from.clone(), Smtp::new(url, &mail.mail_from, None)?)),
            None => Ok(Self::files(mail.mail_from.clone(), data_dir)),
        }
    }

    /// To a mail server.
    pub fn smtp(from: Mailbox, smtp: Smtp) -> Self {
        Self { from, way: Way::Smtp(Box::new(smtp)) }
    }

    /// Into the folder `mail` of the data folder, a file of mode 0600 each.
    pub fn files(from: Mailbox, data_dir: &Path) -> Self {
        Self { from, way: Way::Files(Files::new(data_dir)) }
    }

    /// Hands one mail over. Done means that the server, or the disk, has it.
    ///
    /// # Errors
    /// Why it was not taken. After a lost connection or a timeout the server may have it all the same.
    pub async fn send(&self, mail: &mails::Model) -> Result<(), Failure> {
        let letter = Letter::write(&self.from, mail)?;
        match &self.way {
            Way::Smtp(smtp) => smtp.send(&letter).await,
            Way::Files(files) => files.write(letter).await,
        }
    }
}
