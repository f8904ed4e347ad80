//! One attempt at receivers that behave, and at those that do their worst.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use creator_api::webhooks::outbound::{
    self, Answer, BODY_KEPT_BYTES, Client, Failure, LookUp, Options, Outcome, Request, Verdict,
};
use creator_api::webhooks::sign::SigningKey;
use creator_api::webhooks::verify;
use reqwest::Url;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::support::{Receiver, request};

const SECRETS: [&str; 2] = [
    "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=",
    "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
];
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const BODY: &str = r#"{ "id": "evt_01kdvdna00evqvqnxgeqgkd28a",  "data": "ä" }"#;
/// What an attempt may take here, instead of 15 seconds.
const DEADLINE: Duration = Duration::from_millis(300);
/// How much later than that a busy machine may be.
const SLACK: Duration = Duration::from_secs(2);

/// Finds these addresses behind every name, the next ones at each look-up and the last ones from then on; and counts.
fn answers(turns: &'static [&'static [&'static str]]) -> (LookUp, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let look_up: LookUp = Arc::new(move |_| {
        let turn = counted.fetch_add(1, Ordering::SeqCst).min(turns.len() - 1);
        let found: Vec<IpAddr> = turns[turn].iter().map(|ip| ip.parse().expect("an address")).collect();
        Box::pin(async move { Ok(found) })
    });
    (look_up, asked)
}

fn client_with(allow: &[&str], look_up: LookUp, roots: Vec<CertificateDer<'static>>) -> Client {
    let allow = allow.iter().map(|network| network.parse().expect("a network")).collect();
    Client::new(Options { allow, look_up, roots }).expect("a client")
}

/// A client that may call this machine.
fn client() -> Client {
    client_with(&["127.0.0.0/8"], answers(&[&["127.0.0.1"]]).0, Vec::new())
}

async fn send(client: &Client, url: &Url) -> Outcome {
    send_within(client, url, DEADLINE).await
}

async fn send_within(client: &Client, url: &Url, deadline: Duration) -> Outcome {
    let keys = SECRETS.map(|secret| SigningKey::new(secret).expect("a secret"));
    let request = Request {
        url,
        event_id: "evt_01kdvdna00evqvqnxgeqgkd28a",
        event_type: "student.created",
        delivery_id: "dlv_01khx04p3afx28x09cxt9qyanb",
        body: Bytes::from_static(BODY.as_bytes()),
        keys: &keys,
        now: 1_767_225_600,
        deadline,
    };
    outbound::send(client, request).await
}

/// The answer to one attempt at this receiver.
async fn answer(receiver: &Receiver) -> Answer {
    send(&client(), &receiver.url("http", "127.0.0.1")).await.result.expect("an answer")
}

/// Why one attempt at this receiver has no answer.
async fn failure(receiver: &Receiver) -> Failure {
    let outcome = send(&client(), &receiver.url("http", "127.0.0.1")).await;
    assert_eq!(outcome.verdict(), Verdict::Retry);
    outcome.result.expect_err("no answer")
}

/// Does this, which takes as long as the deadline and no longer.
async fn at_the_deadline<T>(work: impl Future<Output = T>) -> T {
    let began = Instant::now();
    let done = work.await;
    assert!(began.elapsed() >= DEADLINE && began.elapsed() < DEADLINE + SLACK, "{:?}", began.elapsed());
    done
}

