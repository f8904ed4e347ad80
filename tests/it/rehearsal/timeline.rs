//! The timeline of v1, from before its deprecation to after its sunset: what its clients receive, who still uses it, and the mails
//! about it.

use domain::deprecations;
use serde_json::{Value, json};

use super::{after_restart, release_v2};
use crate::support::{TestApp, TestKey, TestResponse, wait_until};

/// The headers about deprecation: `Deprecation`, `Sunset`, and whether a `Link` leads to the changelog.
fn announced(response: &TestResponse) -> (&str, &str, bool) {
    let links = response.headers.get_all("link").iter();
    let is_deprecation = "<http://api.test/docs/changelog>; rel=\"deprecation\"; type=\"text/html\"";
    let link = links.into_iter().any(|link| link == is_deprecation);
    (response.header("deprecation"), response.header("sunset"), link)
}

/// `announced` from the release on.
const ANNOUNCED: (&str, &str, bool) = ("@1772496000", "Thu, 03 Sep 2026 00:00:00 GMT", true);

/// A client of v1, which calls every operation. The student and the enrollment that it creates exist.
struct V1Client {
    key: TestKey,
    paths: Vec<String>,
    enrollment: Value,
}

impl V1Client {
    async fn create(app: &TestApp) -> Self {
        let acme = app.workspace("acme").await;
        let key = acme.key_with_all_scopes().await;
        let (course, student) = (acme.course("rust", 2).await, acme.student("ada").await);
        acme.student("bob").await;
        let items = json!([{"course": "rust", "unit_amount": 100}]);
        let order = json!({"key": "o1", "number": "o1", "student": "ada", "currency": "EUR", "items": items});
        acme.change("order.pay", order).await;
        let order = key.get("/api/v1/orders").await.ids().remove(0);
        let window = "from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z&interval=month";
        let paths = vec![
            "courses".to_owned(),
            format!("courses/{course}"),
            "students?limit=1".to_owned(),
            format!("students/{student}"),
            "orders?sort=-paid_at".to_owned(),
            format!("orders/{order}"),
            format!("analytics/summary?{window}"),
        ];
        Self { key, paths, enrollment: json!({"studentId": student, "courseId": course}) }
    }

    async fn run(&self) -> Vec<TestResponse> {
        let mut responses = Vec::new();
        for path in &self.paths {
            responses.push(self.key.get(&format!("/api/v1/{path}")).await);
        }
        responses.push(self.key.post("/api/v1/students", json!({"email": "ada@example.com"})).await);
        responses.push(self.key.post("/api/v1/enrollments", self.enrollment.clone()).await);
        responses
    }
}

/// Returns the statuses and bodies, without what differs between any two requests.
fn contents(responses: &[TestResponse]) -> Vec<(u16, Value)> {
    let content = |response: &TestResponse| {
        let mut body = response.json();
        body.as_object_mut().map(|fields| fields.remove("data_as_of"));
        body.pointer_mut("/error").and_then(Value::as_object_mut).map(|error| error.remove("request_id"));
        (response.status, body)
    };
    responses.iter().map(content).collect()
}

fn set(app: &TestApp, time: &str) {
    app.clock.set(time.parse().expect("a time"));
}

