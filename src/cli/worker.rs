//! `creator-api worker`: sends webhooks and mail until it is stopped, without serving the API.

use std::net::{Ipv4Addr, SocketAddr};

use super::background::Background;
use super::outcome::{CommandError, CommandOutcome};
use super::{file_limit, output, serve, signals, start};
use crate::server::Monitoring;
use foundation::config::Config;

pub(super) async fn run(mut config: Config) -> Result<CommandOutcome, CommandError> {
    file_limit::raise();
    // The worker serves no pages, so links in mail must not use its own address.
    config.server.listen = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let listener = match config.worker.metrics_listen {
        Some(address) => Some(serve::bind(address, "--metrics-listen")?),
        None => None,
    };
    let app = start::open_app(config).await?;
    let master = start::load_master_key(&app).await?;
    let stop = signals::listen("waiting for webhooks and mail in flight")?;
    let background = Background::start(&app, &master, &stop)?;
    if let Some(listener) = &listener {
        output::print(format_args!("listening on http://{}", listener.local_addr()?))?;
    }
    output::print("sending webhooks")?;
    let monitoring = listener.map(|listener| tokio::spawn(Monitoring::new(app.clone()).run(listener, stop)));
    let result = background.wait_or_fail().await;
    if let Some(monitoring) = monitoring {
        monitoring.abort();
    }
    app.db.close().await;
    result?;
    Ok(CommandOutcome::Done)
}
