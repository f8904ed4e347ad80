//! Tests security requirements and security schemes.

use super::CONVENTIONS;
use crate::diagnostic::Diagnostic;
use crate::read;
use crate::source::Source;

/// Reads a contract whose only operation requires the scheme `key`. Returns the errors, or else the notes.
fn scheme_messages(schemes: &str) -> Vec<String> {
    let text = format!(
        "openapi: 3.1.0\ninfo: {{ title: T, version: '1' }}\nsecurity: [{{ key: [] }}]\npaths:\n  /things:\n    get:\n\
         \x20     operationId: list\n      responses: {{ '204': {{ description: A. }} }}\n\
         components: {{ securitySchemes: {schemes} }}\n"
    );
    let (source, diagnostics) = match read(Source::new("things.yaml", text), &CONVENTIONS) {
        Ok(contract) => (contract.source, contract.notes),
        Err(invalid) => (invalid.source, invalid.diagnostics),
    };
    let message = |diagnostic: &Diagnostic| {
        let place = source.text[diagnostic.span.start..diagnostic.span.end].trim_end();
        format!("{:?} at {place}: {}", diagnostic.severity, diagnostic.message)
    };
    diagnostics.iter().map(message).collect()
}

#[test]
fn a_security_scheme_that_cannot_be_enforced_is_rejected_with_its_place() {
    for (scheme, place, reason) in [
        ("{ type: mutualTLS }", "mutualTLS", "the server does not receive the certificate of the client"),
        ("{ type: password }", "password", "unknown type `password`"),
        ("{ scheme: bearer }", "{ scheme: bearer }", "it has no `type`"),
        ("{ type: http }", "{ type: http }", "it has no `scheme`"),
        ("{ type: apiKey, in: body, name: a }", "body", "API keys cannot be in `body`"),
        ("{ type: apiKey, in: header }", "{ type: apiKey, in: header }", "it has no `name`"),
        ("{ type: apiKey, in: header, name: a b }", "a b", "`a b` is not a valid header name"),
        ("{ $ref: 'a.yaml#/key' }", "'a.yaml#/key'", "`a.yaml#/key` references another document"),
        ("{ $ref: '#/none' }", "'#/none'", "unresolved reference `#/none`"),
        (
            "{ $ref: '#/components/securitySchemes/key' }",
            "{ $ref: '#/components/securitySchemes/key' }",
            "it has no `type`",
        ),
    ] {
        let expected = format!("Error at {place}: the security scheme `key` cannot be enforced: {reason}");
        assert_eq!(scheme_messages(&format!("{{ key: {scheme} }}")), [expected]);
    }
}

#[test]
fn several_schemes_in_one_header_are_rejected() {
    let schemes = "key: { type: http, scheme: Basic }, token: { type: oauth2 }, same: { type: http, scheme: bearer }, \
                   device: { type: apiKey, in: header, name: X-Device }";
    for (security, is_valid) in
        [("[{ key: [], token: [] }]", false), ("[{ key: [], device: [] }, { token: [], same: [] }]", true)]
    {
        let text = format!(
            "openapi: 3.1.0\ninfo: {{ title: T, version: '1' }}\npaths:\n  /things:\n    get:\n      operationId: list\n\
             \x20     security: {security}\n      responses: {{ '204': {{ description: A. }} }}\n\
             components: {{ securitySchemes: {{ {schemes} }} }}\n"
        );
        let errors = read(Source::new("things.yaml", text), &CONVENTIONS)
            .err()
            .map(|invalid| invalid.diagnostics.iter().map(|error| error.message.clone()).collect::<Vec<_>>());
        let expected = "no request has several schemes in `Authorization`".to_owned();
        assert_eq!(errors, (!is_valid).then(|| vec![expected]), "{security}");
    }
}

#[test]
fn security_schemes_are_resolved_and_explained() {
    for (schemes, expected) in [
        ("{ key: { type: http, scheme: Basic } }", &[][..]),
        ("{ key: { type: apiKey, in: query, name: k } }", &[]),
        (
            "{ key: { $ref: '#/components/securitySchemes/digest' }, digest: { type: http, scheme: Digest } }",
            &["Note at key: the security scheme `key` has the HTTP scheme `Digest`"],
        ),
        (
            "{ key: { type: openIdConnect }, tls: { type: mutualTLS } }",
            &[
                "Note at key: the security scheme `key` has the type `openIdConnect`",
                "Note at tls: no operation uses the security scheme `tls`",
            ],
        ),
    ] {
        assert_eq!(scheme_messages(schemes), expected, "{schemes}");
    }
}

#[test]
fn malformed_security_is_rejected_since_it_would_admit_every_caller() {
    for (security, expected) in [
        ("", "7: `security` is not a list"),
        ("{ key: [] }", "7: `security` is not a list"),
        ("[key]", "7: a security requirement is not a mapping"),
        ("[{ key: read }]", "7: the scopes of a security requirement are not a list of strings"),
        ("[{ other: [] }]", "7: the security scheme `other` is not declared"),
    ] {
        for (operation, document) in [(security, "[]"), ("[]", security)] {
            let text = format!(
                "openapi: 3.1.0\ninfo: {{ title: T, version: '1' }}\npaths:\n  /things:\n    get:\n      operationId: list\n\
                 \x20     security: {operation}\n      responses: {{ '204': {{ description: A. }} }}\n\
                 security: {document}\ncomponents: {{ securitySchemes: {{ key: {{ type: http, scheme: bearer }} }} }}\n"
            );
            let invalid =
                read(Source::new("things.yaml", text), &CONVENTIONS).expect_err("the contract is rejected");
            let line = |span| invalid.source.position(span).line;
            let errors: Vec<String> = invalid
                .diagnostics
                .iter()
                .map(|error| format!("{}: {}", line(error.span), error.message))
                .collect();
            let expected = if document == "[]" { expected.to_owned() } else { expected.replace("7:", "9:") };
            assert_eq!(errors, [expected], "{operation} {document}");
        }
    }
}
