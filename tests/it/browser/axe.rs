//! Checks pages with axe-core, in the vendored version.
//!
//! The driver runs it outside of the page's Content-Security-Policy.

use serde_json::{Value, json};

use super::window::Window;

/// <https://github.com/dequelabs/axe-core>, with its licenses in the same folder.
const AXE: &str = include_str!("axe/axe.min.js");

/// The rules: WCAG 2.2 at level AA, all earlier versions, and best practices.
const TAGS: [&str; 6] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const RUN: &str = "
const [options, done] = arguments;
axe.run(document, options).then(
  (found) => done(found.violations.flatMap((rule) => rule.nodes.map(
    (node) => `${rule.id}: ${node.target.join(' ')}: ${node.failureSummary.replace(/\\s+/g, ' ')}`))),
  (error) => done([`axe failed: ${error}`]),
);";

/// Loads axe into every page of the window.
pub async fn install(window: &Window) {
    window.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": AXE})).await;
}

/// Returns the violations on the page: rule, element and remedy.
pub async fn findings(window: &Window) -> Vec<String> {
    // The rule for target sizes belongs to WCAG 2.2, but is disabled by default.
    let rules = json!({"target-size": {"enabled": true}});
    let tags = json!({"type": "tag", "values": TAGS});
    let options = json!({"runOnly": tags, "rules": rules, "resultTypes": ["violations"]});
    let found = window.run_async(RUN, vec![options]).await;
    let text = |finding: &Value| finding.as_str().expect("a text").to_owned();
    found.as_array().expect("a list").iter().map(text).collect()
}
