//! Orders on the dashboard: search, refunds, and isolation from other workspaces.

use serde_json::json;

use crate::support::browser::{csrf_token, first_match, html};
use crate::support::members::audit_entries;
use crate::support::{Browser, TestApp, TestWorkspace};

const LIST: &str = "/dashboard/orders";

/// Creates a workspace with a paid order of EUR 49.00. Returns the workspace, a browser of its owner, and the path of
/// the order.
async fn workspace_with_order<'a>(
    app: &'a TestApp,
    name: &'static str,
) -> (TestWorkspace<'a>, Browser<'a>, String) {
    let workspace = app.workspace(name).await;
    workspace.course("ink", 1).await;
    workspace.student("ada").await;
    let items = [json!({"course": "ink", "unit_amount": 5000})];
    let receipt = json!({"number": "R-1", "url": "https://academy.example.com/r/1"});
    let order = json!({"key": "o1", "number": "2026-1", "student": "ada", "currency": "EUR", "items": items,
        "discount_amount": 500, "tax_amount": 400, "receipt": receipt});
    workspace.change("order.pay", order).await;
    let browser = workspace.owner_browser().await;
    let path = first_match(&html(&browser.get(LIST).await), "href=\"(/dashboard/orders/ord_[a-z0-9]+)\"");
    (workspace, browser, path)
}

#[tokio::test]
async fn an_order_is_refunded_in_parts() {
    let app = TestApp::start().await;
    let (workspace, browser, path) = workspace_with_order(&app, "acme").await;
    let page = html(&browser.get(&path).await);
    for words in [
        "Order 2026-1",
        "EUR 49.00",
        "-EUR 5.00",
        "R-1",
        "https://academy.example.com/r/1",
        "No refunds.",
        "Course ink",
        "ada@example.com",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }

    let refund = format!("{path}/refund");
    for (amount, message) in [
        ("49.01", "Amount must be at most EUR 49.00, the remaining amount of the order."),
        ("0", "Amount must be greater than zero."),
        ("-1", "Amount must be an amount in EUR, such as 12.50."),
        ("1.005", "Amount must be an amount in EUR"),
    ] {
        let fields = [("amount", amount), ("refunded", "0"), ("reason", "\"><b>why</b>")];
        let rejected = html(&browser.submit(&refund, &refund, &fields).await.assert_status(422));
        assert!(rejected.contains(message) && !rejected.contains("<b>why"), "{message}: {rejected}");
    }
    let fields = [("amount", "9.00"), ("refunded", "0"), ("reason", "a mistake")];
    browser.submit(&refund, &refund, &fields).await.assert_status(303);
    let page = html(&browser.get(&path).await);
    for words in ["Refunded EUR 9.00 of order 2026-1.", "EUR 9.00", "a mistake", "partially refunded"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // The same form is submitted again, for example by a second click.
    let repeated = html(&browser.submit(&refund, &refund, &fields).await.assert_status(422));
    assert!(repeated.contains("Another refund was made after this page was loaded"), "{repeated}");
    assert!(
        repeated.contains("name=\"refunded\" value=\"900\"")
            && repeated.contains("EUR 40.00 can be refunded"),
        "{repeated}"
    );
    assert_eq!(app.events_of_type("order.refunded").await.len(), 1);

    browser.submit(&refund, &refund, &[("amount", ""), ("refunded", "900")]).await.assert_status(303);
    let page = html(&browser.get(&path).await);
    assert!(page.contains(">refunded<") && page.contains(">revoked<"), "{page}");
    assert!(!page.contains("/refund\""), "a refunded order has no link to a refund: {page}");
    assert_eq!(app.events_of_type("order.refunded").await.len(), 2);
    browser.get(&refund).await.assert_status(303);
    let token = csrf_token(&browser.get(&path).await);
    browser.post(&refund, &token, &[("refunded", "4900")]).await.assert_status(303);
    let entries = audit_entries(&workspace).await;
    let refunds = entries.iter().filter(|line| line.contains("Refunded an order 2026-1"));
    assert_eq!(refunds.count(), 2);
}

#[tokio::test]
async fn orders_are_searched_and_paginated() {
    let app = TestApp::start().await;
    let (workspace, browser, path) = workspace_with_order(&app, "acme").await;
    for n in 2..=31 {
        let items = [json!({"course": "ink", "unit_amount": 100})];
        let key = format!("o{n}");
        let number = format!("2026-{n}");
        let order =
            json!({"key": key, "number": number, "student": "ada", "currency": "EUR", "items": items});
        workspace.change("order.pay", order).await;
    }
    let count = |page: &str| page.matches("class=\"name\"").count();
    let page = html(&browser.get(LIST).await);
    assert_eq!(count(&page), 25);
    let next = first_match(&page, "href=\"([^\"]+)\" rel=\"next\"");
    assert_eq!(count(&html(&browser.get(&next).await.assert_status(200))), 6);
    let results = html(&browser.get("/dashboard/orders?q=2026-17").await);
    assert!(count(&results) == 1 && results.contains("2026-17"), "{results}");
    let id = path.rsplit('/').next().unwrap();
    assert_eq!(count(&html(&browser.get(&format!("{LIST}?q={id}")).await)), 1);
    assert!(html(&browser.get("/dashboard/orders?status=refunded").await).contains("No matching orders"));
    for (span, expected_count) in [
        ("from=2026-03-02T10:00&to=2026-03-02T10:01", 25),
        ("from=2026-03-02T10:01", 0),
        ("to=2026-03-02T10:00&status=paid", 0),
    ] {
        let page = html(&browser.get(&format!("{LIST}?{span}")).await.assert_status(200));
        assert_eq!(count(&page), expected_count, "{span}");
    }
    let rejected = html(&browser.get(&format!("{LIST}?from=soon&q=x")).await.assert_status(422));
    assert!(rejected.contains("Paid from must be a time such as") && rejected.contains("Invalid search"));
    let student = first_match(&html(&browser.get(&path).await), "/dashboard/students/(stu_[a-z0-9]+)");
    assert_eq!(count(&html(&browser.get(&format!("{LIST}?student={student}")).await)), 25);
}

#[tokio::test]
async fn orders_of_other_workspaces_are_not_found() {
    let app = TestApp::start().await;
    let (theirs, owner, path) = workspace_with_order(&app, "theirs").await;
    let ours = app.workspace("ours").await;
    let browser = ours.owner_browser().await;
    assert!(html(&browser.get(LIST).await).contains("No orders yet"));
    let refund = format!("{path}/refund");
    let student = first_match(&html(&owner.get(&path).await), "/dashboard/students/(stu_[a-z0-9]+)");
    for path in
        [path.clone(), refund.clone(), format!("{LIST}/nonsense"), format!("{LIST}?student={student}")]
    {
        browser.get(&path).await.assert_status(404);
    }
    let token = csrf_token(&browser.get("/dashboard/settings").await);
    browser.post(&refund, &token, &[("amount", "1"), ("refunded", "0")]).await.assert_status(404);
    assert!(app.events_of_type("order.refunded").await.is_empty());
    let entries = audit_entries(&theirs).await;
    assert!(entries.iter().all(|line| !line.contains("order")), "{entries:?}");
}
