//! The limit on open files of the process. Each connection counts as an open file, whether it is from a client, to an
//! endpoint or to the database.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The requested limit: more than the maximum number of connections of a server.
const REQUESTED_FILES: u64 = 65_536;
/// A limit below this is logged as a warning.
pub(super) const WARNING_THRESHOLD: u64 = 4_096;

/// Raises the soft limit to [`REQUESTED_FILES`], or to the hard limit if that is lower. The common default of 1,024 is
/// exhausted by two dozen endpoints that do not respond, because a worker sends up to 64 requests to each at once.
pub(super) fn raise() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(limit) = current.filter(|limit| *limit < REQUESTED_FILES) else { return };
    let new_limit = maximum.map_or(REQUESTED_FILES, |maximum| maximum.min(REQUESTED_FILES)).max(limit);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(new_limit), maximum });
    let files = if raised.is_ok() { new_limit } else { limit };
    if files < WARNING_THRESHOLD {
        tracing::warn!(
            files,
            "the limit on open files is low, so connections may have to wait; raise the hard limit (`ulimit -Hn`)"
        );
    }
}
