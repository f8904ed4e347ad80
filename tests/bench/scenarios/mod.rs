//! The scenarios, one a file, in the order in which they run.
//!
//! What only reads comes before what writes, so that the figures of one do not depend on the length of another.

use std::future::Future;
use std::pin::Pin;

use anyhow::{Result, bail};

use crate::bench::Bench;
use crate::http::Connection;
use crate::process::Server;
use crate::site::Site;

mod analytics;
mod backlog;
mod catalogue;
mod create;
mod events;
mod guessing;
mod hung;
pub mod lists;
mod memory;
mod pages;
mod request_log;
mod start;
mod tenants;
pub mod walk;

/// What a scenario is called and does.
pub struct Scenario {
    pub name: &'static str,
    pub run: for<'a> fn(&'a mut Bench, &'a mut Site) -> Running<'a>,
}

/// A scenario under way.
type Running<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// Every scenario.
pub const ALL: &[Scenario] = &[
    Scenario { name: catalogue::NAME, run: |bench, site| Box::pin(catalogue::run(bench, site)) },
    Scenario { name: guessing::NAME, run: |bench, site| Box::pin(guessing::run(bench, site)) },
    Scenario { name: lists::NAME, run: |bench, site| Box::pin(lists::run(bench, site)) },
    Scenario { name: pages::NAME, run: |bench, site| Box::pin(pages::run(bench, site)) },
    Scenario { name: analytics::NAME, run: |bench, site| Box::pin(analytics::run(bench, site)) },
    Scenario { name: memory::NAME, run: |bench, site| Box::pin(memory::run(bench, site)) },
    Scenario { name: start::NAME, run: |bench, site| Box::pin(start::run(bench, site)) },
    Scenario { name: request_log::NAME, run: |bench, site| Box::pin(request_log::run(bench, site)) },
    Scenario { name: create::NAME, run: |bench, site| Box::pin(create::run(bench, site)) },
    Scenario { name: events::NAME, run: |bench, site| Box::pin(events::run(bench, site)) },
    Scenario { name: backlog::NAME, run: |bench, site| Box::pin(backlog::run(bench, site)) },
    Scenario { name: hung::NAME, run: |bench, site| Box::pin(hung::run(bench, site)) },
    Scenario { name: tenants::NAME, run: |bench, site| Box::pin(tenants::run(bench, site)) },
];

/// One request on a connection of its own; the body of its answer.
async fn fetch(server: &Server, request: &[u8], status: u16) -> Result<Vec<u8>> {
    let mut connection = Connection::open(server.address).await?;
    let answer = connection.exchange(request).await?;
    if answer.status != status {
        bail!("{} instead of {status}: {}", answer.status, String::from_utf8_lossy(answer.body));
    }
    Ok(answer.body.to_vec())
}

/// The body as JSON.
async fn fetch_json(server: &Server, path: &str, key: &str) -> Result<serde_json::Value> {
    let body = fetch(server, &crate::http::get(path, Some(key)), 200).await?;
    Ok(serde_json::from_slice(&body)?)
}
