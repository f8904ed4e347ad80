//! One mail, one conversation with the mail server.

use std::time::Duration;

use lettre::message::Mailbox;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;

use super::letter::Letter;
use super::transport::{Failure, TIMEOUT};
use foundation::config::{SmtpUrl, Tls};

/// How long a server may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(5);
/// Characters of a server's words that are kept.
const KEPT: usize = 500;
/// Replies that want a (better) login: the configuration is at fault, not the mail (RFC 4954, section 6).
const LOGIN_WANTED: &[u16] = &[530, 534, 535, 538];

/// A mail server and how to talk to it.
#[derive(Debug)]
pub struct Smtp {
    host: String,
    port: u16,
    protection: Protection,
    login: Option<Credentials>,
    hello: ClientId,
    timeout: Duration,
}

enum Protection {
    Wrapped(TlsParameters),
    StartTls(TlsParameters),
    None,
}

/// Where in the conversation something failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Connect,
    StartTls,
    Login,
    Send,
}

impl Smtp {
    /// The server at this address. It is greeted by the sender's domain. `root` is one more certificate (PEM) to be
    /// trusted, beside those of the system.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(url: &SmtpUrl, from: &Mailbox, root: Option<&[u8]>) -> Result<Self, Error> {
        let tls = || {
            let builder = TlsParameters::builder(url.host.clone());
            match root {
                Some(pem) => builder.add_root_certificate(Certificate::from_pem(pem)?).build(),
                None => builder.build(),
            }
        };
        Ok(Self {
            host: url.host.clone(),
            port: url.port,
            protection: match url.tls {
                Tls::Wrapped => Protection::Wrapped(tls()?),
                Tls::StartTls => Protection::StartTls(tls()?),
                Tls::None => Protection::None,
            },
            login: url.login().map(Credentials::from),
            hello: ClientId::Domain(from.email.domain().to_owned()),
            timeout: TIMEOUT,
        })
    }

    /// The same server with less patience than [`TIMEOUT`].
    #[must_use]
    pub fn within(self, timeout: Duration) -> Self {
        Self { timeout: timeout.min(TIMEOUT), ..self }
    }

    /// Hands the letter over.
    pub(super) async fn send(&self, letter: &Letter) -> Result<(), Failure> {
        let mut connection = match tokio::time::timeout(self.timeout, self.deliver(letter)).await {
            Ok(delivered) => delivered?,
            Err(_) => {
                let text =
                    format!("the server did not take the mail within {} s", self.timeout.as_secs_f32());
                return Err(Failure { permanent: false, class: "timeout".to_owned(), text });
            }
        };
        // The server has it: whatever happens now changes nothing.
        let _ = tokio::time::timeout(GOODBYE, connection.abort()).await;
        Ok(())
    }

    async fn deliver(&self, letter: &Letter) -> Result<AsyncSmtpConnection, Failure> {
        let mut connection = self.connect().await?;
        if let Some(login) = &self.login {
            let logged_in = connection.auth(&[Mechanism::Plain, Mechanism::Login], login).await;
            logged_in.map_err(failed(Step::Login))?;
        }
        connection.send(&letter.envelope, &letter.bytes).await.map_err(failed(Step::Send))?;
        Ok(connection)
    }

    /// A connection that is as protected as it must be.
    async fn connect(&self) -> Result<AsyncSmtpConnection, Failure> {
        let wrapped = match &self.protection {
            Protection::Wrapped(tls) => Some(tls.clone()),
            Protection::StartTls(_) | Protection::None => None,
        };
        let server = (self.host.as_str(), self.port);
        let connection =
            AsyncSmtpConnection::connect_tokio1(server, Some(self.timeout), &self.hello, wrapped, None).await;
        let mut connection = connection.map_err(failed(Step::Connect))?;
        if let Protection::StartTls(tls) = &self.protection {
            connection.starttls(tls.clone(), &self.hello).await.map_err(failed(Step::StartTls))?;
        }
        Ok(connection)
    }
}

/// What an error of this step comes to. Only what the server says of the mail itself can be final.
fn failed(step: Step) -> impl Fn(Error) -> Failure {
    move |error| {
        let code = error.status().map(u16::from);
        let name = match step {
            Step::Connect => "connect",
            Step::StartTls => "starttls",
            Step::Login => "login",
            Step::Send => "mail",
        };
        Failure {
            permanent: step == Step::Send
                && error.is_permanent()
                && code.is_none_or(|code| !LOGIN_WANTED.contains(&code)),
            class: match code {
                Some(code) => format!("{name} {code}"),
                None if error.is_tls() => "tls".to_owned(),
                None => name.to_owned(),
            },
            text: error.to_string().chars().filter(|character| !character.is_control()).take(KEPT).collect(),
        }
    }
}

impl std::fmt::Debug for Protection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Wrapped(_) => "Wrapped",
            Self::StartTls(_) => "StartTls",
            Self::None => "None",
        })
    }
}
