//! Delivery controls: filters, request headers, rates, and the offer after an outage. `webhooks_signatures` tests Ed25519
//! signatures.

use std::time::Duration;

use domain::Error;
use domain::outbox::fan_out;
use domain::webhooks::DeliveryState;
use domain::webhooks::controls::ControlsChange;
use domain::webhooks::headers::MASK;
use entity::webhook_subscriptions;
use insta::assert_snapshot;

use crate::support::browser::{WEBHOOKS, html};
use crate::support::members::{audit_entries, member_browser};
use crate::support::{Endpoint, TestApp, TestSubscription, in_transaction, skip};

const CREATED: &[&str] = &["student.created"];

impl TestSubscription<'_> {
    async fn set_rate(&self, rate: &str) {
        let change = ControlsChange { rate: Some(rate.to_owned()), ..Default::default() };
        self.change(change).await.expect("a valid rate");
    }

    async fn set_filter(&self, filter: &str) {
        let change = ControlsChange { filter: Some(filter.to_owned()), ..Default::default() };
        self.change(change).await.expect("a valid filter");
    }

    /// Returns the fields of the errors of an invalid change, with their messages.
    async fn errors(&self, change: ControlsChange) -> Vec<String> {
        let Err(Error::Invalid(errors)) = self.change(change).await else { panic!("the change is valid") };
        errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect()
    }

    fn path(&self) -> String {
        format!("{WEBHOOKS}/{}", self.id)
    }
}

/// Returns whether the test does not run, because it runs on SQLite.
pub(crate) fn runs_elsewhere(app: &TestApp) -> bool {
    if app.uses_postgres() {
        skip("SQLite only");
    }
    app.uses_postgres()
}

async fn create_student(app: &TestApp, key: &str, plan: &str) {
    let data =
        serde_json::json!({"key": key, "email": format!("{key}@example.com"), "metadata": {"plan": plan}});
    app.workspace("acme").await.change("student.upsert", data).await;
}

#[tokio::test]
async fn a_rate_holds_and_waiting_deliveries_stay_pending() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let (limited_endpoint, endpoint) = (Endpoint::start().await, Endpoint::start().await);
    let limited = acme.subscribe_endpoint(&limited_endpoint, CREATED).await;
    let _other = acme.subscribe_endpoint(&endpoint, CREATED).await;
    limited.set_rate("20").await;
    for number in 0..30 {
        acme.upsert_student(&format!("student-{number}")).await;
    }
    assert_eq!(app.deliver_due().await, 32, "all of one subscription, and a burst of the other");
    for tick in 1..=8 {
        app.clock.advance(Duration::from_millis(50));
        assert_eq!(app.deliver_due().await, 1, "tick {tick}");
    }
    let (deliveries, subscription) = (limited.deliveries().await, limited.reload().await);
    let waiting =
        deliveries.iter().filter(|delivery| delivery.waits_for_rate(&subscription, app.clock.now()));
    assert_eq!(waiting.count(), 20);

    // The new rate concerns the deliveries that wait.
    limited.set_rate("1000").await;
    app.clock.advance(Duration::from_millis(100));
    assert_eq!(app.deliver_due().await, 20);
    assert_eq!(limited.delivery_states().await, ["delivered 1"; 30]);
    assert_eq!(limited.reload().await.failing_since, None);
}

#[tokio::test]
async fn a_filter_decides_when_deliveries_are_written_also_by_a_fan_out() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "200")]).await;
    let acme = app.workspace("acme").await;
    let mut subscriptions = Vec::new();
    for _ in 0..66 {
        subscriptions.push(acme.subscribe_url("https://hooks.example/".to_owned(), CREATED).await);
    }
    let filter = "student.created /metadata/plan in pro, \"two words\"";
    for subscription in subscriptions.iter().step_by(6) {
        subscription.set_filter(filter).await;
    }
    let count = async || {
        let rows = entity::webhook_deliveries::in_workspace(acme.id.uuid());
        while fan_out(&app.app, &mut None).await.expect("the fan-out succeeds") {}
        rows.count(app.app.db.read()).await.expect("the query succeeds")
    };
    create_student(&app, "ada", "free").await;
    assert_eq!(count().await, 55);
    create_student(&app, "grace", "two words").await;
    assert_eq!(count().await, 55 + 66);

    // Without a fan-out, and for deliveries that users request.
    let (filtered, others) = subscriptions.split_first().expect("subscriptions");
    for subscription in others {
        let delete = async |write: &mut foundation::database::Write| {
            domain::webhooks::delete(write, acme.id, subscription.id).await
        };
        in_transaction(&app, delete).await.expect("the deletion succeeds");
    }
    let before = filtered.deliveries().await.len();
    create_student(&app, "edsger", "free").await;
    create_student(&app, "barbara", "pro").await;
    assert_eq!(filtered.deliveries().await.len(), before + 1);
    let test = async |write: &mut foundation::database::Write| {
        domain::webhooks::send_test(&app.app, write, acme.id, filtered.id, None).await
    };
    in_transaction(&app, test).await.expect("a test event");
    assert_eq!(filtered.deliveries().await.len(), before + 2, "a test event ignores the filter");
}

