//! `creator-api worker`: sends webhooks and mail until it is asked to stop, without serving the API.

use std::net::{Ipv4Addr, SocketAddr};

use super::background::Background;
use super::failure::{Failure, Outcome};
use super::{files, output, serve, signals, start};
use crate::server::Watch;
use foundation::config::Config;

pub(super) async fn run(mut config: Config) -> Result<Outcome, Failure> {
    files::raise_limit();
    // Nothing is served here, so that no mail may lead here.
    config.server.listen = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let listener = match config.worker.metrics_listen {
        Some(address) => Some(serve::bind(address, "--metrics-listen")?),
        None => None,
    };
    let app = start::app(config).await?;
    let master = start::master_key(&app).await?;
    let stop = signals::stop("webhooks and mail under way end")?;
    let background = Background::start(&app, &master, &stop)?;
    if let Some(listener) = &listener {
        output::line(format_args!("listening on http://{}", listener.local_addr()?))?;
    }
    output::line("sending webhooks")?;
    let watched = listener.map(|listener| tokio::spawn(Watch::new(app.clone()).run(listener, stop)));
    let ended = background.ended_or_failed().await;
    if let Some(watched) = watched {
        watched.abort();
    }
    app.db.close().await;
    ended?;
    Ok(Outcome::Done)
}
