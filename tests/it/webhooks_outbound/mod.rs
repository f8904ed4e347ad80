//! Single attempts to send a webhook to well-behaved and hostile receivers.

mod hostile;
mod reach;

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use domain::workspaces::Mode;
use reqwest::Url;
use rustls::pki_types::CertificateDer;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::Instant;
use uuid::Uuid;
use webhooks::outbound::{
    self, AttemptFailure, AttemptOutcome, ClientOptions, DeliveryVerdict, EndpointResponse, ResolveFunction,
    WebhookClient, WebhookRequest,
};
use webhooks::sign::SigningKey;
use webhooks::verify;

use crate::support::{Receiver, read_request};

const SECRETS: [&str; 2] = [
    "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=",
    "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
];
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const BODY: &str = r#"{ "id": "evt_01kdvdna00evqvqnxgeqgkd28a",  "data": "ä" }"#;
/// The time limit of an attempt in these tests, instead of 15 seconds.
const TIMEOUT: Duration = Duration::from_millis(300);
/// The time after the time limit within which an attempt must end, even on a busy machine.
const SLACK: Duration = Duration::from_secs(2);

/// Returns a resolve function that ignores the name: its calls return these lists of addresses in order, and further
/// calls return the last list. Also returns a counter of the calls.
fn resolving_to(results: &'static [&'static [&'static str]]) -> (ResolveFunction, Arc<AtomicUsize>) {
    let lookups = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&lookups);
    let resolve: ResolveFunction = Arc::new(move |_| {
        let index = counted.fetch_add(1, Ordering::SeqCst).min(results.len() - 1);
        let addresses: Vec<IpAddr> =
            results[index].iter().map(|ip| ip.parse().expect("an address")).collect();
        Box::pin(async move { Ok(addresses) })
    });
    (resolve, lookups)
}

fn client_with(
    allow: &[&str],
    resolve: ResolveFunction,
    roots: Vec<CertificateDer<'static>>,
) -> WebhookClient {
    let allowed_networks = allow.iter().map(|network| network.parse().expect("a network")).collect();
    WebhookClient::new(ClientOptions { allowed_networks, resolve, additional_roots: roots })
        .expect("a client")
}

/// Returns a client that may call the loopback network, and resolves all names to 127.0.0.1.
fn client() -> WebhookClient {
    client_with(&["127.0.0.0/8"], resolving_to(&[&["127.0.0.1"]]).0, Vec::new())
}

async fn send(client: &WebhookClient, url: &Url) -> AttemptOutcome {
    send_within(client, url, TIMEOUT).await
}

async fn send_within(client: &WebhookClient, url: &Url, timeout: Duration) -> AttemptOutcome {
    send_for(Uuid::from_u128(1), client, url, timeout).await
}

/// Makes one attempt for this workspace.
async fn send_for(workspace: Uuid, client: &WebhookClient, url: &Url, timeout: Duration) -> AttemptOutcome {
    let keys = SECRETS.map(|secret| SigningKey::new(secret).expect("a secret"));
    let request = WebhookRequest {
        workspace,
        mode: Mode::Live,
        url,
        event_id: "evt_01kdvdna00evqvqnxgeqgkd28a",
        event_type: "student.created",
        delivery_id: "dlv_01khx04p3afx28x09cxt9qyanb",
        body: Bytes::from_static(BODY.as_bytes()),
        keys: &keys,
        ed25519_keys: &[],
        custom_headers: &[],
        now: 1_767_225_600,
        timeout,
        traceparent: None,
    };
    outbound::send(client, request).await
}

/// Makes one attempt to this receiver, and returns its response.
async fn response_of(receiver: &Receiver) -> EndpointResponse {
    send(&client(), &receiver.url("http", "127.0.0.1")).await.result.expect("a response")
}

/// Makes one attempt to this receiver, and returns why it got no response. Asserts that it would be retried.
async fn failure_of(receiver: &Receiver) -> AttemptFailure {
    let outcome = send(&client(), &receiver.url("http", "127.0.0.1")).await;
    assert_eq!(outcome.verdict(), DeliveryVerdict::Retry);
    outcome.result.expect_err("no response")
}

/// Asserts that this future ends at the time limit, and returns its output.
async fn at_the_time_limit<T>(future: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let result = future.await;
    assert!(started.elapsed() >= TIMEOUT && started.elapsed() < TIMEOUT + SLACK, "{:?}", started.elapsed());
    result
}

#[tokio::test]
async fn a_request_has_the_headers_and_body_of_the_contract() {
    let (received, mut requests) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |mut stream| {
        let received = received.clone();
        async move {
            received.send(read_request(&mut stream).await).expect("the test receives");
            stream.write_all(OK.as_bytes()).await.expect("the response is written");
        }
    })
    .await;
    let outcome = send(&client(), &receiver.url("http", "127.0.0.1")).await;
    assert_eq!(outcome.verdict(), DeliveryVerdict::Delivered);

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
    x-svc-sequence: 01kdvdna00evqvqnxgeqgkd28a
    x-svc-signature: t=1767225600,v1=6caf6b6d8cf4abdabe7dad800452e257c1fd1a2d97fc14f057b397c35ce7d152,v1=e63cbb0fa24c4e96db5020adc9b1818d6db01b979228704623b4881a165f680c
    ");
    assert_eq!(body, BODY);
    let recorded_headers = &outcome.request_headers;
    assert!(
        recorded_headers.iter().all(|(name, value)| lines.contains(&format!("{name}: {value}").as_str()))
    );
    assert_eq!(recorded_headers.len(), 9);
    for secret in SECRETS {
        verify::verify(
            body.as_bytes(),
            &recorded_headers["x-svc-signature"],
            &[secret],
            1_767_225_601,
            verify::TOLERANCE,
        )
        .unwrap();
    }
}

#[tokio::test]
async fn the_status_decides_the_verdict() {
    for (status, verdict) in [
        (200, DeliveryVerdict::Delivered),
        (204, DeliveryVerdict::Delivered),
        (299, DeliveryVerdict::Delivered),
        (301, DeliveryVerdict::Dead),
        (304, DeliveryVerdict::Dead),
        (400, DeliveryVerdict::Dead),
        (408, DeliveryVerdict::Retry),
        (410, DeliveryVerdict::Dead),
        (429, DeliveryVerdict::Retry),
        (500, DeliveryVerdict::Retry),
        (503, DeliveryVerdict::Retry),
        (599, DeliveryVerdict::Retry),
        (600, DeliveryVerdict::Dead),
    ] {
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nretry-after: 90000\r\n\r\n");
        let receiver = Receiver::responding_with(head).await;
        let outcome = send(&client(), &receiver.url("http", "127.0.0.1")).await;
        assert_eq!(outcome.verdict(), verdict, "{status}");
        let response = outcome.result.unwrap();
        assert_eq!((response.status, response.retry_after), (status, Some(Duration::from_secs(86_400))));
    }
}

#[tokio::test]
async fn connections_are_reused() {
    let receiver = Receiver::responding_with(OK).await;
    let client = client();
    for host in ["127.0.0.1", "receiver.test"] {
        for _ in 0..20 {
            let outcome = send(&client, &receiver.url("http", host)).await;
            assert_eq!(outcome.result.unwrap().body, b"ok");
        }
    }
    assert_eq!(receiver.connections(), 2);
}
