//! Checks the accessibility of pages with a vendored version of axe-core.
//!
//! The page's Content-Security-Policy does not apply to scripts that the driver runs.

use serde_json::{Value, json};

use super::window::Window;

/// The script of <https://github.com/dequelabs/axe-core>. Its licenses are in the same folder.
const AXE: &str = include_str!("axe/axe.min.js");

/// The checked rules: WCAG 2.2 and all earlier versions at levels A and AA, and best practices.
const TAGS: [&str; 6] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/// The screens of pages: the widths of a phone and a desktop in pixels, and whether the colors are dark.
pub const SCREENS: [(u32, bool); 4] = [(390, false), (390, true), (1440, false), (1440, true)];

/// Runs axe-core, and returns one line for each violation.
const RUN: &str = "
const [options, done] = arguments;
axe.run(document, options).then(
  (result) => done(result.violations.flatMap((rule) => rule.nodes.map(
    (node) => `${rule.id}: ${node.target.join(' ')}: ${node.failureSummary.replace(/\\s+/g, ' ')}`))),
  (error) => done([`axe failed: ${error}`]),
);";

/// Loads axe into every page of the window.
pub async fn install(window: &Window) {
    window.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": AXE})).await;
}

/// Returns by how many pixels the widest table exceeds its card, which then scrolls.
const EXCESS_TABLE_WIDTH: &str = "
const cards = [...document.querySelectorAll('.card.table')];
return Math.max(0, ...cards.map((card) => card.scrollWidth - card.clientWidth));";

/// Shows the page on the screen, and returns the violations there, also if it or a table scrolls horizontally.
pub async fn violations_on(window: &Window, (width, dark): (u32, bool)) -> Vec<String> {
    window.set_screen(width, dark).await;
    let mut violations = violations(window).await;
    let excess_width = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    let pixels = window.run(excess_width, Vec::new()).await.as_i64().expect("pixels");
    if pixels > 0 {
        violations.push(format!("the page is {pixels} px wider than the screen"));
    }
    let pixels = window.run(EXCESS_TABLE_WIDTH, Vec::new()).await.as_i64().expect("pixels");
    if pixels > 0 {
        violations.push(format!("a table is {pixels} px wider than its card"));
    }
    let colors = if dark { "dark" } else { "light" };
    violations.into_iter().map(|violation| format!("{width} px, {colors}: {violation}")).collect()
}

/// Returns the violations on each of the [`SCREENS`].
pub async fn violations_on_each_screen(window: &Window) -> Vec<String> {
    let mut violations = Vec::new();
    for screen in SCREENS {
        violations.extend(violations_on(window, screen).await);
    }
    violations
}

/// Returns the violations on the page, each with its rule, element and remedy.
pub async fn violations(window: &Window) -> Vec<String> {
    // The rule for target sizes belongs to WCAG 2.2, but is disabled by default.
    let rules = json!({"target-size": {"enabled": true}});
    let tags = json!({"type": "tag", "values": TAGS});
    let options = json!({"runOnly": tags, "rules": rules, "resultTypes": ["violations"]});
    let violations = window.run_async(RUN, vec![options]).await;
    let text = |violation: &Value| violation.as_str().expect("a violation is a string").to_owned();
    violations.as_array().expect("a list").iter().map(text).collect()
}
