//! The `webhooks` commands: their output and their errors.

use domain::audit;
use domain::page::PageRequest;
use entity::webhook_deliveries::queue::DeliveryTransition;
use entity::{Set, webhook_subscriptions};
use foundation::id::SubscriptionId;
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};

use crate::support::members::audit_entries;
use crate::support::program::{CommandOutput, TestProgram, failure_message, list_as_json};
use crate::support::{Endpoint, TestWorkspace, wait_until};

/// Returns the program with a database that contains a workspace.
async fn program_with_workspace() -> TestProgram {
    let program = TestProgram::new().await;
    program.app.workspace("acme").await;
    program
}

/// Runs a `webhooks` command, and asserts that it succeeds.
async fn run(program: &TestProgram, args: &[&str]) -> CommandOutput {
    let output = program.run(&[&["webhooks"], args].concat()).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    output
}

/// Creates a subscription to `student.created` by a command. Returns its id and the output.
async fn subscribe(program: &TestProgram) -> (String, CommandOutput) {
    let args =
        ["create", "--workspace", "acme", "--url", "https://hooks.example/in", "--event", "student.created"];
    let created = run(program, &args).await;
    let id =
        created.stderr.split_whitespace().find(|word| word.starts_with("whs_")).expect("an id").to_owned();
    (id, created)
}

/// Creates a student, and stores one attempt of the resulting delivery, with this status and this transition.
async fn settle(workspace: &TestWorkspace<'_>, student: &str, status: i32, transition: DeliveryTransition) {
    workspace.upsert_student(student).await;
    assert_eq!(workspace.app.settle_due(Some(status), transition).await, 1);
}

