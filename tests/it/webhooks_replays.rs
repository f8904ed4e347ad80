//! Settled deliveries that are sent again, one by one or by replay jobs that continue in another process.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::Error;
use domain::page::TimeSpan;
use domain::webhooks::{self, DeadFilter, DeliveryOrigin, DeliveryState, Replay, ReplayState, replays};
use entity::webhook_deliveries::queue::DeliveryTransition;
use entity::webhook_deliveries::{self as rows, StoredDeliveryState};
use foundation::id::{Delivery, SubscriptionId};

use crate::support::{TestApp, TestWorkspace, in_transaction};

const CREATED: &[&str] = &["student.created"];

/// Creates this number of dead letters of one subscription. The creation times ascend; two deliveries share each.
async fn create_dead_letters(workspace: &TestWorkspace<'_>, subscription_id: SubscriptionId, count: usize) {
    let app = workspace.app;
    workspace.student("ada").await;
    app.settle_due(Some(404), DeliveryTransition::Dead).await;
    let write = app.begin_write().await;
    let workspace_deliveries = rows::in_workspace(workspace.id.uuid());
    let first = workspace.deliveries(subscription_id).await[0].id.uuid();
    let first = workspace_deliveries.by_id(write.conn(), first).await.unwrap().unwrap();
    assert_eq!(first.state, StoredDeliveryState::Dead);
    let copy = |n: usize| rows::Model {
        id: app.app.ids.next::<Delivery>(app.clock.now()).uuid(),
        created_at: first.created_at + n as i64 / 2,
        ..first.clone()
    };
    workspace_deliveries.insert_many(write.conn(), (1..count).map(copy).collect()).await.unwrap();
    write.commit().await.unwrap();
    app.clock.advance(Duration::from_secs(60));
}

/// Starts a job that replays the dead letters that match this filter.
async fn start_job(workspace: &TestWorkspace<'_>, filter: &DeadFilter) -> Replay {
    let app = &workspace.app.app;
    let preview = replays::preview(app, workspace.id, filter).await.unwrap();
    in_transaction(workspace.app, async |write| replays::start(app, write, &preview).await).await.unwrap()
}

#[tokio::test]
async fn a_dead_delivery_is_replayed_and_a_delivered_one_resent() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    app.settle_due(Some(404), DeliveryTransition::Dead).await;
    acme.student("bob").await;
    app.settle_due(Some(200), DeliveryTransition::Delivered).await;
    acme.student("eve").await;
    let before = acme.deliveries(subscription_id).await;
    let send_again = async |indexes: &[usize]| {
        let ids: Vec<_> = indexes.iter().map(|&index| before[index].id).collect();
        in_transaction(&app, async |write| webhooks::send_again(&app.app, write, acme.id, &ids).await).await
    };

    let created = send_again(&[0, 1, 0]).await.unwrap();
    let origins: Vec<_> = created
        .iter()
        .map(|delivery| (delivery.origin, delivery.replayed_from, delivery.event, delivery.state))
        .collect();
    let expected = [
        (DeliveryOrigin::Replay, Some(before[0].id), before[0].event, DeliveryState::Pending),
        (DeliveryOrigin::Resend, Some(before[1].id), before[1].event, DeliveryState::Pending),
    ];
    assert_eq!(origins, expected);
    let rejected = send_again(&[0, 2]).await.unwrap_err().to_string();
    assert_eq!(rejected, format!("deliveries/1: {} is pending: it is sent automatically", before[2].id));
    let after = acme.deliveries(subscription_id).await;
    assert_eq!((after.len(), &after[..2]), (5, &before[..2]), "settled deliveries never change");
    assert_eq!(app.settle_due(Some(200), DeliveryTransition::Delivered).await, 3);
}

#[tokio::test]
async fn a_job_continues_in_another_process_and_replays_each_delivery_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, subscription_id, 1201).await;
    let all = DeadFilter::default();
    assert_eq!(replays::preview(&app.app, acme.id, &all).await.unwrap().total, 1201);
    let job = start_job(&acme, &all).await;
    assert_eq!((job.total, job.done, job.state), (1201, 0, ReplayState::Running));
    let step = replays::advance(&app.app, acme.id, job.id).await.unwrap();
    assert_eq!((step.done, step.state), (500, ReplayState::Running));

    // Another process finds the job and advances it concurrently with this one.
    let other = app.other_process().await;
    let running = replays::running(&other).await.unwrap();
    assert_eq!(running, [step]);
    let (first, second) = tokio::join!(
        replays::advance(&app.app, acme.id, job.id),
        replays::advance(&other, running[0].workspace, running[0].id)
    );
    let done = first.unwrap().done.max(second.unwrap().done);
    assert_eq!(done, 1201);
    let ended = replays::advance(&other, acme.id, job.id).await.unwrap();
    assert_eq!((ended.done, ended.state), (1201, ReplayState::Done));
    assert_eq!(replays::running(&app.app).await.unwrap(), []);

    let deliveries = acme.deliveries(subscription_id).await;
    let replayed: Vec<_> = deliveries.iter().filter_map(|delivery| delivery.replayed_from).collect();
    let dead: BTreeSet<_> = deliveries
        .iter()
        .filter(|delivery| delivery.replayed_from.is_none())
        .map(|delivery| delivery.id)
        .collect();
    assert_eq!(
        (replayed.len(), replayed.into_iter().collect::<BTreeSet<_>>()),
        (1201, dead),
        "each dead letter is replayed once"
    );
    assert_eq!(
        replays::preview(&app.app, acme.id, &all).await.unwrap().total,
        0,
        "a second job has nothing to replay"
    );
}

