//! Mail servers that are down, slow, not trusted, or reject mails.

use std::sync::Arc;
use std::time::Duration;

use entity::mails::{self, MailState};
use mail::Transport;
use mail::queue;
use mail::transport::Smtp;

use crate::support::mail::{app_sending_to, deliver_mail, queue_context};
use crate::support::{SmtpReaction, SmtpSecurity, SmtpServer, TestApp};

#[tokio::test]
async fn mail_is_retried_after_one_minute_when_the_server_is_down() {
    let mut smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    workspace.enqueue_mail().await;
    smtp_server.stop().await;
    assert_eq!(deliver_mail(&app).await, 0);
    let row = workspace.only_mail().await;
    assert_eq!((row.state, row.attempts, row.lease_token), (MailState::Pending, 1, None));
    assert!(row.last_error.unwrap().starts_with("connect: "));

    smtp_server.restart().await;
    app.clock.advance(Duration::from_secs(59));
    assert_eq!(deliver_mail(&app).await, 0);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(deliver_mail(&app).await, 1);
    assert_eq!(smtp_server.mails().len(), 1);
    let row = workspace.only_mail().await;
    assert_eq!((row.state, row.attempts, row.last_error), (MailState::Sent, 2, None));
}

#[tokio::test]
async fn retry_delays_grow_and_end_after_a_day() {
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    workspace.enqueue_mail().await;
    let mut minutes = Vec::new();
    loop {
        smtp_server.script("MAIL", SmtpReaction::Reply("451 4.3.0 later"));
        assert_eq!(deliver_mail(&app).await, 0);
        let Some(due) = workspace.only_mail().await.due_at else { break };
        let wait = Duration::from_millis((due - app.clock.now_ms()).unsigned_abs());
        minutes.push(wait.as_secs() / 60);
        app.clock.advance(wait);
    }
    assert_eq!(minutes, [1, 5, 30, 120, 360, 360, 360, 360]);
    let row = workspace.only_mail().await;
    assert_eq!((row.state, row.attempts), (MailState::Dead, 9));
    assert_eq!(row.last_error.as_deref(), Some("mail 451: transient error (451): 4.3.0 later"));
    app.clock.advance(Duration::from_secs(100 * 3600));
    assert_eq!(deliver_mail(&app).await, 0);
}

#[tokio::test]
async fn permanent_errors_of_the_mail_are_final_and_those_of_the_sender_are_retried() {
    use MailState::{Dead, Pending};
    let smtp_server = SmtpServer::start_with(SmtpSecurity::None, Some(("ada", "secret"))).await;
    let app = app_sending_to(&smtp_server).await;
    let replies = [
        ("EHLO", "554 5.3.2 not now", Pending, "connect 554"),
        ("AUTH", "535 5.7.8 wrong password", Pending, "login 535"),
        ("MAIL", "530 5.7.0 log in first", Pending, "mail 530"),
        ("MAIL", "550 5.7.1 not you", Dead, "mail 550"),
        ("RCPT", "450 4.2.1 greylisted", Pending, "mail 450"),
        ("RCPT", "550 5.1.1 no such user", Dead, "mail 550"),
        ("DATA", "421 4.3.2 going down", Pending, "mail 421"),
        ("DATA", "554 5.7.1 no", Dead, "mail 554"),
        (".", "452 4.2.2 full", Pending, "mail 452"),
        (".", "552 5.3.4 too big", Dead, "mail 552"),
    ];
    let names = ["w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9"];
    for ((command, reply, state, error_prefix), name) in replies.into_iter().zip(names) {
        let workspace = app.workspace(name).await;
        workspace.enqueue_mail().await;
        smtp_server.script(command, SmtpReaction::Reply(reply));
        assert_eq!(deliver_mail(&app).await, 0, "{command} {reply}");
        let row = workspace.only_mail().await;
        let error = row.last_error.unwrap();
        assert_eq!((row.state, error.split(": ").next()), (state, Some(error_prefix)), "{error}");
        assert!(error.contains(&reply[4..]), "{error}");
    }
    assert!(smtp_server.mails().is_empty());
}

