//! The scenarios, one per file, in the order in which they run.

use std::future::Future;
use std::pin::Pin;

use anyhow::Result;

use crate::report::Report;
use crate::run::Context;

mod alerts;
mod clock_skew;
mod connection_exhaustion;
mod database_restart;
mod event_feed;
mod failover;
mod failover_clock;
mod failover_hosts;
mod idle;
mod killed_server;
mod killed_workers;
mod latency;
mod pgbouncer_restart;
mod pgbouncer_suite;
mod rate_limit;
mod retention;
mod rolling_upgrade;
mod silent_connections;
mod slow_limit_store;
mod standby_reads;
mod suspended_server;

/// A scenario: its name and its function, which adds figures to the report.
pub struct Scenario {
    pub name: &'static str,
    pub run: for<'a> fn(&'a Context, &'a mut Report) -> ScenarioFuture<'a>,
}

/// The future of a running scenario.
type ScenarioFuture<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// Returns an entry of [`ALL`].
macro_rules! scenario {
    ($module:ident) => {
        Scenario { name: $module::NAME, run: |context, report| Box::pin($module::run(context, report)) }
    };
}

/// All scenarios.
pub const ALL: &[Scenario] = &[
    scenario!(rate_limit),
    scenario!(silent_connections),
    scenario!(suspended_server),
    scenario!(killed_workers),
    scenario!(killed_server),
    scenario!(database_restart),
    scenario!(failover),
    scenario!(failover_hosts),
    scenario!(failover_clock),
    scenario!(standby_reads),
    scenario!(pgbouncer_restart),
    scenario!(pgbouncer_suite),
    scenario!(connection_exhaustion),
    scenario!(clock_skew),
    scenario!(event_feed),
    scenario!(idle),
    scenario!(latency),
    scenario!(alerts),
    scenario!(retention),
    scenario!(rolling_upgrade),
];
