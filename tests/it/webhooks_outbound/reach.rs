//! Which receivers an attempt may connect to: names, IP addresses, and certificates.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use uuid::Uuid;
use webhooks::outbound::{AttemptFailure, ClientOptions, ResolveFunction, WebhookClient};

use super::{OK, at_the_time_limit, client, client_with, resolving_to, send, send_for, send_within};
use crate::support::{Receiver, read_request};

/// Starts a receiver with TLS and a self-signed certificate for this name. Also returns the certificate.
async fn tls_receiver(name: &str) -> (Receiver, CertificateDer<'static>) {
    tls_receiver_with(rcgen::CertificateParams::new([name.to_owned()]).expect("a valid name")).await
}

/// Starts a receiver with TLS and this self-signed certificate. Also returns the certificate.
async fn tls_receiver_with(params: rcgen::CertificateParams) -> (Receiver, CertificateDer<'static>) {
    let key = rcgen::KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate").der().clone();
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the default versions are supported")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .expect("the key matches the certificate");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let receiver = Receiver::start(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            while !read_request(&mut stream).await.is_empty() && stream.write_all(OK.as_bytes()).await.is_ok()
            {
            }
        }
    })
    .await;
    (receiver, certificate)
}

#[tokio::test]
async fn an_untrusted_certificate_is_a_tls_failure() {
    let (receiver, certificate) = tls_receiver("receiver.test").await;
    let client_trusting =
        |allow: &[&str], roots| client_with(allow, resolving_to(&[&["127.0.0.1"]]).0, roots);
    let timeout = Duration::from_secs(10);
    let status = async |client: WebhookClient, name: &str| {
        send_within(&client, &receiver.url("https", name), timeout)
            .await
            .result
            .map(|response| response.status)
    };
    let trusted = client_trusting(&["127.0.0.0/8"], vec![certificate.clone()]);
    assert_eq!(status(trusted.clone(), "receiver.test").await, Ok(200));
    assert_eq!(
        status(trusted, "other.test").await,
        Err(AttemptFailure::Tls),
        "the certificate is for another name"
    );
    assert_eq!(
        status(client_trusting(&["127.0.0.0/8"], vec![]), "receiver.test").await,
        Err(AttemptFailure::Tls),
        "self-signed"
    );
    assert_eq!(
        status(client_trusting(&[], vec![certificate]), "receiver.test").await,
        Err(AttemptFailure::ForbiddenAddress)
    );

    let without_tls = Receiver::start(|mut stream| async move {
        let _ = stream.write_all(OK.as_bytes()).await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let plain = send_within(&client(), &without_tls.url("https", "127.0.0.1"), timeout).await;
    assert_eq!(plain.result.unwrap_err(), AttemptFailure::Tls);
    let closing = Receiver::start(|_| async {}).await;
    let closed = send_within(&client(), &closing.url("https", "127.0.0.1"), timeout).await;
    assert!(matches!(closed.result, Err(AttemptFailure::Tls | AttemptFailure::Reset)), "{closed:?}");
    let hanging = Receiver::start(|stream| async move {
        let _held = stream;
        std::future::pending().await
    })
    .await;
    let hung = at_the_time_limit(send(&client(), &hanging.url("https", "127.0.0.1"))).await;
    assert_eq!(hung.result.unwrap_err(), AttemptFailure::Timeout);
}

#[tokio::test]
async fn an_expired_certificate_is_distinguished_from_other_tls_failures() {
    let mut params = rcgen::CertificateParams::new(["receiver.test".to_owned()]).expect("a valid name");
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let (receiver, certificate) = tls_receiver_with(params).await;
    for roots in [vec![certificate], vec![]] {
        let client = client_with(&["127.0.0.0/8"], resolving_to(&[&["127.0.0.1"]]).0, roots);
        let url = receiver.url("https", "receiver.test");
        let outcome = send_within(&client, &url, Duration::from_secs(10)).await;
        assert_eq!(outcome.result.unwrap_err(), AttemptFailure::CertificateExpired);
    }
}

#[tokio::test]
async fn a_name_that_resolves_differently_is_checked_at_each_connection() {
    let closing = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let receiver = Receiver::start(move |mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(closing.as_bytes()).await.expect("the response is written");
    })
    .await;
    let results: &[&[&str]] =
        &[&["127.0.0.1"], &["169.254.169.254"], &["127.0.0.1", "10.0.0.1"], &["::ffff:7f00:1"]];
    let (resolve, lookups) = resolving_to(results);
    let client = client_with(&["127.0.0.0/8"], resolve, Vec::new());
    let url = receiver.url("http", "rebinding.test");
    let mut statuses = Vec::new();
    for _ in results {
        statuses.push(send(&client, &url).await.result.map(|response| response.status));
    }
    let forbidden = Err(AttemptFailure::ForbiddenAddress);
    assert_eq!(statuses, [Ok(200), forbidden, forbidden, Ok(200)]);
    assert_eq!(
        (receiver.connections(), lookups.load(Ordering::SeqCst)),
        (2, 4),
        "each connection makes a lookup"
    );
}

#[tokio::test]
async fn a_forbidden_address_is_not_connected_to() {
    let receiver = Receiver::responding_with(OK).await;
    let port = receiver.address.port();
    let (resolve, _) = resolving_to(&[&["127.0.0.1"]]);
    let without_allowed = client_with(&[], Arc::clone(&resolve), Vec::new());
    for host in
        ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "[::ffff:127.0.0.1]"]
            .into_iter()
            .chain(["[::1]", "[64:ff9b::7f00:1]", "localhost", "localhost.", "LOCALHOST", "receiver.test"])
    {
        for scheme in ["https", "http"] {
            let outcome = send(&without_allowed, &receiver.url(scheme, host)).await;
            assert_eq!(outcome.result.unwrap_err(), AttemptFailure::ForbiddenAddress, "{scheme}://{host}");
        }
    }
    let with_system_resolver = WebhookClient::new(ClientOptions::new(&[])).expect("a client");
    let outcome =
        send_within(&with_system_resolver, &receiver.url("https", "localhost"), Duration::from_secs(15))
            .await;
    assert_eq!(outcome.result.unwrap_err(), AttemptFailure::ForbiddenAddress, "with the system's resolver");
    // An allowed address does not allow others, and public addresses are not called without TLS.
    let other_allowed = client_with(&["127.0.0.9/32"], Arc::clone(&resolve), Vec::new());
    let public = client_with(&["127.0.0.0/8"], resolving_to(&[&["8.8.8.8"]]).0, Vec::new());
    for (client, url) in [
        (&other_allowed, format!("http://127.0.0.1:{port}/")),
        (&other_allowed, format!("https://receiver.test:{port}/")),
        (&public, "http://8.8.8.8/".to_owned()),
        (&public, "http://public.test/".to_owned()),
    ] {
        let outcome = send(client, &url.parse().unwrap()).await;
        assert_eq!(outcome.result.unwrap_err(), AttemptFailure::ForbiddenAddress, "{url}");
    }
    let open = client_with(&["127.0.0.0/8"], resolve, Vec::new());
    for url in [
        format!("http://ada:love@127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}/#part"),
        "http://127.0.0.1:0/".to_owned(),
        format!("ftp://127.0.0.1:{port}/"),
        "data:text/plain,hello".to_owned(),
    ] {
        let outcome = send(&open, &url.parse().unwrap()).await;
        assert_eq!(outcome.result.unwrap_err(), AttemptFailure::BadUrl, "{url}");
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn an_unknown_name_is_a_dns_failure_and_a_hanging_name_is_looked_up_once() {
    let url = "https://receiver.test/".parse().unwrap();
    let failing: ResolveFunction = Arc::new(|_| Box::pin(async { Err(io::Error::other("no such name")) }));
    for resolve in [failing, resolving_to(&[&[]]).0] {
        let outcome = send(&client_with(&[], resolve, Vec::new()), &url).await;
        assert_eq!(outcome.result.unwrap_err(), AttemptFailure::Dns);
    }
    let lookups = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&lookups);
    let hanging: ResolveFunction = Arc::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::pending())
    });
    let client = client_with(&[], hanging, Vec::new());
    let attempts = futures_util::future::join_all((0..20).map(|_| send(&client, &url)));
    for outcome in at_the_time_limit(attempts).await {
        assert_eq!(outcome.result.unwrap_err(), AttemptFailure::Timeout);
    }
    assert_eq!(lookups.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn hanging_names_of_one_workspace_leave_lookups_for_others() {
    let receiver = Receiver::responding_with(OK).await;
    let lookups = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&lookups);
    let resolve: ResolveFunction = Arc::new(move |name| {
        let counted = Arc::clone(&counted);
        Box::pin(async move {
            if name.starts_with("hanging") {
                counted.fetch_add(1, Ordering::SeqCst);
                std::future::pending::<()>().await;
            }
            Ok(vec!["127.0.0.1".parse().expect("an address")])
        })
    });
    let client = client_with(&["127.0.0.0/8"], resolve, Vec::new());
    let [hanging, healthy] = [1, 2].map(Uuid::from_u128);
    let urls = (0..300).map(|index| format!("http://hanging-{index}.test/").parse().expect("a URL"));
    let urls: Vec<reqwest::Url> = urls.collect();
    let timeout = Duration::from_secs(15);
    let attempts = urls.iter().map(|url| send_for(hanging, &client, url, timeout));
    let mut attempts = Box::pin(futures_util::future::join_all(attempts));
    let others = async {
        while lookups.load(Ordering::SeqCst) < 32 {
            tokio::task::yield_now().await;
        }
        let same_workspace = send_for(hanging, &client, &receiver.url("http", "own.test"), timeout).await;
        assert_eq!(
            same_workspace.result.unwrap_err(),
            AttemptFailure::Exhausted,
            "the workspace has reached its limit"
        );
        let other_workspace = send_for(healthy, &client, &receiver.url("http", "other.test"), timeout).await;
        assert_eq!(other_workspace.result.expect("a response").status, 200);
    };
    tokio::select! {
        () = others => {}
        _ = &mut attempts => panic!("the names do not hang"),
    }
    assert_eq!(lookups.load(Ordering::SeqCst), 32);
}

#[tokio::test]
async fn finished_lookups_do_not_count_against_the_limit() {
    let receiver = Receiver::responding_with(OK).await;
    let client = client_with(&["127.0.0.0/8"], resolving_to(&[&["127.0.0.1"]]).0, Vec::new());
    for index in 0..100 {
        let url = receiver.url("http", &format!("name-{index}.test"));
        assert_eq!(send(&client, &url).await.result.expect("a response").status, 200);
    }
}
