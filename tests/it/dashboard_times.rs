//! Times, durations and browsers on the dashboard: each page shows all times in the time zone that it names.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use domain::requests::{self, CompletedRequest};
use jiff::Timestamp;
use regex::Regex;
use reqwest::Method;
use serde_json::json;

use crate::support::browser::{PASSWORD, csrf_token, first_match, html};
use crate::support::time_zone::{COOKIE, assert_one_time_zone, named_zone};
use crate::support::{Browser, Endpoint, TestApp, TestWorkspace};

const NEW_YORK: &str = "America/New_York";
const ORDERS: &str = "/dashboard/orders";
const SETTINGS: &str = "/dashboard/settings";
/// The path of the form that switches between the browser's time zone and UTC.
const SWITCH: &str = "/dashboard/time-zone";

impl TestApp {
    /// Sets the clock, which must not go back.
    fn advance_to(&self, time: &str) {
        let time: Timestamp = time.parse().unwrap();
        self.clock.advance(Duration::try_from(time.duration_since(self.clock.now())).expect("a later time"));
    }
}

/// Creates a student, a course, and an order at each of these times.
async fn orders_at(app: &TestApp, workspace: &TestWorkspace<'_>, times: &[&str]) {
    workspace.course("ink", 1).await;
    workspace.student("ada").await;
    for (index, time) in times.iter().enumerate() {
        app.advance_to(time);
        let items = [json!({"course": "ink", "unit_amount": 4900})];
        let key = format!("order-{index}");
        let order = json!({"key": key, "number": key, "student": "ada", "currency": "EUR", "items": items});
        workspace.change("order.pay", order).await;
    }
}

/// Returns the numbers of the orders on a page, newest first.
fn order_numbers(page: &str) -> Vec<String> {
    let number = Regex::new("class=\"name\" href=\"[^\"]+\">(order-[0-9])<").unwrap();
    number.captures_iter(page).map(|captures| captures[1].to_owned()).collect()
}

/// Returns the value of the input with this name.
fn input(page: &str, name: &str) -> String {
    first_match(page, &format!("<input [^>]*name=\"{name}\"[^>]* value=\"([^\"]*)\"")).replace("&#38;", "&")
}

#[tokio::test]
async fn a_page_shows_times_in_the_browser_s_time_zone_or_in_utc() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let page = async || {
        let page = html(&browser.get(SETTINGS).await.assert_status(200));
        assert_one_time_zone(SETTINGS, &page);
        page
    };
    // Without the cookie, the time zone of the browser is unknown, so there is nothing to switch to.
    let unknown = page().await;
    assert!(unknown.contains(">2026-03-02 10:00:30<") && !unknown.contains(SWITCH), "{unknown}");
    assert_eq!(named_zone(&unknown), "UTC");
    for (cookie, zone, created) in [
        ("Asia/Tokyo", "Asia/Tokyo", "2026-03-02 19:00:30"),
        ("america/new_york", NEW_YORK, "2026-03-02 05:00:30"),
        ("Mars/Olympus", "UTC", "2026-03-02 10:00:30"),
        ("Etc/Unknown", "UTC", "2026-03-02 10:00:30"),
        ("../../etc/passwd", "UTC", "2026-03-02 10:00:30"),
    ] {
        browser.set_cookie(COOKIE, cookie);
        let page = page().await;
        assert_eq!(
            (named_zone(&page).as_str(), page.contains(&format!(">{created}<"))),
            (zone, true),
            "{cookie}"
        );
    }

    browser.set_cookie(COOKIE, NEW_YORK);
    let local = page().await;
    assert_eq!((input(&local, "show"), input(&local, "back")), ("utc".to_owned(), SETTINGS.to_owned()));
    let switched = browser.submit(SETTINGS, SWITCH, &[("show", "utc"), ("back", SETTINGS)]).await;
    assert_eq!(switched.assert_status(303).header("location"), SETTINGS);
    let utc = page().await;
    assert_eq!((named_zone(&utc).as_str(), input(&utc, "show").as_str()), ("UTC", "local"));
    let switched = browser.submit(SETTINGS, SWITCH, &[("show", "local"), ("back", SETTINGS)]).await;
    assert_eq!(switched.assert_status(303).header("location"), SETTINGS);
    assert_eq!(named_zone(&page().await), NEW_YORK);
    // The form leads to pages of the dashboard only.
    for back in ["https://evil.example/", "//evil.example", "/login", "", "/dashboard\r\nx: y"] {
        let switched = browser.submit(SETTINGS, SWITCH, &[("show", "local"), ("back", back)]).await;
        assert_eq!(switched.assert_status(303).header("location"), "/dashboard", "{back:?}");
    }
}

