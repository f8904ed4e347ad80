//! Unions, discriminated by a property or by the type of the value, and values that match no variant.

use reqwest::Method;
use serde_json::{Value, json};

use crate::generated::events::{
    EVENT_TYPES, Event, Maker, ThingGoneBody, ThingGoneBodyWhy, ThingMade, ThingMadeType,
};
use crate::generated::schemas::{LargeThing, Place};
use crate::server::TestServer;

/// Sends a payment, and returns the body of the response.
async fn pay(server: &TestServer, payment: Value) -> Value {
    let response = server.send(Method::POST, "/payments", payment).await;
    assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
    response.json()
}

#[tokio::test]
async fn a_value_of_each_variant_is_returned_as_it_was_sent() {
    let server = TestServer::start().await;
    let cash = json!({ "method": "cash", "amount": 5 });
    assert_eq!(pay(&server, cash.clone()).await, json!({ "payment": cash, "for": 5 }));
    for reference in [json!(7), json!("seven"), json!(["s", "even"]), json!({ "name": "seven" }), json!(true)]
    {
        let card = json!({ "method": "card", "number": "1234", "reference": reference });
        assert_eq!(pay(&server, card.clone()).await, json!({ "payment": card, "for": reference }));
    }
}

#[tokio::test]
async fn a_value_that_matches_no_variant_is_rejected() {
    let server = TestServer::start().await;
    for payment in [
        json!({ "method": "card", "amount": 5 }),
        json!({ "method": "cheque", "amount": 5 }),
        json!({ "amount": 5 }),
        json!({ "method": "cash", "amount": 5, "number": "1234" }),
        json!({ "method": "card", "number": "1234", "reference": null }),
        json!({ "method": "card", "number": "1234", "reference": 1.5 }),
        json!("cash"),
    ] {
        let response = server.send(Method::POST, "/payments", payment.clone()).await;
        assert!(!response.errors().is_empty(), "{payment}");
    }
}

#[test]
fn events_are_serialized_with_their_type() {
    assert_eq!(EVENT_TYPES, ["thing.made", "thing.gone"]);
    let data = LargeThing { id: 1, name: "n".to_owned(), weight: 2, theme: None };
    for (maker, expected_maker) in [
        (Maker::Integer(3), json!(3)),
        (Maker::Place(Place { name: "here".to_owned() }), json!({ "name": "here" })),
    ] {
        let thing_made = ThingMade { r#type: ThingMadeType::ThingMade, data: data.clone(), by: Some(maker) };
        let event = Event::ThingMade(thing_made);
        let data = json!({ "id": 1, "name": "n", "weight": 2 });
        let expected = json!({ "type": "thing.made", "data": data, "by": expected_maker });
        assert_eq!(serde_json::to_value(&event).expect("JSON"), expected);
    }
    let event = Event::ThingGone(ThingGoneBody { id: 1, why: ThingGoneBodyWhy::Sold });
    assert_eq!(serde_json::to_value(&event).expect("JSON"), json!({ "id": 1, "why": "sold" }));
    assert_eq!(event.event_type(), "thing.gone");
}
