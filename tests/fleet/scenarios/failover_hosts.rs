//! Processes whose database URL lists a primary and its standby follow a promotion without a proxy.

use anyhow::Result;

use super::failover::{Discovery, promote_standby};
use crate::report::Report;
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "failover-hosts";

/// Kills the primary under load and promotes the standby. No proxy is used.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    promote_standby(context, report, Discovery::Hosts, None).await
}
