//! Webhook endpoints whose behavior can be changed: over HTTP with a delay, and over HTTPS with an expired certificate.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

/// How an endpoint behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behavior {
    /// It responds after this time.
    RespondAfter(Duration),
    /// It does not respond.
    Hang,
    /// Its certificate has expired. Only for an endpoint with TLS.
    ExpiredCertificate,
}

/// An endpoint that listens until it is dropped.
pub struct Endpoint {
    address: SocketAddr,
    has_tls: bool,
    behavior: watch::Sender<Behavior>,
    task: JoinHandle<()>,
}

/// A valid and an expired certificate.
pub struct Certificates {
    valid: TlsAcceptor,
    expired: TlsAcceptor,
    /// The file with the valid certificate, which a client must trust.
    pub root_file: PathBuf,
}

impl Certificates {
    /// Creates certificates for 127.0.0.1, and the file in `folder`.
    ///
    /// # Errors
    /// Returns an error when a certificate or the file cannot be created.
    pub fn create(folder: &Path) -> Result<Self> {
        let mut params = rcgen::CertificateParams::new([Ipv4Addr::LOCALHOST.to_string()])?;
        let (valid, pem) = acceptor(&params)?;
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2021, 1, 1);
        let (expired, _) = acceptor(&params)?;
        let root_file = folder.join("roots.pem");
        std::fs::write(&root_file, pem)?;
        Ok(Self { valid, expired, root_file })
    }
}

/// Returns a TLS server with a new self-signed certificate, and the certificate in PEM.
fn acceptor(params: &rcgen::CertificateParams) -> Result<(TlsAcceptor, String)> {
    let key = rcgen::KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    let private_key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private_key)?;
    Ok((TlsAcceptor::from(Arc::new(config)), certificate.pem()))
}

impl Endpoint {
    /// Starts an endpoint that responds at once, with TLS if there are certificates.
    ///
    /// # Errors
    /// Returns an error when no port is free.
    pub async fn start(certificates: Option<&Certificates>) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("no port is free")?;
        let address = listener.local_addr()?;
        let (behavior, _) = watch::channel(Behavior::RespondAfter(Duration::ZERO));
        let current = behavior.subscribe();
        let acceptors = certificates.map(|both| (both.valid.clone(), both.expired.clone()));
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (current, acceptors) = (current.clone(), acceptors.clone());
                connections.spawn(async move {
                    let is_expired = *current.borrow() == Behavior::ExpiredCertificate;
                    match acceptors {
                        None => respond(stream, current).await,
                        Some((valid, expired)) => {
                            let acceptor = if is_expired { expired } else { valid };
                            respond(acceptor.accept(stream).await?, current).await
                        }
                    }
                });
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, has_tls: certificates.is_some(), behavior, task })
    }

    /// Changes the behavior. Requests in progress are answered as the new behavior says.
    pub fn set(&self, behavior: Behavior) {
        self.behavior.send_replace(behavior);
    }

    /// Returns the URL.
    pub fn url(&self) -> String {
        let scheme = if self.has_tls { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Responds to one request and closes the connection, so that each request needs a new TLS handshake.
async fn respond(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    mut behavior: watch::Receiver<Behavior>,
) -> Result<()> {
    read_request(&mut stream).await?;
    loop {
        let delay = match *behavior.borrow_and_update() {
            Behavior::RespondAfter(delay) => delay,
            Behavior::Hang | Behavior::ExpiredCertificate => Duration::MAX,
        };
        tokio::select! {
            () = tokio::time::sleep(delay) => break,
            changed = behavior.changed() => changed?,
        }
    }
    stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await?;
    Ok(stream.shutdown().await?)
}

/// Reads a request with its body.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Result<()> {
    let mut bytes = Vec::new();
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut request = httparse::Request::new(&mut headers);
        if let httparse::Status::Complete(start) = request.parse(&bytes)? {
            let header =
                request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
            let length = header.context("a webhook without Content-Length")?;
            let length: usize = std::str::from_utf8(length.value)?.parse()?;
            if bytes.len() >= start + length {
                return Ok(());
            }
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            anyhow::bail!("an incomplete request");
        }
    }
}
