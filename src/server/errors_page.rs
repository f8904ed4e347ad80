//! The page that `doc_url` links to: the meaning of each error code and what to do about it.

use std::fmt::Write;
use std::sync::LazyLock;

use api::error::ApiErrorCode;

/// The rendered page.
pub(super) static HTML: LazyLock<String> = LazyLock::new(render);

/// The documentation of an error code, as HTML.
struct CodeDocumentation {
    status: &'static str,
    meaning: &'static str,
    remedy: &'static str,
    retry: &'static str,
}

/// Returns the documentation of a code. The match has no `_` arm, so that a new code must be documented.
fn documentation(code: ApiErrorCode) -> CodeDocumentation {
    match code {
        ApiErrorCode::Unauthorized => CodeDocumentation {
            status: "401",
            meaning: "The API key is missing, malformed, unknown, expired or revoked. The response is the same in all \
                      five cases, so that it does not reveal whether a key exists.",
            remedy: "Send exactly one header <code>Authorization: Bearer &lt;API_KEY&gt;</code>. Check that the key \
                     is complete: <code>svc_live_</code> and 38 letters and digits. If a key is lost, revoke it and \
                     create a new one. The Platform API requires a platform token, which begins with \
                     <code>svc_plat_</code>, instead of an API key.",
            retry: "No.",
        },
        ApiErrorCode::Forbidden => CodeDocumentation {
            status: "403",
            meaning: "The key is valid, but does not have the scope that the operation requires. The message names the \
                      scope.",
            remedy: "Use a key that has the scope. A write scope does not include the corresponding read scope.",
            retry: "No.",
        },
        ApiErrorCode::NotFound => CodeDocumentation {
            status: "404",
            meaning: "No such record in the workspace of the key: the id is malformed, has the wrong type, does not \
                      exist, or belongs to another workspace. Also returned for a path that does not exist.",
            remedy: "Check the id and its prefix: <code>crs_</code> is a course, <code>stu_</code> is a student. \
                     Check that the key belongs to the right workspace. Platform API: import the workspace first.",
            retry: "No.",
        },
        ApiErrorCode::RateLimited => CodeDocumentation {
            status: "429",
            meaning: "The limit of the current minute or of the current day (UTC) is exhausted. The rejected request \
                      does not count against the limits. Requests without a valid key count against the limits of the \
                      client's IP address.",
            remedy: "Wait for the number of seconds in <code>Retry-After</code>, which is also \
                     <code>error.retryAfterSeconds</code>. Slow down when fewer than 5 requests remain in \
                     <code>X-RateLimit-Remaining</code>, and prefer webhooks to polling.",
            retry: "Yes, after waiting.",
        },
        ApiErrorCode::InvalidRequest => CodeDocumentation {
            status: "422, also 400, 405, 408, 409, 413, 414, 415, 431, 501, 505",
            meaning: "The request does not conform to the contract. <code>error.details</code> lists the individual \
                      errors: the part of the request (<code>body</code>, <code>query</code>, <code>path</code>, \
                      <code>header</code>), the name of the parameter or a JSON pointer into the body, and what is \
                      allowed.",
            remedy: "Correct what <code>error.details</code> names. 400: the request is not valid HTTP; see the \
                     message. 405: use a method that <code>Allow</code> lists. 408: the body did not arrive in time; \
                     retry the request. 409: the first request with this <code>Idempotency-Key</code> is still \
                     running; wait a second. 413: send at most 262,144 bytes. 414, 431: shorten the URL or the \
                     headers. 415: send the body uncompressed with <code>Content-Type: application/json</code>. \
                     <code>importChanges</code> requires <code>Content-Type: application/x-ndjson</code>, and accepts \
                     <code>Content-Encoding: gzip</code>. \
                     501, 505: use HTTP/1.1 and no transfer coding other than <code>chunked</code>.",
            retry: "Only 408 and 409.",
        },
        ApiErrorCode::InternalError => CodeDocumentation {
            status: "500",
            meaning: "An internal server error, or too many open connections (on the Platform API: <code>unavailable</code>). The \
                      response does not contain the cause.",
            remedy: "Include <code>error.request_id</code> when you contact support. The server's log contains the \
                     cause of an internal server error under this id. Requests that are rejected because too many \
                     connections are open have no entry of their own: the log contains only their number.",
            retry: "Yes, with exponential backoff and jitter. Send an <code>Idempotency-Key</code> with each \
                    <code>POST</code>; the Platform API needs none.",
        },
        ApiErrorCode::CursorExpired => CodeDocumentation {
            status: "410, Platform API only",
            meaning: "Events after the cursor are no longer stored, so the reader has missed some. Events are stored for 30 days.",
            remedy: "Omit <code>cursor</code> to start with the oldest stored event.",
            retry: "No.",
        },
        ApiErrorCode::Unavailable => CodeDocumentation {
            status: "503, Platform API only",
            meaning: "Too many imports, requests for events or connections are open, or the server is shutting down.",
            remedy: "Wait for the number of seconds in <code>Retry-After</code>.",
            retry: "Yes, after waiting.",
        },
    }
}

fn render() -> String {
    let mut page = String::from(HEAD);
    for code in ApiErrorCode::ALL {
        let name = code.as_str();
        let _ = writeln!(
            page,
            "<tr><td><a href=\"#{name}\"><code>{name}</code></a></td><td>{}</td></tr>",
            documentation(*code).status
        );
    }
    page.push_str("</tbody></table>\n");
    for code in ApiErrorCode::ALL {
        let (name, documentation) = (code.as_str(), documentation(*code));
        let _ = writeln!(
            page,
            "<h2 id=\"{name}\"><code>{name}</code></h2>\n<p><strong>Status {}.</strong> {}</p>\n\
             <p><strong>What to do.</strong> {}</p>\n<p><strong>Retry?</strong> {}</p>",
            documentation.status, documentation.meaning, documentation.remedy, documentation.retry
        );
    }
    page.push_str("</body>\n</html>\n");
    page
}

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors - Creator Platform API</title>
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<p><a href="/docs/">API reference</a> · <a href="/docs/webhooks">Receiving webhooks</a> · <a href="/docs/platform">Connect your platform</a></p>
<h1>Errors</h1>
<p>Every error response has this body. Handle errors by status and <code>code</code>; the message is meant for people
and can change. <code>request_id</code> is also in the header <code>X-Request-Id</code>.</p>
<pre><code>{
  "error": {
    "code": "invalid_request",
    "message": "`limit` must be at most 100.",
    "request_id": "req_01khx04p32f158jxbyqapkvfe0",
    "doc_url": "https://api.example.com/docs/errors#invalid_request",
    "details": [{ "in": "query", "field": "limit", "message": "must be at most 100" }]
  }
}</code></pre>
<table><thead><tr><th>Code</th><th>Status</th></tr></thead><tbody>
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_anchor() {
        for code in ApiErrorCode::ALL {
            assert!(HTML.contains(&format!("<h2 id=\"{}\">", code.as_str())));
        }
    }
}
