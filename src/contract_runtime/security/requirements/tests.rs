//! Tests which requirements are enforced, and which credentials satisfy them.

use poem::http::Uri;
use serde_json::json;

use super::*;

static OPERATION: Operation = Operation {
    id: "list",
    method: "GET",
    path: "/things",
    tag: "t",
    scope: None,
    parameters: &[],
    body: None,
    statuses: &[],
};

fn required(security: Value) -> anyhow::Result<RequiredSchemes> {
    let schemes = json!({
        "bearer": { "type": "http", "scheme": "Bearer" },
        "shared": { "$ref": "#/components/securitySchemes/bearer" },
        "digest": { "type": "http", "scheme": "Digest" },
        "query": { "type": "apiKey", "in": "query", "name": "key" },
        "header": { "type": "apiKey", "in": "header", "name": "X-Key" },
        "certificate": { "type": "mutualTLS" },
        "path": { "type": "apiKey", "in": "path", "name": "key" },
        "nameless": { "type": "apiKey", "in": "header" },
        "missing": { "$ref": "#/components/securitySchemes/none" },
        "cycle": { "$ref": "#/components/securitySchemes/cycle" },
    });
    let operation = json!({ "security": security });
    let document = json!({
        "paths": { "/things": { "get": operation } },
        "components": { "securitySchemes": schemes },
    });
    RequiredSchemes::of(&document, &OPERATION)
}

#[test]
fn malformed_requirements_are_rejected() {
    for (security, expected) in [
        (json!(null), "`security` is not a list"),
        (json!({ "bearer": [] }), "`security` is not a list"),
        (json!(["bearer"]), "a security requirement is not an object"),
        (json!([{ "bearer": "read" }]), "the scopes of `bearer` are not a list of strings"),
        (json!([{ "bearer": [1] }]), "the scopes of `bearer` are not a list of strings"),
        (json!([{ "none": [] }]), "the security scheme `none` cannot be used: it is not declared"),
        (
            json!([{ "bearer": [] }, { "certificate": [] }]),
            "the security scheme `certificate` cannot be used: \
             the credential of the type `mutualTLS` is not in the request",
        ),
        (json!([{ "path": [] }]), "the security scheme `path` cannot be used: API keys cannot be in `path`"),
        (json!([{ "nameless": [] }]), "the security scheme `nameless` cannot be used: it has no `name`"),
        (
            json!([{ "missing": [] }]),
            "the security scheme `missing` cannot be used: its reference does not resolve",
        ),
        (json!([{ "bearer": [], "digest": [] }]), "no request has several schemes in `Authorization`"),
        (
            json!([{ "cycle": [] }]),
            "the security scheme `cycle` cannot be used: its reference does not resolve",
        ),
    ] {
        let error = required(security.clone()).expect_err("the requirement is rejected");
        assert_eq!(format!("{error:#}"), expected, "{security}");
    }
}

/// Returns the schemes of each call of `verify`, and the outcome. `verify` accepts the credential `valid`, and returns
/// `Forbidden` for `weak`.
async fn authenticated(security: Value, headers: &[(&str, &str)], query: &str) -> (Vec<String>, String) {
    let mut request = Request::builder().uri(query.parse::<Uri>().expect("a valid URI"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (request, calls) = (request.finish(), std::cell::RefCell::new(Vec::new()));
    let required = required(security).expect("the requirement is valid");
    let verify = async |credentials: Vec<PresentedCredential<'_>>| {
        let names = credentials.iter().map(|credential| {
            format!("{} {:?} {}", credential.scheme.name, credential.scheme.scopes, credential.value)
        });
        calls.borrow_mut().push(names.collect::<Vec<_>>().join(" and "));
        match credentials.iter().map(|credential| &*credential.value).max() {
            Some("weak") => Err(Denial::Forbidden),
            Some("invalid") => Err(Denial::Unauthenticated),
            _ => Ok(()),
        }
    };
    let outcome = required.authenticate(&request, verify).await;
    (calls.into_inner(), format!("{outcome:?}"))
}

#[tokio::test]
async fn all_credentials_of_one_alternative_are_required() {
    let either = json!([{ "bearer": ["read"], "header": [] }, { "query": [] }, { "shared": ["write"] }]);
    for (headers, uri, calls, outcome) in [
        (&[][..], "/things", &[][..], "Err(Unauthenticated)"),
        (&[("x-key", "k")], "/things", &[], "Err(Unauthenticated)"),
        (&[("authorization", "Bearer a")], "/things", &["shared [\"write\"] a"], "Ok(())"),
        (
            &[("authorization", "Bearer a"), ("x-key", "b")],
            "/things?key=c",
            &["bearer [\"read\"] a and header [] b"],
            "Ok(())",
        ),
        (
            &[("authorization", "Bearer weak")],
            "/things?key=invalid",
            &["query [] invalid", "shared [\"write\"] weak"],
            "Err(Forbidden)",
        ),
        (&[("authorization", "Bearer invalid")], "/things?key=c", &["query [] c"], "Ok(())"),
        (&[], "/things?key=c&key=c", &[], "Err(Unauthenticated)"),
    ] {
        let (actual_calls, actual) = authenticated(either.clone(), headers, uri).await;
        assert_eq!(
            (&actual_calls[..], &*actual),
            (&calls.iter().map(|call| (*call).to_owned()).collect::<Vec<_>>()[..], outcome),
            "{headers:?} {uri}"
        );
    }
}

#[test]
fn a_challenge_names_each_kind_of_credential_once() {
    let security =
        json!([{ "bearer": [], "header": [] }, { "shared": [] }, { "digest": [] }, { "query": [] }]);
    let challenges = required(security).expect("the requirement is valid").challenges();
    assert_eq!(challenges, ["Bearer", "ApiKey"]);
}

#[tokio::test]
async fn anonymous_access_is_the_last_alternative() {
    let optional = json!([{}, { "digest": [] }]);
    let (calls, outcome) = authenticated(optional.clone(), &[], "/things").await;
    assert_eq!((calls, &*outcome), (vec![String::new()], "Ok(())"));
    let digest = [("authorization", "Digest username=\"ada\"")];
    let (calls, _) = authenticated(optional.clone(), &digest, "/things").await;
    assert_eq!(calls, ["digest [] username=\"ada\""]);
    let (calls, outcome) = authenticated(optional, &[("authorization", "Digest invalid")], "/things").await;
    assert_eq!((calls, &*outcome), (vec!["digest [] invalid".to_owned(), String::new()], "Ok(())"));
    assert!(required(json!([])).expect("the requirement is valid").is_public());
}

#[test]
fn an_operation_that_the_document_does_not_have_is_rejected() {
    for document in [
        json!({ "security": [] }),
        json!({ "paths": { "/things": { "post": {} } }, "security": [] }),
        json!({ "paths": { "/other": { "get": {} } } }),
    ] {
        let error = RequiredSchemes::of(&document, &OPERATION).expect_err("the document is rejected");
        assert_eq!(error.to_string(), "the contract's JSON does not have the operation", "{document}");
    }
}
