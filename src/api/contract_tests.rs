//! Tests the validation of requests against the contract, and its messages.

use std::sync::LazyLock;

use poem::http::{HeaderMap, HeaderValue};

use contract_runtime::contract::Operation;
use contract_runtime::validate::schemas::{self, Schemas};
use contract_runtime::validate::{RequestPart, Violations, query};

use super::patterns;
use crate::generated::{document, operations};

static SCHEMAS: LazyLock<Vec<Schemas>> = LazyLock::new(|| {
    schemas::compile(document::JSON, operations::OPERATIONS, patterns::describe)
        .expect("the schemas of the contract must compile")
});

/// Returns the schemas of an operation.
fn schemas_of(operation: &Operation) -> &'static Schemas {
    SCHEMAS
        .iter()
        .find(|schemas| std::ptr::eq(schemas.operation, operation))
        .expect("the contract must contain the operation")
}

/// Formats each violation as its part, field and message.
fn messages(violations: Violations) -> Vec<String> {
    let part_name = |part| match part {
        RequestPart::Path => "path",
        RequestPart::Query => "query",
        RequestPart::Header => "header",
        RequestPart::Cookie => "cookie",
        RequestPart::Body => "body",
    };
    violations
        .into_iter()
        .map(|violation| format!("{} {}: {}", part_name(violation.part), violation.field, violation.message))
        .collect()
}

fn check_query(operation: &Operation, text: &str) -> Vec<String> {
    let mut violations = Violations::new();
    let parameters = query::parse(text, |_| false, &mut violations);
    schemas_of(operation).check_query(&parameters, &mut violations);
    messages(violations)
}

fn check_body(operation: &Operation, body: &str) -> Vec<String> {
    let mut violations = Violations::new();
    schemas_of(operation).check_body(body.as_bytes(), &mut violations);
    let mut messages = messages(violations);
    messages.sort();
    messages
}

#[test]
fn a_valid_query_is_accepted() {
    for valid in [
        "",
        "limit=100&sort=-updated_at&created_after=2026-01-01T00:00:00%2B01:00",
        "courseId=crs_01k424mh00e2mbrajjfteg1k8f&enrollment_status=active&tag=a+b&email=a%40b",
    ] {
        assert_eq!(check_query(&operations::LIST_STUDENTS, valid), [""; 0], "{valid}");
    }
    assert_eq!(
        check_query(
            &operations::GET_ANALYTICS_SUMMARY,
            "timezone=Europe/Berlin&interval=week&from=2026-01-01T00:00:00Z"
        ),
        [""; 0]
    );
}

#[test]
fn an_invalid_limit_is_rejected_with_the_allowed_range() {
    let limit = |value: &str| check_query(&operations::LIST_COURSES, &format!("limit={value}"));
    assert_eq!(limit("0"), ["query limit: must be at least 1"]);
    assert_eq!(limit("101"), ["query limit: must be at most 100"]);
    assert_eq!(limit("-1"), ["query limit: must be at least 1"]);
    assert_eq!(limit("99999999999999999999"), ["query limit: is out of range"]);
    assert_eq!(limit(""), ["query limit: is empty; omit it or provide a value"]);
    for invalid in ["1e2", "1.0", "+5", "%205", "0x10", "ten", "--1", "-"] {
        let messages = limit(invalid);
        assert_eq!(messages.len(), 1, "{invalid}");
        assert!(messages[0].contains("integer") || invalid == "+5", "{invalid}: {messages:?}");
    }
}

#[test]
fn all_errors_of_a_query_are_reported_together() {
    assert_eq!(
        check_query(
            &operations::LIST_ORDERS,
            "page=2&limit=0&limit=5&sort=name&currency=usd&paid_after=2026-01-01T00:00:00&studentId=crs_x&status="
        ),
        [
            "query limit: is specified more than once",
            "query page: is not a parameter of this operation",
            "query limit: must be at least 1",
            "query sort: must be one of `created_at`, `-created_at`, `updated_at`, `-updated_at`, `paid_at`, `-paid_at`",
            "query currency: must be a currency code of three uppercase letters, such as `USD`",
            "query paid_after: must have a UTC offset: end it with `Z` or an offset such as `+01:00`",
            "query studentId: must be an id: `stu_` followed by 26 characters",
            "query status: is empty; omit it or provide a value",
        ]
    );
}

