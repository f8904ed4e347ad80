//! The transactions per second of 3 servers and 2 workers that have nothing to do.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::engines::postgres::query_number;
use crate::fleet::{Fleet, FleetOptions};
use crate::report::{Figure, Report};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "idle";

/// How long the processes run before the measurement. An idle connection of PostgreSQL reports its transactions after up to ten
/// seconds.
const WARM_UP: Duration = Duration::from_secs(15);

/// The length of the measurement.
const WINDOW: Duration = Duration::from_secs(30);

/// Counts the transactions of the fleet's database. The readiness checks of the load balancer are part of an idle fleet.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    const TRANSACTIONS: &str =
        "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'creator'";
    let Fleet { servers, workers, balancer, database } =
        Fleet::start(context, FleetOptions::default()).await?;
    // Queries in another database are not counted.
    let connection = database.primary.connect_as_superuser("postgres").await?;
    let mut rates = Vec::new();
    for balancer in [Some(balancer), None] {
        tokio::time::sleep(WARM_UP).await;
        let (start, before) = (Instant::now(), query_number(&connection, TRANSACTIONS).await?);
        tokio::time::sleep(WINDOW).await;
        let transactions = query_number(&connection, TRANSACTIONS).await? - before;
        rates.push(transactions as f64 / start.elapsed().as_secs_f64());
        drop(balancer);
    }
    let detail = format!("{:.1} per s with the readiness checks of the load balancer, 6 per s", rates[0]);
    let name = format!("transactions of {} servers and {} workers", servers.len(), workers.len());
    let figure = Figure::measured(name, rates[1], "per s").goal("goal: under 3");
    report.add(figure.before("14").detail(detail));
    Ok(())
}
