//! Changes of media types: ranges, parameters and the schemas that they cover.

use serde_json::{Value, json};

use super::super::rule::Level;
use super::behavior::document_with_operation;
use super::{differences, ids_and_levels};

#[test]
fn a_new_request_media_type_is_compared_with_the_range_that_covered_it() {
    let request =
        |content: Value| document_with_operation(&json!({}), &json!({"requestBody": {"content": content}}));
    let reported =
        |before: Value, after: Value| ids_and_levels(&differences(&request(before), &request(after)));
    let requiring = |names: Value| json!({"schema": {"type": "object", "required": names}});
    let added = ("request-body-media-type-added".to_owned(), Level::Info);
    assert_eq!(
        reported(json!({"*/*": {}}), json!({"*/*": {}, "application/json": requiring(json!(["a"]))})),
        [added.clone(), ("request-body-media-type-schema-added".to_owned(), Level::Error)]
    );
    let loose = json!({"*/*": requiring(json!([]))});
    let strict = json!({"*/*": requiring(json!([])), "application/json": requiring(json!(["a"]))});
    assert!(reported(loose.clone(), strict).iter().any(|(_, level)| *level == Level::Error));
    let same = json!({"*/*": requiring(json!([])), "application/json": requiring(json!([]))});
    assert_eq!(reported(loose, same), std::slice::from_ref(&added));
    // The most specific range is used.
    let content = |json: Value| {
        let mut content = json!({"*/*": {}, "application/*": requiring(json!(["a"]))});
        if !json.is_null() {
            content["application/json"] = json;
        }
        content
    };
    assert_eq!(
        reported(content(Value::Null), content(requiring(json!(["a"])))),
        std::slice::from_ref(&added)
    );
    assert_eq!(
        reported(json!({"text/*": {}}), json!({"text/*": {}, "a/b": requiring(json!(["a"]))})),
        [added]
    );
}

#[test]
fn a_new_response_media_type_is_compared_with_the_range_that_covered_it() {
    let response = |content: Value| {
        let response = json!({"description": "D", "content": content});
        document_with_operation(&json!({}), &json!({"responses": {"200": response}}))
    };
    let reported =
        |before: Value, after: Value| ids_and_levels(&differences(&response(before), &response(after)));
    let body = |kind: &str| json!({"schema": {"type": kind}});
    let added = ("response-media-type-added".to_owned(), Level::Info);
    let changed = ("response-body-type-changed".to_owned(), Level::Error);
    let (any, named) =
        (json!({"*/*": body("object")}), json!({"*/*": body("object"), "a/json": body("array")}));
    assert_eq!(reported(any.clone(), named.clone()), [added.clone(), changed.clone()]);
    assert_eq!(reported(any.clone(), json!({"*/*": body("object"), "a/json": body("object")})), [added]);
    // The removal of the specific type is reported only once.
    assert_eq!(reported(named, any), [("response-media-type-removed".to_owned(), Level::Error)]);
    // If several types replace a range, each is compared.
    let several =
        reported(json!({"*/*": body("object")}), json!({"a/json": body("object"), "a/csv": body("string")}));
    assert!(several.contains(&changed), "{several:?}");
}

