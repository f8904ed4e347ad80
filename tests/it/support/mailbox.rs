//! An SMTP server for tests, with TLS and logins, which can be scripted to reject, hang or disconnect.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use mail_parser::{Message, MessageParser};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A received mail.
#[derive(Debug, Clone)]
pub struct ReceivedMail {
    /// The envelope's sender.
    pub from: String,
    pub to: Vec<String>,
    /// Headers and body.
    pub bytes: Vec<u8>,
    pub encrypted: bool,
    /// The user name and password of the client.
    pub login: Option<(String, String)>,
}

impl ReceivedMail {
    pub fn parsed(&self) -> Message<'_> {
        MessageParser::default().parse(&self.bytes).expect("a message")
    }

    pub fn message_id(&self) -> String {
        self.parsed().message_id().expect("a message has an id").to_owned()
    }
}

/// A scripted reaction of the server instead of acceptance.
#[derive(Debug, Clone)]
pub enum SmtpReply {
    /// Sends this reply.
    Say(&'static str),
    /// Closes the connection.
    Close,
    /// Waits until notified, then accepts.
    Hold(Arc<Notify>),
}

/// The encryption of the server's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    Open,
    StartTls,
    ImplicitTls,
}

/// A mail server. Dropping it stops it.
pub struct Mailbox {
    address: SocketAddr,
    shared: Arc<MailboxState>,
    /// The certificate that the server's certificate chains to, PEM.
    pub root: String,
    running: Option<JoinHandle<()>>,
}

struct MailboxState {
    security: Security,
    /// The required login, if any.
    login: Option<(String, String)>,
    tls: TlsAcceptor,
    mails: watch::Sender<Vec<ReceivedMail>>,
    script: Mutex<VecDeque<(&'static str, SmtpReply)>>,
}

impl Mailbox {
    /// Starts a server that accepts everything without encryption.
    pub async fn start() -> Self {
        Self::start_with(Security::Open, None).await
    }

    pub async fn start_with(security: Security, login: Option<(&str, &str)>) -> Self {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .expect("the key belongs to the certificate");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let shared = MailboxState {
            security,
            login: login.map(|(name, password)| (name.to_owned(), password.to_owned())),
            tls: TlsAcceptor::from(Arc::new(tls)),
            mails: watch::Sender::default(),
            script: Mutex::default(),
        };
        let address = listener.local_addr().expect("an address");
        let mut mailbox = Self { address, shared: Arc::new(shared), root: own.cert.pem(), running: None };
        mailbox.accept(listener);
        mailbox
    }

    /// Returns the URL, as in `smtp_url`.
    pub fn url(&self) -> String {
        let scheme = match self.shared.security {
            Security::Open => "smtp",
            Security::StartTls => "smtp+starttls",
            Security::ImplicitTls => "smtps",
        };
        let login = self.shared.login.as_ref().map(|(name, password)| format!("{name}:{password}@"));
        format!("{scheme}://{}localhost:{}", login.unwrap_or_default(), self.address.port())
    }

    /// Scripts the reaction to the next command of this name. `.` is the end of a mail's content.
    pub fn script(&self, command: &'static str, reply: SmtpReply) {
        self.shared.script.lock().expect("no panic").push_back((command, reply));
    }

    /// Returns the mails received so far.
    pub fn mails(&self) -> Vec<ReceivedMail> {
        self.shared.mails.borrow().clone()
    }

    /// Waits until this number of mails has been received.
    pub async fn until_mails(&self, count: usize) {
        let mut mails = self.shared.mails.subscribe();
        let arrival = mails.wait_for(|mails| mails.len() >= count);
        let _ = tokio::time::timeout(Duration::from_secs(20), arrival).await.expect("mail arrives in time");
    }

    /// Stops the server immediately, also during sessions.
    pub async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.abort();
            let _ = running.await;
        }
    }

    /// Starts the server again at the same address.
    pub async fn restart(&mut self) {
        let listener = TcpListener::bind(self.address).await.expect("the port is still free");
        self.accept(listener);
    }

    fn accept(&mut self, listener: TcpListener) {
        let shared = Arc::clone(&self.shared);
        self.running = Some(tokio::spawn(async move {
            let mut sessions = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                sessions.spawn(serve_session(Arc::clone(&shared), stream));
            }
        }));
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.abort();
        }
    }
}

trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// One SMTP session.
struct SmtpSession {
    shared: Arc<MailboxState>,
    wire: BufReader<Box<dyn Wire>>,
    mail: ReceivedMail,
    may_send: bool,
}

async fn serve_session(shared: Arc<MailboxState>, stream: TcpStream) -> std::io::Result<()> {
    let encrypted = shared.security == Security::ImplicitTls;
    let wire: Box<dyn Wire> =
        if encrypted { Box::new(shared.tls.accept(stream).await?) } else { Box::new(stream) };
    let mail =
        ReceivedMail { from: String::new(), to: Vec::new(), bytes: Vec::new(), encrypted, login: None };
    let may_send = shared.login.is_none();
    let mut session = SmtpSession { shared, wire: BufReader::new(wire), mail, may_send };
    session.say("220 mailbox.test ESMTP").await?;
    let mut line = String::new();
    loop {
        line.clear();
        if session.wire.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let command = line.trim_end().to_owned();
        if command.eq_ignore_ascii_case("QUIT") {
            return session.say("221 bye").await;
        }
        if !session.handle_command(&command).await? {
            return Ok(());
        }
    }
}

