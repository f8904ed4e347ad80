//! The commands of webhooks: what they print where, and how they fail.

use domain::audit;
use domain::page::PageRequest;
use entity::webhook_deliveries::queue::Next;
use entity::{Set, webhook_subscriptions};
use foundation::id::SubscriptionId;
use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::json;

use crate::cli::{listed, refusal};
use crate::dashboard_keys::told;
use crate::machine::{Machine, Ran};
use crate::support::Workspace;

/// A machine with a workspace; its own server stands for the platform.
async fn machine() -> Machine {
    let machine = Machine::new().await;
    machine.app.workspace("acme").await;
    machine
}

/// Runs a command that must succeed.
async fn run(machine: &Machine, words: &[&str]) -> Ran {
    let ran = machine.run(&[&["webhooks"], words].concat()).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// Makes a subscription to new students; its id and what was printed.
async fn subscribe(machine: &Machine) -> (String, Ran) {
    let words =
        ["create", "--workspace", "acme", "--url", "https://hooks.example/in", "--event", "student.created"];
    let made = run(machine, &words).await;
    let id = made.stderr.split_whitespace().find(|word| word.starts_with("whs_")).expect("an id").to_owned();
    (id, made)
}

/// A student is made, and the delivery that this makes is settled so.
async fn settled(workspace: &Workspace<'_>, student: &str, status: i32, next: Next) {
    workspace.student_by_change(student).await;
    assert_eq!(workspace.app.settle_due(Some(status), next).await, 1);
}

#[tokio::test]
async fn a_new_subscription_has_its_secret_alone_on_stdout() {
    let machine = machine().await;
    let (id, made) = subscribe(&machine).await;
    let secret = made.stdout.trim_end();
    assert!(
        secret.starts_with("whsec_") && secret.len() == 50 && made.stdout.lines().count() == 1,
        "{made:?}"
    );
    assert_snapshot!(made.stderr.replace(&id, "SUBSCRIPTION"), @r"
    subscription SUBSCRIPTION of workspace `acme` to https://hooks.example/in: student.created
    the secret on stdout is shown this once; the receiver verifies signatures with it
    ");
    let words = ["create", "--workspace", "acme", "--url", "http://127.0.0.1:9000/", "--event", "all"];
    run(&machine, &[&words[..], &["--webhook-allow", "127.0.0.0/8"]].concat()).await;

    assert_json_snapshot!(
        "subscriptions",
        listed(&machine, &["webhooks", "list", "--workspace", "acme"]).await
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
    settled(&acme, "ada", 200, Next::Delivered).await;
    settled(&acme, "bob", 404, Next::Dead).await;
    acme.student_by_change("eve").await;
    let retry = Next::Retry(machine.app.clock.now_ms() + 60_000);
    assert_eq!(machine.app.settle_due(None, retry).await, 1);

    assert_json_snapshot!("deliveries", listed(&machine, &["webhooks", "deliveries", &id]).await);
    let dead = listed(&machine, &["webhooks", "dead", "--workspace", "acme"]).await;
    assert_eq!((dead.as_array().unwrap().len(), &dead[0]["state"]), (1, &json!("dead")));
    for (filter, found) in [
        (&["--event", "student.created", "--subscription", &id][..], 1),
        (&["--event", "order.paid"], 0),
        (&["--from", "2026-03-02T10:00:30Z", "--to", "2026-03-02T10:00:31Z"], 1),
        (&["--to", "2026-03-02T10:00:30Z"], 0),
    ] {
        let words = [&["webhooks", "dead", "--workspace", "acme"][..], filter].concat();
        assert_eq!(listed(&machine, &words).await.as_array().unwrap().len(), found, "{filter:?}");
    }
    for (filter, found) in [
        (&["--state", "dead"][..], 1),
        (&["--state", "pending", "--event", "student.created"], 1),
        (&["--state", "held"], 0),
        (&["--to", "2026-03-02T10:00:30Z"], 0),
    ] {
        let words = [&["webhooks", "deliveries", &id][..], filter].concat();
        assert_eq!(listed(&machine, &words).await.as_array().unwrap().len(), found, "{filter:?}");
    }
    let few = run(&machine, &["deliveries", &id, "--limit", "2"]).await;
    assert_eq!(few.stdout.lines().count(), 3);
    assert_eq!(few.stderr, "there are older ones; --limit 20 shows more\n");
    assert!(few.stdout.contains("timeout") && few.stdout.contains("404"), "{}", few.stdout);
}

#[tokio::test]
async fn deliveries_are_sent_again_by_name_or_all_at_once() {
    let machine = machine().await;
    let acme = machine.app.workspace("acme").await;
    let (id, _) = subscribe(&machine).await;
    for student in ["ada", "bob", "eve"] {
        settled(&acme, student, 404, Next::Dead).await;
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
    let cancelled = run(&machine, &["replay", "--cancel", &job]).await;
    assert_eq!(cancelled.stderr, format!("{job} is done: 2 of 2 replayed\n"));
    // The program's clock is the machine's, which is ahead of the story's.
    machine.app.clock.advance(std::time::Duration::from_secs(100 * 365 * 86_400));
    assert_eq!(machine.app.settle_due(Some(200), Next::Delivered).await, 3);
}

#[tokio::test]
async fn the_audit_log_tells_dead_letters_from_what_had_arrived() {
    let machine = machine().await;
    let acme = machine.app.workspace("acme").await;
    let (id, _) = subscribe(&machine).await;
    for (student, status, next) in
        [("ada", 404, Next::Dead), ("bob", 404, Next::Dead), ("eve", 200, Next::Delivered)]
    {
        settled(&acme, student, status, next).await;
    }
    let deliveries = acme.deliveries(id.parse().unwrap()).await;
    let [ada, bob, eve] = [0, 1, 2].map(|n| deliveries[n].id.to_string());
    run(&machine, &["replay", &ada, &bob]).await;
    run(&machine, &["replay", &bob, &eve]).await;
    run(&machine, &["replay", &ada]).await;
    run(&machine, &["replay", &ada, &ada]).await;
    let entries = told(&acme).await;
    let mut again: Vec<&str> =
        entries.iter().filter_map(|line| line.strip_prefix("command line ")).take(4).collect();
    again.reverse();
    assert_eq!(
        again,
        [
            "Replayed dead letters 2 deliveries",
            "Sent a delivery again 2 deliveries",
            "Replayed dead letters student.created",
            "Replayed dead letters student.created",
        ]
    );
}

#[tokio::test]
async fn the_audit_log_names_what_was_sent_again_and_nothing_that_was_not() {
    let machine = machine().await;
    let acme = machine.app.workspace("acme").await;
    let ((first, _), (second, _)) = (subscribe(&machine).await, subscribe(&machine).await);
    acme.student_by_change("ada").await;
    assert_eq!(machine.app.settle_due(Some(404), Next::Dead).await, 2);
    let of = async |id: &str| acme.deliveries(id.parse().unwrap()).await[0].id.to_string();
    let (gone, kept) = (of(&first).await, of(&second).await);
    // Somebody deletes it; its deliveries are still to be erased.
    let write = machine.app.write().await;
    let deleted = webhook_subscriptions::ActiveModel {
        state: Set(webhook_subscriptions::State::Paused),
        deleted_at: Set(Some(machine.app.clock.now_ms())),
        ..Default::default()
    };
    let of = first.parse::<SubscriptionId>().unwrap().uuid();
    let all = webhook_subscriptions::in_workspace(acme.id.uuid());
    all.update(write.conn(), of, deleted).await.unwrap();
    write.commit().await.unwrap();
    let entries = async || {
        let all = audit::list(&machine.app.app, acme.id, PageRequest::newest(None, 100)).await.unwrap().items;
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
async fn a_subscription_is_tried_rotated_paused_enabled_and_deleted() {
    let machine = machine().await;
    let acme = machine.app.workspace("acme").await;
    let (id, made) = subscribe(&machine).await;
    let of = id.parse().unwrap();
    let states = async || acme.deliveries(of).await.iter().map(|one| one.state.as_str()).collect::<Vec<_>>();
    let mut said = Vec::new();
    let mut say = |ran: &Ran| said.push(ran.stderr.replace(&id, "SUBSCRIPTION"));

    let tested = run(&machine, &["test", &id]).await;
    assert_eq!(tested.stdout.trim_end(), acme.deliveries(of).await[0].id.to_string());
    say(&tested);
    let rotated = run(&machine, &["rotate", &id, "--overlap", "0s"]).await;
    assert!(rotated.stdout.starts_with("whsec_") && rotated.stdout != made.stdout);
    say(&rotated);
    let rotated = run(&machine, &["rotate", &id]).await;
    assert_eq!(rotated.stderr.lines().count(), 2);

    let words =
        ["edit", &id, "--url", "https://hooks.example/new", "--event", "student.created", "order.paid"];
    say(&run(&machine, &words).await);
    say(&run(&machine, &["test", &id, "--event", "order.paid"]).await);

    say(&run(&machine, &["pause", &id]).await);
    acme.student_by_change("ada").await;
    assert_eq!(states().await, ["held"; 3]);
    say(&run(&machine, &["enable", &id]).await);
    assert_eq!(states().await, ["pending"; 3]);
    say(&run(&machine, &["enable", &id, "--held", "drop"]).await);
    run(&machine, &["pause", &id]).await;
    say(&run(&machine, &["enable", &id, "--held", "drop"]).await);
    assert_eq!(states().await, [""; 0]);
    let entry = &told(&acme).await[0];
    assert_eq!(entry, "command line Enabled a webhook https://hooks.example/new, 3 deliveries dropped");
    say(&run(&machine, &["delete", &id]).await);
    assert_snapshot!(said.concat());
}

#[tokio::test]
async fn what_cannot_be_done_with_webhooks_is_told_with_the_remedy() {
    let machine = machine().await;
    let absent = "whs_01khdps1znf0yt63fefph15bgz";
    let create = |url, event| ["create", "--workspace", "acme", "--url", url, "--event", event];
    let mut said = Vec::new();
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
        said.push(format!(
            "$ creator-api {}\n{}",
            words.join(" "),
            refusal(&machine, code, machine.command(&words)).await
        ));
    }
    assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn what_an_operator_does_stands_in_the_audit_log_once() {
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
    let told = crate::dashboard_keys::told(&acme).await;
    let told: Vec<&str> = told.iter().map(|line| line.strip_prefix("command line ").unwrap()).collect();
    assert_eq!(
        told[..8],
        [
            "Deleted a webhook https://hooks.example/new",
            "Gave a webhook a new secret https://hooks.example/new",
            "Changed a webhook https://hooks.example/new",
            "Enabled a webhook https://hooks.example/in",
            "Paused a webhook https://hooks.example/in",
            "Revoked an API key story",
            "Made a webhook https://hooks.example/in",
            "Created an API key story",
        ]
    );
}
