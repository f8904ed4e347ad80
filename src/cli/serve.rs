//! `creator-api serve`: serves the API and the dashboard, and sends webhooks and mail, until it is stopped.

use std::io::ErrorKind;
use std::net::SocketAddr;

use secrecy::ExposeSecret;
use tokio::net::{TcpListener, TcpSocket};

use super::background::Background;
use super::ephemeral::{self, EphemeralData};
use super::heartbeats::Heartbeats;
use super::master_key::{self, KeyUse};
use super::outcome::{CommandError, CommandOutcome};
use super::start::{self, DataFolder};
use super::{file_limit, output, signals, systemd};
use crate::server::{Server, drain_time};
use domain::app::App;
use domain::outbox::remote_wakes;
use domain::processes::Roles;
use foundation::config::{Config, SERVER_SETTINGS, flags};
use foundation::secret::MasterKeys;

/// The flag of the address of the Platform API, in error messages.
const PLATFORM_FLAG: &str = "--platform-listen";

/// The flags of `serve`.
#[derive(Debug, clap::Args)]
#[command(args = flags(SERVER_SETTINGS))]
pub(super) struct ServeArgs {
    /// Do not send webhooks and mail in this process; run `creator-api worker` for them
    #[arg(long)]
    pub(super) no_worker: bool,
    /// On PostgreSQL, wait until `creator-api migrate` has applied the migrations that this version needs
    #[arg(long)]
    pub(super) wait_for_migrations: bool,
    /// Serve demo data from a temporary folder, for the tests of a client, and print an API key with all scopes
    ///
    /// Uses neither the configured database nor the data folder, and deletes the data when it stops, unless it is killed with SIGKILL.
    /// Webhooks can be sent to this machine. For a free port, add `--listen 127.0.0.1:0`.
    #[arg(long, conflicts_with_all = ["no_worker", "wait_for_migrations", "data_dir", "database_url", "database_read_url"])]
    pub(super) ephemeral: bool,
}

/// Runs the server on the socket that systemd passed, if any, or on `--listen`.
pub(super) async fn run(
    mut config: Config,
    args: ServeArgs,
    passed: Option<std::net::TcpListener>,
) -> Result<CommandOutcome, CommandError> {
    file_limit::raise();
    let ephemeral = args.ephemeral.then(|| EphemeralData::create(&mut config)).transpose()?;
    let socket = ServerSocket::open(&config, passed)?;
    let address = socket.address()?;
    // Links in mail begin with it, so a port of 0 is replaced by the one that the system has chosen.
    config.server.listen = address;
    let platform_socket =
        config.server.platform_listen.map(|address| bind(address, PLATFORM_FLAG)).transpose()?;
    let roles = Roles { serves: true, runs_worker: !args.no_worker };
    prepare_in_background(roles.runs_worker);
    let folder = if args.ephemeral { DataFolder::Temporary } else { DataFolder::MayBeCreated };
    let app = match args.wait_for_migrations {
        true => start::open_app_when_migrated(config, folder).await?,
        false => start::open_app(config, folder).await?,
    };
    let master = master_key::load(&app, KeyUse::Server, folder).await?;
    let ephemeral_key = if args.ephemeral { Some(ephemeral::prepare(&app).await?) } else { None };
    let delete_data = ephemeral.as_ref().map(EphemeralData::deletion);
    let at_exit = move || delete_data.into_iter().for_each(|delete| delete());
    let stop = signals::listen_with("waiting for requests in flight", at_exit)?;
    let checks = {
        let app = app.clone();
        tokio::spawn(async move { start::check_database(&app, roles).await })
    };
    // PostgreSQL answers the checks meanwhile.
    let mut server = build_server(&app, &master, address)?;
    checks.await.map_err(anyhow::Error::from)??;
    if matches!(socket, ServerSocket::Passed(_)) {
        server = server.with_shared_listener();
    }
    let stop_background = signals::delayed(&stop, drain_time(&app.config.server));
    // Until it can respond, the process accepts no connections.
    let listener = socket.listen()?;
    let platform_listener = platform_socket.map(|socket| listen(socket, PLATFORM_FLAG)).transpose()?;
    let heartbeats = Heartbeats::start(&app, roles, &stop).await;
    let background =
        (!args.no_worker).then(|| Background::start(&app, &master, &stop_background)).transpose()?;
    output::print(format_args!("listening on http://{address}"))?;
    if let Some(secret) = ephemeral_key {
        output::print(format_args!("API key {}", secret.expose_secret()))?;
    }
    if let Some(listener) = platform_listener {
        output::print(format_args!("Platform API on http://{}", listener.local_addr()?))?;
        server = server.with_platform_listener(listener);
    }
    systemd::notify_ready();
    let background = async {
        if let Some(background) = background {
            background.wait(&app).await;
        }
    };
    let wake_sender = args.no_worker.then(|| {
        let app = app.clone();
        tokio::spawn(async move { remote_wakes::send(&app).await })
    });
    let (served, ()) = tokio::join!(server.run(listener, stop), background);
    if let Some(wake_sender) = wake_sender {
        wake_sender.abort();
    }
    heartbeats.stop().await;
    app.db.close().await;
    drop(ephemeral);
    served?;
    Ok(CommandOutcome::Done)
}

