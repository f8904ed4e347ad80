//! How many files the process may have open: connections are files, too, of callers, to receivers and to the database.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than all connections of a server can be.
const WANTED: u64 = 65_536;
/// Fewer than this are told of.
const FEW: u64 = 4_096;

/// Raises the limit as far as the machine lets it. Many begin with 1,024, which two dozen receivers that hang use up.
pub(super) fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(now) = current.filter(|now| *now < WANTED) else { return };
    let wanted = maximum.map_or(WANTED, |maximum| maximum.min(WANTED)).max(now);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    let files = if raised.is_ok() { wanted } else { now };
    if files < FEW {
        tracing::warn!(
            files,
            "few files may be open at once: with many connections, some wait; a higher limit (`ulimit -Hn`) helps"
        );
    }
}