#[tokio::test]
async fn a_time_filter_is_in_the_time_zone_of_the_page_that_sent_it() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    // In New York, the clocks skip 02:00 to 03:00 on March 8, and repeat 01:00 to 02:00 on November 1.
    let times = [
        "2026-03-08T06:30:00Z",
        "2026-03-08T07:30:00Z",
        "2026-11-01T05:30:00Z",
        "2026-11-01T06:30:00Z",
        "2026-11-01T07:30:00Z",
    ];
    orders_at(&app, &workspace, &times).await;
    let browser = workspace.owner_browser().await;
    browser.set_cookie(COOKIE, NEW_YORK);
    let list = async |query: &str| {
        let page = html(&browser.get(&format!("{ORDERS}?{query}")).await.assert_status(200));
        (order_numbers(&page).join(" "), input(&page, "from"), input(&page, "to"), page)
    };
    let (_, _, _, all) = list("").await;
    for shown in ["03-08 01:30:00<", "03-08 03:30:00<", "11-01 01:30:00 -04:00<", "11-01 01:30:00 -05:00<"] {
        assert!(all.contains(&format!(">2026-{shown}")), "a repeated time has its offset: {shown}: {all}");
    }
    for (query, expected, from, to) in [
        ("from=2026-03-08T01:31&to=2026-03-08T03:31", "order-1", "2026-03-08T01:31", "2026-03-08T03:31"),
        // A skipped time moves by the skipped hour, and a repeated one is the first of both.
        ("from=2026-03-08T02:30&to=2026-06-01T00:00", "order-1", "2026-03-08T03:30", "2026-06-01T00:00"),
        ("to=2026-03-08T02:30", "order-0", "", "2026-03-08T03:30"),
        ("from=2026-11-01T01:30", "order-4 order-3 order-2", "2026-11-01T01:30", ""),
        ("from=2026-11-01T02:30", "order-4", "2026-11-01T02:30", ""),
        (
            "from=2026-03-08T07:30&to=2026-03-08T07:31&zone=UTC",
            "order-1",
            "2026-03-08T03:30",
            "2026-03-08T03:31",
        ),
        (
            "from=2026-03-08T16:30:05&to=2026-04-01T00:00&zone=Asia/Tokyo",
            "",
            "2026-03-08T03:30:05",
            "2026-03-31T11:00",
        ),
        (
            "from=2026-03-08T03:30&to=2026-06-01T00:00&zone=Mars",
            "order-1",
            "2026-03-08T03:30",
            "2026-06-01T00:00",
        ),
    ] {
        let (numbers, shown_from, shown_to, page) = list(query).await;
        assert_eq!((&*numbers, &*shown_from, &*shown_to), (expected, from, to), "{query}");
        assert_eq!(input(&page, "zone"), NEW_YORK, "{query}");
    }

    // The filter stays the same when the page is shown in UTC.
    let query = format!("from=2026-03-08T03:30&to=2026-06-01T00:00&zone={NEW_YORK}");
    let (_, _, _, page) = list(&query).await;
    let back = input(&page, "back");
    let switched = browser.submit(ORDERS, SWITCH, &[("show", "utc"), ("back", &back)]).await;
    assert_eq!(switched.assert_status(303).header("location"), format!("{ORDERS}?{query}"));
    let (numbers, from, to, page) = list(&query).await;
    assert_eq!(
        (&*numbers, &*from, &*to, &*input(&page, "zone")),
        ("order-1", "2026-03-08T07:30", "2026-06-01T04:00", "UTC")
    );
    let rejected = html(&browser.get(&format!("{ORDERS}?from=soon&zone=UTC")).await.assert_status(422));
    assert!(rejected.contains("Paid from must be a time such as") && input(&rejected, "from") == "soon");
    // An empty filter with a time zone is no filter.
    assert!(!html(&browser.get(&format!("{ORDERS}?zone={NEW_YORK}")).await).contains(">Clear<"));
}

