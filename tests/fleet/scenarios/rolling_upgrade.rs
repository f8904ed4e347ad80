//! An upgrade, a downgrade and another upgrade, one process at a time, fail no request and lose no event. Then the contract phase runs
//! under the same load.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use sea_orm::ConnectionTrait as _;

use crate::client::ApiClient;
use crate::commands::Commands;
use crate::engines::postgres::query_number;
use crate::fleet::{Fleet, FleetOptions};
use crate::load::{Load, LoadOptions, ResponseKind};
use crate::receiver::WebhookReceiver;
use crate::reconcile::{check_events, check_writes};
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "rolling-upgrade";

/// How long a server continues to serve while its `/readyz` fails, so that the load balancer notices. It checks twice a second
/// and needs two failures.
const DRAIN_SECONDS: &str = "3";

/// How long the load balancer needs at most to use a server that is ready again.
const RETURN: Duration = Duration::from_secs(1);

/// The number of delivered events in the database, which migrations change or index.
const DELIVERIES: u32 = 1_000_000;

/// Migrates the database, and replaces all processes one by one: by those of the new version, of the earlier one, and of the new one
/// again. Then applies the contract phase.
///
/// # Errors
/// Returns an error when a part of the fleet does not start, or the migration fails.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let earlier = context.programs.earlier_server.clone().context("the earlier server was not built")?;
    let new = &context.programs.server;
    let server_flags = ["--drain-seconds", DRAIN_SECONDS].map(str::to_owned).into();
    let options = FleetOptions { server_flags, program: Some(earlier.clone()), ..FleetOptions::default() };
    let mut fleet = Fleet::start(context, options).await?;
    let receiver = WebhookReceiver::start(&fleet.database.commands, 1, Duration::ZERO).await?;
    let deliveries = add_deliveries(&fleet).await?;
    let targets = vec![fleet.balancer.url()];
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: 128, rate: Some(200), reads_per_write: 1 },
    )?;
    let start = Instant::now();
    load.run_for(Duration::from_secs(2)).await;

    let commands = Commands { program: new.clone(), ..fleet.database.commands.clone() };
    let migrated = commands.run(&["migrate", "--phase", "expand"]).await?;
    for program in [new, &earlier, new] {
        roll(&mut fleet, program).await?;
    }
    commands.run(&["migrate", "--phase", "contract"]).await?;
    load.run_for(Duration::from_secs(2)).await;
    let rate = count(load.record().responses.len()) / start.elapsed().as_secs_f64();
    let record = load.stop().await;
    let figure =
        Figure::measured("requests during the upgrade, the downgrade and the upgrade", rate, "per s");
    report.add(figure.detail(format!("with {deliveries} deliveries in the database")));
    let failed =
        record.count(&[ResponseKind::InternalError, ResponseKind::Missing, ResponseKind::Unexpected]);
    let detail = format!("`migrate --phase expand`: {migrated}; {}", record.summary());
    report.add(Figure::exactly("failed requests", count(failed), "requests", 0.0).detail(detail));
    report.add(Figure::at_most("longest response", record.longest_since(start), "s", 3.0));
    check_writes(report, &fleet.database.primary, &[&record]).await?;
    check_events(report, &fleet.database.primary, &receiver, &record).await
}

/// Creates a student, and copies the delivery of its event with new ids. Returns the number of deliveries in the database.
async fn add_deliveries(fleet: &Fleet) -> Result<i64> {
    let (name, client) = ("first@example.com", ApiClient::new(&fleet.database.key)?);
    client.create_student(&fleet.balancer.url(), name, name).await.body()?;
    let connection = fleet.database.primary.connect().await?;
    // The number makes PostgreSQL compute each copy. The column of this name does not exist.
    let copies = format!(
        "INSERT INTO webhook_deliveries SELECT copy.* FROM webhook_deliveries AS delivery, generate_series(1, {DELIVERIES}) AS number,
             jsonb_populate_record(delivery, jsonb_build_object('id', gen_random_uuid(), 'number', number)) AS copy
         WHERE delivery.state = 1"
    );
    while connection.execute_unprepared(&copies).await?.rows_affected() == 0 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    connection.execute_unprepared("ANALYZE webhook_deliveries").await?;
    let deliveries = query_number(&connection, "SELECT count(*) FROM webhook_deliveries").await?;
    connection.close().await?;
    Ok(deliveries)
}

/// Stops each process, and starts it again with another program.
async fn roll(fleet: &mut Fleet, program: &Path) -> Result<()> {
    for process in fleet.servers.iter_mut().chain(&mut fleet.workers) {
        process.stop().await?;
        process.set_program(program);
        process.start().await?;
        tokio::time::sleep(RETURN).await;
    }
    Ok(())
}
