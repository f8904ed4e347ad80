//! The guide for receivers of webhooks: one page, with samples that stand beside it as files and are run by tests.
//!
//! Owns the page's text. What it tells is decided in `webhooks` and in the contract.

use std::sync::LazyLock;

use api::generated::events::EVENT_TYPES;

/// The page, written once.
pub(super) static HTML: LazyLock<String> = LazyLock::new(write);

/// Requests, and whether a receiver is to believe them.
pub(super) const VECTORS: &str = include_str!("../../webhooks/vectors.json");

/// The samples by the names under which the page holds them.
const SAMPLES: &[(&str, &str)] = &[
    ("verify.py", include_str!("verify.py")),
    ("verify.ts", include_str!("verify.ts")),
    ("verify.rs", include_str!("verify.rs")),
    ("verify.go", include_str!("verify.go")),
    ("receiver.py", include_str!("receiver.py")),
];

fn write() -> String {
    let types: Vec<String> = EVENT_TYPES.iter().map(|kind| format!("<code>{kind}</code>")).collect();
    let mut page = include_str!("guide.html")
        .replace("{{version}}", env!("CARGO_PKG_VERSION"))
        .replace("{{events}}", &types.join(", "));
    for (name, text) in SAMPLES {
        let shown = format!("<pre id=\"{name}\"><code>{}</code></pre>", escape(text));
        page = page.replace(&format!("{{{{{name}}}}}"), &shown);
    }
    page
}

/// Text as HTML shows it.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The sample itself, as a receiver would compile it.
#[cfg(test)]
#[allow(unreachable_pub, reason = "it is public where it is copied to")]
mod verify;

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_place_on_the_page_is_filled() {
        assert!(!HTML.contains("{{") && !HTML.contains("}}"));
        for (name, text) in SAMPLES {
            assert!(HTML.contains(&format!("<pre id=\"{name}\">")), "{name}");
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(120), "{name} is {widest:?} wide");
        }
    }

    #[test]
    fn the_example_on_the_page_is_the_first_vector() {
        let file: Value = serde_json::from_str(VECTORS).expect("JSON");
        let first = &file["vectors"][0];
        for name in ["x_svc_signature", "webhook_id", "webhook_timestamp", "webhook_signature", "body"] {
            let text = first[name].as_str().expect("text");
            assert!(HTML.contains(text), "{name}: {text}");
        }
    }

    #[test]
    fn the_rust_sample_tells_the_vectors_apart() {
        let file: Value = serde_json::from_str(VECTORS).expect("JSON");
        for vector in file["vectors"].as_array().expect("vectors") {
            let text = |name: &str| vector[name].as_str().expect("text");
            let now = vector["now"].as_i64().expect("a time");
            let told = verify::verify(text("secret"), text("x_svc_signature"), text("body").as_bytes(), now);
            assert_eq!(told, vector["valid"] == true, "{vector}");
        }
    }
}
