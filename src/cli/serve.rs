//! `creator-api serve`: serves the API, and sends webhooks and mail, until it is asked to stop.

use std::io::ErrorKind;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

use super::background::Background;
use super::failure::{Failure, Outcome};
use super::{files, output, signals, start};
use crate::server::Server;
use domain::app::App;
use foundation::config::{Config, SERVING, flags};
use foundation::secret::MasterKey;

/// The flags of the commands that serve.
#[derive(Debug, clap::Args)]
#[command(args = flags(SERVING))]
pub(super) struct Args {
    /// Leave webhooks and mail to `creator-api worker`
    #[arg(long)]
    pub(super) no_worker: bool,
}

pub(super) async fn run(config: Config, with_worker: bool) -> Result<Outcome, Failure> {
    files::raise_limit();
    let listener = bind(config.server.listen, "--listen")?;
    let address = listener.local_addr()?;
    let app = start::app(config).await?;
    let master = start::master_key(&app).await?;
    let stop = signals::stop("running requests finish")?;
    let server = server(&app, &master, address)?;
    let background = with_worker.then(|| Background::start(&app, &master, &stop)).transpose()?;
    output::line(format_args!("listening on http://{address}"))?;
    let beside = async {
        if let Some(background) = background {
            background.ended().await;
        }
    };
    let (served, ()) = tokio::join!(server.run(listener, stop), beside);
    served?;
    app.db.close().await;
    Ok(Outcome::Done)
}

/// The server that answers on this address.
pub(super) fn server(app: &App, master: &MasterKey, address: SocketAddr) -> Result<Server, Failure> {
    Ok(Server::new(app.clone(), master, &format!("http://{address}"))?)
}

/// Connections that the system keeps until they are accepted: a burst of more waits a second for its next attempt.
const BACKLOG: u32 = 4096;

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Takes the address that a flag or its variable named, before any other work is done.
pub(super) fn bind(address: SocketAddr, flag: &str) -> Result<TcpListener, Failure> {
    listen(address).map_err(|error| {
        let remedy = match error.kind() {
            ErrorKind::AddrInUse => {
                let free = SocketAddr::new(address.ip(), 0);
                format!("is in use; stop what listens there, or take a free port with `{flag} {free}`")
            }
            ErrorKind::PermissionDenied => {
                format!("may not be used by this user; choose a port from 1024 up with {flag}")
            }
            ErrorKind::AddrNotAvailable => format!("is no address of this machine; choose one with {flag}"),
            _ => format!("cannot be listened on ({error}); choose another address with {flag}"),
        };
        Failure::new(format!("{address} {remedy}"))
    })
}
