//! One attempt at receivers that behave, and at those that do their worst.

mod hostile;
mod reach;

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use reqwest::Url;
use rustls::pki_types::CertificateDer;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::Instant;
use uuid::Uuid;
use webhooks::outbound::{self, Answer, Client, Failure, LookUp, Options, Outcome, Request, Verdict};
use webhooks::sign::SigningKey;
use webhooks::verify;

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
    send_for(Uuid::from_u128(1), client, url, deadline).await
}

/// One attempt at an event of this workspace.
async fn send_for(workspace: Uuid, client: &Client, url: &Url, deadline: Duration) -> Outcome {
    let keys = SECRETS.map(|secret| SigningKey::new(secret).expect("a secret"));
    let request = Request {
        workspace,
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
