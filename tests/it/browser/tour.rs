//! Checks every page with axe, on phone and desktop, in light and dark, and stores a screenshot.
//!
//! The screenshots are in `target/pages`, named by page, width and color scheme.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use reqwest::Method;

use super::axe;
use super::scenes::{Scene, scenes};
use super::school::School;
use super::window::Window;
use crate::support::TestApp;

/// Widths of a phone and a desktop screen, in pixels.
const WIDTHS: [u32; 2] = [390, 1440];

#[tokio::test]
async fn every_page_passes_axe_on_phone_and_desktop_in_light_and_dark() {
    let app = TestApp::start_beside_receivers().await;
    let school = School::of(&app).await;
    let scenes = scenes(&school);
    assert_eq!(
        unvisited(&scenes),
        BTreeSet::new(),
        "pages that no scene opens; add one for each to scenes.rs"
    );
    let folder = screenshot_folder();
    // Two browsers check half of the pages each.
    let (one, other) = scenes.split_at(scenes.len() / 2);
    let (mut violations, others) =
        tokio::join!(tour(&app, &school, one, &folder), tour(&app, &school, other, &folder));
    violations.extend(others);
    assert!(violations.is_empty(), "{} findings:\n{}", violations.len(), violations.join("\n"));
}

/// Returns the violations found in these scenes.
async fn tour(app: &TestApp, school: &School, scenes: &[Scene], folder: &Path) -> Vec<String> {
    let window = Window::open(app).await;
    axe::install(&window).await;
    let mut violations = Vec::new();
    for scene in scenes {
        scene.perform(&window, school).await;
        for (width, dark) in WIDTHS.into_iter().flat_map(|width| [(width, false), (width, true)]) {
            window.set_screen(width, dark).await;
            let look = format!("{}-{width}-{}", scene.name, if dark { "dark" } else { "light" });
            std::fs::write(folder.join(format!("{look}.png")), window.screenshot().await)
                .expect("the screenshot is written");
            let mut found = axe::findings(&window).await;
            found.extend(overflow(&window).await);
            violations.extend(found.into_iter().map(|finding| format!("{look}: {finding}")));
        }
        violations.extend(
            window.console().await.into_iter().map(|line| format!("{}: console: {line}", scene.name)),
        );
    }
    violations
}

/// Returns a violation if the page scrolls horizontally.
async fn overflow(window: &Window) -> Option<String> {
    let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    let pixels = window.run(wide, Vec::new()).await.as_i64().expect("pixels");
    (pixels > 0).then(|| format!("the page is {pixels} px wider than the screen"))
}

/// Returns the pages that no scene opens.
fn unvisited(scenes: &[Scene]) -> BTreeSet<&'static str> {
    let pages = dashboard::routes().into_iter().filter(|(method, _)| *method == Method::GET);
    let mut unvisited: BTreeSet<&str> = pages.map(|(_, path)| path).collect();
    for scene in scenes {
        let path = scene.path.split('?').next().unwrap_or_default();
        // If two routes match, the router prefers the one with fewer parameters.
        let leads = unvisited.iter().copied().filter(|page| leads(page, path));
        let page = leads.min_by_key(|page| page.matches(':').count());
        page.map(|page| unvisited.remove(page));
    }
    unvisited
}

/// Returns whether a path matches a route.
fn leads(page: &str, path: &str) -> bool {
    let (page, path): (Vec<&str>, Vec<&str>) = (page.split('/').collect(), path.split('/').collect());
    page.len() == path.len()
        && page.iter().zip(&path).all(|(one, other)| one.starts_with(':') || one == other)
}

/// Creates an empty folder for the screenshots.
fn screenshot_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("pages");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for screenshots");
    folder
}
