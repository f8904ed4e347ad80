//! The scenarios, one per file, in the order in which they run.
//!
//! Scenarios that only read come before those that write, so that the figures of one do not depend on the duration of
//! another.

use std::future::Future;
use std::pin::Pin;

use anyhow::{Result, bail};

use crate::bench::Bench;
use crate::http::Connection;
use crate::process::BenchServer;
use crate::site::BenchSite;

mod analytics;
mod backlog;
mod catalog;
mod create;
mod events;
mod filters;
mod guessing;
mod hung;
mod import;
pub mod lists;
mod memory;
mod pages;
mod request_log;
mod start;
mod tenants;
mod traces;
pub mod walk;

/// A scenario: its name and its function.
pub struct Scenario {
    pub name: &'static str,
    pub run: for<'a> fn(&'a mut Bench, &'a mut BenchSite) -> ScenarioFuture<'a>,
}

/// The future of a running scenario.
type ScenarioFuture<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// All scenarios.
pub const ALL: &[Scenario] = &[
    Scenario { name: catalog::NAME, run: |bench, site| Box::pin(catalog::run(bench, site)) },
    Scenario { name: guessing::NAME, run: |bench, site| Box::pin(guessing::run(bench, site)) },
    Scenario { name: lists::NAME, run: |bench, site| Box::pin(lists::run(bench, site)) },
    Scenario { name: pages::NAME, run: |bench, site| Box::pin(pages::run(bench, site)) },
    Scenario { name: analytics::NAME, run: |bench, site| Box::pin(analytics::run(bench, site)) },
    Scenario { name: memory::NAME, run: |bench, site| Box::pin(memory::run(bench, site)) },
    Scenario { name: start::NAME, run: |bench, site| Box::pin(start::run(bench, site)) },
    Scenario { name: request_log::NAME, run: |bench, site| Box::pin(request_log::run(bench, site)) },
    Scenario { name: create::NAME, run: |bench, site| Box::pin(create::run(bench, site)) },
    Scenario { name: traces::NAME, run: |bench, site| Box::pin(traces::run(bench, site)) },
    Scenario { name: import::NAME, run: |bench, site| Box::pin(import::run(bench, site)) },
    Scenario { name: events::NAME, run: |bench, site| Box::pin(events::run(bench, site)) },
    Scenario { name: filters::NAME, run: |bench, site| Box::pin(filters::run(bench, site)) },
    Scenario { name: backlog::NAME, run: |bench, site| Box::pin(backlog::run(bench, site)) },
    Scenario { name: hung::NAME, run: |bench, site| Box::pin(hung::run(bench, site)) },
    Scenario { name: tenants::NAME, run: |bench, site| Box::pin(tenants::run(bench, site)) },
];

/// Sends one request on a new connection and returns the body of the response, which must have this status.
async fn fetch(server: &BenchServer, request: &[u8], status: u16) -> Result<Vec<u8>> {
    let mut connection = Connection::open(server.address).await?;
    let response = connection.exchange(request).await?;
    if response.status != status {
        bail!(
            "expected status {status}, got {}: {}",
            response.status,
            String::from_utf8_lossy(response.body)
        );
    }
    Ok(response.body.to_vec())
}

/// Fetches a path and parses the JSON body.
async fn fetch_json(server: &BenchServer, path: &str, key: &str) -> Result<serde_json::Value> {
    let body = fetch(server, &crate::http::get(path, Some(key)), 200).await?;
    Ok(serde_json::from_slice(&body)?)
}
