//! Conditions: how they are parsed, stored and compared. `api/events/filter_tests.rs` compares them with a model.

use super::*;

#[test]
fn a_condition_is_stored_as_it_is_parsed() {
    for line in [
        "order.paid /total_amount gte 10000",
        "order.paid /currency in USD, EUR",
        r#"student.created /metadata/a~1b eq "two words""#,
        r#"student.created /name in null, "null", "a\"b\\c""#,
        "student.updated /changed contains tags",
        "enrollment.created /expires_at lt 2026-01-31T12:00:00Z",
        "live_session.ended /duration_seconds exists false",
    ] {
        assert_eq!(Condition::parse(line).unwrap().to_string(), line);
    }
}

#[test]
fn an_invalid_condition_names_the_problem_and_the_remedy() {
    for (line, message) in [
        ("order.paid /total_amount", "expected an event type, a field and an operator, such as"),
        ("order.payed /id exists", "`order.payed` is not an event type; did you mean `order.paid`?"),
        ("order.paid id exists", "`id` is not a JSON pointer; it must begin with `/`"),
        ("order.paid /to~2 exists", "`~2` in `/to~2` is not an escape; write `~0` for `~` and `~1` for `/`"),
        ("order.paid /total exists", "`order.paid` has no field `/total`; did you mean"),
        (
            "order.paid /items/0/id eq a",
            "`/items` is a list of objects, which cannot be compared; use `/items exists`",
        ),
        (
            "student.created /tags/0 eq a",
            "`/tags` is a list, whose items have no pointers; use `/tags contains VALUE`",
        ),
        ("student.created /metadata/a/b eq a", "`/metadata` is an object with strings, so"),
        (
            "student.created /email gt a",
            "`gt` cannot compare `/email`, which is a string; use eq or in or exists or starts_with",
        ),
        ("student.created /email like a", "\"like\" is not an operator; expected one of eq, in, "),
        ("order.paid /total_amount eq 1.5", "expected an integer, got `1.5`"),
        ("order.paid /paid_at gt 2026-01-31", "expected a timestamp with a time zone, such as"),
        ("order.paid /currency eq USD EUR", "`eq` requires one value"),
        ("order.paid /currency in", "`in` requires 1 to 100 values"),
        (r#"order.paid /currency eq "USD"#, "a quotation mark is missing"),
    ] {
        let error = Condition::parse(line).unwrap_err();
        assert!(error.starts_with(message), "{line}: {error}");
    }
}

#[test]
fn a_filter_has_at_most_ten_conditions_for_an_event_type() {
    let ten = "order.paid /id exists\n".repeat(10) + "\n  student.deleted /id exists  ";
    assert_eq!(normalize(&ten).unwrap().lines().count(), 11);
    let errors = normalize(&(ten + "\norder.paid /number exists")).unwrap_err();
    assert!(matches!(&*errors, [(12, message)] if message.contains("more than 10 conditions")), "{errors:?}");
    assert_eq!(normalize(" \n").unwrap(), "");
}

#[test]
fn values_are_compared_by_their_kind() {
    let text = |text: &str| FieldValue::Text(text.to_owned());
    for (line, value, holds) in [
        ("order.paid /total_amount gt 9", FieldValue::Integer(10), true),
        ("order.paid /total_amount lte 9", FieldValue::Integer(10), false),
        ("order.paid /total_amount eq 9", FieldValue::Null, false),
        ("live_session.ended /duration_seconds lt 9", FieldValue::Null, false),
        ("student.created /name eq null", FieldValue::Null, true),
        ("student.created /name eq null", FieldValue::Missing, false),
        ("student.created /name eq \"null\"", text("null"), true),
        ("student.created /metadata/plan exists", FieldValue::Missing, false),
        ("student.created /metadata/plan exists false", FieldValue::Missing, true),
        ("order.paid /paid_at eq 2026-01-31T12:00:00Z", text("2026-01-31T12:00:00.000Z"), true),
        ("order.paid /paid_at lt 2026-01-31T12:00:00.5Z", text("2026-01-31T12:00:00Z"), true),
        ("student.created /email starts_with ada@", text("ada@example.com"), true),
        ("student.created /tags contains vip", FieldValue::List(vec!["vip".to_owned()]), true),
        ("order.paid /items exists", FieldValue::Object, true),
    ] {
        assert_eq!(Condition::parse(line).unwrap().holds(&value), holds, "{line}: {value:?}");
    }
}
