//! Test events: receivers can tell them from real events, in the first delivery and in each later one.

use api::generated::events::EVENT_TYPES;
use domain::webhooks;
use foundation::id::DeliveryId;

use crate::support::browser::{WEBHOOKS, html};
use crate::support::conformance::ContractValidator;
use crate::support::events::cause_all_events;
use crate::support::{Endpoint, TestApp, in_transaction};

const DEAD_LETTERS: &str = "/dashboard/developer/webhooks/dead-letters";
/// Marks the delivery of a test event in a list.
const TEST_BADGE: &str = r#"<span class="badge quiet">test</span>"#;

#[tokio::test]
async fn test_events_are_marked_and_real_events_are_not() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_endpoint(&endpoint, EVENT_TYPES).await;
    let domain_app = &app.app;
    for event_type in EVENT_TYPES {
        let sent = in_transaction(&app, async |write| {
            webhooks::send_test(domain_app, write, acme.id, subscription.id, Some(event_type)).await
        });
        assert_eq!(sent.await.unwrap().event_type, *event_type);
    }
    while app.deliver_due().await > 0 {}

    let contract = ContractValidator::fetch(&app).await;
    let requests = endpoint.requests();
    assert_eq!(requests.len(), EVENT_TYPES.len());
    for request in requests {
        let event = request.event();
        let event_type = event["type"].as_str().expect("an event has a type");
        assert_eq!(event["test"], true, "{event_type}");
        assert_eq!(contract.errors(&ContractValidator::event_schema(event_type), &event), [""; 0]);
        // The field has its documented position, so that the bodies of real events keep their bytes.
        let text = String::from_utf8(request.body.clone()).expect("UTF-8");
        assert!(text.contains(&format!(r#""workspace_id":"{}","test":true,"data":{{"#, acme.id)), "{text}");
    }

    cause_all_events(&acme, &acme.key_with_all_scopes().await).await;
    let events = app.events().await;
    let (marked, real): (Vec<_>, Vec<_>) = events.iter().partition(|event| event.get("test").is_some());
    assert_eq!(marked.len(), EVENT_TYPES.len());
    for event_type in EVENT_TYPES {
        assert!(real.iter().any(|event| event["type"] == *event_type), "{event_type}");
    }
}

#[tokio::test]
async fn a_test_event_that_is_sent_again_has_the_same_bytes() {
    let app = TestApp::start_with_local_webhooks().await;
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    endpoint.respond_with([410]);
    let subscription = acme.subscribe_endpoint(&endpoint, EVENT_TYPES).await;
    let domain_app = &app.app;
    let sent = in_transaction(&app, async |write| {
        webhooks::send_test(domain_app, write, acme.id, subscription.id, None).await
    });
    let delivery: DeliveryId = sent.await.unwrap().id;
    while app.deliver_due().await > 0 {}
    // The dead letter is marked, too.
    let browser = acme.owner_browser().await;
    let page = html(&browser.get(DEAD_LETTERS).await);
    assert!(page.contains("student.created") && page.contains(TEST_BADGE), "{page}");
    let page = html(&browser.get(&format!("{WEBHOOKS}/{}", subscription.id)).await);
    assert!(page.contains(TEST_BADGE), "{page}");

    let again = in_transaction(&app, async |write| {
        webhooks::send_again(domain_app, write, acme.id, &[delivery]).await
    });
    assert_eq!(again.await.unwrap().len(), 1);
    while app.deliver_due().await > 0 {}
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body, requests[1].body);
    assert_eq!(requests[1].event()["test"], true);
}
