//! Readers of changes miss none when a standby is promoted whose clock is a minute behind.

use anyhow::Result;

use super::failover::{Discovery, promote_standby};
use crate::report::Report;
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "failover-clock";

/// Kills the primary under load and promotes the standby.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    promote_standby(context, report, Discovery::Hosts, Some("-60s")).await
}
