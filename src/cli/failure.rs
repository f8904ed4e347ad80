//! How a command ends: done, or not, with a sentence that says what to do.

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use foundation::config::Faults;
use foundation::database::{ConnectError, MigrateError};
use foundation::secret::KeyError;
use mail::transport::TransportError;

/// The command could not do what it was asked.
const FAILED: u8 = 1;
/// The command line or the configuration is wrong.
pub(super) const USAGE: u8 = 2;
/// Some lines of the input were rejected; the others were applied.
const REJECTED: u8 = 3;

/// How a command ended that did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All of it.
    Done,
    /// All but the lines it rejected.
    Rejected,
}

impl Outcome {
    pub(super) fn exit_code(self) -> ExitCode {
        match self {
            Self::Done => ExitCode::SUCCESS,
            Self::Rejected => REJECTED.into(),
        }
    }
}

/// Why a command did not do its work: what to say, and the exit code.
#[derive(Debug)]
pub(super) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// What was asked cannot be done.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { code: FAILED, message: message.into() }
    }

    /// What was asked makes no sense.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE, message: message.into() }
    }

    /// Says why on stderr. Where nobody reads any more, there is nothing to say and nothing wrong.
    pub(super) fn report(self) -> ExitCode {
        for line in self.message.lines() {
            let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("error: {line}\n"));
        }
        self.code.into()
    }
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self::usage(faults.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // The reader has seen enough.
            ErrorKind::BrokenPipe => Self { code: 0, message: String::new() },
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                Self::new("the disk is full; make room and start again")
            }
            _ => Self::new(error.to_string()),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let kind = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
        match kind {
            Some(kind @ ErrorKind::StorageFull) => io::Error::from(kind).into(),
            _ => Self::new(explain(&format!("{error:#}"))),
        }
    }
}

impl From<domain::Error> for Failure {
    fn from(error: domain::Error) -> Self {
        use domain::Error as E;
        match error {
            E::Internal(cause) => cause.into(),
            E::NotFound(missing) => Self::new(missing.to_string()),
            E::Invalid(_) => Self::new(error.to_string()),
        }
    }
}

impl From<sea_orm::DbErr> for Failure {
    fn from(error: sea_orm::DbErr) -> Self {
        Self::new(explain(&error.to_string()))
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Address => Self::usage(error.to_string()),
            _ => Self::new(explain(&error.to_string())),
        }
    }
}

impl From<MigrateError> for Failure {
    fn from(error: MigrateError) -> Self {
        Self::new(explain(&error.to_string()))
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Self::new(explain(&error.to_string()))
    }
}

impl From<TransportError> for Failure {
    fn from(error: TransportError) -> Self {
        Self::usage(error.to_string())
    }
}

const DISK_FULL: &str =
    "the database's disk is full; make room and start again, nothing half-written was kept";

/// Puts the database's own words for a full disk into ours; both databases have words of their own for it.
fn explain(message: &str) -> String {
    let full = ["database or disk is full", "No space left on device", "could not extend file"];
    if full.iter().any(|words| message.contains(words)) { DISK_FULL.to_owned() } else { message.to_owned() }
}
