//! The `webhooks` commands: their output and their errors.

use domain::audit;
use domain::page::PageRequest;
use entity::webhook_deliveries::queue::DeliveryTransition;
use entity::{Set, webhook_subscriptions};
use foundation::id::SubscriptionId;
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::json;

use crate::cli::{failure_message, list_as_json};
use crate::dashboard_keys::audit_entries;
use crate::machine::{CommandOutput, Machine};
use crate::support::Workspace;

/// Creates a machine with a workspace.
async fn machine() -> Machine {
    let machine = Machine::new().await;
    machine.app.workspace("acme").await;
    machine
}

/// Runs a command that must succeed.
async fn run(machine: &Machine, words: &[&str]) -> CommandOutput {
    let ran = machine.run(&[&["webhooks"], words].concat()).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// Creates a subscription to `student.created`. Returns its id and the output.
async fn subscribe(machine: &Machine) -> (String, CommandOutput) {
    let words =
        ["create", "--workspace", "acme", "--url", "https://hooks.example/in", "--event", "student.created"];
    let created = run(machine, &words).await;
    let id =
        created.stderr.split_whitespace().find(|word| word.starts_with("whs_")).expect("an id").to_owned();
    (id, created)
}

/// Creates a student, and settles the resulting delivery with this status and state.
async fn settle(workspace: &Workspace<'_>, student: &str, status: i32, transition: DeliveryTransition) {
    workspace.student_by_change(student).await;
    assert_eq!(workspace.app.settle_due(Some(status), transition).await, 1);
}

#[tokio::test]
async fn create_prints_only_the_secret_on_stdout() {
    let machine = machine().await;
    let (id, created) = subscribe(&machine).await;
    let secret = created.stdout.trim_end();
    assert!(
        secret.starts_with("whsec_") && secret.len() == 50 && created.stdout.lines().count() == 1,
        "{created:?}"
    );
    assert_snapshot!(created.stderr.replace(&id, "SUBSCRIPTION"), @r"
    subscription SUBSCRIPTION of workspace `acme` to https://hooks.example/in: student.created
    the secret on stdout cannot be shown again; the receiver verifies signatures with it
    ");
    let words = ["create", "--workspace", "acme", "--url", "http://127.0.0.1:9000/", "--event", "all"];
    run(&machine, &[&words[..], &["--webhook-allow", "127.0.0.0/8"]].concat()).await;

    assert_json_snapshot!(
        "subscriptions",
        list_as_json(&machine, &["webhooks", "list", "--workspace", "acme"]).await
    );
    let words =
        ["webhooks", "create", "--workspace", "acme", "--url", "https://hooks.example/", "--event", "all"];
    let full = machine.run(&[&words[..], &["--max-subscriptions-per-workspace", "2"]].concat()).await;
    assert_eq!(full.code, Some(1), "{full:?}");
    assert!(full.stderr.contains("subscriptions: are limited to 2 in a workspace"), "{full:?}");
    let table = run(&machine, &["list", "--workspace", "acme"]).await.stdout;
    assert!(table.lines().count() == 3 && !table.contains("whsec_"), "{table}");
}

#[tokio::test]
async fn deliveries_are_listed_with_their_attempts() {
    let machine = machine().await;
    let acme = machine.app.workspace("acme").await;
    let (id, _) = subscribe(&machine).await;
    settle(&acme, "ada", 200, DeliveryTransition::Delivered).await;
    settle(&acme, "bob", 404, DeliveryTransition::Dead).await;
    acme.student_by_change("eve").await;
    let retry = DeliveryTransition::Retry(machine.app.clock.now_ms() + 60_000);
    assert_eq!(machine.app.settle_due(None, retry).await, 1);

    assert_json_snapshot!("deliveries", list_as_json(&machine, &["webhooks", "deliveries", &id]).await);
    let dead = list_as_json(&machine, &["webhooks", "dead", "--workspace", "acme"]).await;
    assert_eq!((dead.as_array().unwrap().len(), &dead[0]["state"]), (1, &json!("dead")));
    for (filter, found) in [
        (&["--event", "student.created", "--subscription", &id][..], 1),
        (&["--event", "order.paid"], 0),
        (&["--from", "2026-03-02T10:00:30Z", "--to", "2026-03-02T10:00:31Z"], 1),
        (&["--to", "2026-03-02T10:00:30Z"], 0),
    ] {
        let words = [&["webhooks", "dead", "--workspace", "acme"][..], filter].concat();
        assert_eq!(list_as_json(&machine, &words).await.as_array().unwrap().len(), found, "{filter:?}");
    }
    for (filter, found) in [
        (&["--state", "dead"][..], 1),
        (&["--state", "pending", "--event", "student.created"], 1),
        (&["--state", "held"], 0),
        (&["--to", "2026-03-02T10:00:30Z"], 0),
    ] {
        let words = [&["webhooks", "deliveries", &id][..], filter].concat();
        assert_eq!(list_as_json(&machine, &words).await.as_array().unwrap().len(), found, "{filter:?}");
    }
    let few = run(&machine, &["deliveries", &id, "--limit", "2"]).await;
    assert_eq!(few.stdout.lines().count(), 3);
    assert_eq!(few.stderr, "older deliveries exist; use --limit 20 to list more\n");
    assert!(few.stdout.contains("timeout") && few.stdout.contains("404"), "{}", few.stdout);
}

#[tokio::test]
async fn replay_sends_named_deliveries_or_all_dead_ones() {
    let machine = machine().await;
    let acme = machine.app.workspace("acme").await;
    let (id, _) = subscribe(&machine).await;
    for student in ["ada", "bob", "eve"] {
        settle(&acme, student, 404, DeliveryTransition::Dead).await;
    }
    let deliveries = acme.deliveries(id.parse().unwrap()).await;
    let named = deliveries[0].id.to_string();
    let again = run(&machine, &["replay", &named]).await;
    assert!(again.stdout.starts_with("dlv_") && again.stdout.lines().count() == 1, "{again:?}");

    assert_eq!(run(&machine, &["replay", "--all", "--dry-run"]).await.stdout, "2 to replay\n");
    let all = run(&machine, &["replay", "--all", "--workspace", "acme", "--subscription", &id]).await;
    assert_eq!(all.stdout, "2 replayed\n");
    let job = all.stderr.split_whitespace().next().expect("a job").to_owned();
    assert!(all.stderr.contains("replays 2 deliveries"), "{}", all.stderr);
    assert_eq!(run(&machine, &["replay", "--all"]).await.stdout, "0 replayed\n");
    let canceled = run(&machine, &["replay", "--cancel", &job]).await;
    assert_eq!(canceled.stderr, format!("{job} is done: 2 of 2 replayed\n"));
    // The program uses the system clock, which is ahead of the test's simulated clock.
    machine.app.clock.advance(std::time::Duration::from_secs(100 * 365 * 86_400));
    assert_eq!(machine.app.settle_due(Some(200), DeliveryTransition::Delivered).await, 3);
}

#[tokio::test]
async fn the_audit_log_distinguishes_replayed_and_resent_deliveries() {
    let machine = machine().await;
    let acme = machine.app.workspace("acme").await;
    let (id, _) = subscribe(&machine).await;
    for (student, status, transition) in [
        ("ada", 404, DeliveryTransition::Dead),
        ("bob", 404, DeliveryTransition::Dead),
        ("eve", 200, DeliveryTransition::Delivered),
    ] {
        settle(&acme, student, status, transition).await;
    }
    let deliveries = acme.deliveries(id.parse().unwrap()).await;
    let [ada, bob, eve] = [0, 1, 2].map(|n| deliveries[n].id.to_string());
    run(&machine, &["replay", &ada, &bob]).await;
    run(&machine, &["replay", &bob, &eve]).await;
    run(&machine, &["replay", &ada]).await;
    run(&machine, &["replay", &ada, &ada]).await;
    let entries = audit_entries(&acme).await;
    let mut again: Vec<&str> =
        entries.iter().filter_map(|line| line.strip_prefix("command line ")).take(4).collect();
    again.reverse();
    assert_eq!(
        again,
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
    let machine = machine().await;
    let acme = machine.app.workspace("acme").await;
    let ((first, _), (second, _)) = (subscribe(&machine).await, subscribe(&machine).await);
    acme.student_by_change("ada").await;
    assert_eq!(machine.app.settle_due(Some(404), DeliveryTransition::Dead).await, 2);
    let of = async |id: &str| acme.deliveries(id.parse().unwrap()).await[0].id.to_string();
    let (gone, kept) = (of(&first).await, of(&second).await);
    // A user deletes the first subscription; its deliveries are not deleted yet.
    let write = machine.app.write().await;
    let deleted = webhook_subscriptions::ActiveModel {
        state: Set(webhook_subscriptions::StoredSubscriptionState::Paused),
        deleted_at: Set(Some(machine.app.clock.now_ms())),
        ..Default::default()
    };
    let of = first.parse::<SubscriptionId>().unwrap().uuid();
    let all = webhook_subscriptions::in_workspace(acme.id.uuid());
    all.update(write.conn(), of, deleted).await.unwrap();
    write.commit().await.unwrap();
    let entries = async || {
        let all =
            audit::list(&machine.app.app, acme.id, PageRequest::newest_first(None, 100)).await.unwrap().items;
        all.into_iter().map(|entry| (entry.action, entry.subject)).collect::<Vec<_>>()
    };
    let before = entries().await;
    assert_eq!(run(&machine, &["replay", &gone]).await.stdout, "");
    assert_eq!(entries().await, before);
    assert_eq!(run(&machine, &["replay", &gone, &kept]).await.stdout.lines().count(), 1);
    let after = entries().await;
    assert_eq!((after.len(), &after[0]), (before.len() + 1, &("Replayed dead letters".to_owned(), kept)));
}

#[tokio::test]
async fn a_subscription_is_tested_rotated_paused_enabled_and_deleted() {
    let machine = machine().await;
    let acme = machine.app.workspace("acme").await;
    let (id, created) = subscribe(&machine).await;
    let of = id.parse().unwrap();
    let states =
        async || acme.deliveries(of).await.iter().map(|delivery| delivery.state.as_str()).collect::<Vec<_>>();
    let mut output = Vec::new();
    let mut record = |ran: &CommandOutput| output.push(ran.stderr.replace(&id, "SUBSCRIPTION"));

    let tested = run(&machine, &["test", &id]).await;
    assert_eq!(tested.stdout.trim_end(), acme.deliveries(of).await[0].id.to_string());
    record(&tested);
    let rotated = run(&machine, &["rotate", &id, "--overlap", "0s"]).await;
    assert!(rotated.stdout.starts_with("whsec_") && rotated.stdout != created.stdout);
    record(&rotated);
    let rotated = run(&machine, &["rotate", &id]).await;
    assert_eq!(rotated.stderr.lines().count(), 2);

    let words =
        ["edit", &id, "--url", "https://hooks.example/new", "--event", "student.created", "order.paid"];
    record(&run(&machine, &words).await);
    record(&run(&machine, &["test", &id, "--event", "order.paid"]).await);

    record(&run(&machine, &["pause", &id]).await);
    acme.student_by_change("ada").await;
    assert_eq!(states().await, ["held"; 3]);
    record(&run(&machine, &["enable", &id]).await);
    assert_eq!(states().await, ["pending"; 3]);
    record(&run(&machine, &["enable", &id, "--held", "drop"]).await);
    run(&machine, &["pause", &id]).await;
    record(&run(&machine, &["enable", &id, "--held", "drop"]).await);
    assert_eq!(states().await, [""; 0]);
    let entry = &audit_entries(&acme).await[0];
    assert_eq!(
        entry,
        "command line Enabled a webhook subscription https://hooks.example/new, 3 deliveries dropped"
    );
    record(&run(&machine, &["delete", &id]).await);
    assert_snapshot!(output.concat());
}

#[tokio::test]
async fn errors_name_the_field_and_the_remedy() {
    let machine = machine().await;
    let absent = "whs_01khdps1znf0yt63fefph15bgz";
    let create = |url, event| ["create", "--workspace", "acme", "--url", url, "--event", event];
    let mut output = Vec::new();
    for (code, words) in [
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
        let words = [&["webhooks"], words].concat();
        output.push(format!(
            "$ creator-api {}\n{}",
            words.join(" "),
            failure_message(&machine, code, machine.command(&words)).await
        ));
    }
    assert_snapshot!(output.join("\n"));
}

#[tokio::test]
async fn the_audit_log_records_each_change_of_an_operator_once() {
    let machine = machine().await;
    machine.key("read:courses").await;
    let (of, _) = subscribe(&machine).await;
    let acme = machine.app.workspace("acme").await;
    let keys = machine.app.app.clone();
    let key = domain::keys::list(&keys, acme.id).await.unwrap().remove(0).id.to_string();
    for _ in 0..2 {
        assert_eq!(machine.run(&["keys", "revoke", &key]).await.code, Some(0));
        run(&machine, &["pause", &of]).await;
    }
    for _ in 0..2 {
        run(&machine, &["enable", &of]).await;
    }
    for words in
        [vec!["edit", &of, "--url", "https://hooks.example/new"], vec!["rotate", &of], vec!["delete", &of]]
    {
        run(&machine, &words).await;
    }
    let entries = audit_entries(&acme).await;
    let entries: Vec<&str> = entries.iter().map(|line| line.strip_prefix("command line ").unwrap()).collect();
    assert_eq!(
        entries[..8],
        [
            "Deleted a webhook subscription https://hooks.example/new",
            "Rotated a webhook secret https://hooks.example/new",
            "Updated a webhook subscription https://hooks.example/new",
            "Enabled a webhook subscription https://hooks.example/in",
            "Paused a webhook subscription https://hooks.example/in",
            "Revoked an API key story",
            "Created a webhook subscription https://hooks.example/in",
            "Created an API key story",
        ]
    );
}
