//! The page behind `doc_url`: what each error code means and what to do about it.

use std::fmt::Write;
use std::sync::LazyLock;

use api::error::Code;

/// The page, written once.
pub(super) static HTML: LazyLock<String> = LazyLock::new(write);

/// A code with what there is to say about it.
struct About {
    status: &'static str,
    meaning: &'static str,
    remedy: &'static str,
    retry: &'static str,
}

/// What there is to say about a code; no `_` arm, so that a new code must be explained.
fn about(code: Code) -> About {
    match code {
        Code::Unauthorized => About {
            status: "401",
            meaning: "The API key is missing, malformed, unknown, expired or revoked. The answer is the same in all \
                      five cases, so that it tells nothing to someone who guesses.",
            remedy: "Send exactly one header <code>Authorization: Bearer &lt;API_KEY&gt;</code>. Check that the key \
                     was copied whole: <code>svc_live_</code> and 38 letters and digits. A lost key is replaced: \
                     revoke it, then make a new one.",
            retry: "No: the same request gets the same answer.",
        },
        Code::Forbidden => About {
            status: "403",
            meaning: "The key is valid, but lacks the scope that the operation needs. The message names the scope.",
            remedy: "Use a key that has the scope. A write scope does not include the read scope beside it.",
            retry: "No.",
        },
        Code::NotFound => About {
            status: "404",
            meaning: "An id does not resolve in the workspace of the key: it is malformed, names another kind of \
                      thing, does not exist, or belongs to another workspace. Also a path that does not exist.",
            remedy: "Check the id and its prefix: <code>crs_</code> names a course, <code>stu_</code> a student. \
                     Check that the key belongs to the workspace that you mean.",
            retry: "No.",
        },
        Code::RateLimited => About {
            status: "429",
            meaning: "The requests of this minute or of this day (UTC) are used up. Such a request is not counted.",
            remedy: "Wait for <code>Retry-After</code> seconds, the same number as \
                     <code>error.retryAfterSeconds</code>. Slow down when fewer than 5 calls remain in \
                     <code>X-RateLimit-Remaining</code>, and prefer webhooks to polling.",
            retry: "Yes, after the wait.",
        },
        Code::InvalidRequest => About {
            status: "422, also 400, 405, 408, 409, 413, 414, 415, 431, 501, 505",
            meaning: "The request is not what the contract says. <code>error.details</code> names each fault: where \
                      it is (<code>body</code>, <code>query</code>, <code>path</code>, <code>header</code>), the \
                      parameter's name or the JSON pointer into the body, and what is allowed.",
            remedy: "Correct what the details name. 400: the request is not well-formed HTTP, as the message says. \
                     405: use a method that <code>Allow</code> lists. 408: the body came too slowly. 409: the first \
                     request under this <code>Idempotency-Key</code> is still running; wait a second. 413: send at \
                     most 262,144 bytes. 414, 431: shorten the path and query, or the headers. 415: send \
                     <code>Content-Type: application/json</code>, not encoded. 501, 505: use HTTP/1.1 without a \
                     transfer coding other than <code>chunked</code>.",
            retry: "Only 408 and 409.",
        },
        Code::InternalError => About {
            status: "500",
            meaning: "A fault of the server. The answer says nothing of its cause.",
            remedy: "Quote <code>error.request_id</code> to support: it finds the cause in the log.",
            retry: "Yes, with exponential backoff and jitter; give a <code>POST</code> an \
                    <code>Idempotency-Key</code>.",
        },
    }
}

fn write() -> String {
    let mut page = String::from(HEAD);
    for code in Code::ALL {
        let name = code.as_str();
        let _ = writeln!(
            page,
            "<tr><td><a href=\"#{name}\"><code>{name}</code></a></td><td>{}</td></tr>",
            about(*code).status
        );
    }
    page.push_str("</tbody></table>\n");
    for code in Code::ALL {
        let (name, about) = (code.as_str(), about(*code));
        let _ = writeln!(
            page,
            "<h2 id=\"{name}\"><code>{name}</code></h2>\n<p><strong>Status {}.</strong> {}</p>\n\
             <p><strong>What to do.</strong> {}</p>\n<p><strong>Worth repeating?</strong> {}</p>",
            about.status, about.meaning, about.remedy, about.retry
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
<p><a href="/docs/">API reference</a> · <a href="/docs/webhooks">Receiving webhooks</a></p>
<h1>Errors</h1>
<p>Every answer that is not a success has this body. Decide by the status and by <code>code</code>; the message is
for people and may change. <code>request_id</code> is also in the header <code>X-Request-Id</code>.</p>
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
        for code in Code::ALL {
            assert!(HTML.contains(&format!("<h2 id=\"{}\">", code.as_str())));
        }
    }
}