#[tokio::test]
async fn the_pages_of_a_filtered_list_keep_its_time_zone() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    workspace.course("ink", 1).await;
    workspace.student("ada").await;
    for number in 0..26 {
        let items = [json!({"course": "ink", "unit_amount": 4900})];
        let key = format!("order-{number}");
        let order = json!({"key": key, "number": key, "student": "ada", "currency": "EUR", "items": items});
        workspace.change("order.pay", order).await;
    }
    let browser = workspace.owner_browser().await;
    browser.set_cookie(COOKIE, NEW_YORK);
    // 05:00 in New York is 10:00 in UTC.
    let query = format!("{ORDERS}?from=2026-03-02T05:00&to=2026-03-02T05:01&zone=America%2FNew_York");
    let next = first_match(&html(&browser.get(&query).await), "href=\"([^\"]+)\" rel=\"next\"")
        .replace("&#38;", "&");
    browser.set_cookie(COOKIE, "Asia/Tokyo");
    let second = html(&browser.get(&next).await.assert_status(200));
    assert_eq!(second.matches("class=\"name\"").count(), 1, "{second}");
    assert_eq!((&*input(&second, "from"), &*input(&second, "zone")), ("2026-03-02T19:00", "Asia/Tokyo"));
}

#[tokio::test]
async fn the_last_day_of_access_ends_in_the_time_zone_of_the_form() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let ink = workspace.course("ink", 2).await;
    let path = format!("/dashboard/students/{}", workspace.student("ada").await);
    let browser = workspace.owner_browser().await;
    browser.set_cookie(COOKIE, NEW_YORK);
    let enroll = format!("{path}/enroll");
    let form = html(&browser.get(&enroll).await);
    assert_eq!(input(&form, "zone"), NEW_YORK);
    // The browser's time zone changes before the form is sent.
    browser.set_cookie(COOKIE, "Asia/Tokyo");
    let fields = [("course", &*ink), ("expires_at", "2026-12-31"), ("zone", NEW_YORK)];
    browser.submit(&enroll, &enroll, &fields).await.assert_status(303);
    let page = html(&browser.get(&path).await);
    assert!(page.contains("datetime=\"2027-01-01T05:00:00.000Z\">2027-01-01 14:00:00<"), "{page}");
    assert_one_time_zone(&path, &page);
}

#[tokio::test]
async fn the_days_of_all_charts_are_those_of_the_time_zone() {
    let app = TestApp::start_with_local_webhooks().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let endpoint = Endpoint::start().await;
    workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    // 23:50 on March 7, 00:10 on March 8, and 00:10 on March 9 in New York; the clocks change on March 8.
    for (name, time) in
        [("ada", "2026-03-08T04:50:00Z"), ("bob", "2026-03-08T05:10:00Z"), ("eve", "2026-03-09T04:10:00Z")]
    {
        app.advance_to(time);
        workspace.upsert_student(name).await;
        key.get("/api/v1/courses").await.assert_status(200);
    }
    requests::flush(&app.app).await.unwrap();
    let browser = workspace.owner_browser().await;
    let rows = async || {
        let page = html(&browser.get("/dashboard?days=7").await.assert_status(200));
        assert_one_time_zone("/dashboard", &page);
        let row =
            Regex::new("<tr><th scope=\"row\">([^<]+)</th><td class=\"number\">([1-9][0-9]*)<").unwrap();
        row.captures_iter(&page).map(|row| format!("{}: {}", &row[1], &row[2])).collect::<Vec<_>>()
    };
    let per_hour_utc = ["Mar 8, 04:00: 1", "Mar 8, 05:00: 1", "Mar 9, 04:00: 1"];
    app.deliver_due().await;
    assert_eq!(
        rows().await,
        [&["Mar 8: 2", "Mar 9: 1"], &["Mar 8: 2", "Mar 9: 1"], &per_hour_utc[..]].concat()
    );
    browser.set_cookie(COOKIE, NEW_YORK);
    let days = ["Mar 7: 1", "Mar 8: 1", "Mar 9: 1"];
    let per_hour = ["Mar 7, 23:00: 1", "Mar 8, 00:00: 1", "Mar 9, 00:00: 1"];
    assert_eq!(rows().await, [&days[..], &days[..], &per_hour[..]].concat());
    // Here, days begin at a quarter past the hour of UTC, and so do hours at a quarter to the hour.
    browser.set_cookie(COOKIE, "Asia/Kathmandu");
    let per_hour = ["Mar 8, 09:45: 1", "Mar 8, 10:45: 1", "Mar 9, 09:45: 1"];
    assert_eq!(rows().await, [&["Mar 8: 2", "Mar 9: 1"], &["Mar 8: 2", "Mar 9: 1"], &per_hour[..]].concat());
}

