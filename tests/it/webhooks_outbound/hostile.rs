//! Hostile receivers, which hang, respond slowly or without end, close the connection early, or redirect.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::Instant;
use webhooks::outbound::{AttemptFailure, DeliveryVerdict, MAX_STORED_BODY_BYTES};

use super::{OK, SLACK, at_the_time_limit, client, failure_of, response_of, send, send_within};
use crate::support::{Receiver, read_request};

#[tokio::test]
async fn a_hanging_receiver_is_disconnected_at_the_deadline() {
    let (closed, mut closed_connections) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |mut stream: TcpStream| {
        let closed = closed.clone();
        async move {
            read_request(&mut stream).await;
            closed.send(stream.read(&mut [0]).await.unwrap_or(0)).expect("the test receives");
        }
    })
    .await;
    assert_eq!(at_the_time_limit(failure_of(&receiver)).await, AttemptFailure::Timeout);
    let bytes =
        tokio::time::timeout(SLACK, closed_connections.recv()).await.expect("the connection is closed");
    assert_eq!(bytes, Some(0));
}

#[tokio::test]
async fn a_slow_head_is_a_timeout_and_a_slow_body_is_a_response() {
    // Sends the first text at once, and the second one slowly and repeatedly.
    let slow = |at_once: &'static str, slowly: &'static str| {
        Receiver::start(move |mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(at_once.as_bytes()).await.expect("the head");
            for byte in slowly.bytes().cycle() {
                if stream.write_all(&[byte]).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
    };
    let head = slow("", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(at_the_time_limit(failure_of(&head)).await, AttemptFailure::Timeout);

    let body = slow("HTTP/1.1 201 Created\r\ncontent-length: 1000000\r\n\r\n", "z").await;
    let response = at_the_time_limit(response_of(&body)).await;
    assert_eq!(response.status, 201);
    assert!(!response.body.is_empty() && response.body.len() < 100, "{}", response.body.len());

    // The receiver sends interim responses without end.
    let interim = slow("", "HTTP/1.1 102 Processing\r\n\r\n").await;
    assert_eq!(at_the_time_limit(failure_of(&interim)).await, AttemptFailure::Timeout);
}

/// Starts a receiver that sends `beginning` and then `repeated` without end, as soon as it has received something.
async fn endless(beginning: String, repeated: &'static str) -> Receiver {
    Receiver::start(move |mut stream| {
        let beginning = beginning.clone();
        async move {
            let _ = stream.read(&mut [0; 4096]).await;
            let many = repeated.repeat(64 * 1024 / repeated.len());
            let mut result = stream.write_all(beginning.as_bytes()).await;
            while result.is_ok() {
                result = stream.write_all(many.as_bytes()).await;
            }
        }
    })
    .await
}

#[tokio::test]
async fn no_endless_response_lasts_until_the_time_limit() {
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let limit = Duration::from_secs(10);
    for (scheme, beginning, repeated, expected) in [
        ("http", String::new(), "\r\n", Err(AttemptFailure::Protocol)),
        ("http", "HTTP/1.1 200 O".to_owned(), "K", Err(AttemptFailure::Protocol)),
        ("http", "HTTP/1.1 200 OK\r\nx: ".to_owned(), "y", Err(AttemptFailure::Protocol)),
        ("http", CHUNKED.to_owned(), "1\r\nx\r\n", Ok(200)),
        ("http", format!("{CHUNKED}1;"), "x", Ok(200)),
        ("http", format!("{CHUNKED}0\r\n"), "a: b\r\n", Ok(200)),
        // TLS: handshake records without content, a long handshake message, and warnings.
        ("https", String::new(), "\x16\x03\x03\0\0", Err(AttemptFailure::Tls)),
        ("https", String::new(), "\x16\x03\x03\0\x04\x02\0\x7f\x7f", Err(AttemptFailure::Tls)),
        ("https", String::new(), "\x15\x03\x03\0\x02\x01\x5a", Err(AttemptFailure::Tls)),
    ] {
        let case = format!("{beginning:?} {repeated:?}");
        let receiver = endless(beginning, repeated).await;
        let started = Instant::now();
        let outcome = send_within(&client(), &receiver.url(scheme, "127.0.0.1"), limit).await;
        assert_eq!(outcome.result.map(|response| response.status), expected, "{case}");
        assert!(started.elapsed() < limit, "{case}");
    }
}

#[tokio::test]
async fn more_than_eight_interim_responses_end_the_attempt() {
    let receiver = endless(String::new(), "HTTP/1.1 100 Continue\r\n\r\n").await;
    let url = receiver.url("http", "127.0.0.1");
    let started = Instant::now();
    let outcome = send_within(&client(), &url, Duration::from_secs(5)).await;
    assert_eq!(outcome.verdict(), DeliveryVerdict::Retry);
    assert_eq!(outcome.result.unwrap_err(), AttemptFailure::InterimResponses);
    assert!(started.elapsed() < Duration::from_secs(5), "the attempt ends before its time limit");

    // The attempt does not wait for what follows the ninth.
    let receiver = Receiver::start(async |mut stream| {
        read_request(&mut stream).await;
        stream.write_all("HTTP/1.1 102 Processing\r\n\r\n".repeat(9).as_bytes()).await.expect("nine heads");
        std::future::pending::<()>().await;
    })
    .await;
    assert_eq!(failure_of(&receiver).await, AttemptFailure::InterimResponses);

    for (count, expected) in [(8, Ok(200)), (9, Err(AttemptFailure::InterimResponses))] {
        let interim = "HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n".repeat(count);
        let receiver = Receiver::responding_with(format!("{interim}{OK}")).await;
        // The second request uses the connection of the first one.
        let client = client();
        for _ in 0..2 {
            let result = send(&client, &receiver.url("http", "127.0.0.1")).await.result;
            assert_eq!(result.map(|response| response.status), expected, "{count}");
        }
    }
}

#[tokio::test]
async fn an_endless_response_is_cut_and_uses_little_memory() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let (written, mut written_bytes) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |mut stream| {
        let written = written.clone();
        async move {
            read_request(&mut stream).await;
            let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
            let mut bytes = 0;
            let mut result = stream.write_all(HEAD.as_bytes()).await;
            while result.is_ok() {
                bytes += chunk.len();
                result = stream.write_all(chunk.as_bytes()).await;
            }
            written.send(bytes).expect("the test receives");
        }
    })
    .await;
    let (client, url) = (client(), receiver.url("http", "127.0.0.1"));
    for _ in 0..50 {
        let started = Instant::now();
        let response = send_within(&client, &url, Duration::from_secs(15)).await.result.expect("a response");
        assert!(started.elapsed() < Duration::from_secs(5), "the client does not wait for the end");
        assert_eq!((response.status, response.body.len()), (200, MAX_STORED_BODY_BYTES));
        assert!(response.body.capacity() <= 2 * MAX_STORED_BODY_BYTES);
        // The receiver can fill the buffers of the system and the client, and no more.
        let bytes = written_bytes.recv().await.unwrap();
        assert!(bytes < 16 << 20, "{bytes}");
    }
}

#[tokio::test]
async fn heads_above_16_kib_are_a_protocol_failure_and_stored_headers_are_truncated() {
    let endless = Receiver::start(|mut stream| async move {
        read_request(&mut stream).await;
        let mut result = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while result.is_ok() {
            result = stream.write_all(format!("x-filler: {}\r\n", "y".repeat(1000)).as_bytes()).await;
        }
    })
    .await;
    let url = endless.url("http", "127.0.0.1");
    let outcome = send_within(&client(), &url, Duration::from_secs(15)).await;
    assert_eq!(outcome.result.unwrap_err(), AttemptFailure::Protocol);

    // One character of these headers has one byte. Stored as UTF-8, it has three.
    let head = |lines: usize| {
        let line = [b"x-filler: ".as_slice(), &[0xff; 1000], b"\r\n"].concat().repeat(lines);
        [b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n", line.as_slice(), b"\r\n"].concat()
    };
    let large = Receiver::responding_with(head(15)).await;
    let stored_bytes: usize =
        response_of(&large).await.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    assert!(stored_bytes > 10_000 && stored_bytes <= 17_000, "{stored_bytes}");
    let too_large = Receiver::responding_with(head(17)).await;
    assert_eq!(failure_of(&too_large).await, AttemptFailure::Protocol);
}

#[tokio::test]
async fn a_broken_connection_is_a_failure_before_the_head_and_a_response_after_it() {
    let reset = Receiver::start(|mut stream| async move {
        read_request(&mut stream).await;
        stream.set_zero_linger().expect("a socket");
    })
    .await;
    assert_eq!(failure_of(&reset).await, AttemptFailure::Reset);

    let closing_after = |beginning: &'static str| {
        Receiver::start(move |mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(beginning.as_bytes()).await.expect("the beginning is written");
        })
    };
    for (beginning, expected) in [
        ("", AttemptFailure::Closed),
        ("HTTP/1.1 200 OK\r\ncontent-le", AttemptFailure::Closed),
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n", AttemptFailure::Protocol),
        ("HTTP/1.1 twenty OK\r\n\r\n", AttemptFailure::Protocol),
        ("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", AttemptFailure::Protocol),
    ] {
        assert_eq!(failure_of(&closing_after(beginning).await).await, expected, "{beginning:?}");
    }
    for beginning in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nwhat?",
        "HTTP/1.1 200 OK\r\n\r\nhalf",
    ] {
        let response = response_of(&closing_after(beginning).await).await;
        assert_eq!((response.status, response.body.as_slice()), (200, &b"half"[..]), "{beginning:?}");
    }
    let closed = Receiver::start(|_| async {}).await;
    let url = closed.url("http", "127.0.0.1");
    drop(closed);
    tokio::task::yield_now().await;
    let refused = send(&client(), &url).await.result.unwrap_err();
    assert_eq!(refused, AttemptFailure::Connect);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = Receiver::responding_with(OK).await;
    for location in ["http://169.254.169.254/latest/meta-data/", target.url("http", "127.0.0.1").as_str()] {
        for status in [301, 302, 303, 307, 308] {
            let head = format!("HTTP/1.1 {status} X\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
            let receiver = Receiver::responding_with(head).await;
            let outcome = send(&client(), &receiver.url("http", "127.0.0.1")).await;
            assert_eq!(outcome.verdict(), DeliveryVerdict::Dead);
            assert_eq!(outcome.result.unwrap().headers["location"], location);
        }
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn a_gzip_bomb_is_stored_without_decoding() {
    // A gzip file of 64 KiB of zeros. Concatenated gzip files are one gzip file, which decodes to 625 MiB here.
    let mut member =
        vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0xed, 0xc1, 1, 1, 0, 0, 0, 0x80, 0x90, 0xfe, 0xaf];
    member.extend([0xee, 8, 0x0a].into_iter().chain([0; 63]));
    member.extend([0x6a, 0xeb, 0x8e, 0x97, 0xd7, 0, 0, 1, 0]);
    let bomb = member.repeat(10_000);
    let mut response_bytes =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", bomb.len())
            .into_bytes();
    response_bytes.extend_from_slice(&bomb);
    let response = response_of(&Receiver::responding_with(response_bytes).await).await;
    assert_eq!(response.headers["content-encoding"], "gzip");
    assert!(response.body == bomb[..MAX_STORED_BODY_BYTES]);
}
