//! The ten faults.

use std::time::Duration;

use anyhow::{Context as _, Result};
use futures_util::stream::{self, StreamExt as _};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DatabaseTransaction, TransactionTrait as _};

use super::endpoint::Behavior;
use super::site::Site;
use crate::client::ApiClient;

/// A fault that can be injected and repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Every request that reads students fails, since their table is missing.
    RequestsFail,
    /// The limit store is killed.
    LimitStoreDown,
    /// The file system with the worker's data folder is 95 % full.
    DiskNearlyFull,
    /// The worker is killed.
    WorkerDown,
    /// An endpoint accepts connections and does not respond.
    EndpointHanging,
    /// Events are created faster than a slow endpoint accepts them.
    QueueGrowing,
    /// The mail server is stopped while a mail is to be sent.
    MailServerDown,
    /// The certificate of an endpoint expires.
    CertificateExpired,
    /// A transaction locks a table, so that all connections of the server wait.
    PoolExhausted,
    /// PostgreSQL is killed.
    DatabaseDown,
}

/// The share of the file system that remains free: less than the alert allows, more than nothing.
const FREE_SHARE: f64 = 0.05;

/// The response time of the slow endpoint: less than the time limit of an attempt.
const SLOW: Duration = Duration::from_secs(12);

/// The number of events that are created as fast as possible: many more than the requests to an endpoint at the same time. The queue
/// lasts for more than a minute, since the alert of the fault before suppresses the one about the queue for 20 seconds.
const BURST: usize = 400;

/// The number of clients that create them: fewer than the connections of the server.
const BURST_CLIENTS: usize = 4;

impl Fault {
    /// All faults, in the order in which they are injected. Those that make requests fail come last, since their alerts prevent
    /// alerts of failing requests for some time.
    pub const ALL: &[Self] = &[
        Self::RequestsFail,
        Self::LimitStoreDown,
        Self::DiskNearlyFull,
        Self::WorkerDown,
        Self::EndpointHanging,
        Self::QueueGrowing,
        Self::MailServerDown,
        Self::CertificateExpired,
        Self::PoolExhausted,
        Self::DatabaseDown,
    ];

    /// Returns the name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestsFail => "burst of 5xx",
            Self::LimitStoreDown => "limit store down",
            Self::DiskNearlyFull => "disk nearly full",
            Self::WorkerDown => "worker dead",
            Self::EndpointHanging => "endpoint hanging",
            Self::QueueGrowing => "queue growing",
            Self::MailServerDown => "mail server down",
            Self::CertificateExpired => "endpoint's certificate expired",
            Self::PoolExhausted => "pool exhausted",
            Self::DatabaseDown => "database down",
        }
    }

    /// Returns the name of the alert.
    pub fn alert(self) -> &'static str {
        match self {
            Self::RequestsFail => "CreatorApiRequestsFail",
            Self::LimitStoreDown => "CreatorApiLimitStoreDown",
            Self::DiskNearlyFull => "CreatorApiDiskNearlyFull",
            Self::WorkerDown => "CreatorApiWorkerDown",
            Self::EndpointHanging => "CreatorApiWebhookEndpointHanging",
            Self::QueueGrowing => "CreatorApiWebhookQueueGrowing",
            Self::MailServerDown => "CreatorApiMailNotSent",
            Self::CertificateExpired => "CreatorApiWebhookCertificateExpired",
            Self::PoolExhausted => "CreatorApiDatabasePoolExhausted",
            Self::DatabaseDown => "CreatorApiDatabaseDown",
        }
    }

    /// Returns how long the fault continues after its alert. Faults that make requests fail continue until an alert of failing
    /// requests would have fired.
    pub fn continues_for(self) -> Duration {
        match self {
            Self::PoolExhausted | Self::DatabaseDown => Duration::from_secs(10),
            _ => Duration::from_secs(1),
        }
    }

    /// Injects the fault. Returns what the repair needs.
    ///
    /// # Errors
    /// Returns an error when a part of the installation does not react as expected.
    pub async fn inject(self, site: &mut Site) -> Result<InjectedFault> {
        let mut lock = None;
        match self {
            Self::RequestsFail => execute(site, "ALTER TABLE students RENAME TO students_missing").await?,
            Self::LimitStoreDown => site.redis.kill(),
            Self::DiskNearlyFull => fill_disk(site)?,
            Self::WorkerDown => site.worker.kill(),
            Self::EndpointHanging => site.endpoint.set(Behavior::Hang),
            Self::QueueGrowing => {
                site.endpoint.set(Behavior::RespondAfter(SLOW));
                create_events(site).await?;
            }
            Self::MailServerDown => {
                site.mailbox.stop().await;
                queue_mail(site).await?;
            }
            Self::CertificateExpired => site.tls_endpoint.set(Behavior::ExpiredCertificate),
            Self::PoolExhausted => lock = Some(lock_students(site).await?),
            Self::DatabaseDown => site.database.primary.kill().await?,
        }
        Ok(InjectedFault { fault: self, lock })
    }
}