#[tokio::test]
async fn a_client_of_v1_runs_unchanged_until_the_sunset() {
    let app = TestApp::start().await;
    let client = V1Client::create(&app).await;
    let before = client.run().await;
    let statuses: Vec<u16> = before.iter().map(|response| response.status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 422, 200]);
    assert!(before.iter().all(|response| announced(response) == ("", "", false)));

    let app = release_v2(app).await;
    let client = V1Client { key: after_restart(&app, &client.key), ..client };
    let brownout = "2026-08-03T10:15:00Z";
    for time in [
        "2026-03-02T12:00:00Z",
        "2026-03-03T00:00:00Z",
        brownout,
        "2026-08-03T11:00:00Z",
        "2026-09-02T23:59:59Z",
    ] {
        set(&app, time);
        let during = client.run().await;
        assert!(during.iter().all(|response| announced(response) == ANNOUNCED), "{time}: {during:?}");
        if time != brownout {
            assert_eq!(contents(&during), contents(&before), "{time}");
            continue;
        }
        for response in during {
            let response = response.assert_status(410);
            assert_eq!((&*response.code(), response.header("retry-after")), ("invalid_request", "2700"));
            assert!(response.json()["error"]["retryAfterSeconds"].is_null(), "only on 429");
        }
        client.key.get("/api/v2/students").await.assert_status(200);
    }

    set(&app, "2026-09-03T00:00:00Z");
    let removed = client.run().await;
    let guide = String::from_utf8(app.get("/docs/new-versions.md").await.body).expect("UTF-8");
    assert!(guide.contains(&format!("Deprecation: {}\nSunset: {}\n", ANNOUNCED.0, ANNOUNCED.1)), "{guide}");
    assert!(guide.contains(&removed[2].message()), "{guide}");
    for response in removed {
        let response = response.assert_status(410);
        assert_eq!((&*response.code(), response.header("retry-after")), ("invalid_request", ""));
        assert_eq!(announced(&response), ANNOUNCED);
    }
    let in_v2 = client.key.get("/api/v2/students").await.assert_status(200);
    assert_eq!(announced(&in_v2), ("", "", false));

    // The operator extends the sunset for the key.
    let (mut write, key) = (app.begin_write().await, client.key.id.parse().expect("an id"));
    let until = "2026-10-01T00:00:00Z".parse().expect("a time");
    domain::keys::extend_sunset(&app.app, &mut write, key, Some(until)).await.expect("an extension");
    write.commit().await.expect("a commit");
    let extended = client.run().await;
    assert_eq!(contents(&extended), contents(&before));
    let sunset = "Thu, 01 Oct 2026 00:00:00 GMT";
    assert!(extended.iter().all(|response| announced(response) == (ANNOUNCED.0, sunset, true)));
    set(&app, "2026-10-01T00:00:00Z");
    assert!(client.run().await.iter().all(|response| response.status == 410));
}

#[tokio::test]
async fn stragglers_are_named_and_their_owners_get_mails() {
    let app = release_v2(TestApp::start().await).await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    let (old, new) = (acme.key_with_all_scopes().await, other.key_with_all_scopes().await);
    for (time, status, expected) in [
        ("2026-03-02T12:00:00Z", 200, 1),
        ("2026-03-03T12:00:00Z", 200, 1),
        ("2026-08-04T00:00:00Z", 200, 2),
        ("2026-08-27T00:00:00Z", 200, 3),
        ("2026-09-02T00:00:00Z", 200, 4),
        ("2026-09-03T00:00:00Z", 410, 4),
    ] {
        set(&app, time);
        old.get("/api/v1/students").await.assert_status(status);
        new.get("/api/v2/students").await.assert_status(200);
        // The jobs of the server can do the same at the same time, and then one of both fails.
        let are_queued = async || {
            deprecations::flush(&app.app).await.expect("the uses are written");
            let is_queued = deprecations::notify(&app.app).await.is_ok();
            let mails = acme.mails().await.into_iter().filter(|mail| mail.kind == "deprecated");
            is_queued && mails.count() == expected
        };
        wait_until(&format!("{expected} mails on {time}"), are_queued).await;
    }
    let mut mails = acme.mails().await;
    mails.retain(|mail| mail.kind == "deprecated");
    mails.sort_by_key(|mail| mail.created_at);
    let subjects: Vec<&str> = mails.iter().map(|mail| &*mail.subject).collect();
    insta::assert_snapshot!(subjects.join("\n"), @r"
    Your integrations use deprecated parts of the API
    Your integrations can stop working in 30 days
    Your integrations can stop working in 7 days
    Your integrations can stop working in 1 day
    ");
    let text = mails[0].text_body.split_whitespace().collect::<Vec<_>>().join(" ");
    let announcement = "The operation listStudents will be deprecated on 2026-03-03 and stops working on 2026-09-03. Use \
                        listStudents of version 2.";
    assert!(text.contains(announcement), "{text}");
    assert!(other.mails().await.iter().all(|mail| mail.kind != "deprecated"), "it uses v2 only");

    let mut stragglers = Vec::new();
    wait_until("the requests of the last 30 days are counted, also the rejected one", async || {
        deprecations::flush(&app.app).await.expect("the uses are written");
        stragglers = deprecations::recent(&app.app, None).await.expect("the uses can be read");
        stragglers.iter().flat_map(|used| &used.keys).map(|uses| uses.requests).sum::<u64>() == 3
    })
    .await;
    let [straggler] = &stragglers[..] else { panic!("one operation is used: {stragglers:?}") };
    let today = "2026-09-03".parse().expect("a date");
    let text = format!("{} {}", straggler.part.describe(), straggler.announcement.describe(today));
    insta::assert_snapshot!(text, @"The operation listStudents was removed on 2026-09-03. Use listStudents of version 2.");
    let keys: Vec<&str> = straggler.keys.iter().map(|uses| &*uses.workspace_key).collect();
    assert_eq!(keys, ["acme"]);
}
