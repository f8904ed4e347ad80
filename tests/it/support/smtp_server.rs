//! An SMTP server for tests, with TLS and logins. A test can script it to reject commands, to hang, or to disconnect.

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
    /// The sender of the envelope.
    pub from: String,
    /// The recipients of the envelope.
    pub to: Vec<String>,
    /// The headers and the body.
    pub bytes: Vec<u8>,
    /// Whether the connection was encrypted.
    pub encrypted: bool,
    /// The user name and password of the client, if it logged in.
    pub login: Option<(String, String)>,
}

impl ReceivedMail {
    pub fn parse(&self) -> Message<'_> {
        MessageParser::default().parse(&self.bytes).expect("the mail is a valid message")
    }

    pub fn message_id(&self) -> String {
        self.parse().message_id().expect("a message has an id").to_owned()
    }
}

/// A scripted reaction of the server to a command. Without one, the server sends its normal reply. For `STARTTLS` and
/// `DATA`, only [`Reply`](Self::Reply) has an effect.
#[derive(Debug, Clone)]
pub enum SmtpReaction {
    /// Sends this reply line.
    Reply(&'static str),
    /// Closes the connection.
    Close,
    /// Waits until notified, then sends the normal reply.
    Hold(Arc<Notify>),
}

/// The encryption of the server's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpSecurity {
    None,
    StartTls,
    ImplicitTls,
}

/// A running SMTP server on a free port of 127.0.0.1. Dropping it stops it.
pub struct SmtpServer {
    address: SocketAddr,
    state: Arc<SmtpServerState>,
    /// The self-signed certificate of the server, in PEM.
    pub root_certificate: String,
    running: Option<JoinHandle<()>>,
}

struct SmtpServerState {
    security: SmtpSecurity,
    /// The required user name and password; `None` if clients need no login.
    login: Option<(String, String)>,
    tls: TlsAcceptor,
    mails: watch::Sender<Vec<ReceivedMail>>,
    /// Commands, each with the reaction to its next use.
    script: Mutex<VecDeque<(&'static str, SmtpReaction)>>,
}

impl SmtpServer {
    /// Starts a server that accepts everything without encryption.
    pub async fn start() -> Self {
        Self::start_with(SmtpSecurity::None, None).await
    }

    /// Starts a server with this encryption. `login` is the required user name and password.
    pub async fn start_with(security: SmtpSecurity, login: Option<(&str, &str)>) -> Self {
        let certificate =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certificate.signing_key.serialize_der()));
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the default versions are supported")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.cert.der().clone()], key)
            .expect("the key matches the certificate");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let state = SmtpServerState {
            security,
            login: login.map(|(name, password)| (name.to_owned(), password.to_owned())),
            tls: TlsAcceptor::from(Arc::new(tls)),
            mails: watch::Sender::default(),
            script: Mutex::default(),
        };
        let address = listener.local_addr().expect("an address");
        let mut smtp_server =
            Self { address, state: Arc::new(state), root_certificate: certificate.cert.pem(), running: None };
        smtp_server.accept(listener);
        smtp_server
    }

    /// Returns the URL, as in `smtp_url`.
    pub fn url(&self) -> String {
        let scheme = match self.state.security {
            SmtpSecurity::None => "smtp",
            SmtpSecurity::StartTls => "smtp+starttls",
            SmtpSecurity::ImplicitTls => "smtps",
        };
        let login = self.state.login.as_ref().map(|(name, password)| format!("{name}:{password}@"));
        format!("{scheme}://{}localhost:{}", login.unwrap_or_default(), self.address.port())
    }

    /// Scripts the reaction to the next command with this name. The name `.` means the end of a mail's content.
    pub fn script(&self, command: &'static str, reaction: SmtpReaction) {
        self.state.script.lock().expect("the lock is not poisoned").push_back((command, reaction));
    }

    /// Returns the mails received so far.
    pub fn mails(&self) -> Vec<ReceivedMail> {
        self.state.mails.borrow().clone()
    }

    /// Waits until at least this number of mails has been received. Panics after 20 seconds.
    pub async fn wait_for_mails(&self, count: usize) {
        let mut mails = self.state.mails.subscribe();
        let received = mails.wait_for(|mails| mails.len() >= count);
        let _ =
            tokio::time::timeout(Duration::from_secs(20), received).await.expect("the mails arrive in time");
    }

    /// Stops the server immediately, and ends all sessions.
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
        let state = Arc::clone(&self.state);
        self.running = Some(tokio::spawn(async move {
            let mut sessions = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                sessions.spawn(serve_session(Arc::clone(&state), stream));
            }
        }));
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.abort();
        }
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// One SMTP session.
struct SmtpSession {
    state: Arc<SmtpServerState>,
    stream: BufReader<Box<dyn Stream>>,
    /// The mail that is being received.
    mail: ReceivedMail,
    /// Whether the client has logged in, or needs no login.
    may_send: bool,
}

/// Replies to the commands on one connection until it ends.
async fn serve_session(state: Arc<SmtpServerState>, stream: TcpStream) -> std::io::Result<()> {
    let encrypted = state.security == SmtpSecurity::ImplicitTls;
    let stream: Box<dyn Stream> =
        if encrypted { Box::new(state.tls.accept(stream).await?) } else { Box::new(stream) };
    let mail =
        ReceivedMail { from: String::new(), to: Vec::new(), bytes: Vec::new(), encrypted, login: None };
    let may_send = state.login.is_none();
    let mut session = SmtpSession { state, stream: BufReader::new(stream), mail, may_send };
    session.send_line("220 mailbox.test ESMTP").await?;
    let mut line = String::new();
    loop {
        line.clear();
        if session.stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let command = line.trim_end().to_owned();
        if command.eq_ignore_ascii_case("QUIT") {
            return session.send_line("221 bye").await;
        }
        if !session.handle_command(&command).await? {
            return Ok(());
        }
    }
}

