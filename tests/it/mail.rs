//! Mail: queued in the transaction of its cause, sent at least once, with an id that identifies repeats.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use entity::mails::MailState;
use foundation::clock::from_ms;
use mail::queue;
use mail_parser::{MessageParser, MimeHeaders};
use tokio::sync::{Notify, oneshot};

use crate::support::mail::{OWNER, app_sending_to, deliver_mail, queue_context, transport};
use crate::support::{Mailbox, START, SmtpReply, TestApp};

#[tokio::test]
async fn a_mail_is_sent_once_with_both_parts() {
    let mailbox = Mailbox::start().await;
    let app = app_sending_to(&mailbox).await;
    let workspace = app.workspace("acme").await;
    let id = workspace.mail().await;
    let written = workspace.only_mail().await;
    app.clock.advance(Duration::from_secs(90));
    assert_eq!((deliver_mail(&app).await, deliver_mail(&app).await), (1, 0));

    let [received] = &mailbox.mails()[..] else { panic!("one mail") };
    assert_eq!(
        (received.from.as_str(), &received.to[..]),
        ("no-reply@school.example", &[OWNER.to_owned()][..])
    );
    assert!(
        received.bytes.is_ascii()
            && !received.bytes.split(|byte| *byte == b'\n').any(|line| line.len() > 100)
    );
    let mail = received.parsed();
    let row = workspace.only_mail().await;
    assert_eq!(mail.subject(), Some("Webhook endpoint on hooks.acme.example was disabled"));
    assert_eq!(mail.message_id(), Some(format!("{id}@school.example").as_str()));
    assert_eq!(mail.date().map(|date| date.to_rfc3339()), Some(START.to_owned()), "written, not sent");
    assert_eq!(mail.header_raw("Auto-Submitted").map(str::trim), Some("auto-generated"));
    assert_eq!(mail.header_raw("From").map(str::trim), Some("Acme <no-reply@school.example>"));
    assert_eq!(mail.header_raw("To").map(str::trim), Some(OWNER));
    let kinds: Vec<_> = mail.parts.iter().filter_map(|part| part.content_type()?.subtype()).collect();
    assert_eq!(kinds, ["alternative", "plain", "html"]);
    let unix = |text: std::borrow::Cow<'_, str>| text.replace("\r\n", "\n");
    assert!(written.text_body.contains("Müller & Söhne"));
    assert!(written.html_body.contains("Müller &amp; Söhne"));
    assert_eq!(mail.body_text(0).map(unix), Some(written.text_body));
    assert_eq!(mail.body_html(0).map(unix), Some(written.html_body));
    assert_eq!((row.text_body.as_str(), row.html_body.as_str()), ("", ""), "a sent mail has no content");
    assert_eq!((row.state, row.attempts, row.sent_at), (MailState::Sent, 1, Some(app.clock.now_ms())));
}

#[tokio::test]
async fn a_rolled_back_change_sends_no_mail() {
    let mailbox = Mailbox::start().await;
    let app = app_sending_to(&mailbox).await;
    let workspace = app.workspace("acme").await;
    let mut write = app.write().await;
    workspace.mail_in(&mut write).await;
    write.rollback().await.unwrap();
    assert_eq!(deliver_mail(&app).await, 0);
    assert!(mailbox.mails().is_empty() && workspace.mails().await.is_empty());
}

#[tokio::test]
async fn a_crash_after_acceptance_resends_the_mail_with_the_same_id() {
    let mailbox = Mailbox::start().await;
    let app = app_sending_to(&mailbox).await;
    let workspace = app.workspace("acme").await;
    workspace.mail().await;
    mailbox.script(".", SmtpReply::Hold(Arc::default()));
    let dying = app.app.clone();
    let worker =
        tokio::spawn(
            async move { queue::deliver_due(queue_context(&dying), &transport(&dying)).await.unwrap() },
        );
    mailbox.until_mails(1).await;
    worker.abort();
    assert!(worker.await.unwrap_err().is_cancelled());

    assert_eq!(deliver_mail(&app).await, 0, "the crashed worker still has the lease");
    app.clock.advance(Duration::from_secs(120));
    assert_eq!(deliver_mail(&app).await, 1);
    let [first, second] = &mailbox.mails()[..] else { panic!("two mails") };
    assert_eq!(first.bytes, second.bytes);
    assert_eq!(first.message_id(), second.message_id());
}

#[tokio::test]
async fn a_lost_response_resends_the_mail_with_the_same_id() {
    let mailbox = Mailbox::start().await;
    let app = app_sending_to(&mailbox).await;
    let workspace = app.workspace("acme").await;
    workspace.mail().await;
    mailbox.script(".", SmtpReply::Close);
    assert_eq!(deliver_mail(&app).await, 0);
    assert_eq!(workspace.only_mail().await.state, MailState::Pending);
    app.clock.advance(Duration::from_secs(60));
    assert_eq!(deliver_mail(&app).await, 1);
    let [first, second] = &mailbox.mails()[..] else { panic!("two mails") };
    assert_eq!(first.bytes, second.bytes);
}

