//! The mail queue: a mail is queued in the transaction of its cause and sent at least once, always with the same
//! message id.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use entity::mails::MailState;
use foundation::clock::from_ms;
use mail::queue;
use mail_parser::{MessageParser, MimeHeaders};
use tokio::sync::{Notify, oneshot};

use crate::support::mail::{OWNER, app_sending_to, deliver_mail, queue_context, transport};
use crate::support::{START, SmtpReaction, SmtpServer, TestApp};

#[tokio::test]
async fn a_mail_is_sent_once_with_both_parts() {
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    let id = workspace.enqueue_mail().await;
    let queued = workspace.only_mail().await;
    app.clock.advance(Duration::from_secs(90));
    assert_eq!((deliver_mail(&app).await, deliver_mail(&app).await), (1, 0));

    let [received] = &smtp_server.mails()[..] else { panic!("one mail") };
    assert_eq!(
        (received.from.as_str(), &received.to[..]),
        ("no-reply@school.example", &[OWNER.to_owned()][..])
    );
    assert!(
        received.bytes.is_ascii()
            && !received.bytes.split(|byte| *byte == b'\n').any(|line| line.len() > 100)
    );
    let mail = received.parse();
    let row = workspace.only_mail().await;
    assert_eq!(mail.subject(), Some("Webhook endpoint on hooks.acme.example was disabled"));
    assert_eq!(mail.message_id(), Some(format!("{id}@school.example").as_str()));
    assert_eq!(mail.date().map(|date| date.to_rfc3339()), Some(START.to_owned()), "the time of queueing");
    assert_eq!(mail.header_raw("Auto-Submitted").map(str::trim), Some("auto-generated"));
    assert_eq!(mail.header_raw("From").map(str::trim), Some("Acme <no-reply@school.example>"));
    assert_eq!(mail.header_raw("To").map(str::trim), Some(OWNER));
    let content_types: Vec<_> = mail.parts.iter().filter_map(|part| part.content_type()?.subtype()).collect();
    assert_eq!(content_types, ["alternative", "plain", "html"]);
    let with_lf = |text: std::borrow::Cow<'_, str>| text.replace("\r\n", "\n");
    assert!(queued.text_body.contains("Müller & Söhne"));
    assert!(queued.html_body.contains("Müller &amp; Söhne"));
    assert_eq!(mail.body_text(0).map(with_lf), Some(queued.text_body));
    assert_eq!(mail.body_html(0).map(with_lf), Some(queued.html_body));
    assert_eq!((row.text_body.as_str(), row.html_body.as_str()), ("", ""), "a sent mail has no content");
    assert_eq!((row.state, row.attempts, row.sent_at), (MailState::Sent, 1, Some(app.clock.now_ms())));
}

#[tokio::test]
async fn a_rolled_back_change_sends_no_mail() {
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    let mut write = app.begin_write().await;
    workspace.enqueue_mail_in(&mut write).await;
    write.rollback().await.unwrap();
    assert_eq!(deliver_mail(&app).await, 0);
    assert!(smtp_server.mails().is_empty() && workspace.mails().await.is_empty());
}

#[tokio::test]
async fn a_crash_after_acceptance_resends_the_mail_with_the_same_id() {
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    workspace.enqueue_mail().await;
    smtp_server.script(".", SmtpReaction::Hold(Arc::default()));
    let crashing = app.app.clone();
    let worker = tokio::spawn(async move {
        queue::deliver_due(queue_context(&crashing), &transport(&crashing)).await.unwrap()
    });
    smtp_server.wait_for_mails(1).await;
    worker.abort();
    assert!(worker.await.unwrap_err().is_cancelled());

    assert_eq!(deliver_mail(&app).await, 0, "the crashed worker still has the lease");
    app.clock.advance(Duration::from_secs(120));
    assert_eq!(deliver_mail(&app).await, 1);
    let [first, second] = &smtp_server.mails()[..] else { panic!("two mails") };
    assert_eq!(first.bytes, second.bytes);
    assert_eq!(first.message_id(), second.message_id());
}

#[tokio::test]
async fn a_lost_response_resends_the_mail_with_the_same_id() {
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    workspace.enqueue_mail().await;
    smtp_server.script(".", SmtpReaction::Close);
    assert_eq!(deliver_mail(&app).await, 0);
    assert_eq!(workspace.only_mail().await.state, MailState::Pending);
    app.clock.advance(Duration::from_secs(60));
    assert_eq!(deliver_mail(&app).await, 1);
    let [first, second] = &smtp_server.mails()[..] else { panic!("two mails") };
    assert_eq!(first.bytes, second.bytes);
}

