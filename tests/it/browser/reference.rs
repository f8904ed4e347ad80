//! The reference in a browser: calls, samples, filter, addresses, accessibility, and pages whose scripts or storage fail.

use serde_json::json;

use super::axe;
use super::prefix_proxy::PrefixProxy;
use super::window::Window;
use crate::support::program::TestProgram;
use crate::support::{TestApp, send};

const LOADED: &str = "Filter operations";
const SAMPLE: &str = "document.querySelector('.opblock.is-open .operation-samples code')?.textContent ?? ''";

/// Replaces the value of a parameter of the open operation.
async fn enter(window: &Window, parameter: &str, value: &str) {
    let input = window.find(&format!("//tr[@data-param-name='{parameter}']//input")).await;
    input.clear().await.expect("the field can be emptied");
    input.send_keys(value).await.expect("text can be typed into the field");
}

#[tokio::test]
async fn a_call_with_the_demo_key_succeeds_and_its_sample_contains_the_entered_values() {
    let program = TestProgram::new().await;
    let demo = program.serve(&["demo"]).await;
    let window = Window::open_at(&demo.base_url).await;
    window.open_page("/docs/reference", LOADED).await;
    window.click("Use the demo key").await;
    window.wait_for_text("Calls use the key that ends in").await;

    window.click("GET List published courses").await;
    enter(&window, "limit", "2").await;
    window.wait_for(&format!("({SAMPLE}).includes('limit=2') && ({SAMPLE}).includes('Bearer $')")).await;
    window.click("Execute").await;
    window.wait_for_text("requests remaining this minute").await;
    window.wait_for("document.querySelector('.live-responses-table .response .response-col_status')?.textContent.trim() === '200'").await;
    window.click("Python").await;
    window
        .wait_for(&format!("({SAMPLE}).includes('requests.get(') && !({SAMPLE}).includes('svc_live_')"))
        .await;
    window
        .find("//label[contains(., 'Show my key')]")
        .await
        .click()
        .await
        .expect("the option can be selected");
    window.wait_for(&format!("({SAMPLE}).includes('svc_live_') && ({SAMPLE}).includes('limit=2')")).await;

    // The key is kept until the tab is closed.
    window.open_page("/docs", "Your first request").await;
    window.open_page("/docs/reference#/courses/getCourse", "Calls use the key that ends in").await;
    enter(&window, "id", "crs_01h2xcejqtf2nbrexx3vqjhp41").await;
    window.click("Execute").await;
    window.wait_for_text("Open this call in the request log").await;
    window.assert_no_console_entries().await;

    // Only readers on this machine see the key.
    let page = |host: &'static str| {
        program.app.http.get(format!("{}/docs/reference", demo.base_url)).header("host", host)
    };
    for (host, is_offered) in [("localhost:80", true), ("api.example.com", false)] {
        let html = send(page(host)).await.assert_status(200).body;
        assert_eq!(String::from_utf8_lossy(&html).contains("data-demo-key"), is_offered, "{host}");
    }
}

#[tokio::test]
async fn a_public_demo_does_not_show_its_key() {
    let program = TestProgram::new().await;
    let demo = program.serve(&["demo", "--public-url", "https://api.example.com"]).await;
    let html =
        send(program.app.http.get(format!("{}/docs/reference", demo.base_url))).await.assert_status(200).body;
    let html = String::from_utf8_lossy(&html);
    assert!(html.contains("data-contract") && !html.contains("data-demo-key"));
}