#[tokio::test]
async fn a_request_is_what_the_contract_says() {
    let (seen, mut requests) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |mut stream| {
        let seen = seen.clone();
        async move {
            seen.send(request(&mut stream).await).expect("the story listens");
            stream.write_all(OK.as_bytes()).await.expect("an answer");
        }
    })
    .await;
    let outcome = send(&client(), &receiver.url("http", "127.0.0.1")).await;
    assert_eq!(outcome.verdict(), Verdict::Delivered);

    let raw = String::from_utf8(requests.recv().await.unwrap()).unwrap();
    let (head, body) = raw.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines.remove(0), "POST /hook HTTP/1.1");
    lines.sort_unstable();
    insta::assert_snapshot!(lines.join("\n").replace(&receiver.address.to_string(), "ADDRESS"), @"
    accept: */*
    content-length: 57
    content-type: application/json
    host: ADDRESS
    user-agent: creator-api/0.1.0
    webhook-id: evt_01kdvdna00evqvqnxgeqgkd28a
    webhook-signature: v1,9kuG22Mvjl2LtX5ID2STazTQ8JeJmXbt16ot0mvFYnI= v1,KBSTyIKRxIcsq0QrowdCEoKIv6VEE4T/0QwFV+zNgYM=
    webhook-timestamp: 1767225600
    x-svc-delivery: dlv_01khx04p3afx28x09cxt9qyanb
    x-svc-event: student.created
    x-svc-signature: t=1767225600,v1=6caf6b6d8cf4abdabe7dad800452e257c1fd1a2d97fc14f057b397c35ce7d152,v1=e63cbb0fa24c4e96db5020adc9b1818d6db01b979228704623b4881a165f680c
    ");
    assert_eq!(body, BODY);
    let sent = &outcome.request_headers;
    assert!(sent.iter().all(|(name, value)| lines.contains(&format!("{name}: {value}").as_str())));
    assert_eq!(sent.len(), 8);
    for secret in SECRETS {
        verify::verify(
            body.as_bytes(),
            &sent["x-svc-signature"],
            &[secret],
            1_767_225_601,
            verify::TOLERANCE,
        )
        .unwrap();
    }
}

#[tokio::test]
async fn a_status_decides_what_becomes_of_the_delivery() {
    for (status, verdict) in [
        (200, Verdict::Delivered),
        (204, Verdict::Delivered),
        (299, Verdict::Delivered),
        (301, Verdict::Dead),
        (304, Verdict::Dead),
        (400, Verdict::Dead),
        (408, Verdict::Retry),
        (410, Verdict::Dead),
        (429, Verdict::Retry),
        (500, Verdict::Retry),
        (503, Verdict::Retry),
        (599, Verdict::Retry),
        (600, Verdict::Dead),
    ] {
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nretry-after: 90000\r\n\r\n");
        let receiver = Receiver::answering(head).await;
        let outcome = send(&client(), &receiver.url("http", "127.0.0.1")).await;
        assert_eq!(outcome.verdict(), verdict, "{status}");
        let answer = outcome.result.unwrap();
        assert_eq!((answer.status, answer.retry_after), (status, Some(Duration::from_secs(86_400))));
    }
}

#[tokio::test]
async fn connections_are_used_again() {
    let receiver = Receiver::answering(OK).await;
    let client = client();
    for host in ["127.0.0.1", "receiver.test"] {
        for _ in 0..20 {
            let outcome = send(&client, &receiver.url("http", host)).await;
            assert_eq!(outcome.result.unwrap().body, b"ok");
        }
    }
    assert_eq!(receiver.connections(), 2);
}

#[tokio::test]
async fn whoever_hangs_is_left_at_the_deadline() {
    let (left, mut ends) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |mut stream: TcpStream| {
        let left = left.clone();
        async move {
            request(&mut stream).await;
            left.send(stream.read(&mut [0]).await.unwrap_or(0)).expect("the story listens");
        }
    })
    .await;
    assert_eq!(at_the_deadline(failure(&receiver)).await, Failure::Timeout);
    let end = tokio::time::timeout(SLACK, ends.recv()).await.expect("the connection is given up");
    assert_eq!(end, Some(0));
}

#[tokio::test]
async fn a_head_that_drips_is_no_answer_and_a_body_that_drips_changes_none() {
    let drip = |at_once: &'static str, slowly: &'static str| {
        Receiver::start(move |mut stream| async move {
            request(&mut stream).await;
            stream.write_all(at_once.as_bytes()).await.expect("the head");
            for byte in slowly.bytes().cycle() {
                if stream.write_all(&[byte]).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
    };
    let head = drip("", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(at_the_deadline(failure(&head)).await, Failure::Timeout);

    let body = drip("HTTP/1.1 201 Created\r\ncontent-length: 1000000\r\n\r\n", "z").await;
    let answer = at_the_deadline(answer(&body)).await;
    assert_eq!(answer.status, 201);
    assert!(!answer.body.is_empty() && answer.body.len() < 100, "{}", answer.body.len());

    // Notices before the answer, without end.
    let notices = drip("", "HTTP/1.1 102 Processing\r\n\r\n").await;
    assert_eq!(at_the_deadline(failure(&notices)).await, Failure::Timeout);
}

#[tokio::test]
async fn an_endless_answer_is_let_go_of_and_kept_in_little_room() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let (wrote, mut written) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |mut stream| {
        let wrote = wrote.clone();
        async move {
            request(&mut stream).await;
            let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
            let mut bytes = 0;
            let mut sent = stream.write_all(HEAD.as_bytes()).await;
            while sent.is_ok() {
                bytes += chunk.len();
                sent = stream.write_all(chunk.as_bytes()).await;
            }
            wrote.send(bytes).expect("the story listens");
        }
    })
    .await;
    let (client, url) = (client(), receiver.url("http", "127.0.0.1"));
    for _ in 0..50 {
        let began = Instant::now();
        let answer = send_within(&client, &url, Duration::from_secs(15)).await.result.expect("an answer");
        assert!(began.elapsed() < Duration::from_secs(5), "nothing is waited for");
        assert_eq!((answer.status, answer.body.len()), (200, BODY_KEPT_BYTES));
        assert!(answer.body.capacity() <= 2 * BODY_KEPT_BYTES);
        // What left the receiver fills buffers of the system and the client, and grows no further.
        let bytes = written.recv().await.unwrap();
        assert!(bytes < 16 << 20, "{bytes}");
    }
}

#[tokio::test]
async fn headers_without_end_are_no_answer_and_many_are_kept_in_part() {
    let endless = Receiver::start(|mut stream| async move {
        request(&mut stream).await;
        let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while sent.is_ok() {
            sent = stream.write_all(format!("x-filler: {}\r\n", "y".repeat(1000)).as_bytes()).await;
        }
    })
    .await;
    let url = endless.url("http", "127.0.0.1");
    let outcome = send_within(&client(), &url, Duration::from_secs(15)).await;
    assert_eq!(outcome.result.unwrap_err(), Failure::Protocol);

    let filler = format!("x-filler: {}\r\n", "y".repeat(1000)).repeat(90);
    let many = Receiver::answering(format!("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n{filler}\r\n")).await;
    let kept: usize = answer(&many).await.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    assert!(kept > 10_000 && kept <= 17_000, "{kept}");
}

#[tokio::test]
async fn a_connection_that_breaks_is_no_answer_before_the_head_and_one_after_it() {
    let reset = Receiver::start(|mut stream| async move {
        request(&mut stream).await;
        stream.set_zero_linger().expect("a socket");
    })
    .await;
    assert_eq!(failure(&reset).await, Failure::Reset);

    let breaking = |answer: &'static str| {
        Receiver::start(move |mut stream| async move {
            request(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.expect("the beginning");
        })
    };
    for (beginning, expected) in [
        ("", Failure::Closed),
        ("HTTP/1.1 200 OK\r\ncontent-le", Failure::Closed),
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n", Failure::Protocol),
        ("HTTP/1.1 twenty OK\r\n\r\n", Failure::Protocol),
        ("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", Failure::Protocol),
    ] {
        assert_eq!(failure(&breaking(beginning).await).await, expected, "{beginning:?}");
    }
    for beginning in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nwhat?",
        "HTTP/1.1 200 OK\r\n\r\nhalf",
    ] {
        let answer = answer(&breaking(beginning).await).await;
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"half"[..]), "{beginning:?}");
    }
    let closed = Receiver::start(|_| async {}).await;
    let url = closed.url("http", "127.0.0.1");
    drop(closed);
    tokio::task::yield_now().await;
    let refused = send(&client(), &url).await.result.unwrap_err();
    assert_eq!(refused, Failure::Connect);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = Receiver::answering(OK).await;
    for location in ["http://169.254.169.254/latest/meta-data/", target.url("http", "127.0.0.1").as_str()] {
        for status in [301, 302, 303, 307, 308] {
            let head = format!("HTTP/1.1 {status} X\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
            let receiver = Receiver::answering(head).await;
            let outcome = send(&client(), &receiver.url("http", "127.0.0.1")).await;
            assert_eq!(outcome.verdict(), Verdict::Dead);
            assert_eq!(outcome.result.unwrap().headers["location"], location);
        }
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn a_gzip_bomb_is_kept_as_it_came() {
    // 64 KiB of zeros, packed. Packed files in a row are one packed file: 640 MiB.
    let mut member =
        vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0xed, 0xc1, 1, 1, 0, 0, 0, 0x80, 0x90, 0xfe, 0xaf];
    member.extend([0xee, 8, 0x0a].into_iter().chain([0; 63]));
    member.extend([0x6a, 0xeb, 0x8e, 0x97, 0xd7, 0, 0, 1, 0]);
    let bomb = member.repeat(10_000);
    let mut whole =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", bomb.len())
            .into_bytes();
    whole.extend_from_slice(&bomb);
    let answer = answer(&Receiver::answering(whole).await).await;
    assert_eq!(answer.headers["content-encoding"], "gzip");
    assert!(answer.body == bomb[..BODY_KEPT_BYTES]);
}

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