#[tokio::test]
async fn concurrent_passes_never_send_the_same_mail() {
    const MAILS: usize = 30;
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let other = app.other_process().await;
    let workspace = app.workspace("acme").await;
    for _ in 0..MAILS {
        workspace.enqueue_mail().await;
    }
    let (transport, other_transport) = (transport(&app.app), transport(&other));
    let (first, second, third) = tokio::join!(
        queue::deliver_due(queue_context(&app.app), &transport),
        queue::deliver_due(queue_context(&app.app), &transport),
        queue::deliver_due(queue_context(&other), &other_transport),
    );
    // A pass ends when all due mails are claimed by others. The next one sends those that are left.
    let sent = first.unwrap() + second.unwrap() + third.unwrap() + deliver_mail(&app).await;
    assert_eq!(sent, MAILS as u64);
    let mut ids: Vec<String> = smtp_server.mails().iter().map(|mail| mail.message_id()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), smtp_server.mails().len()), (MAILS, MAILS));
    assert!(workspace.mails().await.iter().all(|mail| mail.state == MailState::Sent && mail.attempts == 1));
}

#[tokio::test]
async fn a_worker_that_was_suspended_past_its_lease_changes_nothing() {
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    workspace.enqueue_mail().await;
    let resume = Arc::new(Notify::new());
    smtp_server.script(".", SmtpReaction::Hold(Arc::clone(&resume)));
    let suspended = app.app.clone();
    let worker = tokio::spawn(async move {
        queue::deliver_due(queue_context(&suspended), &transport(&suspended)).await.unwrap()
    });
    smtp_server.wait_for_mails(1).await;
    app.clock.advance(Duration::from_secs(120));
    smtp_server.script("RCPT", SmtpReaction::Reply("550 5.1.1 no such user"));
    assert_eq!(deliver_mail(&app).await, 0);
    let settled = workspace.only_mail().await;
    assert_eq!(settled.state, MailState::Dead);
    resume.notify_one();
    worker.await.unwrap();
    assert_eq!(workspace.only_mail().await, settled);
}

#[tokio::test]
async fn without_a_mail_server_mail_is_written_to_the_data_folder() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let id = workspace.enqueue_mail().await;
    let queued = workspace.only_mail().await;
    assert_eq!(deliver_mail(&app).await, 1);
    let folder = app.folder().join("mail");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [format!("{id}.eml").as_str()]);
    let path = folder.join(&names[0]);
    assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
    let bytes = std::fs::read(&path).unwrap();
    let mail = MessageParser::default().parse(&bytes).unwrap();
    assert_eq!(mail.message_id(), Some(format!("{id}@localhost").as_str()));
    assert_eq!(mail.body_text(0).map(|text| text.replace("\r\n", "\n")), Some(queued.text_body));

    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "a file instead of the folder").unwrap();
    workspace.enqueue_mail().await;
    assert_eq!(deliver_mail(&app).await, 0);
    let row = workspace.mails().await.remove(1);
    assert_eq!((row.state, row.attempts), (MailState::Pending, 1));
}

#[tokio::test]
async fn the_queue_loop_sends_prunes_and_stops() {
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    workspace.enqueue_mail().await;
    assert_eq!(deliver_mail(&app).await, 1);
    app.clock.advance(Duration::from_secs(30 * 24 * 3600));
    assert_eq!(queue::prune(queue_context(&app.app)).await.unwrap(), 0, "not yet older than 30 days");
    app.clock.advance(Duration::from_millis(1));
    workspace.enqueue_mail().await;

    let (stop, stopped) = oneshot::channel::<()>();
    let shared = app.app.clone();
    let queue_loop = tokio::spawn(async move {
        let stopped = async {
            let _ = stopped.await;
        };
        let leads = || true;
        queue::run(queue_context(&shared), &transport(&shared), leads, stopped).await;
    });
    smtp_server.wait_for_mails(2).await;
    for _ in 0..200 {
        if workspace.mails().await.len() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let row = workspace.only_mail().await;
    assert_eq!((row.state, from_ms(row.created_at)), (MailState::Sent, app.clock.now()));
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(20), queue_loop).await.expect("the loop stops in time").unwrap();
}

#[tokio::test]
async fn email_addresses_and_contents_are_not_logged() {
    // With only one subscriber, the first thread that reaches a log statement would decide for all threads whether the
    // statement is enabled.
    let _second_subscriber = tracing::Dispatch::new(tracing_subscriber::registry());
    let captured_log = CapturedLog::default();
    let writer = captured_log.clone();
    let log = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone());
    let _guard = tracing::subscriber::set_default(log.finish());
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    let id = workspace.enqueue_mail().await;
    smtp_server.script("RCPT", SmtpReaction::Reply("450 4.2.1 <owner@acme.example> is greylisted"));
    deliver_mail(&app).await;
    app.clock.advance(Duration::from_secs(60));
    deliver_mail(&app).await;
    let text = captured_log.text();
    assert!(text.contains(&format!("mail.id={id}")) && text.contains("mail 450"), "{text}");
    for secret in [OWNER, "Söhne", "hooks.acme.example", "no-reply@"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

/// A writer that stores the log in memory.
#[derive(Clone, Default)]
struct CapturedLog(Arc<std::sync::Mutex<Vec<u8>>>);

impl CapturedLog {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for CapturedLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