#[tokio::test]
async fn a_live_update_uses_the_time_zone_of_its_page() {
    let app = TestApp::start_with_local_webhooks().await;
    let workspace = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    workspace.student("ada").await;
    app.deliver_due().await;
    let browser = workspace.owner_browser().await;
    let path = format!("/dashboard/developer/webhooks/{}", subscription.id);
    // The page was rendered before the script stored the browser's time zone.
    let page = html(&browser.get(&path).await);
    let headers = first_match(&page, "hx-headers='([^']+)'");
    let headers: BTreeMap<String, String> = serde_json::from_str(&headers).unwrap();
    browser.set_cookie(COOKIE, NEW_YORK);
    let update = async |headers: &BTreeMap<String, String>| {
        let request = app.request(Method::GET, &path).header("hx-request", "true");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        html(&browser.send(request).await.assert_status(200))
    };
    let in_utc = update(&headers).await;
    assert!(in_utc.contains(">2026-03-02 10:00:30<"), "{in_utc}");
    let unknown = update(&BTreeMap::new()).await;
    assert!(unknown.contains(">2026-03-02 05:00:30<"), "{unknown}");
}

#[tokio::test]
async fn the_reset_of_the_daily_quota_is_shown() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    workspace.key("read:courses").await;
    let browser = workspace.owner_browser().await;
    browser.set_cookie(COOKIE, NEW_YORK);
    for path in ["/dashboard", "/dashboard/developer"] {
        let page = html(&browser.get(path).await.assert_status(200));
        assert!(
            page.contains("datetime=\"2026-03-03T00:00:00.000Z\">2026-03-02 19:00:00<"),
            "{path}: {page}"
        );
        assert_one_time_zone(path, &page);
    }
}

#[tokio::test]
async fn a_duration_of_less_than_the_shown_precision_is_not_zero() {
    let app = TestApp::start_with_local_webhooks().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    for (request_id, duration_us) in [("fast", 99), ("slow", 1_234_567), ("edge", 100)] {
        app.app.requests().log(CompletedRequest {
            workspace: workspace.id,
            key: key.id.parse().unwrap(),
            request_id: request_id.to_owned(),
            operation: None,
            method: "GET".to_owned(),
            target: format!("/{request_id}"),
            status: 200,
            duration_us,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            headers: BTreeMap::new(),
            error: None,
            received_at: app.clock.now(),
        });
    }
    requests::flush(&app.app).await.unwrap();
    let browser = workspace.owner_browser().await;
    let list = html(&browser.get("/dashboard/developer/logs").await);
    for duration in ["&#60;0.1 ms", "0.1 ms", "1,234.5 ms"] {
        assert!(list.contains(&format!("data-label=\"Duration\">{duration}</td>")), "{duration}: {list}");
    }
    let entry = browser.get("/dashboard/developer/logs?request=fast").await;
    let entry = html(&browser.get(entry.assert_status(303).header("location")).await);
    assert!(entry.contains("<dd>&#60;0.1 ms</dd>"), "{entry}");

    // The simulated clock stands still during an attempt, whose start and end are stored in milliseconds.
    let endpoint = Endpoint::start().await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    workspace.student("ada").await;
    app.deliver_due().await;
    let deliveries = html(&browser.get(&format!("/dashboard/developer/webhooks/{}", subscription.id)).await);
    let delivery = first_match(&deliveries, "href=\"([^\"]+/deliveries/[^\"]+)\"");
    let delivery = html(&browser.get(&delivery).await);
    assert!(delivery.contains("took &#60;1 ms</span>"), "{delivery}");
}

#[tokio::test]
async fn the_session_list_names_browser_and_operating_system() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let owner = workspace.owner_browser().await;
    let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
    for agent in [chrome, "curl/8.14.1"] {
        let browser = Browser::new(&app);
        let token = csrf_token(&browser.get("/login").await);
        let form = browser.form("/login", &token, &[("email", "owner@acme.example"), ("password", PASSWORD)]);
        browser.send(form.header("user-agent", agent)).await.assert_status(303);
    }
    let page = html(&owner.get(SETTINGS).await);
    for (agent, shown) in [(chrome, "Chrome on Linux"), ("curl/8.14.1", "curl/8.14.1")] {
        assert!(page.contains(&format!("<span title=\"{agent}\">{shown}</span>")), "{shown}: {page}");
    }
}
