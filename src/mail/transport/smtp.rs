//! Sends mail to an SMTP server, with one connection per mail.

use std::time::Duration;

use lettre::message::Mailbox;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;

use super::encoding::EncodedMail;
use super::{SendFailure, TIMEOUT};
use foundation::config::{SmtpUrl, Tls};

/// Maximum time to close a connection.
const QUIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of characters of an error that are stored.
const MAX_ERROR_CHARACTERS: usize = 500;
/// Reply codes that require authentication or reject it (RFC 4954, section 6). They are caused by the configuration and
/// not by the mail, so they are not permanent failures.
const AUTHENTICATION_ERRORS: &[u16] = &[530, 534, 535, 538];

/// A mail server with its connection settings.
#[derive(Debug)]
pub struct Smtp {
    host: String,
    port: u16,
    encryption: Encryption,
    login: Option<Credentials>,
    /// The name in the `EHLO` command.
    client_id: ClientId,
    timeout: Duration,
}

/// How the connection is encrypted.
enum Encryption {
    /// With TLS from the start.
    Wrapped(TlsParameters),
    /// With TLS after the `STARTTLS` command.
    StartTls(TlsParameters),
    /// Not encrypted.
    None,
}

/// The step of an SMTP session that failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SmtpStep {
    Connect,
    StartTls,
    Login,
    Send,
}

impl Smtp {
    /// Creates the settings for a mail server. The client identifies itself with the sender's domain (`EHLO`).
    /// `root_certificate` is a PEM certificate to trust in addition to those of the system.
    ///
    /// # Errors
    /// Returns an error when the TLS configuration is not valid.
    pub fn new(url: &SmtpUrl, from: &Mailbox, root_certificate: Option<&[u8]>) -> Result<Self, Error> {
        let tls = || {
            let builder = TlsParameters::builder(url.host.clone());
            match root_certificate {
                Some(pem) => builder.add_root_certificate(Certificate::from_pem(pem)?).build(),
                None => builder.build(),
            }
        };
        Ok(Self {
            host: url.host.clone(),
            port: url.port,
            encryption: match url.tls {
                Tls::Wrapped => Encryption::Wrapped(tls()?),
                Tls::StartTls => Encryption::StartTls(tls()?),
                Tls::None => Encryption::None,
            },
            login: url.login().map(Credentials::from),
            client_id: ClientId::Domain(from.email.domain().to_owned()),
            timeout: TIMEOUT,
        })
    }

    /// Sets the timeout of an attempt, at most [`TIMEOUT`].
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout: timeout.min(TIMEOUT), ..self }
    }

    /// Sends a mail.
    pub(super) async fn send(&self, mail: &EncodedMail) -> Result<(), SendFailure> {
        let mut connection = match tokio::time::timeout(self.timeout, self.deliver(mail)).await {
            Ok(delivered) => delivered?,
            Err(_) => {
                let detail = format!(
                    "the mail server did not accept the mail within {} s",
                    self.timeout.as_secs_f32()
                );
                return Err(SendFailure { permanent: false, class: "timeout".to_owned(), detail });
            }
        };
        // The mail server has accepted the mail. Errors while closing the connection do not matter.
        let _ = tokio::time::timeout(QUIT_TIMEOUT, connection.abort()).await;
        Ok(())
    }

    /// Connects, authenticates if configured, and sends the mail. Returns the connection, which is still open.
    async fn deliver(&self, mail: &EncodedMail) -> Result<AsyncSmtpConnection, SendFailure> {
        let mut connection = self.connect().await?;
        if let Some(login) = &self.login {
            let logged_in = connection.auth(&[Mechanism::Plain, Mechanism::Login], login).await;
            logged_in.map_err(send_failure(SmtpStep::Login))?;
        }
        connection.send(&mail.envelope, &mail.bytes).await.map_err(send_failure(SmtpStep::Send))?;
        Ok(connection)
    }

    /// Connects to the mail server, with TLS as configured.
    async fn connect(&self) -> Result<AsyncSmtpConnection, SendFailure> {
        let tls = match &self.encryption {
            Encryption::Wrapped(tls) => Some(tls.clone()),
            Encryption::StartTls(_) | Encryption::None => None,
        };
        let server = (self.host.as_str(), self.port);
        let connection =
            AsyncSmtpConnection::connect_tokio1(server, Some(self.timeout), &self.client_id, tls, None).await;
        let mut connection = connection.map_err(send_failure(SmtpStep::Connect))?;
        if let Encryption::StartTls(tls) = &self.encryption {
            connection
                .starttls(tls.clone(), &self.client_id)
                .await
                .map_err(send_failure(SmtpStep::StartTls))?;
        }
        Ok(connection)
    }
}

/// Returns the function that converts an error of this step. Only a reply to the mail itself can be a permanent
/// failure.
fn send_failure(step: SmtpStep) -> impl Fn(Error) -> SendFailure {
    move |error| {
        let code = error.status().map(u16::from);
        let name = match step {
            SmtpStep::Connect => "connect",
            SmtpStep::StartTls => "starttls",
            SmtpStep::Login => "login",
            SmtpStep::Send => "mail",
        };
        SendFailure {
            permanent: step == SmtpStep::Send
                && error.is_permanent()
                && code.is_none_or(|code| !AUTHENTICATION_ERRORS.contains(&code)),
            class: match code {
                Some(code) => format!("{name} {code}"),
                None if error.is_tls() => "tls".to_owned(),
                None => name.to_owned(),
            },
            detail: error
                .to_string()
                .chars()
                .filter(|character| !character.is_control())
                .take(MAX_ERROR_CHARACTERS)
                .collect(),
        }
    }
}

impl std::fmt::Debug for Encryption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Wrapped(_) => "Wrapped",
            Self::StartTls(_) => "StartTls",
            Self::None => "None",
        })
    }
}