#[tokio::test]
async fn the_platform_reference_names_no_address_that_the_server_does_not_have() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    let mark_page = "document.addEventListener('readystatechange', () => (document.body.dataset.platformElsewhere = ''));";
    window.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": mark_page})).await;
    window.open_page("/docs/reference/platform#/event_feed/listEvents", LOADED).await;
    let notes =
        "document.body.innerText.split('The Platform API of this server has its own address.').length - 1";
    window.wait_for(&format!("{notes} === 2 && !document.querySelector('.execute')")).await;
    window.open_page("/docs/reference#/courses/listCourses", LOADED).await;
    window.wait_for(&format!("{notes} === 0 && document.querySelector('.execute')")).await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn values_without_a_request_keep_the_last_sample() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    window.open_page("/docs/reference#/courses/listCourses", LOADED).await;
    let fail = "window.URL = class extends URL {
        constructor(url, base) {
            if (String(url).includes('limit=13')) throw new TypeError('invalid');
            super(url, base);
        }
    };";
    window.run(fail, Vec::new()).await;
    enter(&window, "limit", "13").await;
    window.wait_for_text("These values are not a valid request.").await;
    window.wait_for(&format!("!({SAMPLE}).includes('limit=13')")).await;
    enter(&window, "limit", "2").await;
    window
        .wait_for(&format!("({SAMPLE}).includes('limit=2') && !document.querySelector('.sample-problem')"))
        .await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn operations_are_found_by_address_and_filter() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    let is_open =
        |id: &str| format!("document.getElementById('operations-{id}')?.classList.contains('is-open')");
    let current = |id: &str| {
        format!("document.querySelector('[data-operation={id}]').getAttribute('aria-current') === 'true'")
    };
    // The address of earlier versions.
    window.open_page("/docs#/students/createStudent", LOADED).await;
    assert_eq!(window.path().await, "/docs/reference#/students/createStudent");
    window.wait_for(&is_open("students-createStudent")).await;
    window.wait_for(&current("createStudent")).await;
    window.click("GET Retrieve an order").await;
    window.wait_for(&is_open("orders-getOrder")).await;
    window.wait_for(&current("getOrder")).await;
    window.back().await;
    window.wait_for(&current("createStudent")).await;

    let shown =
        "[...document.querySelectorAll('[data-operation]')].filter((link) => link.offsetParent).length";
    window.fill("Filter operations", "timezone").await;
    window.wait_for(&format!("{shown} === 1 && document.querySelectorAll('.opblock').length === 1")).await;
    window.wait_for_text("1 operation").await;
    window.fill("Filter operations", "verification <script>").await;
    window.wait_for_text("No operation contains “verification <script>”.").await;
    window.click("Clear the filter").await;
    window.wait_for(&format!("{shown} === 9")).await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn schemas_show_types_values_and_links_to_objects() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    window.open_page("/docs/reference#/orders/getOrder", "Scope: read:orders").await;
    // The example is shown first.
    let schema = "//*[@id='operations-orders-getOrder']//button[normalize-space() = 'Schema']";
    window.find(schema).await.click().await.expect("the tab can be clicked");
    for text in ["nullable", "extensible", "one of", "date-time"] {
        window.wait_for_text(text).await;
    }
    let link =
        window.find("//*[@id='operations-orders-getOrder']//a[contains(@href, '/docs/objects/')]").await;
    link.click().await.expect("the link can be clicked");
    window.wait_for("location.pathname.startsWith('/docs/objects/')").await;
    window.back().await;
    window.click("getOrder documentation").await;
    window.wait_for("location.pathname === '/docs/operations/getOrder'").await;
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn calls_contain_the_path_of_the_public_url() {
    let mut proxy = PrefixProxy::bind("/base").await;
    let app = TestApp::start_with(&[("public_url", proxy.url.as_str())]).await;
    proxy.forward_to(&app.base_url);
    let window = Window::open_at(&proxy.url).await;
    for (path, called) in [
        ("/docs/reference#/courses/listCourses", "/base/api/v1/courses"),
        ("/docs/reference/platform#/event_feed/listEvents", "/base/platform/v1/events"),
    ] {
        window.open_page(path, LOADED).await;
        window.click("Execute").await;
        window.wait_for("document.querySelector('.live-responses-table .response .response-col_status')?.textContent.trim() === '401'").await;
        // The request log of a workspace lists only calls with its keys.
        assert!(!window.text().await.contains("request log"));
        let calls = format!(
            "performance.getEntriesByType('resource').some(({{ name }}) => new URL(name).pathname === '{called}')"
        );
        window.wait_for(&calls).await;
        window
            .wait_for(&format!("({SAMPLE}).includes('{}{}')", proxy.url, called.trim_start_matches("/base")))
            .await;
    }
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn the_reference_passes_axe_on_phone_and_desktop_in_light_and_dark() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    axe::install(&window).await;
    let mut findings = Vec::new();
    for path in ["/docs/reference#/students/createStudent", "/docs/reference/platform#/event_feed/listEvents"]
    {
        window.open_page(path, "Responses").await;
        let found = axe::violations_on_each_screen(&window).await;
        findings.extend(found.into_iter().map(|finding| format!("{path}: {finding}")));
    }
    window.click("Execute").await;
    window.wait_for_text("Server response").await;
    // After the click, the header can cover a part of a field.
    window.run("scrollTo(0, 0)", Vec::new()).await;
    findings
        .extend(axe::violations(&window).await.into_iter().map(|finding| format!("after a call: {finding}")));
    window.fill("Filter operations", "nothing contains this").await;
    window.wait_for_text("Clear the filter").await;
    findings
        .extend(axe::violations(&window).await.into_iter().map(|finding| format!("no operation: {finding}")));
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    window.assert_no_console_entries().await;
}

#[tokio::test]
async fn the_reference_works_without_storage_and_is_readable_without_its_scripts() {
    let app = TestApp::start().await;
    let window = Window::open(&app).await;
    let block_storage = "for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {get() { throw new DOMException('blocked', 'SecurityError'); }});
    }";
    window.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": block_storage})).await;
    window.open_page("/docs/reference#/courses/listCourses", LOADED).await;
    window.fill("Key for calls from this page", "svc_live_nonsense").await;
    window.click("Use this key").await;
    window.wait_for_text("Calls use the key that ends in").await;
    window.click("Go").await;
    window.wait_for(&format!("({SAMPLE}).includes('http.NewRequest')")).await;
    window.assert_no_console_entries().await;

    for script in ["*swagger-ui-bundle.js", "*reference/filter.js", "*openapi/v1.json"] {
        window.devtools("Network.enable", json!({})).await;
        window.devtools("Network.setBlockedURLs", json!({"urls": [script]})).await;
        // The page is loaded again even though its address differs only in the fragment.
        window.open_path("/docs").await;
        let text = if script.ends_with(".json") {
            "could not be loaded"
        } else {
            "Each operation also has a page without scripts"
        };
        window.open_page("/docs/reference", text).await;
        window.console().await;
    }
}