#[tokio::test]
async fn an_invalid_email_address_is_dead_lettered_and_the_next_mail_is_sent() {
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    let id = workspace.enqueue_mail().await;
    let invalid_recipient =
        mails::ActiveModel { recipient: entity::Set("nobody".to_owned()), ..Default::default() };
    let write = app.begin_write().await;
    mails::in_workspace(workspace.id.uuid())
        .update(write.conn(), id.uuid(), invalid_recipient)
        .await
        .unwrap();
    write.commit().await.unwrap();
    workspace.enqueue_mail().await;
    assert_eq!(deliver_mail(&app).await, 1);
    let states: Vec<MailState> = workspace.mails().await.iter().map(|mail| mail.state).collect();
    assert_eq!(states, [MailState::Dead, MailState::Sent]);
}

#[tokio::test]
async fn a_server_that_does_not_respond_times_out() {
    let smtp_server = SmtpServer::start().await;
    let app = app_sending_to(&smtp_server).await;
    let workspace = app.workspace("acme").await;
    workspace.enqueue_mail().await;
    smtp_server.script("RCPT", SmtpReaction::Hold(Arc::default()));
    let config = &app.app.config.mail;
    let smtp = Smtp::new(config.smtp_url.as_ref().unwrap(), &config.mail_from, None).unwrap();
    let transport = Transport::smtp(config.mail_from.clone(), smtp.with_timeout(Duration::from_millis(300)));
    assert_eq!(queue::deliver_due(queue_context(&app.app), &transport).await.unwrap(), 0);
    let row = workspace.only_mail().await;
    assert_eq!(row.state, MailState::Pending);
    assert_eq!(
        row.last_error.as_deref(),
        Some("timeout: the mail server did not accept the mail within 0.3 s")
    );
}

#[tokio::test]
async fn the_login_is_sent_encrypted_and_only_to_a_trusted_server() {
    for security in [SmtpSecurity::StartTls, SmtpSecurity::ImplicitTls] {
        let smtp_server = SmtpServer::start_with(security, Some(("ada", "secret"))).await;
        let app = app_sending_to(&smtp_server).await;
        let workspace = app.workspace("acme").await;
        workspace.enqueue_mail().await;
        assert_eq!(deliver_mail(&app).await, 0, "the certificate is not trusted");
        let row = workspace.only_mail().await;
        let error = row.last_error.unwrap();
        assert!(row.state == MailState::Pending && error.contains("certificate"), "{error}");

        app.clock.advance(Duration::from_secs(60));
        let config = &app.app.config.mail;
        let root = Some(smtp_server.root_certificate.as_bytes());
        let smtp = Smtp::new(config.smtp_url.as_ref().unwrap(), &config.mail_from, root).unwrap();
        let transport = Transport::smtp(config.mail_from.clone(), smtp);
        assert_eq!(queue::deliver_due(queue_context(&app.app), &transport).await.unwrap(), 1);
        let [received] = &smtp_server.mails()[..] else { panic!("one mail") };
        assert!(received.encrypted);
        assert_eq!(received.login, Some(("ada".to_owned(), "secret".to_owned())));
    }
}

#[tokio::test]
async fn a_server_that_cannot_encrypt_gets_neither_login_nor_mail() {
    let smtp_server = SmtpServer::start().await;
    let url = smtp_server.url().replace("smtp://", "smtp+starttls://ada:secret@");
    let app = TestApp::start_with(&[("smtp_url", &url), ("listen", "127.0.0.1:0")]).await;
    let workspace = app.workspace("acme").await;
    workspace.enqueue_mail().await;
    assert_eq!(deliver_mail(&app).await, 0);
    assert!(smtp_server.mails().is_empty());
    let row = workspace.only_mail().await;
    assert!(row.state == MailState::Pending && row.last_error.unwrap().starts_with("starttls: "));
}