#[tokio::test]
async fn two_workers_never_send_the_same_mail() {
    const MAILS: usize = 30;
    let mailbox = Mailbox::start().await;
    let app = app_sending_to(&mailbox).await;
    let other = app.other_process().await;
    let workspace = app.workspace("acme").await;
    for _ in 0..MAILS {
        workspace.mail().await;
    }
    let (ours, theirs) = (transport(&app.app), transport(&other));
    let (one, two, three) = tokio::join!(
        queue::deliver_due(queue_context(&app.app), &ours),
        queue::deliver_due(queue_context(&app.app), &ours),
        queue::deliver_due(queue_context(&other), &theirs),
    );
    // A worker that finds every due mail claimed ends its pass. The next pass finds the rest.
    let sent = one.unwrap() + two.unwrap() + three.unwrap() + deliver_mail(&app).await;
    assert_eq!(sent, MAILS as u64);
    let mut ids: Vec<String> = mailbox.mails().iter().map(|mail| mail.message_id()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), mailbox.mails().len()), (MAILS, MAILS));
    assert!(workspace.mails().await.iter().all(|mail| mail.state == MailState::Sent && mail.attempts == 1));
}

#[tokio::test]
async fn a_worker_that_was_frozen_past_its_lease_changes_nothing() {
    let mailbox = Mailbox::start().await;
    let app = app_sending_to(&mailbox).await;
    let workspace = app.workspace("acme").await;
    workspace.mail().await;
    let resume = Arc::new(Notify::new());
    mailbox.script(".", SmtpReply::Hold(Arc::clone(&resume)));
    let suspended = app.app.clone();
    let worker = tokio::spawn(async move {
        queue::deliver_due(queue_context(&suspended), &transport(&suspended)).await.unwrap()
    });
    mailbox.until_mails(1).await;
    app.clock.advance(Duration::from_secs(120));
    mailbox.script("RCPT", SmtpReply::Say("550 5.1.1 no such user"));
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
    let id = workspace.mail().await;
    let written = workspace.only_mail().await;
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
    assert_eq!(mail.body_text(0).map(|text| text.replace("\r\n", "\n")), Some(written.text_body));

    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "in the way").unwrap();
    workspace.mail().await;
    assert_eq!(deliver_mail(&app).await, 0);
    let row = workspace.mails().await.remove(1);
    assert_eq!((row.state, row.attempts), (MailState::Pending, 1));
}

#[tokio::test]
async fn the_queue_loop_sends_prunes_and_stops() {
    let mailbox = Mailbox::start().await;
    let app = app_sending_to(&mailbox).await;
    let workspace = app.workspace("acme").await;
    workspace.mail().await;
    assert_eq!(deliver_mail(&app).await, 1);
    app.clock.advance(Duration::from_secs(30 * 24 * 3600));
    assert_eq!(queue::prune(queue_context(&app.app)).await.unwrap(), 0, "not yet older than 30 days");
    app.clock.advance(Duration::from_millis(1));
    workspace.mail().await;

    let (stop, stopped) = oneshot::channel::<()>();
    let shared = app.app.clone();
    let looping = tokio::spawn(async move {
        let stopped = async {
            let _ = stopped.await;
        };
        queue::run(queue_context(&shared), &transport(&shared), stopped).await;
    });
    mailbox.until_mails(2).await;
    for _ in 0..200 {
        if workspace.mails().await.len() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let row = workspace.only_mail().await;
    assert_eq!((row.state, from_ms(row.created_at)), (MailState::Sent, app.clock.now()));
    stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(20), looping).await.expect("it stops in time").unwrap();
}

#[tokio::test]
async fn email_addresses_and_contents_are_not_logged() {
    // With only one subscriber, the first thread that reaches a log line would decide for all whether it is enabled.
    let _other = tracing::Dispatch::new(tracing_subscriber::registry());
    let lines = CapturedLog::default();
    let writer = lines.clone();
    let log = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone());
    let _guard = tracing::subscriber::set_default(log.finish());
    let mailbox = Mailbox::start().await;
    let app = app_sending_to(&mailbox).await;
    let workspace = app.workspace("acme").await;
    let id = workspace.mail().await;
    mailbox.script("RCPT", SmtpReply::Say("450 4.2.1 <owner@acme.example> is greylisted"));
    deliver_mail(&app).await;
    app.clock.advance(Duration::from_secs(60));
    deliver_mail(&app).await;
    let text = lines.text();
    assert!(text.contains(&format!("mail.id={id}")) && text.contains("mail 450"), "{text}");
    for secret in [OWNER, "Söhne", "hooks.acme.example", "no-reply@"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

/// The captured log.
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