#[tokio::test]
async fn invalid_controls_are_refused_by_line() {
    let app = TestApp::start().await;
    if runs_elsewhere(&app) {
        return;
    }
    let acme = app.workspace("acme").await;
    let subscription = acme.subscribe_url("https://hooks.example/".to_owned(), CREATED).await;
    let filter = "student.created /id exists\n\nstudent.created /emial eq a";
    let headers = ["X-One: 1", "Host: a", "x-one: 2", "X-Kept: ****"].map(str::to_owned).to_vec();
    let mut errors = Vec::new();
    for rate in ["0", "1000000000", "ten", "-1"] {
        let change = ControlsChange { rate: Some(rate.to_owned()), ..Default::default() };
        errors.extend(subscription.errors(change).await);
    }
    let change =
        ControlsChange { filter: Some(filter.to_owned()), headers: Some(headers), ..Default::default() };
    errors.extend(subscription.errors(change).await);
    let filter = Some("order.paid /id exists".to_owned());
    errors.extend(subscription.errors(ControlsChange { filter, ..Default::default() }).await);
    let eleven = (0..11).map(|number| format!("x-{number}: 1")).collect();
    errors.extend(subscription.errors(ControlsChange { headers: Some(eleven), ..Default::default() }).await);
    assert_snapshot!(errors.join("\n"));
}

#[tokio::test]
async fn headers_are_sent_exactly_and_shown_nowhere() {
    let app = TestApp::start_with_local_webhooks().await;
    if runs_elsewhere(&app) {
        return;
    }
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_endpoint(&endpoint, CREATED).await;
    let set = async |lines: &[&str]| {
        let headers = Some(lines.iter().map(|&line| line.to_owned()).collect());
        subscription.change(ControlsChange { headers, ..Default::default() }).await.expect("valid headers");
    };
    set(&["Authorization: Bearer s3cr3t", "X-Team: a: b"]).await;
    acme.upsert_student("ada").await;
    app.deliver_due().await;
    let sent = |number: usize, name: &str| endpoint.requests()[number].header(name).to_owned();
    assert_eq!(
        (sent(0, "authorization"), sent(0, "x-team")),
        ("Bearer s3cr3t".to_owned(), "a: b".to_owned())
    );

    let delivery = subscription.deliveries().await[0].id;
    let detail = domain::webhooks::delivery_detail(&app.app, acme.id, delivery).await.expect("a delivery");
    assert_eq!(detail.messages[0].request_headers["authorization"], MASK);
    let row = webhook_subscriptions::by_id(app.app.db.read(), subscription.id.uuid()).await.unwrap().unwrap();
    assert!(!format!("{row:?}").contains("s3cr3t"));
    let browser = acme.owner_browser().await;
    let form = format!("{}/delivery", subscription.path());
    let fields = [("headers", "authorization: ****\r\nx-team: c"), ("rate", ""), ("filter", "")];
    browser.submit(&form, &form, &fields).await.assert_status(303);
    let delivery_page = format!("{}/deliveries/{delivery}", subscription.path());
    for path in [&subscription.path(), &form, &delivery_page, "/dashboard/settings/audit"] {
        let page = html(&browser.get(path).await.assert_status(200));
        assert!(!page.contains("s3cr3t"), "{path}");
        assert!(path.contains("audit") || page.contains("authorization: ****"), "{path}: {page}");
    }
    acme.upsert_student("grace").await;
    app.deliver_due().await;
    assert_eq!((sent(1, "authorization"), sent(1, "x-team")), ("Bearer s3cr3t".to_owned(), "c".to_owned()));
}

