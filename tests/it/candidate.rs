//! The comparison of accepted requests with a candidate contract, and its report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use api::candidate::Candidate;
use api::generated::{document, operations};
use contract::usage::{Direction, UsageReport};
use domain::candidate;
use jiff::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::masked_ids::mask_ids;
use crate::support::program::TestProgram;
use crate::support::{START, TestApp, TestKey, TestWorkspace, send};

const COURSES: &str = "/api/v1/courses";
const STUDENTS: &str = "/api/v1/students";
const DAY: Duration = Duration::from_secs(86_400);

/// Returns v1 without examples, which an edit could invalidate.
fn v1() -> Value {
    fn remove_examples(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| !["example", "examples"].contains(&&**name));
                fields.values_mut().for_each(remove_examples);
            }
            Value::Array(items) => items.iter_mut().for_each(remove_examples),
            _ => {}
        }
    }
    let mut contract = serde_json::from_str(document::JSON).unwrap();
    remove_examples(&mut contract);
    contract
}

/// Sets the value at a JSON pointer, whose parent exists.
fn set(contract: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = contract.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}"));
    match parent {
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        parent => parent[&*unescape(key)] = value,
    }
}

/// Removes the property at a JSON pointer.
fn remove(contract: &mut Value, pointer: &str) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = contract.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
    assert!(parent.remove(&*unescape(key)).is_some(), "{pointer}");
}

/// Returns the name that a segment of a JSON pointer stands for.
fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Returns the JSON pointer of an operation's parameter.
fn parameter(contract: &Value, operation: &str, name: &str) -> String {
    let list = contract.pointer(&format!("{operation}/parameters")).and_then(Value::as_array).unwrap();
    let is_named = |parameter: &Value| {
        let target = parameter["$ref"].as_str().and_then(|target| contract.pointer(&target[1..]));
        target.unwrap_or(parameter)["name"] == name
    };
    format!("{operation}/parameters/{}", list.iter().position(is_named).unwrap())
}

/// Writes a candidate to a new folder.
fn write(candidate: &Value) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v1.next.json");
    std::fs::write(&path, candidate.to_string()).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

/// A server that compares requests with a candidate.
async fn start(candidate: &Value) -> (tempfile::TempDir, TestApp) {
    let (folder, path) = write(candidate);
    (folder, TestApp::start_with(&[("candidate_contract", &path)]).await)
}

/// Waits until all requests are compared, and writes the result and the request log.
async fn flush(app: &TestApp) {
    domain::requests::flush(&app.app).await.unwrap();
    candidate::finish(&app.app).await.unwrap();
    assert!(!app.app.candidate().has_pending());
}

/// Returns the report of the command line. The server can be running.
async fn report(program: &TestProgram) -> UsageReport {
    flush(&program.app).await;
    let output = program.run(&["candidate", "report", "--json", "--since", "2026-02-01"]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    UsageReport::parse("report", &output.stdout, Timestamp::MAX).unwrap()
}

/// Returns the names of the partners of each finding, by operation, code and name. `partners` are the ids of their keys.
fn concerned(
    report: &UsageReport,
    direction: Direction,
    partners: &BTreeMap<String, &'static str>,
) -> BTreeMap<String, BTreeSet<&'static str>> {
    let keys =
        |finding: &contract::usage::UsageFinding| finding.keys.iter().map(|key| partners[&key.key]).collect();
    let name = |finding: &contract::usage::UsageFinding| {
        format!("{} {} {}", finding.operation, finding.code, finding.name).trim_end().to_owned()
    };
    let findings = report.findings.iter().filter(|finding| finding.direction == direction);
    findings.map(|finding| (name(finding), keys(finding))).collect()
}

/// Five partners with different habits.
struct Partners {
    crm: TestKey,
    shop: TestKey,
    sync: TestKey,
    dashboard: TestKey,
    mirror: TestKey,
}

impl Partners {
    async fn new(workspace: &TestWorkspace<'_>) -> Self {
        let key = async || workspace.key_with_all_scopes().await;
        Self {
            crm: key().await,
            shop: key().await,
            sync: key().await,
            dashboard: key().await,
            mirror: key().await,
        }
    }

