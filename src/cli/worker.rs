//! `creator-api worker`: sends webhooks and mail until it is asked to stop, without serving the API.

use super::background::Background;
use super::failure::{Failure, Outcome};
use super::{output, signals, start};
use crate::config::{CommonFlags, Config, SendingFlags};

/// The flags of the worker.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    sending: SendingFlags,
}

impl Args {
    /// All flags of the command line.
    pub(super) fn flags(self, common: CommonFlags) -> Vec<(&'static str, String)> {
        common.0.into_iter().chain(self.sending.0).collect()
    }
}

pub(super) async fn run(config: Config) -> Result<Outcome, Failure> {
    let app = start::app(config).await?;
    let master = start::master_key(&app).await?;
    let stop = signals::stop("webhooks and mail under way end")?;
    let background = Background::start(&app, &master, &stop)?;
    output::line("sending webhooks")?;
    background.ended().await;
    app.db.close().await;
    Ok(Outcome::Done)
}
