//! The checks of axe-core on a page, as it is shown. The version that is vendored beside this is pinned.
//!
//! It is run by the driver, beside the page's policy, which lets no script of a test in.

use serde_json::{Value, json};

use super::window::Window;

/// <https://github.com/dequelabs/axe-core>, its licences beside it.
const AXE: &str = include_str!("axe/axe.min.js");

/// The rules: WCAG 2.2 at level AA with all before it, and what experience adds.
const TAGS: [&str; 6] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const RUN: &str = "
const [options, done] = arguments;
axe.run(document, options).then(
  (found) => done(found.violations.flatMap((rule) => rule.nodes.map(
    (node) => `${rule.id}: ${node.target.join(' ')}: ${node.failureSummary.replace(/\\s+/g, ' ')}`))),
  (error) => done([`axe failed: ${error}`]),
);";

/// Puts the checks into every page that the window comes to.
pub async fn bring(window: &Window) {
    window.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": AXE})).await;
}

/// What is wrong with the page: rule, element and remedy.
pub async fn findings(window: &Window) -> Vec<String> {
    // Target size is among the rules of WCAG 2.2, yet off unless it is asked for.
    let rules = json!({"target-size": {"enabled": true}});
    let tags = json!({"type": "tag", "values": TAGS});
    let options = json!({"runOnly": tags, "rules": rules, "resultTypes": ["violations"]});
    let found = window.run_async(RUN, vec![options]).await;
    let text = |finding: &Value| finding.as_str().expect("a text").to_owned();
    found.as_array().expect("a list").iter().map(text).collect()
}