/// A fault that is to be repaired.
pub struct InjectedFault {
    fault: Fault,
    lock: Option<DatabaseTransaction>,
}

impl InjectedFault {
    /// Repairs the fault.
    ///
    /// # Errors
    /// Returns an error when a part of the installation does not start again.
    pub async fn repair(self, site: &mut Site) -> Result<()> {
        match self.fault {
            Fault::RequestsFail => execute(site, "ALTER TABLE students_missing RENAME TO students").await,
            Fault::LimitStoreDown => site.redis.start().await,
            Fault::DiskNearlyFull => Ok(std::fs::remove_file(site.worker_file("filler")?)?),
            Fault::WorkerDown => site.worker.start().await,
            Fault::EndpointHanging | Fault::QueueGrowing => {
                site.endpoint.set(Behavior::RespondAfter(Duration::ZERO));
                Ok(())
            }
            Fault::MailServerDown => {
                site.mailbox.start().await?;
                // The next attempt would be due a minute after the first one.
                execute(site, "UPDATE mails SET due_at = created_at WHERE due_at IS NOT NULL").await
            }
            Fault::CertificateExpired => {
                site.tls_endpoint.set(Behavior::RespondAfter(Duration::ZERO));
                Ok(())
            }
            Fault::PoolExhausted => Ok(self.lock.context("a lock")?.rollback().await?),
            Fault::DatabaseDown => site.database.primary.start().await,
        }
    }
}

/// Executes a statement as the superuser.
async fn execute(site: &Site, sql: &str) -> Result<()> {
    let connection = connect(site).await?;
    connection.execute_unprepared(sql).await?;
    Ok(connection.close().await?)
}

async fn connect(site: &Site) -> Result<DatabaseConnection> {
    site.database.primary.connect().await
}

/// Fills the file system of the worker's data folder, except for [`FREE_SHARE`].
fn fill_disk(site: &Site) -> Result<()> {
    let path = site.worker_file("filler")?;
    let space = rustix::fs::statvfs(path.parent().context("a folder")?)?;
    let size = space.f_blocks * space.f_frsize;
    let left = (size as f64 * FREE_SHARE) as usize;
    let free = usize::try_from(space.f_bavail * space.f_frsize)?;
    std::fs::write(&path, vec![0; free.saturating_sub(left)]).context("cannot fill the file system")
}

/// Creates students as fast as possible, each with an event.
async fn create_events(site: &Site) -> Result<()> {
    let client = ApiClient::new(&site.database.key)?;
    let server = site.server.url();
    let requests = (0..BURST).map(|number| {
        let (client, server) = (&client, &server);
        async move {
            let email = format!("burst-{number}@example.com");
            client.create_student(server, &email, &email).await.body()
        }
    });
    let mut created = stream::iter(requests).buffer_unordered(BURST_CLIENTS);
    while let Some(student) = created.next().await {
        student.context("a student of the burst was not created")?;
    }
    Ok(())
}

/// Queues a mail with a password link.
async fn queue_mail(site: &Site) -> Result<()> {
    let url = site.mailbox.url();
    let link = ["users", "link", "--workspace", "acme", "--email", "owner@acme.example"];
    let settings = ["--smtp-url", &url, "--public-url", "http://127.0.0.1"];
    site.database.commands.run(&[&link[..], &settings].concat()).await.map(drop)
}

/// Locks the table of students, for which every request then waits.
async fn lock_students(site: &Site) -> Result<DatabaseTransaction> {
    let transaction = connect(site).await?.begin().await?;
    transaction.execute_unprepared("LOCK TABLE students IN ACCESS EXCLUSIVE MODE").await?;
    Ok(transaction)
}
