//! Opens every scene (a page in one of its states, see [`scenes`](super::scenes)) on a phone and a desktop screen, in
//! light and dark, checks it with axe, and takes a screenshot.
//!
//! The screenshots are in `target/pages`. Their names consist of the scene, the width and the color scheme.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

use super::axe;
use super::scene_data::SceneData;
use super::scenes::{Scene, TIME_ZONE, scenes};
use super::window::Window;
use crate::support::TestApp;

/// Routes that lead to an OpenID Connect provider and back, and have no page of their own.
const TO_PROVIDER: [&str; 3] =
    ["/sign-in/provider", "/sign-in/provider/callback", "/dashboard/confirm/provider"];

#[tokio::test]
async fn every_page_passes_axe_on_phone_and_desktop_in_light_and_dark() {
    let app = TestApp::start_with_local_webhooks().await;
    let data = SceneData::create(&app).await;
    let scenes = scenes(&data);
    assert_eq!(
        pages_without_scene(&scenes),
        BTreeSet::new(),
        "these pages have no scene; add one for each to scenes.rs"
    );
    let folder = screenshot_folder();
    // Four browsers check a quarter of the scenes each.
    let quarters = scenes.chunks(scenes.len().div_ceil(4));
    let violations = join_all(quarters.map(|scenes| tour(&app, &data, scenes, &folder))).await.concat();
    assert!(violations.is_empty(), "{} violations:\n{}", violations.len(), violations.join("\n"));
}

/// Opens these scenes, writes their screenshots to the folder, and returns the violations and the console entries.
async fn tour(app: &TestApp, data: &SceneData, scenes: &[Scene], folder: &Path) -> Vec<String> {
    let window = Window::open(app).await;
    axe::install(&window).await;
    window.devtools("Emulation.setTimezoneOverride", json!({"timezoneId": TIME_ZONE})).await;
    let mut violations = Vec::new();
    for scene in scenes {
        scene.perform(&window, data).await;
        for (width, dark) in axe::SCREENS {
            let found = axe::violations_on(&window, (width, dark)).await;
            violations.extend(found.into_iter().map(|violation| format!("{}: {violation}", scene.name)));
            let name = format!("{}-{width}-{}.png", scene.name, if dark { "dark" } else { "light" });
            std::fs::write(folder.join(name), window.screenshot().await).expect("the screenshot is written");
        }
        violations.extend(
            window.console().await.into_iter().map(|line| format!("{}: console: {line}", scene.name)),
        );
    }
    violations
}

/// Returns the pages that no scene opens.
fn pages_without_scene(scenes: &[Scene]) -> BTreeSet<&'static str> {
    let is_page = |method: &Method, path: &str| *method == Method::GET && !TO_PROVIDER.contains(&path);
    let pages = dashboard::routes().into_iter().filter(|(method, path, _)| is_page(method, path));
    let pages: BTreeSet<&str> = pages.map(|(_, path, _)| path).collect();
    let mut remaining = pages.clone();
    for scene in scenes {
        let path = scene.path.split('?').next().unwrap_or_default();
        // If two routes match, the router prefers the one with fewer parameters.
        let matching = pages.iter().copied().filter(|route| matches_route(route, path));
        let page = matching.min_by_key(|page| page.matches(':').count());
        page.map(|page| remaining.remove(page));
    }
    remaining
}

/// Returns whether a path matches a route, whose parameters start with `:`.
fn matches_route(route: &str, path: &str) -> bool {
    let (route, path): (Vec<&str>, Vec<&str>) = (route.split('/').collect(), path.split('/').collect());
    route.len() == path.len()
        && route.iter().zip(&path).all(|(expected, segment)| expected.starts_with(':') || expected == segment)
}

/// Creates an empty folder for the screenshots.
fn screenshot_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("pages");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for screenshots");
    folder
}