#[tokio::test]
async fn a_job_does_not_replay_its_own_dead_deliveries() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, subscription_id, 501).await;
    let all = DeadFilter::default();
    let job = start_job(&acme, &all).await;
    replays::advance(&app.app, acme.id, job.id).await.unwrap();
    assert_eq!(
        app.settle_due(Some(404), DeliveryTransition::Dead).await,
        500,
        "in the same millisecond as the job"
    );
    let ended = replays::advance(&app.app, acme.id, job.id).await.unwrap();
    assert_eq!((ended.done, ended.state), (501, ReplayState::Done));
    assert_eq!(replays::preview(&app.app, acme.id, &all).await.unwrap().total, 500);
}

#[tokio::test]
async fn a_job_replays_deliveries_that_match_its_filter_until_it_is_canceled() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    let (other, _) = acme.subscribe(&["student.created", "course.published"]).await;
    create_dead_letters(&acme, subscription_id, 700).await;
    acme.course("rust", 1).await;
    app.settle_due(Some(404), DeliveryTransition::Dead).await;

    let count =
        async |filter| replays::preview(&app.app, acme.id, &filter).await.map(|preview| preview.total);
    let of_other = DeadFilter { subscription: Some(other), ..DeadFilter::default() };
    assert_eq!(count(of_other).await.unwrap(), 2);
    let published = Some("course.published".to_owned());
    assert_eq!(count(DeadFilter { event_type: published, ..DeadFilter::default() }).await.unwrap(), 1);
    let since = TimeSpan { from: Some(app.clock.now()), to: None };
    assert_eq!(count(DeadFilter { created: since, ..DeadFilter::default() }).await.unwrap(), 1);
    let unknown = DeadFilter { event_type: Some("order.payed".to_owned()), ..DeadFilter::default() };
    assert_eq!(
        count(unknown).await.unwrap_err().to_string(),
        "event_type: `order.payed` is not an event type; did you mean `order.paid`?"
    );

    let filter = DeadFilter { subscription: Some(subscription_id), ..DeadFilter::default() };
    let job = start_job(&acme, &filter).await;
    replays::advance(&app.app, acme.id, job.id).await.unwrap();
    let canceled =
        in_transaction(&app, async |write| replays::cancel(write, acme.id, job.id).await).await.unwrap();
    assert!(canceled.changed);
    let canceled = canceled.record;
    assert_eq!((canceled.state, canceled.done, canceled.total), (ReplayState::Canceled, 500, 700));
    assert_eq!(replays::advance(&app.app, acme.id, job.id).await.unwrap(), canceled);
    assert_eq!(replays::get(&app.app, Some(acme.id), job.id).await.unwrap(), canceled);
    let globex = app.workspace("globex").await.id;
    assert!(matches!(replays::get(&app.app, Some(globex), job.id).await, Err(Error::NotFound(_))));
    let foreign = in_transaction(&app, async |write| replays::cancel(write, globex, job.id).await).await;
    assert!(matches!(foreign, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn replays_of_a_paused_subscription_are_held() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, subscription_id, 2).await;
    in_transaction(&app, async |write| webhooks::pause(write, acme.id, subscription_id).await).await.unwrap();
    let job = start_job(&acme, &DeadFilter::default()).await;
    replays::advance(&app.app, acme.id, job.id).await.unwrap();
    let states: Vec<_> =
        acme.deliveries(subscription_id).await.iter().map(|delivery| delivery.state).collect();
    assert_eq!(states, [DeliveryState::Dead, DeliveryState::Dead, DeliveryState::Held, DeliveryState::Held]);
}

#[tokio::test]
async fn concurrent_jobs_and_users_replay_each_dead_letter_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    create_dead_letters(&acme, subscription_id, 12).await;
    let dead: Vec<_> = acme.deliveries(subscription_id).await.iter().map(|delivery| delivery.id).collect();
    for _ in 0..4 {
        start_job(&acme, &DeadFilter::default()).await;
    }
    let jobs = replays::running_in(&app.app, acme.id).await.unwrap();
    let advance = async |job: usize| replays::advance(&app.app, acme.id, jobs[job].id).await.unwrap();
    let replay = async || {
        in_transaction(&app, async |write| webhooks::replay_chosen(&app.app, write, acme.id, &dead).await)
            .await
            .unwrap()
    };
    let (job_0, job_1, job_2, job_3, first, second) =
        tokio::join!(advance(0), advance(1), advance(2), advance(3), replay(), replay());
    let by_jobs = job_0.done + job_1.done + job_2.done + job_3.done;
    assert_eq!(by_jobs + (first.len() + second.len()) as u64, dead.len() as u64);
    let all = acme.deliveries(subscription_id).await;
    assert_eq!(all.iter().filter(|delivery| delivery.replayed_from.is_some()).count(), dead.len());
}
