//! The messages as people get them.

use uuid::Uuid;

use super::*;

const PAGE: &str = "https://api.example.com/dashboard/developer/webhooks/whs_7";

fn failing(workspace: &str, url: &str, last_error: &str) -> Message {
    Message::WebhookFailing {
        workspace: workspace.to_owned(),
        subscription: SubscriptionId::from_uuid(Uuid::from_u128(7)),
        url: url.to_owned(),
        since: "2026-03-02T10:00:30Z".parse().unwrap(),
        disables_at: "2026-03-09T10:00:30Z".parse().unwrap(),
        last_error: last_error.to_owned(),
    }
}

fn disabled(page: Option<&str>) -> Message {
    Message::WebhookDisabled {
        workspace: "Acme School".to_owned(),
        subscription: SubscriptionId::from_uuid(Uuid::from_u128(7)),
        url: "https://hooks.acme.example/creator?tenant=1&x=y".to_owned(),
        page: page.map(str::to_owned),
        failed_since: "2026-03-02T10:00:30Z".parse().unwrap(),
        last_error: "timeout".to_owned(),
    }
}

fn shown(message: &Message) -> String {
    let Rendered { subject, text, html } = message.render();
    format!("{}\n{subject}\n\n{text}\n{html}", message.kind())
}

#[test]
fn a_link_says_what_it_is_for_and_how_long_it_opens() {
    insta::assert_snapshot!(shown(&Message::SetPassword {
        workspace: "Acme School".to_owned(),
        link: "https://api.acme.example/set-password?token=abc".to_owned(),
        hours: 72,
    }));
}

#[test]
fn access_to_another_workspace_says_which_password_to_use() {
    insta::assert_snapshot!(shown(&Message::AccessGiven {
        workspace: "Acme School".to_owned(),
        page: "https://api.acme.example/login".to_owned(),
    }));
}

#[test]
fn the_kinds_of_invitations_are_those_of_their_messages() {
    let link = Message::SetPassword { workspace: String::new(), link: String::new(), hours: 72 };
    let access = Message::AccessGiven { workspace: String::new(), page: String::new() };
    assert_eq!(Message::INVITATIONS, [link.kind(), access.kind()]);
}

#[test]
fn a_warning_says_until_when_it_must_work_again() {
    insta::assert_snapshot!(shown(&failing(
        "Acme School",
        "https://hooks.acme.example/creator",
        "status 503"
    )));
}

#[test]
fn a_disabled_webhook_says_how_to_enable_it_again() {
    insta::assert_snapshot!(shown(&disabled(Some(PAGE))));
}

#[test]
fn where_no_page_is_known_a_command_enables_a_webhook() {
    insta::assert_snapshot!(disabled(None).render().text);
}

#[test]
fn what_comes_from_outside_stays_text() {
    let workspace = "<b>Acme</b>\r\n\r\nSend \"money\" & 'more'";
    let url = "https://hooks.acme.example/<script>alert(1)</script>";
    let error = format!("connection\u{7}refused\n{}", "long ".repeat(100));
    let message = failing(workspace, url, &error);
    insta::assert_snapshot!(shown(&message));
    let Rendered { subject, text, html } = message.render();
    assert!(!html.contains("<b>") && !html.contains("<script>"));
    assert!(!subject.contains(char::is_control) && !text.contains('\r'));
}

#[test]
fn lines_are_wrapped_and_long_words_kept_whole() {
    let url = format!("https://hooks.acme.example/{}", "x".repeat(200));
    let Rendered { text, html, .. } = failing(&"Acme ".repeat(30), &url, "status 503").render();
    for line in text.lines().chain(html.lines().skip(4)) {
        assert!(line.chars().count() <= COLUMNS || line.contains(&url), "{line}");
    }
    assert!(text.contains(&url) && html.contains(&url));
}

#[test]
fn an_address_that_is_none_still_has_a_subject() {
    assert_eq!(failing("Acme", "hooks", "").render().subject, "Webhook to your server is failing");
}
