//! The guides: `/docs/webhooks` for webhook receivers, and `/docs/platform` for platforms. Their code samples are separate files
//! that tests execute.
//!
//! The behavior that they describe is defined in `webhooks` and in the contracts.

mod event_types;

use std::sync::LazyLock;

use api::generated::events::EVENT_TYPES;

/// The rendered guide for webhook receivers.
pub(super) static HTML: LazyLock<String> = LazyLock::new(render);

/// The rendered guide for platforms.
pub(super) static PLATFORM_HTML: LazyLock<String> = LazyLock::new(|| {
    let page = include_str!("platform.html").replace("{{url}}", "http://127.0.0.1:8080");
    with_sample(&page, "sync.py", include_str!("sync.py"))
});

/// Test vectors: signed requests, and whether a receiver must accept them.
pub(super) const VECTORS: &str = include_str!("../../webhooks/vectors.json");

/// The code samples, by their names in the page.
const SAMPLES: &[(&str, &str)] = &[
    ("verify.py", include_str!("verify.py")),
    ("verify.ts", include_str!("verify.ts")),
    ("verify.rs", include_str!("verify.rs")),
    ("verify.go", include_str!("verify.go")),
    ("receiver.py", include_str!("receiver.py")),
];

fn render() -> String {
    let types: Vec<String> =
        EVENT_TYPES.iter().map(|event_type| format!("<code>{event_type}</code>")).collect();
    let mut page = include_str!("guide.html")
        .replace("{{version}}", env!("CARGO_PKG_VERSION"))
        .replace("{{events}}", &types.join(", "))
        .replace("{{event_types}}", &event_types::render());
    for (name, text) in SAMPLES {
        page = with_sample(&page, name, text);
    }
    page
}

/// Replaces the placeholder of a code sample.
fn with_sample(page: &str, name: &str, text: &str) -> String {
    let block = format!("<pre id=\"{name}\"><code>{}</code></pre>", escape(text));
    page.replace(&format!("{{{{{name}}}}}"), &block)
}

/// Escapes text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The Rust sample, compiled as in a receiver's project.
#[cfg(test)]
#[allow(unreachable_pub, reason = "the sample is public in the receiver's project")]
mod verify;

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_placeholder_of_the_page_is_replaced() {
        for page in [&HTML, &PLATFORM_HTML] {
            assert!(!page.contains("{{"));
        }
        for (name, text) in SAMPLES {
            assert!(HTML.contains(&format!("<pre id=\"{name}\">")), "{name}");
            let max_width = text.lines().map(|line| line.chars().count()).max();
            assert!(max_width <= Some(120), "{name} has lines of {max_width:?} columns");
        }
    }

    #[test]
    fn the_example_on_the_page_is_the_first_vector() {
        let file: Value = serde_json::from_str(VECTORS).unwrap();
        let first = &file["vectors"][0];
        for name in ["x_svc_signature", "webhook_id", "webhook_timestamp", "webhook_signature", "body"] {
            let text = first[name].as_str().unwrap();
            assert!(HTML.contains(text), "{name}: {text}");
        }
    }

    #[test]
    fn the_rust_sample_accepts_valid_vectors_only() {
        let file: Value = serde_json::from_str(VECTORS).unwrap();
        for vector in file["vectors"].as_array().unwrap() {
            let text = |name: &str| vector[name].as_str().unwrap();
            let now = vector["now"].as_i64().unwrap();
            let accepted =
                verify::verify(text("secret"), text("x_svc_signature"), text("body").as_bytes(), now);
            assert_eq!(accepted, vector["valid"] == true, "{vector}");
        }
    }
}