impl SmtpSession {
    /// Sends a reply line.
    async fn send_line(&mut self, line: &str) -> std::io::Result<()> {
        self.stream.write_all(format!("{line}\r\n").as_bytes()).await?;
        self.stream.flush().await
    }

    /// Removes and returns the next scripted reaction to this command.
    fn next_reaction(&self, command: &str) -> Option<SmtpReaction> {
        let mut script = self.state.script.lock().expect("the lock is not poisoned");
        let index = script.iter().position(|(scripted, _)| *scripted == command)?;
        script.remove(index).map(|(_, reaction)| reaction)
    }

    /// Reacts to a command as scripted, or sends this reply. Returns `false` to end the session.
    async fn react(&mut self, command: &str, reply: &str) -> std::io::Result<bool> {
        match self.next_reaction(command) {
            Some(SmtpReaction::Close) => return Ok(false),
            Some(SmtpReaction::Hold(release)) => {
                release.notified().await;
                self.send_line(reply).await?;
            }
            Some(SmtpReaction::Reply(line)) => self.send_line(line).await?,
            None => self.send_line(reply).await?,
        }
        Ok(true)
    }

    /// Handles one command. Returns `false` to end the session.
    async fn handle_command(&mut self, line: &str) -> std::io::Result<bool> {
        let (command, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let address = || arguments.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
        match command.to_ascii_uppercase().as_str() {
            "EHLO" => {
                let ehlo_response = self.ehlo_response();
                self.react("EHLO", &ehlo_response).await
            }
            "STARTTLS" if !self.mail.encrypted && self.state.security == SmtpSecurity::StartTls => {
                self.start_tls().await
            }
            "AUTH" => self.log_in(arguments).await,
            "MAIL" if !self.may_send => self.react("MAIL", "530 5.7.0 authentication required").await,
            "MAIL" => {
                (self.mail.from, self.mail.to) = (address(), Vec::new());
                self.react("MAIL", "250 ok").await
            }
            "RCPT" => {
                self.mail.to.push(address());
                self.react("RCPT", "250 ok").await
            }
            "DATA" => self.receive_content().await,
            _ => self.send_line("502 5.5.1 command not implemented").await.map(|()| true),
        }
    }

    fn ehlo_response(&self) -> String {
        let is_secure = self.mail.encrypted || self.state.security == SmtpSecurity::None;
        let mut lines = vec!["mailbox.test"];
        if !is_secure {
            lines.push("STARTTLS");
        }
        if is_secure && self.state.login.is_some() {
            lines.push("AUTH PLAIN LOGIN");
        }
        let extensions: String = lines.iter().map(|line| format!("250-{line}\r\n")).collect();
        format!("{extensions}250 SIZE 10000000")
    }

    /// Handles `STARTTLS`.
    async fn start_tls(&mut self) -> std::io::Result<bool> {
        if let Some(SmtpReaction::Reply(line)) = self.next_reaction("STARTTLS") {
            return self.send_line(line).await.map(|()| true);
        }
        self.send_line("220 ready to start TLS").await?;
        let (placeholder, _) = tokio::io::duplex(1);
        let unencrypted =
            std::mem::replace(&mut self.stream, BufReader::new(Box::new(placeholder))).into_inner();
        let encrypted = self.state.tls.accept(unencrypted).await?;
        self.stream = BufReader::new(Box::new(encrypted));
        self.mail.encrypted = true;
        Ok(true)
    }

    /// Handles `AUTH PLAIN` with the user name and the password in the same line.
    async fn log_in(&mut self, arguments: &str) -> std::io::Result<bool> {
        let token = arguments.strip_prefix("PLAIN ").and_then(|token| BASE64_STANDARD.decode(token).ok());
        let login = token.and_then(|token| {
            let text = String::from_utf8(token).ok()?;
            let mut fields = text.split('\0').skip(1);
            Some((fields.next()?.to_owned(), fields.next()?.to_owned()))
        });
        self.may_send = login.is_some() && login == self.state.login;
        self.mail.login = login;
        let reply = if self.may_send { "235 2.7.0 welcome" } else { "535 5.7.8 authentication failed" };
        self.react("AUTH", reply).await
    }

    /// Handles `DATA`: reads the content of a mail up to the line with a single dot. Stores the mail before
    /// it replies, unless the scripted reply rejects the mail.
    async fn receive_content(&mut self) -> std::io::Result<bool> {
        if let Some(SmtpReaction::Reply(line)) = self.next_reaction("DATA") {
            return self.send_line(line).await.map(|()| true);
        }
        self.send_line("354 start mail input").await?;
        self.mail.bytes.clear();
        loop {
            let mut line = Vec::new();
            if self.stream.read_until(b'\n', &mut line).await? == 0 {
                return Ok(false);
            }
            if line == b".\r\n" {
                break;
            }
            self.mail.bytes.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
        }
        let rejected = {
            let script = self.state.script.lock().expect("the lock is not poisoned");
            let next = script.iter().find(|(command, _)| *command == ".");
            matches!(next, Some((_, SmtpReaction::Reply(line))) if !line.starts_with('2'))
        };
        if !rejected {
            self.state.mails.send_modify(|mails| mails.push(self.mail.clone()));
        }
        self.react(".", "250 2.0.0 accepted").await
    }
}
