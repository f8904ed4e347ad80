//! Formats a logged request as a curl command. The API key is the shell variable `API_KEY`, since it is not logged.

use domain::requests::LoggedRequest;

/// Headers that are left out, because curl, the connection or a proxy adds them.
const SKIPPED_HEADERS: &[&str] = &[
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "host",
    "te",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Returns the command that repeats the request against this base URL.
pub(super) fn command(entry: &LoggedRequest, base_url: &str) -> String {
    let url = format!("{base_url}{}", entry.target);
    let mut parts = vec![match entry.method.as_str() {
        "GET" => "curl".to_owned(),
        "HEAD" => "curl --head".to_owned(),
        method => format!("curl --request {}", shell_quote(method)),
    }];
    if url.contains(['[', ']', '{', '}']) {
        parts[0].push_str(" --globoff");
    }
    parts[0].push_str(&format!(" {}", shell_quote(&url)));
    parts.push("--header \"Authorization: Bearer $API_KEY\"".to_owned());
    for (name, value) in &entry.headers {
        let is_skipped = SKIPPED_HEADERS.contains(&name.as_str())
            || name.starts_with("x-forwarded-")
            || value.contains("****");
        if !is_skipped {
            parts.push(format!("--header {}", shell_quote(&format!("{name}: {value}"))));
        }
    }
    if has_body(entry) {
        parts.push("--data-binary @body.json".to_owned());
    }
    parts.join(" \\\n  ")
}

/// Returns whether the request had a body. The log does not store bodies.
pub(super) fn has_body(entry: &LoggedRequest) -> bool {
    let length = entry.headers.get("content-length").map(String::as_str);
    length.is_some_and(|length| length != "0") || entry.headers.contains_key("transfer-encoding")
}

/// Quotes a text as one shell word.
fn shell_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn entry(method: &str, target: &str, headers: &[(&str, &str)]) -> LoggedRequest {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        LoggedRequest {
            id: foundation::id::LoggedRequestId::from_uuid(uuid::Uuid::from_u128(1)),
            key: foundation::id::KeyId::from_uuid(uuid::Uuid::from_u128(2)),
            request_id: "r".to_owned(),
            operation: None,
            method: method.to_owned(),
            target: target.to_owned(),
            status: 422,
            duration_us: 1,
            address: "127.0.0.1".to_owned(),
            headers: headers.iter().map(pair).collect::<BTreeMap<_, _>>(),
            error: None,
            received_at: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn the_command_repeats_the_request_without_its_key() {
        let headers = [
            ("authorization", "****"),
            ("content-length", "12"),
            ("content-type", "application/json"),
            ("host", "127.0.0.1"),
            ("x-note", "it's; $(rm -rf /)"),
            ("x-token", "****"),
        ];
        let curl = command(&entry("POST", "/api/v1/students?x=[1]", &headers), "http://127.0.0.1:8080");
        insta::assert_snapshot!(curl, @r#"
        curl --request 'POST' --globoff 'http://127.0.0.1:8080/api/v1/students?x=[1]' \
          --header "Authorization: Bearer $API_KEY" \
          --header 'content-type: application/json' \
          --header 'x-note: it'\''s; $(rm -rf /)' \
          --data-binary @body.json
        "#);
        let curl = command(&entry("GET", "/api/v1/courses", &[]), "https://school.example");
        assert_eq!(
            curl,
            "curl 'https://school.example/api/v1/courses' \\\n  --header \"Authorization: Bearer $API_KEY\""
        );
    }
}
