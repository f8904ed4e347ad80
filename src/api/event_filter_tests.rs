//! Filters of events, compared with a model that evaluates JSON values directly.

use domain::outbox::filters::Condition;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::events::read_fields;

/// A field of `student.created`: its JSON pointer, the keys that lead to it, the operators for it, and its possible values.
type Field = (&'static str, &'static [&'static str], &'static [&'static str], Vec<Value>);

fn fields() -> Vec<Field> {
    const EQUALITY: &[&str] = &["eq", "in", "exists"];
    const TEXT: &[&str] = &["eq", "in", "exists", "starts_with"];
    const ORDER: &[&str] = &["eq", "in", "exists", "gt", "gte", "lt", "lte"];
    let texts = || vec![Value::Null, json!(""), json!("null"), json!("a"), json!("ab, \"c\""), json!("b\\")];
    vec![
        ("/name", &["name"], TEXT, texts()),
        ("/metadata/a~1~0b", &["metadata", "a/~b"], TEXT, texts()),
        ("/email", &["email"], EQUALITY, vec![json!("a@b"), json!("a b")]),
        (
            "/progress/average_percent_complete",
            &["progress", "average_percent_complete"],
            ORDER,
            vec![Value::Null, json!(-1), json!(0), json!(100), json!(i64::MAX)],
        ),
        (
            "/created_at",
            &["created_at"],
            ORDER,
            vec![
                json!("2026-01-01T00:00:00Z"),
                json!("2026-01-01T00:00:00.000Z"),
                json!("2026-01-01T01:00:00+02:00"),
            ],
        ),
        ("/tags", &["tags"], &["contains", "exists"], vec![json!("a"), json!("two words"), json!("null")]),
    ]
}

/// Returns an event with this value at these keys, or without it.
fn event(keys: &[&str], value: Option<&Value>) -> Value {
    let value = match (keys, value) {
        (["tags"], value) => {
            Some(json!(value.map_or_else(Vec::new, |tag| vec![json!("other"), tag.clone()])))
        }
        (_, value) => value.cloned(),
    };
    let data = value.map(|value| keys.iter().rev().fold(value, |value, key| json!({ *key: value })));
    json!({"type": "student.created", "data": data.unwrap_or_else(|| json!({"id": "stu_1"}))})
}

/// Writes an operand as in a filter.
fn written(operand: &Value) -> String {
    match operand {
        Value::String(text) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        other => other.to_string(),
    }
}

/// The model: whether the value at these keys meets the condition.
fn holds(event: &Value, keys: &[&str], operator: &str, operands: &[Value]) -> bool {
    let value = keys.iter().try_fold(&event["data"], |value, key| value.get(key));
    let time = |value: &Value| value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let is_equal = |operand: &Value| match value {
        Some(value) if keys == ["created_at"] => time(value) == time(operand),
        value => value == Some(operand),
    };
    let number = |value: &Value| match time(value) {
        Some(at) if keys == ["created_at"] => Some(at.as_nanosecond()),
        _ => value.as_i64().map(i128::from),
    };
    let order = || value.and_then(number).zip(operands.first().and_then(number));
    match operator {
        "exists" => value.is_some_and(|value| !value.is_null()),
        "eq" | "in" => operands.iter().any(is_equal),
        "gt" => order().is_some_and(|(value, operand)| value > operand),
        "gte" => order().is_some_and(|(value, operand)| value >= operand),
        "lt" => order().is_some_and(|(value, operand)| value < operand),
        "lte" => order().is_some_and(|(value, operand)| value <= operand),
        "starts_with" => {
            let texts = value.and_then(Value::as_str).zip(operands[0].as_str());
            texts.is_some_and(|(value, operand)| value.starts_with(operand))
        }
        "contains" => value.and_then(Value::as_array).is_some_and(|items| items.contains(&operands[0])),
        other => panic!("unknown operator {other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn a_filter_agrees_with_the_model(
        field: prop::sample::Index,
        operator: prop::sample::Index,
        value: prop::sample::Index,
        operands in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        is_missing in prop::bool::weighted(0.1),
    ) {
        let fields = fields();
        let (pointer, keys, operators, values) = field.get(&fields);
        let operator = *operator.get(operators);
        let count = match operator { "exists" => 0, "in" => operands.len(), _ => 1 };
        let operands: Vec<Value> = operands.iter().take(count).map(|index| index.get(values).clone()).collect();
        prop_assume!(matches!(operator, "eq" | "in" | "exists") || !operands[0].is_null());
        let event = event(keys, (!is_missing).then(|| value.get(values)));
        let texts: Vec<String> = operands.iter().map(written).collect();
        let line = format!("student.created {pointer} {operator} {}", texts.join(", "));
        let condition = Condition::parse(&line).expect(&line);
        prop_assert_eq!(&Condition::parse(&condition.to_string()).expect("its stored form"), &condition);
        let read = read_fields(event.to_string().as_bytes(), &[&*condition.pointer]);
        prop_assert_eq!(condition.holds(&read[0]), holds(&event, keys, operator, &operands), "{} {}", line, event);
    }
}
