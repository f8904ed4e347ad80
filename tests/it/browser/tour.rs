//! The tour: every page on a phone and on a desk, in light and in dark, checked by axe and kept as a picture.
//!
//! The pictures lie in `target/pages`, named by page, width and scheme, for a person to look at.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use reqwest::Method;

use super::axe;
use super::scenes::{Scene, scenes};
use super::school::School;
use super::window::Window;
use crate::support::TestApp;

/// Widths of a phone and of a desk, in pixels.
const WIDTHS: [u32; 2] = [390, 1440];

#[tokio::test]
async fn every_page_passes_axe_on_a_phone_and_on_a_desk_in_light_and_in_dark() {
    let app = TestApp::start_beside_receivers().await;
    let school = School::of(&app).await;
    let scenes = scenes(&school);
    assert_eq!(unseen(&scenes), BTreeSet::new(), "pages that no scene visits; add one for each to scenes.rs");
    let folder = pictures();
    // Two browsers, each with half of the pages.
    let (one, other) = scenes.split_at(scenes.len() / 2);
    let (mut faults, others) =
        tokio::join!(tour(&app, &school, one, &folder), tour(&app, &school, other, &folder));
    faults.extend(others);
    assert!(faults.is_empty(), "{} findings:\n{}", faults.len(), faults.join("\n"));
}

/// What is wrong with these scenes.
async fn tour(app: &TestApp, school: &School, scenes: &[Scene], folder: &Path) -> Vec<String> {
    let window = Window::open(app).await;
    axe::bring(&window).await;
    let mut faults = Vec::new();
    for scene in scenes {
        scene.plays(&window, school).await;
        for (width, dark) in WIDTHS.into_iter().flat_map(|width| [(width, false), (width, true)]) {
            window.looks(width, dark).await;
            let look = format!("{}-{width}-{}", scene.name, if dark { "dark" } else { "light" });
            std::fs::write(folder.join(format!("{look}.png")), window.picture().await)
                .expect("a picture is kept");
            let mut found = axe::findings(&window).await;
            found.extend(overflow(&window).await);
            faults.extend(found.into_iter().map(|finding| format!("{look}: {finding}")));
        }
        faults.extend(
            window.console().await.into_iter().map(|line| format!("{}: console: {line}", scene.name)),
        );
    }
    faults
}

/// What a reader would have to scroll sideways for.
async fn overflow(window: &Window) -> Option<String> {
    let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    let pixels = window.run(wide, Vec::new()).await.as_i64().expect("pixels");
    (pixels > 0).then(|| format!("the page is {pixels} px wider than the screen"))
}

/// The pages that none of these scenes visits.
fn unseen(scenes: &[Scene]) -> BTreeSet<&'static str> {
    let pages = dashboard::routes().into_iter().filter(|(method, _)| *method == Method::GET);
    let mut unseen: BTreeSet<&str> = pages.map(|(_, path)| path).collect();
    for scene in scenes {
        let path = scene.path.split('?').next().unwrap_or_default();
        // Where two would answer, the one with fewer parts of its own does, as in the router.
        let leads = unseen.iter().copied().filter(|page| leads(page, path));
        let page = leads.min_by_key(|page| page.matches(':').count());
        page.map(|page| unseen.remove(page));
    }
    unseen
}

/// Whether a path is one of a page's.
fn leads(page: &str, path: &str) -> bool {
    let (page, path): (Vec<&str>, Vec<&str>) = (page.split('/').collect(), path.split('/').collect());
    page.len() == path.len()
        && page.iter().zip(&path).all(|(one, other)| one.starts_with(':') || one == other)
}

/// Where pictures are kept; those of an earlier tour are gone.
fn pictures() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("pages");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    folder
}