#[tokio::test]
async fn create_prints_only_the_secret_on_stdout() {
    let program = program_with_workspace().await;
    let (id, created) = subscribe(&program).await;
    let secret = created.stdout.trim_end();
    assert!(
        secret.starts_with("whsec_") && secret.len() == 50 && created.stdout.lines().count() == 1,
        "{created:?}"
    );
    assert_snapshot!(created.stderr.replace(&id, "SUBSCRIPTION"), @r"
    subscription SUBSCRIPTION of workspace `acme` to https://hooks.example/in: student.created
    the secret on stdout cannot be shown again; the receiver verifies signatures with it
    ");
    let args = ["create", "--workspace", "acme", "--url", "http://127.0.0.1:9000/", "--event", "all"];
    run(&program, &[&args[..], &["--webhook-allow", "127.0.0.0/8"]].concat()).await;

    assert_json_snapshot!(
        "subscriptions",
        list_as_json(&program, &["webhooks", "list", "--workspace", "acme"]).await
    );
    let args =
        ["webhooks", "create", "--workspace", "acme", "--url", "https://hooks.example/", "--event", "all"];
    let rejected = program.run(&[&args[..], &["--max-subscriptions-per-workspace", "2"]].concat()).await;
    assert_eq!(rejected.code, Some(1), "{rejected:?}");
    assert!(rejected.stderr.contains("subscriptions: are limited to 2 in a workspace"), "{rejected:?}");
    let table = run(&program, &["list", "--workspace", "acme"]).await.stdout;
    assert!(table.lines().count() == 3 && !table.contains("whsec_"), "{table}");
}

#[tokio::test]
async fn deliveries_are_listed_with_their_attempts() {
    let program = program_with_workspace().await;
    let acme = program.app.workspace("acme").await;
    let (id, _) = subscribe(&program).await;
    settle(&acme, "ada", 200, DeliveryTransition::Delivered).await;
    settle(&acme, "bob", 404, DeliveryTransition::Dead).await;
    acme.upsert_student("eve").await;
    let retry = DeliveryTransition::Retry(program.app.clock.now_ms() + 60_000);
    assert_eq!(program.app.settle_due(None, retry).await, 1);

    assert_json_snapshot!("deliveries", list_as_json(&program, &["webhooks", "deliveries", &id]).await);
    let dead = list_as_json(&program, &["webhooks", "dead", "--workspace", "acme"]).await;
    assert_eq!((dead.as_array().unwrap().len(), &dead[0]["state"]), (1, &json!("dead")));
    for (filter, expected_count) in [
        (&["--event", "student.created", "--subscription", &id][..], 1),
        (&["--event", "order.paid"], 0),
        (&["--from", "2026-03-02T10:00:30Z", "--to", "2026-03-02T10:00:31Z"], 1),
        (&["--to", "2026-03-02T10:00:30Z"], 0),
    ] {
        let args = [&["webhooks", "dead", "--workspace", "acme"][..], filter].concat();
        assert_eq!(
            list_as_json(&program, &args).await.as_array().unwrap().len(),
            expected_count,
            "{filter:?}"
        );
    }
    for (filter, expected_count) in [
        (&["--state", "dead"][..], 1),
        (&["--state", "pending", "--event", "student.created"], 1),
        (&["--state", "held"], 0),
        (&["--to", "2026-03-02T10:00:30Z"], 0),
    ] {
        let args = [&["webhooks", "deliveries", &id][..], filter].concat();
        assert_eq!(
            list_as_json(&program, &args).await.as_array().unwrap().len(),
            expected_count,
            "{filter:?}"
        );
    }
    let limited = run(&program, &["deliveries", &id, "--limit", "2"]).await;
    assert_eq!(limited.stdout.lines().count(), 3);
    assert_eq!(limited.stderr, "older deliveries exist; use --limit 20 to list more\n");
    assert!(limited.stdout.contains("timeout") && limited.stdout.contains("404"), "{}", limited.stdout);
}

#[tokio::test]
async fn replay_sends_named_deliveries_or_all_dead_ones() {
    let program = program_with_workspace().await;
    let acme = program.app.workspace("acme").await;
    let (id, _) = subscribe(&program).await;
    for student in ["ada", "bob", "eve"] {
        settle(&acme, student, 404, DeliveryTransition::Dead).await;
    }
    let deliveries = acme.deliveries(id.parse().unwrap()).await;
    let named = deliveries[0].id.to_string();
    let replayed = run(&program, &["replay", &named]).await;
    assert!(replayed.stdout.starts_with("dlv_") && replayed.stdout.lines().count() == 1, "{replayed:?}");

    assert_eq!(run(&program, &["replay", "--all", "--dry-run"]).await.stdout, "2 to replay\n");
    let all = run(&program, &["replay", "--all", "--workspace", "acme", "--subscription", &id]).await;
    assert_eq!(all.stdout, "2 replayed\n");
    let job = all.stderr.split_whitespace().next().expect("a job").to_owned();
    assert!(all.stderr.contains("replays 2 deliveries"), "{}", all.stderr);
    assert_eq!(run(&program, &["replay", "--all"]).await.stdout, "0 replayed\n");
    let canceled = run(&program, &["replay", "--cancel", &job]).await;
    assert_eq!(canceled.stderr, format!("{job} is done: 2 of 2 replayed\n"));
    // The program uses the system clock, which is ahead of the test's simulated clock.
    program.app.clock.advance(std::time::Duration::from_secs(100 * 365 * 86_400));
    assert_eq!(program.app.settle_due(Some(200), DeliveryTransition::Delivered).await, 3);
}

#[tokio::test]
async fn the_audit_log_distinguishes_replayed_and_resent_deliveries() {
    let program = program_with_workspace().await;
    let acme = program.app.workspace("acme").await;
    let (id, _) = subscribe(&program).await;
    for (student, status, transition) in [
        ("ada", 404, DeliveryTransition::Dead),
        ("bob", 404, DeliveryTransition::Dead),
        ("eve", 200, DeliveryTransition::Delivered),
    ] {
        settle(&acme, student, status, transition).await;
    }
    let deliveries = acme.deliveries(id.parse().unwrap()).await;
    let [ada, bob, eve] = [0, 1, 2].map(|n| deliveries[n].id.to_string());
    run(&program, &["replay", &ada, &bob]).await;
    run(&program, &["replay", &bob, &eve]).await;
    run(&program, &["replay", &ada]).await;
    run(&program, &["replay", &ada, &ada]).await;
    let entries = audit_entries(&acme).await;
    let mut sent_again: Vec<&str> =
        entries.iter().filter_map(|line| line.strip_prefix("command line ")).take(4).collect();
    sent_again.reverse();
    assert_eq!(
        sent_again,
        [
            "Replayed dead letters 2 deliveries",
            "Resent a delivery 2 deliveries",
            "Replayed dead letters student.created",
            "Replayed dead letters student.created",
        ]
    );
}

#[tokio::test]
async fn the_audit_log_names_only_deliveries_that_were_sent_again() {
    let program = program_with_workspace().await;
    let acme = program.app.workspace("acme").await;
    let ((first, _), (second, _)) = (subscribe(&program).await, subscribe(&program).await);
    acme.upsert_student("ada").await;
    assert_eq!(program.app.settle_due(Some(404), DeliveryTransition::Dead).await, 2);
    let first_delivery_id = async |id: &str| acme.deliveries(id.parse().unwrap()).await[0].id.to_string();
    let (deleted_delivery, delivery) = (first_delivery_id(&first).await, first_delivery_id(&second).await);
    // A user deletes the first subscription; its deliveries are not deleted yet.
    let write = program.app.begin_write().await;
    let deleted = webhook_subscriptions::ActiveModel {
        state: Set(webhook_subscriptions::StoredSubscriptionState::Paused),
        deleted_at: Set(Some(program.app.clock.now_ms())),
        ..Default::default()
    };
    let subscription_id = first.parse::<SubscriptionId>().unwrap().uuid();
    let subscriptions = webhook_subscriptions::in_workspace(acme.id.uuid());
    subscriptions.update(write.conn(), subscription_id, deleted).await.unwrap();
    write.commit().await.unwrap();
    let entries = async || {
        let all =
            audit::list(&program.app.app, acme.id, PageRequest::newest_first(None, 100)).await.unwrap().items;
        all.into_iter().map(|entry| (entry.action, entry.subject)).collect::<Vec<_>>()
    };
    let before = entries().await;
    assert_eq!(run(&program, &["replay", &deleted_delivery]).await.stdout, "");
    assert_eq!(entries().await, before);
    assert_eq!(run(&program, &["replay", &deleted_delivery, &delivery]).await.stdout.lines().count(), 1);
    let after = entries().await;
    assert_eq!((after.len(), &after[0]), (before.len() + 1, &("Replayed dead letters".to_owned(), delivery)));
}

#[tokio::test]
async fn a_subscription_is_tested_rotated_paused_enabled_and_deleted() {
    let program = program_with_workspace().await;
    let acme = program.app.workspace("acme").await;
    let (id, created) = subscribe(&program).await;
    let subscription_id = id.parse().unwrap();
    let states = async || {
        acme.deliveries(subscription_id)
            .await
            .iter()
            .map(|delivery| delivery.state.as_str())
            .collect::<Vec<_>>()
    };
    let mut output = Vec::new();
    let mut record =
        |command_output: &CommandOutput| output.push(command_output.stderr.replace(&id, "SUBSCRIPTION"));

    let tested = run(&program, &["test", &id]).await;
    assert_eq!(tested.stdout.trim_end(), acme.deliveries(subscription_id).await[0].id.to_string());
    record(&tested);
    let rotated = run(&program, &["rotate", &id, "--overlap", "0s"]).await;
    assert!(rotated.stdout.starts_with("whsec_") && rotated.stdout != created.stdout);
    record(&rotated);
    let rotated = run(&program, &["rotate", &id]).await;
    assert_eq!(rotated.stderr.lines().count(), 2);

    let args =
        ["edit", &id, "--url", "https://hooks.example/new", "--event", "student.created", "order.paid"];
    record(&run(&program, &args).await);
    record(&run(&program, &["test", &id, "--event", "order.paid"]).await);

    record(&run(&program, &["pause", &id]).await);
    acme.upsert_student("ada").await;
    assert_eq!(states().await, ["held"; 3]);
    record(&run(&program, &["enable", &id]).await);
    assert_eq!(states().await, ["pending"; 3]);
    record(&run(&program, &["enable", &id, "--held", "drop"]).await);
    run(&program, &["pause", &id]).await;
    record(&run(&program, &["enable", &id, "--held", "drop"]).await);
    assert_eq!(states().await, [""; 0]);
    let entry = &audit_entries(&acme).await[0];
    assert_eq!(entry, "command line Enabled a webhook https://hooks.example/new, 3 deliveries dropped");
    record(&run(&program, &["delete", &id]).await);
    assert_snapshot!(output.concat());
}

#[tokio::test]
async fn errors_name_the_field_and_the_remedy() {
    let program = program_with_workspace().await;
    let absent = "whs_01khdps1znf0yt63fefph15bgz";
    let create = |url, event| ["create", "--workspace", "acme", "--url", url, "--event", event];
    let mut output = Vec::new();
    for (code, args) in [
        (1, &create("http://hooks.example/", "student.created")[..]),
        (1, &create("https://ada:secret@hooks.example/", "student.created")),
        (1, &create("https://localhost:9000/", "student.created")),
        (1, &create("https://10.0.0.1/", "student.creatd")),
        (1, &["create", "--workspace", "nowhere", "--url", "https://hooks.example/", "--event", "all"]),
        (1, &["list", "--workspace", "nowhere"]),
        (1, &["deliveries", absent]),
        (1, &["dead", "--workspace", "acme", "--subscription", absent]),
        (1, &["dead", "--workspace", "acme", "--event", "order.payed"]),
        (1, &["replay", "dlv_01khdps1znf0yt63fefph15bgz"]),
        (1, &["replay", "--cancel", "rpl_01khdps1znf0yt63fefph15bgz"]),
        (1, &["test", absent]),
        (1, &["rotate", absent]),
        (1, &["pause", absent]),
        (1, &["enable", absent]),
        (1, &["delete", absent]),
        (1, &["edit", absent, "--event", "all"]),
        (2, &["edit", absent]),
        (2, &["pause", "dlv_01khdps1znf0yt63fefph15bgz"]),
        (2, &["rotate", absent, "--overlap=-1h"]),
        (2, &["replay"]),
        (2, &["replay", "dlv_01khdps1znf0yt63fefph15bgz", "--all"]),
        (2, &["replay", "dlv_01khdps1znf0yt63fefph15bgz", "--event", "order.paid"]),
    ] {
        let args = [&["webhooks"], args].concat();
        output.push(format!(
            "$ creator-api {}\n{}",
            args.join(" "),
            failure_message(&program, code, program.command(&args)).await
        ));
    }
    assert_snapshot!(output.join("\n"));
}

#[tokio::test]
async fn the_audit_log_records_each_change_of_an_operator_once() {
    let program = program_with_workspace().await;
    program.create_key("read:courses").await;
    let (subscription_id, _) = subscribe(&program).await;
    let acme = program.app.workspace("acme").await;
    let key = domain::keys::list(&program.app.app, acme.id).await.unwrap().remove(0).id.to_string();
    for _ in 0..2 {
        assert_eq!(program.run(&["keys", "revoke", &key]).await.code, Some(0));
        run(&program, &["pause", &subscription_id]).await;
    }
    for _ in 0..2 {
        run(&program, &["enable", &subscription_id]).await;
    }
    for args in [
        vec!["edit", &subscription_id, "--url", "https://hooks.example/new"],
        vec!["rotate", &subscription_id],
        vec!["delete", &subscription_id],
    ] {
        run(&program, &args).await;
    }
    let entries = audit_entries(&acme).await;
    let entries: Vec<&str> = entries.iter().map(|line| line.strip_prefix("command line ").unwrap()).collect();
    assert_eq!(
        entries[..8],
        [
            "Deleted a webhook https://hooks.example/new",
            "Rotated a webhook secret https://hooks.example/new",
            "Updated a webhook https://hooks.example/new",
            "Enabled a webhook https://hooks.example/in",
            "Paused a webhook https://hooks.example/in",
            "Revoked an API key billing",
            "Created a webhook https://hooks.example/in",
            "Created an API key billing",
        ]
    );
}

#[tokio::test]
async fn a_delivery_is_shown_with_the_request_and_response_of_each_attempt() {
    let program = TestProgram::new().await;
    let server = program.serve(&["serve", "--webhook-allow", "127.0.0.0/8"]).await;
    program.app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    endpoint.respond_with_header(404, "x-reason: gone");
    let args =
        ["create", "--workspace", "acme", "--event", "student.created", "--webhook-allow", "127.0.0.0/8"];
    let created = run(&program, &[&args[..], &["--url", &endpoint.url()]].concat()).await;
    let subscription =
        created.stderr.split_whitespace().find(|word| word.starts_with("whs_")).unwrap().to_owned();
    run(&program, &["test", &subscription]).await;
    let list = ["webhooks", "deliveries", &subscription, "--state", "dead"];
    let mut dead = json!([]);
    wait_until("the delivery fails", async || {
        dead = list_as_json_unmasked(&program, &list).await;
        !dead.as_array().unwrap().is_empty()
    })
    .await;
    let id = dead[0]["id"].as_str().unwrap();

    let text = run(&program, &["delivery", id]).await.stdout;
    for part in [
        id,
        "dead",
        "attempt 1: 404",
        "x-svc-signature: t=",
        "x-reason: gone",
        "\"type\":\"student.created\"",
    ] {
        assert!(text.contains(part), "{part:?} is missing in {text}");
    }
    let detail: Value =
        serde_json::from_str(&run(&program, &["delivery", id, "--json"]).await.stdout).unwrap();
    let attempt = &detail["attempts"][0];
    assert_eq!((&attempt["status"], &detail["id"]), (&json!(404), &json!(id)));
    assert!(attempt["request_headers"]["x-svc-signature"].is_string(), "{detail}");
    assert!(
        attempt["response"]["headers"]["x-reason"].is_string() && attempt["response"]["body"].is_string(),
        "{detail}"
    );
    let unknown = program.run(&["webhooks", "delivery", "dlv_01khdps1znf0yt63fefph15bgz"]).await;
    assert_snapshot!(unknown.stderr, @"error: delivery dlv_01khdps1znf0yt63fefph15bgz not found; `creator-api webhooks deliveries SUBSCRIPTION` lists the deliveries of a subscription");
    assert_eq!(server.stop().await, Some(0));
}

/// Returns the records that a list command prints as JSON.
async fn list_as_json_unmasked(program: &TestProgram, args: &[&str]) -> Value {
    serde_json::from_str(&program.run(&[args, &["--json"]].concat()).await.stdout).expect("JSON")
}

#[tokio::test]
async fn controls_are_shown_masked_and_changed_and_keys_are_rotated() {
    let program = program_with_workspace().await;
    let (id, _) = subscribe(&program).await;
    let headers = program.app.folder().join("headers");
    std::fs::write(&headers, "Authorization: Bearer s3cr3t\n").expect("a file");
    let headers = headers.display().to_string();
    let filter = "student.created /metadata/plan eq pro";
    let args = ["--filter", filter, "--headers-from", &headers, "--rate", "10", "--ed25519", "true"];
    let changed = run(&program, &[&["controls", &id], &args[..]].concat()).await;
    assert_snapshot!(changed.stdout.replace(&id, "SUBSCRIPTION"), @r"
    subscription  SUBSCRIPTION
    filter        student.created /metadata/plan eq pro
    header        authorization: ****
    rate          10 per second
    ed25519       true
    ");
    assert_snapshot!(run(&program, &["controls", &id, "--dry-run"]).await.stdout, @r"
    EVENT            EXAMINED  MATCHED
    student.created  0         0
    ");
    let invalid = program.run(&["webhooks", "controls", &id, "--rate", "0"]).await;
    assert!(invalid.stderr.contains("rate: must be a number from 1 to 1000"), "{invalid:?}");
    let cleared = run(&program, &["controls", &id, "--no-filter", "--rate", "none", "--no-headers"]).await;
    assert!(cleared.stdout.contains("rate          none"), "{cleared:?}");

    let rotated = run(&program, &["rotate-signing-key", "--workspace", "acme", "--immediately"]).await;
    let keys = list_as_json(&program, &["webhooks", "signing-keys", "--workspace", "acme"]).await;
    assert_eq!(keys.as_array().map(Vec::len), Some(1), "{keys}");
    assert_eq!(keys[0]["public_key"].as_str(), Some(rotated.stdout.trim_end()));
}