impl SmtpSession {
    async fn say(&mut self, words: &str) -> std::io::Result<()> {
        self.wire.write_all(format!("{words}\r\n").as_bytes()).await?;
        self.wire.flush().await
    }

    /// Removes and returns the next scripted reaction to this command.
    fn next_scripted_reply(&self, command: &str) -> Option<SmtpReply> {
        let mut script = self.shared.script.lock().expect("no panic");
        let place = script.iter().position(|(at, _)| *at == command)?;
        script.remove(place).map(|(_, reply)| reply)
    }

    /// Replies as scripted, or accepts with this reply. Returns `false` to end the session.
    async fn reply(&mut self, command: &str, yes: &str) -> std::io::Result<bool> {
        match self.next_scripted_reply(command) {
            Some(SmtpReply::Close) => return Ok(false),
            Some(SmtpReply::Hold(until)) => {
                until.notified().await;
                self.say(yes).await?;
            }
            Some(SmtpReply::Say(words)) => self.say(words).await?,
            None => self.say(yes).await?,
        }
        Ok(true)
    }

    /// Handles one command. Returns `false` to end the session.
    async fn handle_command(&mut self, line: &str) -> std::io::Result<bool> {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let address = || rest.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
        match command.to_ascii_uppercase().as_str() {
            "EHLO" => {
                let ehlo_response = self.ehlo_response();
                self.reply("EHLO", &ehlo_response).await
            }
            "STARTTLS" if !self.mail.encrypted && self.shared.security == Security::StartTls => {
                self.encrypt().await
            }
            "AUTH" => self.log_in(rest).await,
            "MAIL" if !self.may_send => self.reply("MAIL", "530 5.7.0 authentication required").await,
            "MAIL" => {
                (self.mail.from, self.mail.to) = (address(), Vec::new());
                self.reply("MAIL", "250 ok").await
            }
            "RCPT" => {
                self.mail.to.push(address());
                self.reply("RCPT", "250 ok").await
            }
            "DATA" => self.receive_content().await,
            _ => self.say("502 5.5.1 what?").await.map(|()| true),
        }
    }

    fn ehlo_response(&self) -> String {
        let safe = self.mail.encrypted || self.shared.security == Security::Open;
        let mut lines = vec!["mailbox.test"];
        if !safe {
            lines.push("STARTTLS");
        }
        if safe && self.shared.login.is_some() {
            lines.push("AUTH PLAIN LOGIN");
        }
        let more: String = lines.iter().map(|line| format!("250-{line}\r\n")).collect();
        format!("{more}250 SIZE 10000000")
    }

    async fn encrypt(&mut self) -> std::io::Result<bool> {
        let rejected = self.next_scripted_reply("STARTTLS");
        if let Some(SmtpReply::Say(words)) = rejected {
            return self.say(words).await.map(|()| true);
        }
        self.say("220 go ahead").await?;
        let (nothing, _) = tokio::io::duplex(1);
        let open = std::mem::replace(&mut self.wire, BufReader::new(Box::new(nothing))).into_inner();
        let encrypted = self.shared.tls.accept(open).await?;
        self.wire = BufReader::new(Box::new(encrypted));
        self.mail.encrypted = true;
        Ok(true)
    }

    /// Handles `AUTH PLAIN` with the login in the same line.
    async fn log_in(&mut self, rest: &str) -> std::io::Result<bool> {
        let token = rest.strip_prefix("PLAIN ").and_then(|token| BASE64_STANDARD.decode(token).ok());
        let login = token.and_then(|token| {
            let text = String::from_utf8(token).ok()?;
            let mut fields = text.split('\0').skip(1);
            Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
        });
        self.may_send = login.is_some() && login == self.shared.login;
        self.mail.login = login;
        let words = if self.may_send { "235 2.7.0 welcome" } else { "535 5.7.8 who are you?" };
        self.reply("AUTH", words).await
    }

    /// Reads the content of a mail up to the line with a single dot. An accepted mail is stored before the reply is sent.
    async fn receive_content(&mut self) -> std::io::Result<bool> {
        if let Some(SmtpReply::Say(words)) = self.next_scripted_reply("DATA") {
            return self.say(words).await.map(|()| true);
        }
        self.say("354 go on").await?;
        self.mail.bytes.clear();
        loop {
            let mut line = Vec::new();
            if self.wire.read_until(b'\n', &mut line).await? == 0 {
                return Ok(false);
            }
            if line == b".\r\n" {
                break;
            }
            self.mail.bytes.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
        }
        let rejected = {
            let script = self.shared.script.lock().expect("no panic");
            let next = script.iter().find(|(at, _)| *at == ".");
            matches!(next, Some((_, SmtpReply::Say(words))) if !words.starts_with('2'))
        };
        if !rejected {
            self.shared.mails.send_modify(|mails| mails.push(self.mail.clone()));
        }
        self.reply(".", "250 2.0.0 it is here").await
    }
}
