//! The mail queue: claims, settlements under a lease, and pruning. A claim leases due mails to a worker. A settlement
//! stores the outcome of an attempt. Times are milliseconds since the epoch.

use entity::mails::{self, MailLease, MailOutcome, MailState, Model};
use sea_orm::{DatabaseConnection, TransactionTrait};
use uuid::Uuid;

use crate::support::{OURS, THEIRS, databases, id};

fn mail(number: u128, due_at: i64) -> Model {
    Model {
        id: id(number),
        workspace_id: OURS,
        kind: "webhook_disabled".to_owned(),
        recipient: "ada@example.com".to_owned(),
        subject: "It is off".to_owned(),
        text_body: "It is off.\n".to_owned(),
        html_body: "<p>It is off.</p>".to_owned(),
        state: MailState::Pending,
        attempts: 0,
        due_at: Some(due_at),
        lease_token: None,
        created_at: due_at,
        sent_at: None,
        last_error: None,
    }
}

fn lease(token: u128, expires_at: i64) -> MailLease {
    MailLease { token: id(token), expires_at }
}

/// Claims mails in a transaction, asserts that they have the lease, and returns their ids.
async fn claim(database: &DatabaseConnection, due_by: i64, lease: MailLease, limit: u64) -> Vec<Uuid> {
    let transaction = database.begin().await.unwrap();
    let claimed = mails::claim(&transaction, due_by, lease, limit).await.unwrap();
    transaction.commit().await.unwrap();
    for mail in &claimed {
        assert_eq!((mail.lease_token, mail.due_at), (Some(lease.token), Some(lease.expires_at)));
    }
    claimed.iter().map(|mail| mail.id).collect()
}

#[tokio::test]
async fn a_mail_is_claimed_once_until_its_lease_expires() {
    for database in databases().await {
        for (number, due) in [(11, 20), (12, 10), (13, 30)] {
            mails::in_workspace(OURS).insert(&database, mail(number, due)).await.unwrap();
        }
        assert!(!mails::any_due(&database, 9).await.unwrap());
        assert!(mails::any_due(&database, 10).await.unwrap());
        assert_eq!(claim(&database, 20, lease(1, 50), 1).await, [id(12)], "earliest due time first");
        assert_eq!(claim(&database, 20, lease(2, 51), 9).await, [id(11)]);
        assert!(claim(&database, 20, lease(3, 52), 9).await.is_empty());

        assert_eq!(claim(&database, 50, lease(4, 90), 9).await, [id(13), id(12)], "a lease expired");
        let late = mails::record_outcome(&database, id(12), id(1), MailOutcome::Sent(50)).await.unwrap();
        assert!(!late, "another worker has claimed the mail");
        assert!(mails::record_outcome(&database, id(12), id(4), MailOutcome::Sent(51)).await.unwrap());
        let sent = mails::in_workspace(OURS).by_id(&database, id(12)).await.unwrap().unwrap();
        let without_content = Model { text_body: String::new(), html_body: String::new(), ..mail(12, 10) };
        let expected =
            Model { state: MailState::Sent, attempts: 1, due_at: None, sent_at: Some(51), ..without_content };
        assert_eq!(sent, expected);
    }
}

#[tokio::test]
async fn a_failed_mail_is_retried_and_a_settled_mail_is_pruned() {
    for database in databases().await {
        let ours = mails::in_workspace(OURS);
        ours.insert(&database, mail(11, 10)).await.unwrap();
        ours.insert(&database, mail(12, 10)).await.unwrap();
        claim(&database, 10, lease(1, 50), 9).await;
        let retry = MailOutcome::Retry { due_at: 70, error: "451".to_owned() };
        assert!(mails::record_outcome(&database, id(11), id(1), retry.clone()).await.unwrap());
        assert!(
            !mails::record_outcome(&database, id(11), id(1), retry).await.unwrap(),
            "the lease ended with the first outcome"
        );
        assert!(
            mails::record_outcome(&database, id(12), id(1), MailOutcome::Dead("550".to_owned()))
                .await
                .unwrap()
        );

        let remaining = ours.list(&database, 9).await.unwrap();
        let states: Vec<_> =
            remaining.iter().map(|mail| (mail.state, mail.due_at, mail.last_error.as_deref())).collect();
        assert_eq!(
            states,
            [(MailState::Pending, Some(70), Some("451")), (MailState::Dead, None, Some("550"))]
        );
        let texts = remaining.iter().map(|mail| (mail.text_body.as_str(), mail.html_body.as_str()));
        let texts: Vec<_> = texts.collect();
        assert_eq!(texts, [("It is off.\n", "<p>It is off.</p>"), ("", "")], "a settled mail has no content");
        assert_eq!(mails::delete_settled(&database, 10, 9).await.unwrap(), 0);
        assert_eq!(mails::delete_settled(&database, 11, 9).await.unwrap(), 1, "the pending mail remains");
        assert_eq!(mails::in_workspace(THEIRS).list(&database, 9).await.unwrap(), []);
    }
}
