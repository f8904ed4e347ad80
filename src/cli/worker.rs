//! `creator-api worker`: sends webhooks and mail until it is stopped, without serving the API or the dashboard.

use std::net::{Ipv4Addr, SocketAddr};

use super::background::Background;
use super::heartbeats::Heartbeats;
use super::master_key::{self, KeyUse};
use super::outcome::{CommandError, CommandOutcome};
use super::start::{self, DataFolder};
use super::{file_limit, output, serve, signals, systemd};
use crate::server::Monitoring;
use domain::processes::Roles;
use foundation::config::{Config, WORKER_SETTINGS, flags};
use foundation::telemetry::metrics::ProcessKind;

/// The flag of the address for monitoring, in error messages.
const METRICS_FLAG: &str = "--metrics-listen";

/// The flags of `worker`.
#[derive(Debug, clap::Args)]
#[command(args = flags(WORKER_SETTINGS))]
pub(super) struct WorkerArgs {
    /// On PostgreSQL, wait until `creator-api migrate` has applied the migrations that this version needs
    #[arg(long)]
    pub(super) wait_for_migrations: bool,
}

pub(super) async fn run(mut config: Config, args: WorkerArgs) -> Result<CommandOutcome, CommandError> {
    file_limit::raise();
    // Nothing is bound to this address. It marks the server as not reachable: this process serves no pages, so links in
    // mail exist only if a public URL is configured.
    config.server.listen = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let socket =
        config.worker.metrics_listen.map(|address| serve::bind(address, METRICS_FLAG)).transpose()?;
    let folder = DataFolder::MustExist;
    let app = match args.wait_for_migrations {
        true => start::open_app_when_migrated(config, folder).await?,
        false => start::open_app(config, folder).await?,
    };
    let master = master_key::load(&app, KeyUse::Server, folder).await?;
    let stop = signals::listen("waiting for webhooks and mail in flight")?;
    let roles = Roles { serves: false, runs_worker: true };
    start::check_database(&app, roles).await?;
    let listener = socket.map(|socket| serve::listen(socket, METRICS_FLAG)).transpose()?;
    let heartbeats = Heartbeats::start(&app, roles, &stop).await;
    let background = Background::start(&app, &master, &stop)?;
    if let Some(listener) = &listener {
        output::print(format_args!("listening on http://{}", listener.local_addr()?))?;
    }
    output::print("sending webhooks and mail")?;
    systemd::notify_ready();
    let monitoring = listener.map(|listener| {
        let monitoring = Monitoring::new(app.clone(), ProcessKind::Worker);
        tokio::spawn(monitoring.with_delivery(background.progress()).run(listener, stop))
    });
    let result = background.wait_or_fail().await;
    if let Some(monitoring) = monitoring {
        monitoring.abort();
    }
    heartbeats.stop().await;
    app.db.close().await;
    result?;
    Ok(CommandOutcome::Done)
}