#[tokio::test]
async fn a_recovered_endpoint_offers_once_to_replay_what_died() {
    let app = TestApp::start_with_local_webhooks().await;
    if runs_elsewhere(&app) {
        return;
    }
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_endpoint(&endpoint, CREATED).await;
    let mut number = 0;
    let mut deliver = async |minutes: u64| {
        app.clock.advance(Duration::from_mins(minutes));
        number += 1;
        acme.upsert_student(&format!("student-{number}")).await;
        app.deliver_due().await;
    };
    // An endpoint that refuses a single event had no outage, however long it is before the next one.
    endpoint.respond_with([404]);
    deliver(0).await;
    deliver(60).await;
    assert!(app.mails().await.is_empty());

    endpoint.respond_with([404, 404]);
    deliver(60).await;
    deliver(10).await;
    deliver(10).await;
    let mails = app.mails().await;
    assert_eq!(mails.len(), 1);
    assert_snapshot!(
        format!("{}\n\n{}", mails[0].subject, mails[0].text_body)
            .replace(&subscription.id.to_string(), "SUBSCRIPTION")
            .replace(&endpoint.url(), "URL")
    );
    // Deliveries of this outage that fail later cause no other mail.
    deliver(10).await;
    assert_eq!(app.mails().await.len(), 1);

    let viewer = member_browser(&acme, "viewer@acme.example", &[domain::roles::Role::Viewer]).await;
    assert!(!html(&viewer.get(&subscription.path()).await).contains("Replay dead letters"));
    let owner = acme.owner_browser().await;
    let page = html(&owner.get(&subscription.path()).await);
    assert!(page.contains("Replay dead letters"), "{page}");
    let offer = format!("{}/offer", subscription.path());
    let requests = endpoint.requests().len();
    let started =
        owner.submit(&subscription.path(), &offer, &[("answer", "replay")]).await.assert_status(303);
    assert!(started.header("location").contains("/replays/rpl_"), "{started:?}");
    app.deliver_due().await;
    assert_eq!(endpoint.requests().len(), requests + 2, "what died in the outage");
    assert!(!html(&owner.get(&subscription.path()).await).contains("Replay dead letters"));
    let audited = audit_entries(&acme).await;
    assert!(
        audited[0].starts_with("owner@acme.example Started a replay 2 after the recovery"),
        "{audited:?}"
    );
    let again = owner.submit(&subscription.path(), &offer, &[("answer", "replay")]).await.assert_status(303);
    assert_eq!(again.header("location"), subscription.path());

    // The next outage causes another mail.
    endpoint.respond_with([410, 410]);
    deliver(60).await;
    deliver(10).await;
    deliver(10).await;
    assert_eq!(app.mails().await.len(), 2);
    owner.submit(&subscription.path(), &offer, &[("answer", "dismiss")]).await.assert_status(303);
    assert_eq!(subscription.reload().await.offer, None);
    let entries = audit_entries(&acme).await.len();
    owner.submit(&subscription.path(), &offer, &[("answer", "dismiss")]).await.assert_status(303);
    assert_eq!(audit_entries(&acme).await.len(), entries, "the offer was dismissed already");
}

#[tokio::test]
async fn dead_letters_that_were_replayed_during_the_outage_are_not_offered() {
    let app = TestApp::start_with_local_webhooks().await;
    if runs_elsewhere(&app) {
        return;
    }
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_endpoint(&endpoint, CREATED).await;
    endpoint.respond_with([404, 404]);
    for student in ["ada", "grace"] {
        app.clock.advance(Duration::from_mins(10));
        acme.upsert_student(student).await;
        app.deliver_due().await;
    }
    let deliveries = subscription.deliveries().await;
    let dead: Vec<_> = deliveries.iter().map(|delivery| delivery.id).collect();
    assert!(deliveries.iter().all(|delivery| delivery.state == DeliveryState::Dead), "{deliveries:?}");
    let replay = async |write: &mut foundation::database::Write| {
        domain::webhooks::replay_chosen(&app.app, write, acme.id, &dead).await
    };
    in_transaction(&app, replay).await.expect("a replay");
    app.clock.advance(Duration::from_mins(10));
    app.deliver_due().await;
    assert_eq!((app.mails().await.len(), subscription.reload().await.offer), (0, None));
}