/// Compiles the contracts in another thread and, for a process that sends webhooks, reads the root certificates, while the database is
/// opened. Building the server and the worker waits for them.
pub(super) fn prepare_in_background(runs_worker: bool) {
    tokio::task::spawn_blocking(move || {
        api::compile_contracts();
        if runs_worker {
            foundation::tls::load_roots();
        }
    });
}

/// The socket of the server, before it accepts connections.
enum ServerSocket {
    /// Bound to `--listen`.
    Bound(TcpSocket),
    /// Passed by systemd, which listens on it.
    Passed(TcpListener),
}

impl ServerSocket {
    fn open(config: &Config, passed: Option<std::net::TcpListener>) -> Result<Self, CommandError> {
        let Some(listener) = passed else {
            return bind(config.server.listen, "--listen").map(Self::Bound);
        };
        listener.set_nonblocking(true)?;
        Ok(Self::Passed(TcpListener::from_std(listener)?))
    }

    fn address(&self) -> std::io::Result<SocketAddr> {
        match self {
            Self::Bound(socket) => socket.local_addr(),
            Self::Passed(listener) => listener.local_addr(),
        }
    }

    fn listen(self) -> Result<TcpListener, CommandError> {
        match self {
            Self::Bound(socket) => listen(socket, "--listen"),
            Self::Passed(listener) => Ok(listener),
        }
    }
}

/// Builds the server for the address that its listener is bound to.
pub(super) fn build_server(
    app: &App,
    master: &MasterKeys,
    address: SocketAddr,
) -> Result<Server, CommandError> {
    Ok(Server::new(app.clone(), master, &format!("http://{address}"))?)
}

/// The number of connections that the system queues until they are accepted. A client that is not queued retries after
/// one second.
const BACKLOG: u32 = 4096;

/// Reserves the address of a setting, without accepting connections. `flag` is its name in error messages.
pub(super) fn bind(address: SocketAddr, flag: &str) -> Result<TcpSocket, CommandError> {
    let bind = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        Ok(socket)
    };
    bind().map_err(|error| unusable(address, flag, &error))
}

/// Accepts connections on a reserved address. `flag` is the name of its setting in error messages.
pub(super) fn listen(socket: TcpSocket, flag: &str) -> Result<TcpListener, CommandError> {
    let address = socket.local_addr()?;
    // Another process that has reserved the address may listen on it already.
    socket.listen(BACKLOG).map_err(|error| unusable(address, flag, &error))
}

/// Returns the error for an address that cannot be used.
fn unusable(address: SocketAddr, flag: &str, error: &std::io::Error) -> CommandError {
    let problem = match error.kind() {
        ErrorKind::AddrInUse => {
            let free = SocketAddr::new(address.ip(), 0);
            format!(
                "is in use; stop the process that listens on it, or choose a free port with `{flag} {free}`"
            )
        }
        ErrorKind::PermissionDenied => {
            format!("requires privileges; choose a port of at least 1024 with {flag}")
        }
        ErrorKind::AddrNotAvailable => {
            format!("is not an address of this machine; choose another address with {flag}")
        }
        _ => format!("cannot be used ({error}); choose another address with {flag}"),
    };
    CommandError::new(format!("{address} {problem}"))
}
