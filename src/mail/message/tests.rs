//! Tests of the rendered messages.

use uuid::Uuid;

use super::*;

const PAGE: &str = "https://api.example.com/dashboard/developer/webhooks/whs_7";

fn failing(workspace: &str, url: &str, last_error: &str) -> Message {
    Message::WebhookFailing {
        workspace: workspace.to_owned(),
        subscription: SubscriptionId::from_uuid(Uuid::from_u128(7)),
        url: url.to_owned(),
        failing_since: "2026-03-02T10:00:30Z".parse().unwrap(),
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
        failing_since: "2026-03-02T10:00:30Z".parse().unwrap(),
        last_error: "timeout".to_owned(),
    }
}

fn formatted(message: &Message) -> String {
    let RenderedMessage { subject, text, html } = message.render();
    format!("{}\n{subject}\n\n{text}\n{html}", message.kind())
}

#[test]
fn a_password_link_states_its_purpose_and_lifetime() {
    insta::assert_snapshot!(formatted(&Message::SetPassword {
        workspace: "Acme School".to_owned(),
        url: "https://api.acme.example/set-password?token=abc".to_owned(),
        hours: 72,
    }));
}

#[test]
fn a_requested_link_can_be_ignored() {
    let url = "https://api.acme.example/set-password?token=abc".to_owned();
    insta::assert_snapshot!(formatted(&Message::ResetPassword { url }));
}

#[test]
fn an_invitation_to_another_workspace_refers_to_the_existing_password() {
    insta::assert_snapshot!(formatted(&Message::AccessGranted {
        workspace: "Acme School".to_owned(),
        provider: None,
        url: "https://api.acme.example/login".to_owned(),
    }));
}

#[test]
fn without_passwords_an_invitation_names_the_provider() {
    let message = Message::AccessGranted {
        workspace: "Acme School".to_owned(),
        provider: Some("the school account".to_owned()),
        url: "https://api.acme.example/login".to_owned(),
    };
    let RenderedMessage { subject, text, .. } = message.render();
    assert_eq!(subject, "You have access to a workspace");
    assert!(text.replace('\n', " ").contains("Sign in with the school account:"), "{text}");
}

#[test]
fn an_event_of_an_account_has_a_time_and_an_origin() {
    let message = |event, url: Option<&str>| Message::AccountEvent {
        event,
        by: "ada@acme.example".to_owned(),
        address: url.map(|_| "203.0.113.7".to_owned()),
        at: "2026-03-02T10:00:30Z".parse().unwrap(),
        url: url.map(str::to_owned),
    };
    let events = [
        AccountEvent::PasswordChanged,
        AccountEvent::SecondFactorRemoved,
        AccountEvent::RecoveryCodesCreated,
        AccountEvent::RecoveryCodeUsed { left: 9 },
        AccountEvent::WrongCodes,
        AccountEvent::ProviderLinked,
        AccountEvent::ProviderUnlinked,
    ];
    let others = events.map(|event| {
        let RenderedMessage { subject, text, .. } = message(event, None).render();
        format!("{subject}\n\n{text}")
    });
    let set_up = message(AccountEvent::SecondFactorSetUp, Some("https://api.acme.example/reset-password"));
    insta::assert_snapshot!(formatted(&set_up) + &others.join("\n"));
}

#[test]
fn the_kinds_of_invitations_match_their_messages() {
    let link = Message::SetPassword { workspace: String::new(), url: String::new(), hours: 72 };
    let access = Message::AccessGranted { workspace: String::new(), provider: None, url: String::new() };
    assert_eq!(Message::INVITATIONS, [link.kind(), access.kind()]);
}

#[test]
fn a_warning_states_when_the_subscription_will_be_disabled() {
    insta::assert_snapshot!(formatted(&failing(
        "Acme School",
        "https://hooks.acme.example/creator",
        "status 503"
    )));
}

#[test]
fn a_disabled_subscription_links_to_the_page_that_enables_it() {
    insta::assert_snapshot!(formatted(&disabled(Some(PAGE))));
}