#[tokio::test]
async fn the_form_shows_a_dry_run_and_errors_and_saves() {
    let app = TestApp::start().await;
    if runs_elsewhere(&app) {
        return;
    }
    let acme = app.workspace("acme").await;
    let subscription = acme.subscribe_url("https://hooks.example/".to_owned(), CREATED).await;
    create_student(&app, "ada", "pro").await;
    create_student(&app, "grace", "free").await;
    let browser = acme.owner_browser().await;
    let form = format!("{}/delivery", subscription.path());
    let submit = async |filter: &str, action: &str| {
        let fields =
            [("filter", filter), ("headers", ""), ("rate", "5"), ("action", action), ("ed25519", "yes")];
        browser.submit(&form, &form, &fields).await
    };
    let filter = "student.created /metadata/plan eq pro";
    let page = html(&submit(filter, "dry_run").await.assert_status(200));
    assert!(page.contains("The filter matches 1 of 2 events of the last 30 days"), "{page}");
    assert!(page.contains("evt_") && page.contains("1 of 2") && page.contains(filter), "{page}");
    let page = html(&submit("student.created /tags/0 eq a", "save").await.assert_status(422));
    assert!(page.contains("Filter line 1: `/tags` is a list"), "{page}");
    let saved = submit(filter, "save").await.assert_status(303);
    assert_eq!(saved.header("location"), subscription.path());
    let page = html(&browser.get(&subscription.path()).await);
    assert!(
        page.contains(filter) && page.contains("5 per second") && page.contains("HMAC and Ed25519"),
        "{page}"
    );
    assert!(page.contains("Ed25519 signatures begin in 6 minutes"), "{page}");
    let nothing = "No event of the last 30 days has met this filter";
    assert!(!page.contains(nothing), "{page}");
    app.clock.advance(Duration::from_hours(31 * 24));
    let browser = acme.owner_browser().await;
    assert!(html(&browser.get(&subscription.path()).await).contains(nothing));
    let keys = format!("{WEBHOOKS}/signing-keys");
    let page = html(&browser.get(&keys).await);
    assert!(page.contains("whpk_") && page.contains(&format!("/webhooks/{}/jwks.json", acme.id)), "{page}");
    browser.submit(&keys, &keys, &[("overlap", "now")]).await.assert_status(303);
    browser.submit(&keys, &keys, &[("overlap", "3")]).await.assert_status(422);
    let audited = audit_entries(&acme).await;
    assert!(
        audited[0].starts_with("owner@acme.example Rotated the signing key of webhooks whpk_"),
        "{audited:?}"
    );
    let changed =
        "Changed the delivery controls of a webhook 1 condition, headers: , rate: 5/s, Ed25519: yes";
    assert!(audited.iter().any(|entry| entry.contains(changed)), "{audited:?}");
}

#[tokio::test]
async fn a_removed_event_type_takes_its_conditions_with_it() {
    let app = TestApp::start_with_local_webhooks().await;
    if runs_elsewhere(&app) {
        return;
    }
    let (acme, endpoint) = (app.workspace("acme").await, Endpoint::start().await);
    let subscription = acme.subscribe_endpoint(&endpoint, &["student.created", "student.updated"]).await;
    let kept = "student.created /id exists";
    subscription.set_filter(&format!("student.updated /id exists\n{kept}")).await;
    let browser = acme.owner_browser().await;
    let form = format!("{}/edit", subscription.path());
    let fields = [("url", &*endpoint.url()), ("which", "some"), ("event_types", "student.created")];
    browser.submit(&form, &form, &fields).await.assert_status(303);
    assert_eq!(subscription.reload().await.filter, kept);
    let audited = audit_entries(&acme).await;
    assert!(audited[0].ends_with("removed 1 condition on removed event types"), "{audited:?}");
    // The form can be saved again. A quoted event type is the same type.
    subscription.set_filter("\"student.created\" /id exists").await;
    assert_eq!(subscription.reload().await.filter, kept);
}
