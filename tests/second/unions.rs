//! Unions: told apart by a property, or by the kind of value; and what has no shape of theirs.

use reqwest::Method;
use serde_json::{Value, json};

use crate::generated::events::{
    EVENT_TYPES, Event, Maker, ThingGoneBody, ThingGoneBodyWhy, ThingMade, ThingMadeType,
};
use crate::generated::schemas::{LargeThing, Place};
use crate::server::Both;

async fn paid(both: &Both, payment: Value) -> Value {
    let answer = both.send(Method::POST, "/payments", payment).await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()
}

#[tokio::test]
async fn each_shape_comes_back_as_it_was_sent() {
    let both = Both::start().await;
    let cash = json!({ "method": "cash", "amount": 5 });
    assert_eq!(paid(&both, cash.clone()).await, json!({ "payment": cash, "for": 5 }));
    for reference in [json!(7), json!("seven"), json!(["s", "even"]), json!({ "name": "seven" }), json!(true)]
    {
        let card = json!({ "method": "card", "number": "1234", "reference": reference });
        assert_eq!(paid(&both, card.clone()).await, json!({ "payment": card, "for": reference }));
    }
}

#[tokio::test]
async fn what_has_no_shape_is_refused() {
    let both = Both::start().await;
    for payment in [
        json!({ "method": "card", "amount": 5 }),
        json!({ "method": "cheque", "amount": 5 }),
        json!({ "amount": 5 }),
        json!({ "method": "cash", "amount": 5, "number": "1234" }),
        json!({ "method": "card", "number": "1234", "reference": null }),
        json!({ "method": "card", "number": "1234", "reference": 1.5 }),
        json!("cash"),
    ] {
        let answer = both.send(Method::POST, "/payments", payment.clone()).await;
        assert!(!answer.faults().is_empty(), "{payment}");
    }
}

#[test]
fn events_are_written_with_their_type() {
    assert_eq!(EVENT_TYPES, ["thing.made", "thing.gone"]);
    let data = LargeThing { id: 1, name: "n".to_owned(), weight: 2, theme: None };
    for (by, written) in [
        (Maker::Integer(3), json!(3)),
        (Maker::Place(Place { name: "here".to_owned() }), json!({ "name": "here" })),
    ] {
        let made = ThingMade { r#type: ThingMadeType::ThingMade, data: data.clone(), by: Some(by) };
        let event = Event::ThingMade(made);
        let data = json!({ "id": 1, "name": "n", "weight": 2 });
        let expected = json!({ "type": "thing.made", "data": data, "by": written });
        assert_eq!(serde_json::to_value(&event).expect("JSON"), expected);
    }
    let gone = Event::ThingGone(ThingGoneBody { id: 1, why: ThingGoneBodyWhy::Sold });
    assert_eq!(serde_json::to_value(&gone).expect("JSON"), json!({ "id": 1, "why": "sold" }));
    assert_eq!(gone.event_type(), "thing.gone");
}
