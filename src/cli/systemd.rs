//! The parts of systemd's protocols for services: the socket that it passes, and the notification that the process is ready.

use std::net::TcpListener;

use listenfd::ListenFd;
use sd_notify::NotifyState;

use super::outcome::CommandError;

/// Takes the listening socket that systemd passed to this process (`LISTEN_FDS`), if any. Call it before other threads
/// run, since it changes the environment.
///
/// # Errors
/// Returns an error when there is more than one, or when it is no TCP socket.
pub(super) fn take_socket() -> Result<Option<TcpListener>, CommandError> {
    let mut passed = ListenFd::from_env();
    match passed.len() {
        0 => Ok(None),
        1 => passed.take_tcp_listener(0).map_err(|error| {
            CommandError::new(format!(
                "the socket from systemd cannot be used ({error}); set ListenStream= of its unit to an IP address and port"
            ))
        }),
        count => Err(CommandError::new(format!(
            "systemd passed {count} sockets, and the server listens on one; set one ListenStream= in the socket's unit"
        ))),
    }
}

/// Notifies systemd that the process has started (`Type=notify`). Does nothing without systemd.
pub(super) fn notify_ready() {
    if let Err(error) = sd_notify::notify(&[NotifyState::Ready]) {
        tracing::warn!(%error, "systemd could not be notified that the process is ready");
    }
}