#[test]
fn media_type_parameters_except_charset_are_part_of_the_name() {
    let body = json!({"schema": {"type": "string"}});
    let response = |name: &str| {
        let response = json!({"description": "D", "content": {name: body}});
        document_with_operation(&json!({}), &json!({"responses": {"200": response}}))
    };
    let query_parameter = |name: &str| {
        let parameter = json!({"name": "q", "in": "query", "content": {name: body}});
        document_with_operation(&json!({}), &json!({"parameters": [parameter]}))
    };
    let request =
        |name: &str| document_with_operation(&json!({}), &json!({"requestBody": {"content": {name: body}}}));
    let single = |id: &str, level| vec![(id.to_owned(), level)];
    for (before, after, expected) in [
        ("a/b; v=1", "a/b; v=2", {
            let added = ("response-media-type-added".to_owned(), Level::Info);
            vec![("response-media-type-removed".to_owned(), Level::Error), added]
        }),
        (
            "a/b; v=1; w=2",
            "a/b; W=2; V=1; charset=utf-8",
            single("response-media-type-name-changed", Level::Info),
        ),
        // A quoted value is the same as one without quotes.
        ("a/b; v=\"1\"", "a/b;v=1", vec![]),
        ("a/b; v=\"1\"; w=2", "a/b; w=2; v=1", single("response-media-type-name-changed", Level::Info)),
        ("a/b; v=\"c;\\\"d\\e\"", "a/b;v=\"c;\\\"de\"", vec![]),
        ("a/b; charset=\"utf-8\"", "a/b", single("response-media-type-name-changed", Level::Info)),
        ("a/b; v=\"c;w=2\"", "a/b; v=c; w=2", {
            let added = ("response-media-type-added".to_owned(), Level::Info);
            vec![("response-media-type-removed".to_owned(), Level::Error), added]
        }),
        ("a/b", "a/b; charset=utf-8", single("response-media-type-name-changed", Level::Info)),
        ("a/b", "a/b; v=1", single("response-media-type-name-specialized", Level::Info)),
        ("a/b; v=1", "a/b", single("response-media-type-name-generalized", Level::Error)),
        ("a/json; v=1", "a/c+json; v=1", single("response-media-type-name-specialized", Level::Info)),
    ] {
        let mut reported = ids_and_levels(&differences(&response(before), &response(after)));
        let mut expected = expected;
        reported.sort();
        expected.sort();
        assert_eq!(reported, expected, "{before} to {after}");
    }
    let reported = ids_and_levels(&differences(&request("a/b; v=1; w=2"), &request("a/b; w=2; v=1")));
    assert_eq!(reported, single("request-body-media-type-name-changed", Level::Info));
    assert_eq!(
        ids_and_levels(&differences(&query_parameter("a/json"), &query_parameter("a/json; charset=utf-8"))),
        []
    );
    assert_eq!(
        ids_and_levels(&differences(&query_parameter("a/b; v=1"), &query_parameter("a/b; v=2"))),
        single("request-parameter-serialization-changed", Level::Error)
    );
}

#[test]
fn the_notation_in_xml_matters_only_if_values_are_sent_as_xml() {
    let schema = |name: Option<&str>| match name {
        Some(name) => {
            json!({"type": "object", "properties": {"a": {"type": "string", "xml": {"name": name}}}})
        }
        None => json!({"type": "object", "properties": {"a": {"type": "string"}}}),
    };
    let document = |media_type: &str, encoding: Value, name: Option<&str>| {
        let schemas = json!({"A": schema(name)});
        let content =
            json!({media_type: {"schema": {"$ref": "#/components/schemas/A"}, "encoding": encoding}});
        let response = json!({"description": "D", "content": content});
        document_with_operation(
            &json!({"components": {"schemas": schemas}}),
            &json!({"requestBody": {"content": content}, "responses": {"200": response}}),
        )
    };
    let reported = |media_type: &str, encoding: Value, before: Option<&str>, after: Option<&str>| {
        let base = document(media_type, encoding.clone(), before);
        ids_and_levels(&differences(&base, &document(media_type, encoding, after)))
    };
    let changed = [("unclassified-change".to_owned(), Level::Error)];
    for (before, after) in [(None, Some("b")), (Some("b"), None), (Some("b"), Some("c"))] {
        for media_type in ["application/json", "application/problem+json", "multipart/form-data"] {
            assert_eq!(reported(media_type, json!({}), before, after), [], "{media_type}");
        }
        for media_type in ["application/xml", "text/XML; charset=utf-8", "application/atom+xml", "*/*"] {
            let findings = reported(media_type, json!({}), before, after);
            assert!(findings.starts_with(&changed), "{media_type}: {findings:?}");
        }
        let encoding = json!({"a": {"contentType": "text/plain, application/xml"}});
        assert!(reported("multipart/form-data", encoding, before, after).starts_with(&changed));
    }
}