    fn names(&self) -> BTreeMap<String, &'static str> {
        let Self { crm, shop, sync, dashboard, mirror } = self;
        let named =
            [(crm, "crm"), (shop, "shop"), (sync, "sync"), (dashboard, "dashboard"), (mirror, "mirror")];
        named.into_iter().map(|(key, name)| (key.id.clone(), name)).collect()
    }

    /// Sends the requests of all partners. v1 accepts all of them.
    async fn work(&self) {
        let courses = self.mirror.get(COURSES).await.assert_status(200).ids();
        let course = courses.first().expect("a course");
        // This response comes from the cache.
        self.mirror.get(COURSES).await.assert_status(200);
        let full = json!({
            "email": "jonas@example.com", "name": "Jonas Weber the Third", "external_id": "crm-1", "tags": ["vip"],
            "metadata": {"source": "fair", "seat": "7", "hall": "B"},
        });
        let created = self.crm.post_idempotent(STUDENTS, "crm-1", &full).await.assert_status(201);
        let student = created.json()["id"].as_str().unwrap().to_owned();
        let short = json!({"email": "ada@example.com", "name": "Ada", "metadata": {"source": "shop"}});
        self.shop.post(STUDENTS, short).await.assert_status(201);
        let enrollment = json!({"studentId": student, "courseId": course, "expires_at": null});
        self.shop.post("/api/v1/enrollments", enrollment).await.assert_status(201);
        let enrollment = json!({"studentId": student, "courseId": course});
        self.crm.post_idempotent("/api/v1/enrollments", "crm-2", &enrollment).await.assert_status(200);
        for _ in 0..3 {
            self.sync.get(&format!("{STUDENTS}?sort=updated_at&limit=100")).await.assert_status(200);
        }
        self.sync.get("/api/v1/orders?sort=updated_at&status=refunded&limit=10").await.assert_status(200);
        let window = "from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z";
        let summary = format!("/api/v1/analytics/summary?{window}");
        self.dashboard.get(&summary).await.assert_status(200);
        self.sync.get(&format!("{summary}&timezone=Europe/Berlin")).await.assert_status(200);
        self.dashboard.get(&format!("{STUDENTS}?tag=vip")).await.assert_status(200);
        self.mirror.get(&format!("{STUDENTS}/{student}")).await.assert_status(200);
        self.mirror.get("/api/v1/orders?status=paid").await.assert_status(200);
        self.dashboard.get(&format!("{COURSES}/{course}")).await.assert_status(200);
    }
}

