//! Where an attempt may go: names and addresses, and certificates.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use uuid::Uuid;
use webhooks::outbound::{Client, Failure, LookUp, Options};

use super::{OK, answers, at_the_deadline, client, client_with, send, send_for, send_within};
use crate::support::{Receiver, request};

/// A receiver behind TLS with a certificate for this name, and that certificate.
async fn tls_receiver(name: &str) -> (Receiver, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .expect("a server's side");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let receiver = Receiver::start(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            while !request(&mut stream).await.is_empty() && stream.write_all(OK.as_bytes()).await.is_ok() {}
        }
    })
    .await;
    (receiver, certificate)
}

#[tokio::test]
async fn a_certificate_that_is_not_believed_is_a_failure_of_tls() {
    let (receiver, certificate) = tls_receiver("receiver.test").await;
    let trusting = |allow: &[&str], roots| client_with(allow, answers(&[&["127.0.0.1"]]).0, roots);
    let patience = Duration::from_secs(10);
    let told = async |client: Client, name: &str| {
        send_within(&client, &receiver.url("https", name), patience).await.result.map(|answer| answer.status)
    };
    let believing = trusting(&["127.0.0.0/8"], vec![certificate.clone()]);
    assert_eq!(told(believing.clone(), "receiver.test").await, Ok(200));
    assert_eq!(told(believing, "other.test").await, Err(Failure::Tls), "another's certificate");
    assert_eq!(
        told(trusting(&["127.0.0.0/8"], vec![]), "receiver.test").await,
        Err(Failure::Tls),
        "self-signed"
    );
    assert_eq!(told(trusting(&[], vec![certificate]), "receiver.test").await, Err(Failure::ForbiddenAddress));

    let without = Receiver::start(|mut stream| async move {
        let _ = stream.write_all(OK.as_bytes()).await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let plain = send_within(&client(), &without.url("https", "127.0.0.1"), patience).await;
    assert_eq!(plain.result.unwrap_err(), Failure::Tls);
    let closing = Receiver::start(|_| async {}).await;
    let closed = send_within(&client(), &closing.url("https", "127.0.0.1"), patience).await;
    assert!(matches!(closed.result, Err(Failure::Tls | Failure::Reset)), "{closed:?}");
    let hanging = Receiver::start(|stream| async move {
        let _held = stream;
        std::future::pending().await
    })
    .await;
    let hung = at_the_deadline(send(&client(), &hanging.url("https", "127.0.0.1"))).await;
    assert_eq!(hung.result.unwrap_err(), Failure::Timeout);
}

#[tokio::test]
async fn a_name_that_changes_its_answer_is_judged_at_each_connection() {
    let closing = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let receiver = Receiver::start(move |mut stream| async move {
        request(&mut stream).await;
        stream.write_all(closing.as_bytes()).await.expect("an answer");
    })
    .await;
    let turns: &[&[&str]] =
        &[&["127.0.0.1"], &["169.254.169.254"], &["127.0.0.1", "10.0.0.1"], &["::ffff:7f00:1"]];
    let (look_up, asked) = answers(turns);
    let client = client_with(&["127.0.0.0/8"], look_up, Vec::new());
    let url = receiver.url("http", "rebinding.test");
    let mut told = Vec::new();
    for _ in turns {
        told.push(send(&client, &url).await.result.map(|answer| answer.status));
    }
    let forbidden = Err(Failure::ForbiddenAddress);
    assert_eq!(told, [Ok(200), forbidden, forbidden, Ok(200)]);
    assert_eq!((receiver.connections(), asked.load(Ordering::SeqCst)), (2, 4), "each connection asks anew");
}

#[tokio::test]
async fn what_may_not_be_called_is_not_connected_to() {
    let receiver = Receiver::answering(OK).await;
    let port = receiver.address.port();
    let (look_up, _) = answers(&[&["127.0.0.1"]]);
    let closed = client_with(&[], Arc::clone(&look_up), Vec::new());
    for host in
        ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.0.0.1.", "[::ffff:127.0.0.1]"]
            .into_iter()
            .chain(["[::1]", "[64:ff9b::7f00:1]", "localhost", "localhost.", "LOCALHOST", "receiver.test"])
    {
        for scheme in ["https", "http"] {
            let outcome = send(&closed, &receiver.url(scheme, host)).await;
            assert_eq!(outcome.result.unwrap_err(), Failure::ForbiddenAddress, "{scheme}://{host}");
        }
    }
    let machines = Client::new(Options::new(&[])).expect("a client");
    let outcome = send_within(&machines, &receiver.url("https", "localhost"), Duration::from_secs(15)).await;
    assert_eq!(outcome.result.unwrap_err(), Failure::ForbiddenAddress, "by the machine's own look-up");
    // What is opened is no way to what is not, and nothing public is called without TLS.
    let opened = client_with(&["127.0.0.9/32"], Arc::clone(&look_up), Vec::new());
    let public = client_with(&["127.0.0.0/8"], answers(&[&["8.8.8.8"]]).0, Vec::new());
    for (client, url) in [
        (&opened, format!("http://127.0.0.1:{port}/")),
        (&opened, format!("https://receiver.test:{port}/")),
        (&public, "http://8.8.8.8/".to_owned()),
        (&public, "http://public.test/".to_owned()),
    ] {
        let outcome = send(client, &url.parse().unwrap()).await;
        assert_eq!(outcome.result.unwrap_err(), Failure::ForbiddenAddress, "{url}");
    }
    let open = client_with(&["127.0.0.0/8"], look_up, Vec::new());
    for url in [
        format!("http://ada:love@127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}/#part"),
        "http://127.0.0.1:0/".to_owned(),
        format!("ftp://127.0.0.1:{port}/"),
        "data:text/plain,hello".to_owned(),
    ] {
        let outcome = send(&open, &url.parse().unwrap()).await;
        assert_eq!(outcome.result.unwrap_err(), Failure::BadUrl, "{url}");
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn a_name_that_leads_nowhere_is_told_and_one_that_hangs_is_asked_for_once() {
    let url = "https://receiver.test/".parse().unwrap();
    let failing: LookUp = Arc::new(|_| Box::pin(async { Err(io::Error::other("no such name")) }));
    for look_up in [failing, answers(&[&[]]).0] {
        let outcome = send(&client_with(&[], look_up, Vec::new()), &url).await;
        assert_eq!(outcome.result.unwrap_err(), Failure::Dns);
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let hanging: LookUp = Arc::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::pending())
    });
    let client = client_with(&[], hanging, Vec::new());
    let attempts = futures_util::future::join_all((0..20).map(|_| send(&client, &url)));
    for outcome in at_the_deadline(attempts).await {
        assert_eq!(outcome.result.unwrap_err(), Failure::Timeout);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_workspace_whose_names_hang_leaves_look_ups_to_others() {
    let receiver = Receiver::answering(OK).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let look_up: LookUp = Arc::new(move |name| {
        let counted = Arc::clone(&counted);
        Box::pin(async move {
            if name.starts_with("hanging") {
                counted.fetch_add(1, Ordering::SeqCst);
                std::future::pending::<()>().await;
            }
            Ok(vec!["127.0.0.1".parse().expect("an address")])
        })
    });
    let client = client_with(&["127.0.0.0/8"], look_up, Vec::new());
    let [hanging, healthy] = [1, 2].map(Uuid::from_u128);
    let names = (0..300).map(|at| format!("http://hanging-{at}.test/").parse().expect("a URL"));
    let names: Vec<reqwest::Url> = names.collect();
    let patience = Duration::from_secs(15);
    let attempts = names.iter().map(|url| send_for(hanging, &client, url, patience));
    let mut attempts = Box::pin(futures_util::future::join_all(attempts));
    let others = async {
        while asked.load(Ordering::SeqCst) < 32 {
            tokio::task::yield_now().await;
        }
        let own = send_for(hanging, &client, &receiver.url("http", "own.test"), patience).await;
        assert_eq!(own.result.unwrap_err(), Failure::Exhausted, "the share is taken");
        let other = send_for(healthy, &client, &receiver.url("http", "other.test"), patience).await;
        assert_eq!(other.result.expect("an answer").status, 200);
    };
    tokio::select! {
        () = others => {}
        _ = &mut attempts => panic!("no name hangs"),
    }
    assert_eq!(asked.load(Ordering::SeqCst), 32);
}

#[tokio::test]
async fn a_share_of_the_look_ups_is_free_again_once_they_end() {
    let receiver = Receiver::answering(OK).await;
    let client = client_with(&["127.0.0.0/8"], answers(&[&["127.0.0.1"]]).0, Vec::new());
    for at in 0..100 {
        let url = receiver.url("http", &format!("name-{at}.test"));
        assert_eq!(send(&client, &url).await.result.expect("an answer").status, 200);
    }
}
