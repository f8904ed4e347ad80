//! Requests against the contract itself: what is refused, and in which words.

use std::sync::LazyLock;

use poem::http::{HeaderMap, HeaderValue};

use contract_runtime::contract::Operation;
use contract_runtime::validate::schemas::{self, Schemas};
use contract_runtime::validate::{Faults, Part, query};

use super::patterns;
use crate::generated::{document, operations};

static SCHEMAS: LazyLock<Vec<Schemas>> = LazyLock::new(|| {
    schemas::compile(document::JSON, operations::OPERATIONS, patterns::describe)
        .expect("the contract compiles")
});

/// The schemas of one operation.
fn of(operation: &Operation) -> &'static Schemas {
    SCHEMAS.iter().find(|schemas| std::ptr::eq(schemas.operation, operation)).expect("it is in the contract")
}

fn told(faults: Faults) -> Vec<String> {
    let part = |part| match part {
        Part::Path => "path",
        Part::Query => "query",
        Part::Header => "header",
        Part::Cookie => "cookie",
        Part::Body => "body",
    };
    faults
        .into_iter()
        .map(|fault| format!("{} {}: {}", part(fault.place), fault.field, fault.message))
        .collect()
}

fn asked(operation: &Operation, text: &str) -> Vec<String> {
    let mut faults = Faults::new();
    let pairs = query::read(text, |_| false, &mut faults);
    of(operation).check_query(&pairs, &mut faults);
    told(faults)
}

fn sent(operation: &Operation, body: &str) -> Vec<String> {
    let mut faults = Faults::new();
    of(operation).check_body(body.as_bytes(), &mut faults);
    let mut told = told(faults);
    told.sort();
    told
}

#[test]
fn a_good_query_passes() {
    for good in [
        "",
        "limit=100&sort=-updated_at&created_after=2026-01-01T00:00:00%2B01:00",
        "courseId=crs_01k424mh00e2mbrajjfteg1k8f&enrollment_status=active&tag=a+b&email=a%40b",
    ] {
        assert_eq!(asked(&operations::LIST_STUDENTS, good), [""; 0], "{good}");
    }
    assert_eq!(
        asked(
            &operations::GET_ANALYTICS_SUMMARY,
            "timezone=Europe/Berlin&interval=week&from=2026-01-01T00:00:00Z"
        ),
        [""; 0]
    );
}

#[test]
fn every_bad_limit_is_told_what_is_allowed() {
    let limit = |value: &str| asked(&operations::LIST_COURSES, &format!("limit={value}"));
    assert_eq!(limit("0"), ["query limit: must be at least 1"]);
    assert_eq!(limit("101"), ["query limit: must be at most 100"]);
    assert_eq!(limit("-1"), ["query limit: must be at least 1"]);
    assert_eq!(limit("99999999999999999999"), ["query limit: is out of range"]);
    assert_eq!(limit(""), ["query limit: is empty; leave it out or give it a value"]);
    for odd in ["1e2", "1.0", "+5", "%205", "0x10", "ten", "--1", "-"] {
        let told = limit(odd);
        assert_eq!(told.len(), 1, "{odd}");
        assert!(told[0].contains("whole number") || odd == "+5", "{odd}: {told:?}");
    }
}

#[test]
fn all_faults_of_a_query_come_together() {
    assert_eq!(
        asked(
            &operations::LIST_ORDERS,
            "page=2&limit=0&limit=5&sort=name&currency=usd&paid_after=2026-01-01T00:00:00&studentId=crs_x&status="
        ),
        [
            "query limit: is given more than once",
            "query page: is not a parameter of this operation",
            "query limit: must be at least 1",
            "query sort: must be one of `created_at`, `-created_at`, `updated_at`, `-updated_at`, `paid_at`, `-paid_at`",
            "query currency: must be a currency code of three capital letters, such as `USD`",
            "query paid_after: must name its offset from UTC: end it with `Z` or, say, `+01:00`",
            "query studentId: must be an id that begins with `stu_`, with 26 characters after it",
            "query status: is empty; leave it out or give it a value",
        ]
    );
}

#[test]
fn a_good_body_passes() {
    for good in [
        r#"{"email": "a@b"}"#,
        r#"{"email": "Jürgen@exämple.com", "name": null, "external_id": null, "tags": [], "metadata": {}}"#,
        r#"{"email": "a@b", "name": "A", "tags": ["x", "y"], "metadata": {"k": "", "l": "line\nbreak"}}"#,
    ] {
        assert_eq!(sent(&operations::CREATE_STUDENT, good), [""; 0], "{good}");
    }
}

#[test]
fn all_faults_of_a_body_come_together() {
    let long = "x".repeat(65);
    let body = format!(
        r#"{{"email": "ada", "name": 5, "phone": "1", "tags": ["a", "a", "{long}"], "metadata": {{"k": 1, "": "v"}}}}"#
    );
    assert_eq!(
        sent(&operations::CREATE_STUDENT, &body),
        [
            "body /email: must hold one @ between two parts without blanks",
            "body /metadata/: has a name that cannot be taken: it must not be empty",
            "body /metadata/k: must be a string",
            "body /name: must be null or a string",
            "body /phone: is not a field of this body",
            "body /tags/2: must be at most 64 characters long",
            "body /tags: must not hold an item twice",
        ]
    );
}

#[test]
fn a_body_of_another_kind_is_told_what_is_expected() {
    assert_eq!(sent(&operations::CREATE_STUDENT, "[]"), ["body : must be an object"]);
    assert_eq!(sent(&operations::CREATE_STUDENT, "null"), ["body : must be an object"]);
    assert_eq!(sent(&operations::CREATE_STUDENT, "{}"), ["body /email: is required"]);
    assert_eq!(
        sent(&operations::CREATE_ENROLLMENT, r#"{"expires_at": "2016-12-31T23:59:60Z"}"#),
        [
            "body /courseId: is required",
            "body /expires_at: must not be a leap second (`:60`)",
            "body /studentId: is required",
        ]
    );
    let email = format!(r#"{{"email": "{}@b"}}"#, "a".repeat(400));
    assert_eq!(
        sent(&operations::CREATE_STUDENT, &email),
        ["body /email: must be at most 320 characters long"]
    );
}

#[test]
fn the_value_itself_is_never_repeated() {
    let told = sent(&operations::CREATE_STUDENT, r#"{"email": "secret person", "name": "secret\u0001"}"#);
    assert!(told.len() == 2 && told.iter().all(|fault| !fault.contains("secret")), "{told:?}");
}

#[test]
fn a_header_is_judged_like_a_parameter() {
    let checked = |values: &[&str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("idempotency-key", HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let mut faults = Faults::new();
        of(&operations::CREATE_STUDENT).check_headers(&headers, &mut faults);
        told(faults)
    };
    assert_eq!(checked(&["abc"]), [""; 0]);
    assert_eq!(checked(&[""]), ["header Idempotency-Key: is empty"]);
    assert_eq!(
        checked(&["a b"]),
        ["header Idempotency-Key: must be visible ASCII characters without blanks"]
    );
    assert_eq!(checked(&["é"]), ["header Idempotency-Key: must be visible ASCII characters"]);
    assert_eq!(checked(&["a", "a"]), ["header Idempotency-Key: is given more than once"]);
    assert_eq!(checked(&[&"x".repeat(256)]), ["header Idempotency-Key: must be at most 255 characters long"]);
}