#[test]
fn a_recovered_subscription_links_to_the_page_that_replays_dead_letters() {
    let recovered = |page: Option<&str>| Message::WebhookRecovered {
        workspace: "Acme School".to_owned(),
        subscription: SubscriptionId::from_uuid(Uuid::from_u128(7)),
        url: "https://hooks.acme.example/creator?tenant=1&x=y".to_owned(),
        page: page.map(str::to_owned),
        failing_since: "2026-03-02T10:00:30Z".parse().unwrap(),
    };
    insta::assert_snapshot!(formatted(&recovered(Some(PAGE))) + &recovered(None).render().text);
}

#[test]
fn without_a_known_page_a_command_enables_the_subscription() {
    insta::assert_snapshot!(disabled(None).render().text);
}

#[test]
fn external_input_is_escaped() {
    let workspace = "<b>Acme</b>\r\n\r\nSend \"money\" & 'more'";
    let url = "https://hooks.acme.example/<script>alert(1)</script>";
    let error = format!("connection\u{7}refused\n{}", "long ".repeat(100));
    let message = failing(workspace, url, &error);
    insta::assert_snapshot!(formatted(&message));
    let RenderedMessage { subject, text, html } = message.render();
    assert!(!html.contains("<b>") && !html.contains("<script>"));
    assert!(!subject.contains(char::is_control) && !text.contains('\r'));
}

#[test]
fn lines_are_wrapped_without_breaking_long_words() {
    let url = format!("https://hooks.acme.example/{}", "x".repeat(200));
    let RenderedMessage { text, html, .. } = failing(&"Acme ".repeat(30), &url, "status 503").render();
    for line in text.lines().chain(html.lines().skip(4)) {
        assert!(line.chars().count() <= COLUMNS || line.contains(&url), "{line}");
    }
    assert!(text.contains(&url) && html.contains(&url));
}

#[test]
fn a_message_about_an_invalid_url_has_a_subject() {
    assert_eq!(failing("Acme", "hooks", "").render().subject, "Webhook endpoint on your server is failing");
}

#[test]
fn keys_that_expire_or_are_not_used_are_listed() {
    let at = "2026-03-02T10:00:30Z".parse().ok();
    let key =
        |name: &str, at| KeyItem { name: name.to_owned(), secret: "svc_live_Ab1...9xYz".to_owned(), at };
    let page = Some("https://api.acme.example/dashboard/developer".to_owned());
    let (workspace, keys) = ("Acme School".to_owned(), vec![key("CRM", at), key("<Shop>", at)]);
    insta::assert_snapshot!(formatted(&Message::KeysExpire { workspace, keys, page }));
    let keys = vec![key("CRM", at), key("Shop", None)];
    let unused = Message::KeysUnused { workspace: "Acme School".to_owned(), keys, page: None };
    insta::assert_snapshot!(formatted(&unused));
}

#[test]
fn a_rotation_names_the_key_and_the_end_of_its_old_secret() {
    let rotated = |at: Option<&str>, page: Option<&str>| Message::KeyRotated {
        workspace: "Acme School".to_owned(),
        key: KeyItem {
            name: "<Shop>".to_owned(),
            secret: "svc_live_Ab1...9xYz".to_owned(),
            at: at.map(|at| at.parse().unwrap()),
        },
        address: "203.0.113.9".to_owned(),
        at: "2026-03-02T10:00:30Z".parse().unwrap(),
        page: page.map(ToOwned::to_owned),
    };
    let page = "https://api.acme.example/dashboard/developer";
    insta::assert_snapshot!(formatted(&rotated(Some("2026-03-03T10:00:30Z"), Some(page))));
    insta::assert_snapshot!(rotated(None, None).render().text);
}

#[test]
fn deprecated_parts_are_listed_with_their_keys() {
    let item = |text: &str, keys: &str| DeprecatedItem {
        text: text.to_owned(),
        keys: keys.to_owned(),
        last_used: "2026-03-02T10:00:30Z".parse().unwrap(),
    };
    insta::assert_snapshot!(formatted(&Message::Deprecated {
        days_left: None,
        workspace: "Acme School".to_owned(),
        items: vec![
            item(
                "The operation listA is deprecated and can stop working on 2027-01-31. Use listB.",
                "CRM, <Shop>"
            ),
            item("The parameter sort of listC is deprecated.", "CRM"),
        ],
        page: Some("https://api.acme.example/docs/changelog".to_owned()),
    }));
}