#[test]
fn a_valid_body_is_accepted() {
    for valid in [
        r#"{"email": "a@b"}"#,
        r#"{"email": "Jürgen@exämple.com", "name": null, "external_id": null, "tags": [], "metadata": {}}"#,
        r#"{"email": "a@b", "name": "A", "tags": ["x", "y"], "metadata": {"k": "", "l": "line\nbreak"}}"#,
    ] {
        assert_eq!(check_body(&operations::CREATE_STUDENT, valid), [""; 0], "{valid}");
    }
}

#[test]
fn all_errors_of_a_body_are_reported_together() {
    let long_tag = "x".repeat(65);
    let body = format!(
        r#"{{"email": "ada", "name": 5, "phone": "1", "tags": ["a", "a", "{long_tag}"], "metadata": {{"k": 1, "": "v"}}}}"#
    );
    assert_eq!(
        check_body(&operations::CREATE_STUDENT, &body),
        [
            "body /email: must contain exactly one @, with text on both sides and no whitespace",
            "body /metadata/: has an invalid name: it must not be empty",
            "body /metadata/k: must be a string",
            "body /name: must be null or a string",
            "body /phone: is not a field of this body",
            "body /tags/2: must be at most 64 characters long",
            "body /tags: must not contain duplicate items",
        ]
    );
}

#[test]
fn a_body_of_the_wrong_type_is_rejected_with_the_expected_type() {
    assert_eq!(check_body(&operations::CREATE_STUDENT, "[]"), ["body : must be an object"]);
    assert_eq!(check_body(&operations::CREATE_STUDENT, "null"), ["body : must be an object"]);
    assert_eq!(check_body(&operations::CREATE_STUDENT, "{}"), ["body /email: is required"]);
    assert_eq!(
        check_body(&operations::CREATE_ENROLLMENT, r#"{"expires_at": "2016-12-31T23:59:60Z"}"#),
        [
            "body /courseId: is required",
            "body /expires_at: must not be a leap second (`:60`)",
            "body /studentId: is required",
        ]
    );
    let email = format!(r#"{{"email": "{}@b"}}"#, "a".repeat(400));
    assert_eq!(
        check_body(&operations::CREATE_STUDENT, &email),
        ["body /email: must be at most 320 characters long"]
    );
}

#[test]
fn messages_do_not_contain_the_rejected_value() {
    let messages =
        check_body(&operations::CREATE_STUDENT, r#"{"email": "secret person", "name": "secret\u0001"}"#);
    assert!(
        messages.len() == 2 && messages.iter().all(|message| !message.contains("secret")),
        "{messages:?}"
    );
}

#[test]
fn headers_are_validated_like_parameters() {
    let check_header = |values: &[&str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("idempotency-key", HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let mut violations = Violations::new();
        schemas_of(&operations::CREATE_STUDENT).check_headers(&headers, &mut violations);
        messages(violations)
    };
    assert_eq!(check_header(&["abc"]), [""; 0]);
    assert_eq!(check_header(&[""]), ["header Idempotency-Key: is empty"]);
    assert_eq!(
        check_header(&["a b"]),
        ["header Idempotency-Key: must contain only visible ASCII characters and no spaces"]
    );
    assert_eq!(check_header(&["é"]), ["header Idempotency-Key: must be visible ASCII characters"]);
    assert_eq!(check_header(&["a", "a"]), ["header Idempotency-Key: is specified more than once"]);
    assert_eq!(
        check_header(&[&"x".repeat(256)]),
        ["header Idempotency-Key: must be at most 255 characters long"]
    );
}