/// Changes 13 places of v1, each of which breaks some requests of the partners or none.
fn request_edits() -> Value {
    let mut contract = v1();
    let new_student = "/components/schemas/NewStudent";
    set(&mut contract, &format!("{new_student}/properties/name/maxLength"), json!(10));
    set(&mut contract, &format!("{new_student}/required/-"), json!("external_id"));
    remove(&mut contract, &format!("{new_student}/properties/tags"));
    set(&mut contract, "/components/schemas/Metadata/maxProperties", json!(2));
    set(&mut contract, "/components/parameters/Limit/schema/maximum", json!(50));
    let nullable = "/components/schemas/NewEnrollment/properties/expires_at/type";
    set(&mut contract, nullable, json!("string"));
    let (students, orders) = ("/paths/~1api~1v1~1students", "/paths/~1api~1v1~1orders");
    let tag = parameter(&contract, &format!("{students}/get"), "tag");
    set(&mut contract, &format!("{tag}/name"), json!("label"));
    let status = parameter(&contract, &format!("{orders}/get"), "status");
    set(&mut contract, &format!("{status}/schema"), json!({"type": "string", "enum": ["paid"]}));
    let key = parameter(&contract, &format!("{students}/post"), "Idempotency-Key");
    let required = json!({
        "name": "Idempotency-Key", "in": "header", "required": true, "description": "A key.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    });
    set(&mut contract, &key, required);
    let summary = "/paths/~1api~1v1~1analytics~1summary/get";
    let timezone = parameter(&contract, summary, "timezone");
    set(&mut contract, &format!("{timezone}/required"), json!(true));
    remove(&mut contract, &format!("{timezone}/schema/default"));
    let region = json!({
        "name": "region", "in": "query", "required": true, "description": "A region.", "schema": {"type": "string"},
    });
    set(&mut contract, "/paths/~1api~1v1~1courses/get/parameters/-", region);
    remove(&mut contract, "/paths/~1api~1v1~1students~1{id}");
    contract
}

#[tokio::test]
async fn the_report_names_exactly_the_partners_that_each_edit_of_requests_breaks() {
    let (_folder, app) = start(&request_edits()).await;
    let workspace = app.workspace("acme").await;
    workspace.upsert_course("ink", 1).await;
    let partners = Partners::new(&workspace).await;
    partners.work().await;
    let names = partners.names();
    let program = TestProgram { app, database_url: None };
    let report = report(&program).await;

    let expected: BTreeMap<String, BTreeSet<&str>> = [
        ("createStudent request-body-max-length", &["crm"][..]),
        ("createStudent request-body-additional-properties tags", &["crm"]),
        ("createStudent request-body-max-properties", &["crm"]),
        ("createStudent request-body-required external_id", &["shop"]),
        ("createStudent request-header-required header idempotency-key", &["shop"]),
        ("createEnrollment request-body-type", &["shop"]),
        ("listStudents request-query-maximum query limit", &["sync"]),
        ("listOrders request-query-enum query status", &["sync"]),
        ("getAnalyticsSummary request-query-required query timezone", &["dashboard"]),
        ("listStudents request-query-unknown query tag", &["dashboard"]),
        ("getStudent request-operation-removed", &["mirror"]),
        ("listCourses request-query-required query region", &["mirror"]),
    ]
    .into_iter()
    .map(|(finding, partners)| (finding.to_owned(), partners.iter().copied().collect()))
    .collect();
    assert_eq!(concerned(&report, Direction::Request, &names), expected);

    let finding = |operation: &str, code: &str| {
        report
            .findings
            .iter()
            .find(|finding| (&*finding.operation, &*finding.code) == (operation, code))
            .unwrap()
    };
    let limit = finding("listStudents", "request-query-maximum");
    assert_eq!(limit.pointer, "/components/parameters/Limit/schema/maximum");
    assert_eq!((limit.keys[0].requests, limit.keys[0].sampled), (3, 3));
    assert_eq!((&*limit.keys[0].workspace, &*limit.keys[0].key_name), ("acme", "billing"));
    assert_eq!(limit.reason, "must be at most 50");
    let cached = finding("listCourses", "request-query-required");
    assert_eq!(cached.keys[0].requests, 2, "cache hits count");
    let courses = report.operations.iter().find(|usage| usage.operation == "listCourses").unwrap();
    assert_eq!((courses.keys, courses.days[0].seen, courses.days[0].checked), (1, 2, 2));
    assert_eq!(report.operations.len(), operations::OPERATIONS.len());
    for value in ["jonas", "Weber", "crm-1", "vip", "fair", "hall"] {
        assert!(!serde_json::to_string(&report.findings).unwrap().contains(value), "{value}");
    }

    let table = program.run(&["candidate", "report", "--since", "2026-02-01"]).await;
    assert!(
        table.stdout.contains("createStudent: rejects requests: request-body-max-length"),
        "{}",
        table.stdout
    );
    for (limit, code) in [("1", Some(1)), ("1000", Some(0))] {
        let args = ["candidate", "report", "--since", "2026-02-01", "--fail-on", limit];
        assert_eq!(program.run(&args).await.code, code);
    }
    let nothing = ["candidate", "report", "--since", "2026-03-03", "--fail-on", "1"];
    let nothing = program.run(&nothing).await;
    assert!(nothing.code == Some(1) && nothing.stderr.contains("no operation was observed"), "{nothing:?}");
    let future = program.run(&["candidate", "report", "--since", "2999-01-01"]).await;
    assert!(
        future.code == Some(2) && future.stderr.contains("--since: 2999-01-01 is in the future"),
        "{future:?}"
    );
}

#[tokio::test]
async fn an_edit_of_responses_names_the_callers_of_the_operation() {
    let mut contract = v1();
    set(
        &mut contract,
        "/components/schemas/Course/properties/level",
        json!({"type": "string", "description": "A level."}),
    );
    set(&mut contract, "/components/schemas/Course/required/-", json!("level"));
    remove(&mut contract, "/paths/~1api~1v1~1enrollments/post/responses/200");
    let (_folder, app) = start(&contract).await;
    let workspace = app.workspace("acme").await;
    workspace.upsert_course("ink", 1).await;
    let partners = Partners::new(&workspace).await;
    partners.work().await;
    let names = partners.names();
    let program = TestProgram { app, database_url: None };
    let report = report(&program).await;
    assert!(report.findings.iter().all(|finding| finding.direction == Direction::Response));
    let expected = [
        ("createEnrollment response-status 200", "crm"),
        ("getCourse response-body-required level", "dashboard"),
        ("listCourses response-body-required level", "mirror"),
    ];
    let expected = expected.map(|(finding, partner)| (finding.to_owned(), BTreeSet::from([partner]))).into();
    assert_eq!(concerned(&report, Direction::Response, &names), expected);
    let orders = report.operations.iter().find(|usage| usage.operation == "listOrders").unwrap();
    let callers: BTreeSet<(&str, u64)> =
        orders.callers.iter().map(|usage| (names[&usage.key], usage.requests)).collect();
    assert_eq!(callers, [("mirror", 1), ("sync", 1)].into());
    assert_eq!((&*orders.callers[0].workspace, &*orders.callers[0].key_name), ("acme", "billing"));
}

#[tokio::test]
async fn v1_itself_is_never_reported() {
    let candidate = serde_json::from_str(document::JSON).unwrap();
    let (_folder, app) = start(&candidate).await;
    let workspace = app.workspace("acme").await;
    workspace.upsert_course("ink", 1).await;
    let partners = Partners::new(&workspace).await;
    partners.work().await;
    // v1 rejects these, so that they are not compared.
    for number in 0..20 {
        partners.crm.get(&format!("{COURSES}?p{number}=1")).await.assert_status(422);
    }
    partners.crm.get(&format!("{COURSES}/crs_1")).await.assert_status(404);
    let program = TestProgram { app, database_url: None };
    let report = report(&program).await;
    assert_eq!(report.findings, []);
    let seen = |usage: &contract::usage::OperationUsage| usage.days.iter().map(|day| day.seen).sum::<u64>();
    let by_operation: BTreeMap<&str, u64> =
        report.operations.iter().map(|usage| (&*usage.operation, seen(usage))).collect();
    assert_eq!(
        (by_operation["listCourses"], by_operation["getCourse"], by_operation["listStudents"]),
        (2, 1, 4)
    );
    assert!(report.operations.iter().all(|usage| usage.base == usage.candidate));
    let table = program.run(&["candidate", "report", "--since", "2026-02-01"]).await.stdout;
    assert!(table.ends_with("since 2026-02-01, the candidate would reject no request\n"), "{table}");
}

#[tokio::test]
async fn responses_are_the_same_with_and_without_a_candidate() {
    let (_folder, observed) = start(&request_edits()).await;
    let plain = TestApp::start().await;
    let mut bodies = Vec::new();
    for app in [&observed, &plain] {
        let workspace = app.workspace("acme").await;
        workspace.course("ink", 1).await;
        let key = workspace.key_with_all_scopes().await;
        let mut seen = Vec::new();
        let email = json!({"email": "ada@example.com", "name": "A name that the candidate rejects"});
        for (method, path, body) in [
            (Method::GET, "/api/v1/courses?limit=100", None),
            (Method::GET, "/api/v1/courses?limit=100", None),
            (Method::GET, "/api/v1/courses?limit=101", None),
            (Method::POST, STUDENTS, Some(email.clone())),
            (Method::POST, STUDENTS, Some(email)),
            (Method::HEAD, STUDENTS, None),
            (Method::GET, "/api/v1/students/stu_1", None),
            (Method::GET, "/api/v1/orders?sort=updated_at", None),
        ] {
            let mut request = key.request(method, path).header("x-request-id", "mine");
            if let Some(body) = body {
                request = request.json(&body);
            }
            let response = send(request).await;
            let mut headers: Vec<_> = response.headers.iter().filter(|(name, _)| *name != "date").collect();
            // The id of the new student is in these.
            headers.retain(|(name, _)| !["etag", "content-length", "location"].contains(&name.as_str()));
            headers.sort_by_key(|(name, _)| name.as_str());
            let body = serde_json::from_slice(&response.body).map(|body| mask_ids(&body)).unwrap_or_default();
            seen.push(format!("{} {headers:?} {body}", response.status));
        }
        bodies.push(seen);
    }
    assert_eq!(bodies[0], bodies[1]);
}

#[tokio::test]
async fn a_restart_keeps_the_counts_and_rows_are_deleted_after_ninety_days() {
    let (_folder, app) = start(&request_edits()).await;
    let (workspace_id, key_id, secret) = {
        let workspace = app.workspace("acme").await;
        let key = workspace.key("read:courses").await;
        key.get(COURSES).await.assert_status(200);
        (workspace.id, key.id.clone(), key.secret.clone())
    };
    let app = app.restart().await;
    let key = app.key_with_secret(key_id, secret);
    key.get(COURSES).await.assert_status(200);
    flush(&app).await;
    let usage = candidate::since(&app.app, 0).await.unwrap();
    let rows: Vec<_> = usage.requests.iter().filter(|row| !row.key_id.is_nil()).collect();
    let [row] = &*rows else { panic!("one row: {rows:?}") };
    assert_eq!(
        (&*row.operation, row.seen, row.checked, row.dropped, row.weight),
        ("listCourses", 2, 2, 0, 2)
    );
    let [finding] = &*usage.findings else { panic!("one finding: {:?}", usage.findings) };
    assert_eq!((finding.sampled, finding.requests, finding.workspace_id), (2, 2, workspace_id.uuid()));
    assert_ne!(finding.request_id, "", "the request log has the example");

    app.clock.advance(8 * DAY);
    assert_eq!(candidate::since(&app.app, 0).await.unwrap().findings[0].request_id, "");
    candidate::prune(&app.app).await.unwrap();
    let stored = entity::candidate_findings::since(app.app.db.read(), 0).await.unwrap();
    assert_eq!((stored.len(), &*stored[0].request_id), (1, ""));
    app.clock.advance(81 * DAY);
    candidate::prune(&app.app).await.unwrap();
    assert_eq!(candidate::since(&app.app, 0).await.unwrap().findings.len(), 1, "the 90th day");
    app.clock.advance(DAY);
    candidate::prune(&app.app).await.unwrap();
    let usage = candidate::since(&app.app, 0).await.unwrap();
    assert!(usage.findings.is_empty() && usage.requests.iter().all(|row| row.key_id.is_nil()));
}

/// The candidate describes the keys of a map, so that it rejects those that clients choose.
#[tokio::test]
async fn names_that_clients_choose_are_not_stored_and_stay_bounded() {
    let mut contract = v1();
    let closed = json!({
        "type": "object", "description": "Known fields.", "additionalProperties": false,
        "properties": {"source": {"type": "string", "description": "A source."}},
    });
    set(&mut contract, "/components/schemas/NewStudent/properties/metadata", closed);
    let (_folder, app) = start(&contract).await;
    let key = app.workspace("acme").await.key("read:courses write:students").await;
    for number in 0..30 {
        let metadata: serde_json::Map<String, Value> =
            (0..20).map(|field| (format!("k{number}-{field}"), json!("v"))).collect();
        let body = json!({"email": format!("s{number}@example.com"), "metadata": metadata});
        key.post(STUDENTS, body).await.assert_status(201);
    }
    // Unknown parameters are rejected by v1, so none is compared.
    for number in 0..300 {
        key.get(&format!("{COURSES}?unknown{number}=1")).await.assert_status(422);
    }
    flush(&app).await;
    let usage = candidate::since(&app.app, 0).await.unwrap();
    let [finding] = &*usage.findings else { panic!("one finding: {:?}", usage.findings) };
    assert_eq!(
        (&*finding.code, &*finding.name, finding.requests),
        ("request-body-additional-properties", "*", 30)
    );
    assert!(usage.requests.iter().all(|row| row.operation == "createStudent" || row.seen == 0));
}

#[tokio::test]
async fn ten_thousand_distinct_findings_of_one_key_are_bounded_in_the_database() {
    use domain::candidate::{Caller, Finding, MAX_CODES, OTHER, Sampled};
    let (_folder, app) = start(&v1()).await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let caller = Caller { key: key.id.parse().unwrap(), workspace: workspace.id, operation: 0 };
    let received_ms = app.clock.now_ms();
    for number in 0..10_000 {
        let sampled = Sampled { caller, weight: 1, received_ms, request_id: "req_1".into() };
        let (code, pointer) = ("request-query-unknown".into(), format!("/{number}"));
        app.app.candidate().count_pending(&sampled);
        let finding = Finding { code, pointer, name: "*".into(), reason: "r".into() };
        app.app.candidate().count_checked(&sampled, vec![finding]);
        // The limit holds over flushes, which empty the memory.
        if number % 150 == 0 {
            candidate::flush(&app.app).await.unwrap();
        }
    }
    flush(&app).await;
    let findings = candidate::since(&app.app, 0).await.unwrap().findings;
    assert_eq!(findings.len(), MAX_CODES + 1);
    assert_eq!(findings.iter().map(|row| row.requests).sum::<i64>(), 10_000);
    assert!(findings.iter().any(|row| row.code == OTHER && row.requests > 9_000));
}

#[tokio::test]
async fn a_candidate_that_cannot_be_used_is_an_error_with_a_remedy() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().unwrap();
    let error = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let error = Candidate::open(&app.app, &operations::CONTRACT, &path).err().unwrap();
        format!("{error:#}").replace(&folder.path().display().to_string(), "FOLDER")
    };
    let missing = Candidate::open(&app.app, &operations::CONTRACT, Path::new("missing.yaml")).err().unwrap();
    insta::assert_snapshot!(format!("{missing:#}"), @"the candidate contract missing.yaml cannot be used: specify an existing file with --candidate-contract: No such file or directory (os error 2)");
    insta::assert_snapshot!(error("large.yaml", &"# comment\n".repeat(300_000)), @"the candidate contract FOLDER/large.yaml cannot be used: it is larger than the maximum of 2 MiB; remove what does not belong to this API");
    let mut deep = v1();
    let nested = (0..70).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    set(&mut deep, "/components/schemas/NewStudent/properties/tags", nested);
    insta::assert_snapshot!(error("deep.json", &deep.to_string()), @"the candidate contract FOLDER/deep.json cannot be used: it is nested deeper than 64 levels; move inner schemas to `components`");
    let other = v1().to_string().replace("/api/v1/", "/api/v1/other-");
    let other = operations::OPERATIONS.iter().fold(other, |text, operation| {
        text.replace(&format!("\"{}\"", operation.id), &format!("\"{}Other\"", operation.id))
    });
    insta::assert_snapshot!(error("other.json", &other), @"the candidate contract FOLDER/other.json cannot be used: it describes another API: no operation has the id, or the method and path, of one of Creator Platform API; specify a draft of Creator Platform API");
    let mut invalid = v1();
    set(&mut invalid, "/components/schemas/Slug/pattern", json!("(?=lookahead)"));
    let invalid = error("invalid.json", &invalid.to_string());
    assert!(
        invalid.contains("correct these errors, or start the server without --candidate-contract"),
        "{invalid}"
    );
    let mut exponential = v1();
    set(&mut exponential, "/components/schemas/Slug/pattern", json!("((a{1000}){1000}){1000}"));
    assert!(error("exponential.json", &exponential.to_string()).contains("correct these errors"));
    let syntax = error("syntax.yaml", "openapi: [");
    assert!(syntax.contains("correct these errors"), "{syntax}");
}

#[tokio::test]
async fn a_draft_of_v2_with_another_prefix_is_compared_by_operation() {
    let mut contract =
        serde_json::from_str::<Value>(&v1().to_string().replace("/api/v1/", "/api/v2/")).unwrap();
    contract = serde_json::from_str(&contract.to_string().replace("~1api~1v1~1", "~1api~1v2~1")).unwrap();
    set(&mut contract, "/components/parameters/Limit/schema/maximum", json!(50));
    let (_folder, app) = start(&contract).await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    key.get(&format!("{COURSES}?limit=100")).await.assert_status(200);
    key.get(&format!("{COURSES}?limit=50")).await.assert_status(200);
    flush(&app).await;
    let usage = candidate::since(&app.app, 0).await.unwrap();
    let codes: Vec<_> = usage.findings.iter().map(|row| (&*row.code, row.requests)).collect();
    assert_eq!(codes, [("request-query-maximum", 1)]);
    assert_eq!(usage.findings[0].last_at, START.parse::<Timestamp>().unwrap().as_millisecond());
}
