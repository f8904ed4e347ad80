//! The documentation pages in a browser: search, theme, languages, copying, accessibility, and browsers without scripts.

use fantoccini::key::Key;
use serde_json::json;

use super::axe;
use super::window::Window;
use crate::support::TestApp;

/// One page of each kind.
const PAGES: [&str; 13] = [
    "/docs",
    "/docs/pagination",
    "/docs/webhooks",
    "/docs/platform",
    "/docs/errors",
    "/docs/events",
    "/docs/events/order.refunded",
    "/docs/operations",
    "/docs/operations/createStudent",
    "/docs/objects/Order",
    "/docs/clients",
    "/docs/changelog",
    "/docs/search?q=amount",
];

const RESULTS: &str = "document.querySelectorAll('#search-list [role=option]').length";

#[tokio::test]
async fn the_search_finds_a_field_with_the_keyboard() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    window.open_page("/docs/pagination", "Pagination").await;
    window.type_text("/").await;
    window.type_text("verification_url").await;
    window.wait_for(&format!("{RESULTS} > 0 && {RESULTS} <= 20")).await;
    window.press_key(Key::Down).await;
    window
        .wait_for("document.getElementById('search').getAttribute('aria-activedescendant') === 'search-0'")
        .await;
    window.press_key(Key::Enter).await;
    window.wait_for("location.pathname === '/docs/objects/Certificate' && document.getElementById(location.hash.slice(1))").await;
    // Parts of names, and names with capital letters.
    for (query, title) in
        [("retryAfter", "retryAfterSeconds"), ("refunded", "order.refunded"), ("listcourse", "listCourses")]
    {
        window.run("document.getElementById('search').value = ''", Vec::new()).await;
        window
            .devtools(
                "Input.dispatchKeyEvent",
                json!({"type": "keyDown", "key": "k", "code": "KeyK", "modifiers": 2}),
            )
            .await;
        window.type_text(query).await;
        window
            .wait_for(&format!(
                "document.getElementById('search-list').textContent.includes('{title}') && {RESULTS} <= 20"
            ))
            .await;
    }
    window.press_key(Key::Escape).await;
    window.wait_for("document.getElementById('search-results').hidden").await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn the_search_shows_answers_before_fields() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    window.open_page("/docs", "Your first request").await;
    for (query, title) in [
        ("rate limit", "Rate limits"),
        ("pagination", "Pagination"),
        ("401", "unauthorized"),
        ("api key", "Authentication"),
        ("enroll student", "createEnrollment"),
        ("authentification", "Authentication"),
    ] {
        window.fill("Search the documentation", query).await;
        window
            .wait_for(&format!(
                "[...document.querySelectorAll('#search-list .found-title')].slice(0, 2).some((found) => found.textContent === '{title}')"
            ))
            .await;
    }
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn the_navigation_and_the_contents_show_where_the_reader_is() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    for width in [390, 1440] {
        window.set_screen(width, false).await;
        window.open_page("/docs/events/order.paid", "Example").await;
        if width < 600 {
            window.click("Menu").await;
        }
        let current = "document.querySelector('.groups [aria-current]').getBoundingClientRect()";
        window.wait_for(&format!("{current}.top > 56 && {current}.bottom < innerHeight")).await;
    }
    window.run("document.getElementById('example').scrollIntoView()", Vec::new()).await;
    window.wait_for("document.querySelector('.contents [aria-current]')?.hash === '#example'").await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn the_search_survives_any_text_and_a_failed_download() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    window.open_page("/docs", "Your first request").await;
    let (found, nothing) =
        ("document.querySelector('#search-list a')", "!document.querySelector('#search-list a')");
    for (text, result) in [
        // Single words of it are found.
        ("<script>document.title = 'changed'</script>qqqq".to_owned(), found),
        ("zq".repeat(5_000), nothing),
        (".*(zq[".to_owned(), nothing),
    ] {
        window
            .run(
                "document.getElementById('search-results').hidden = true; document.activeElement.blur()",
                Vec::new(),
            )
            .await;
        // The shortcut selects the text, which is then replaced.
        window.type_text("/").await;
        window.devtools("Input.insertText", json!({"text": text})).await;
        window.wait_for(&format!("!document.getElementById('search-results').hidden && {result}")).await;
    }
    window.wait_for_text("Nothing found.").await;
    window.type_text(" <script>zq").await;
    window.wait_for("document.querySelector('#search-list a') && document.getElementById('search').value.endsWith('<script>zq')").await;
    assert_ne!(window.run("return document.title", Vec::new()).await, "changed");
    window.assert_no_console_entries().await;

    window.devtools("Network.enable", json!({})).await;
    let block = async |urls: &[&str]| {
        window.devtools("Network.setBlockedURLs", json!({"urls": urls})).await;
    };
    for failing in ["*search.json", "*minisearch.js"] {
        block(&[failing]).await;
        window.open_page("/docs/errors", "Errors").await;
        window.type_text("/").await;
        window.type_text("currenc").await;
        window.wait_for("document.getElementById('search').value === 'currenc'").await;
        block(&[]).await;
        window.type_text("y").await;
        window.wait_for(&format!("{RESULTS} > 0")).await;
    }
    block(&["*search.json"]).await;
    window.open_page("/docs/errors", "Errors").await;
    window.type_text("/").await;
    window.type_text("currency").await;
    window.press_key(Key::Enter).await;
    window.wait_for("location.pathname === '/docs/search' && document.querySelector('main').textContent.includes('currency')").await;
}

#[tokio::test]
async fn theme_and_language_are_remembered() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    window.set_screen(1440, false).await;
    window.open_page("/docs", "Your first request").await;
    window.click("Switch to the dark theme").await;
    window.wait_for("document.documentElement.dataset.theme === 'dark'").await;
    window.click("Ruby").await;
    window.wait_for("document.querySelector('.samples code').textContent.includes('Net::HTTP')").await;
    window.press_key(Key::Right).await;
    window.wait_for("document.querySelector('.samples code').textContent.includes('java.net.http')").await;
    for path in ["/docs/operations/createStudent", "/docs/reference#/students/createStudent"] {
        window.open_path(path).await;
        window
            .wait_for("document.querySelector('.samples code')?.textContent.includes('java.net.http')")
            .await;
        window.wait_for("document.documentElement.dataset.theme === 'dark'").await;
    }
    window.open_page("/login", "Sign in").await;
    window.wait_for("document.documentElement.dataset.theme === 'dark'").await;
    window.open_page("/docs/errors", "Errors").await;
    // As if the page came from the back/forward cache, after changes on another page.
    let restore = "localStorage.clear(); localStorage.setItem('language', 'go');
        dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}));";
    window.open_page("/docs", "Your first request").await;
    window.run(restore, Vec::new()).await;
    window.wait_for("document.querySelector('.samples code').textContent.includes('http.NewRequest')").await;
    window.wait_for("document.documentElement.dataset.theme !== 'dark'").await;
    window.click("Switch to the dark theme").await;
    window.click("Switch to the light theme").await;
    window.open_page("/login", "Sign in").await;
    window.wait_for("document.documentElement.dataset.theme !== 'dark'").await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn samples_call_the_address_of_the_page() {
    let app = TestApp::start().await;
    let url = app.base_url.replace("127.0.0.1", "localhost");
    let window = Window::open_at(&url).await;
    window.open_page("/docs", "Your first request").await;
    window
        .wait_for(&format!("document.querySelector('.samples code').textContent.includes('{url}/api/v1/')"))
        .await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn pages_are_printed_in_light_colors_without_navigation() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    window.open_page("/docs", "Your first request").await;
    for (path, dark_system) in
        [("/docs", false), ("/docs", true), ("/docs/reference#/students/createStudent", true)]
    {
        window.run("localStorage.setItem('theme', 'dark')", Vec::new()).await;
        window.open_path(path).await;
        window.wait_for("document.querySelector('.samples-head')").await;
        let scheme = if dark_system { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        window.devtools("Emulation.setEmulatedMedia", json!({"media": "print", "features": features})).await;
        let findings = "const style = (element) => getComputedStyle(element);
            const shown = (selector) => [...document.querySelectorAll(selector)].filter((found) => found.offsetParent);
            const blocks = shown('pre').filter((block) => style(block).whiteSpace !== 'pre-wrap'
                || style(block).maxHeight !== 'none' || style(block).overflowX !== 'visible');
            return [
                ...shown('.top, .navigation, .steps, .copy, .button, .btn, [role=tablist]'), ...blocks,
            ].map((found) => found.outerHTML.slice(0, 200)).concat(
                style(document.body).backgroundColor === 'rgb(255, 255, 255)' ? [] : ['dark background'],
                style(document.documentElement).colorScheme === 'light' ? [] : ['dark color scheme'],
            );";
        assert_eq!(window.run(findings, Vec::new()).await, json!([]), "{path} {scheme}");
        window.devtools("Emulation.setEmulatedMedia", json!({"media": ""})).await;
    }
}

#[tokio::test]
async fn code_and_pages_are_copied_with_a_click() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    window.open_page("/docs/rate-limits", "Copy page as Markdown").await;
    for name in ["clipboard-read", "clipboard-write"] {
        window.grant_permission(name).await;
    }
    let read = "navigator.clipboard.readText().then(arguments[0], (error) => arguments[0](`${error}`));";
    window.click("Copy page as Markdown").await;
    window.wait_for_text("Copied").await;
    let copied = window.run_async(read, Vec::new()).await;
    let markdown = app.get("/docs/rate-limits.md").await.assert_status(200);
    assert_eq!(copied, String::from_utf8(markdown.body).expect("UTF-8").as_str());
    window.click("Copy the code").await;
    window.find("//button[@aria-label='Copied']").await;
    let code = window.run("return document.querySelector('.code pre').textContent", Vec::new()).await;
    assert_eq!(window.run_async(read, Vec::new()).await, code);
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn every_kind_of_page_passes_axe_on_phone_and_desktop_in_light_and_dark() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    axe::install(&window).await;
    let mut findings = Vec::new();
    for path in PAGES {
        window.open_path(path).await;
        let found = axe::violations_on_each_screen(&window).await;
        findings.extend(found.into_iter().map(|finding| format!("{path}: {finding}")));
        findings.extend(window.console().await.into_iter().map(|line| format!("{path}: console: {line}")));
    }
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

#[tokio::test]
async fn open_suggestions_and_navigation_pass_axe() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    axe::install(&window).await;
    let mut findings = Vec::new();
    for screen @ (width, dark) in axe::SCREENS {
        window.set_screen(width, dark).await;
        window.open_page("/docs", "Your first request").await;
        if width < 600 {
            window.click("Menu").await;
            window.wait_for("document.getElementById('navigation-drawer').open").await;
            findings.extend(axe::violations_on(&window, screen).await);
            window.press_key(Key::Escape).await;
        }
        window.type_text("/").await;
        window.type_text("amount").await;
        window.wait_for(&format!("{RESULTS} > 0")).await;
        window.press_key(Key::Down).await;
        findings.extend(axe::violations_on(&window, screen).await);
    }
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn pages_are_complete_without_scripts() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    window.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true})).await;
    window.open_page("/docs", "Your first request").await;
    for text in ["curl -sS --fail-with-body", "requests.get("] {
        window.wait_for_text(text).await;
    }
    window.open_page("/docs/reference", "Each operation also has a page without scripts").await;
    window.click("Enroll a student in a course").await;
    window.wait_for_text("createEnrollment").await;
    window.fill("Search the documentation", "verification_url").await;
    window.press_key(Key::Enter).await;
    window.wait_for_text("Certificate").await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn the_navigation_is_a_drawer_on_phones() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    window.set_screen(390, false).await;
    window.open_page("/docs", "Your first request").await;
    window.click("Menu").await;
    window.wait_for("document.getElementById('navigation-drawer').open").await;
    window.press_key(Key::Escape).await;
    window.wait_for("!document.getElementById('navigation-drawer').open").await;
    window.click("Menu").await;
    window.click("Errors").await;
    window.wait_for("location.pathname === '/docs/errors'").await;
    window.assert_no_console_entries().await;
}
