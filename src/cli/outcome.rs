//! The result of a command: its exit code, and the message if it fails.

use std::io::{self, ErrorKind};
use std::process::ExitCode;

use foundation::config::ConfigErrors;
use foundation::data_folder::FolderError;
use foundation::database::{ConnectError, MigrateError};
use foundation::secret::KeyError;
use mail::transport::TransportConfigError;

/// Exit code: the command failed.
const FAILED: u8 = 1;
/// Exit code: the command line or the configuration is invalid.
pub(super) const USAGE: u8 = 2;
/// Exit code: some lines of the input were rejected, and the others were applied.
const REJECTED: u8 = 3;
/// Exit code: the event was sent, but not answered with 2xx.
const NOT_ACCEPTED: u8 = 4;
/// Exit code: no event happened in time.
const TIMED_OUT: u8 = 5;
/// Exit code: a signal ended the command before it was done, as shells define it.
pub(super) const INTERRUPTED: u8 = 130;

/// The result of a command that completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandOutcome {
    /// The command did everything that was requested.
    Done,
    /// Some input lines were rejected.
    Rejected,
    /// A check has findings, which it has printed.
    Findings,
    /// An event was sent, but not answered with 2xx.
    NotAccepted,
    /// No event happened in time.
    TimedOut,
    /// A signal ended the command before it was done.
    Interrupted,
}

impl CommandOutcome {
    pub(super) fn exit_code(self) -> ExitCode {
        match self {
            Self::Done => ExitCode::SUCCESS,
            Self::Rejected => REJECTED.into(),
            Self::Findings => FAILED.into(),
            Self::NotAccepted => NOT_ACCEPTED.into(),
            Self::TimedOut => TIMED_OUT.into(),
            Self::Interrupted => INTERRUPTED.into(),
        }
    }
}

/// The error of a command: a message and an exit code.
#[derive(Debug)]
pub(super) struct CommandError {
    code: u8,
    message: String,
}

impl CommandError {
    /// Creates an error with exit code 1.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { code: FAILED, message: message.into() }
    }

    /// Creates an error in the command line or configuration, with exit code 2.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE, message: message.into() }
    }

    /// Prints the message on stderr and returns the exit code. An empty message prints nothing.
    pub(super) fn report(self) -> ExitCode {
        for line in self.message.lines() {
            let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("error: {line}\n"));
        }
        self.code.into()
    }
}

impl From<ConfigErrors> for CommandError {
    fn from(errors: ConfigErrors) -> Self {
        Self::usage(errors.to_string())
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // The reader has closed stdout, which is not an error.
            ErrorKind::BrokenPipe => Self { code: 0, message: String::new() },
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                Self::new("the disk is full; free some space and try again")
            }
            _ => Self::new(error.to_string()),
        }
    }
}

impl From<anyhow::Error> for CommandError {
    fn from(error: anyhow::Error) -> Self {
        let kind = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
        match kind {
            Some(kind @ (ErrorKind::StorageFull | ErrorKind::QuotaExceeded)) => io::Error::from(kind).into(),
            _ => Self::new(replace_disk_full_message(&format!("{error:#}"))),
        }
    }
}

impl From<domain::Error> for CommandError {
    fn from(error: domain::Error) -> Self {
        use domain::Error as E;
        match error {
            E::Internal(cause) => cause.into(),
            E::NotFound(missing) => Self::new(missing.to_string()),
            E::Invalid(_) => Self::new(error.to_string()),
        }
    }
}

impl From<sea_orm::DbErr> for CommandError {
    fn from(error: sea_orm::DbErr) -> Self {
        Self::new(replace_disk_full_message(&error.to_string()))
    }
}

impl From<ConnectError> for CommandError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Url => Self::usage(error.to_string()),
            _ => Self::new(replace_disk_full_message(&error.to_string())),
        }
    }
}

impl From<FolderError> for CommandError {
    fn from(error: FolderError) -> Self {
        Self::new(replace_disk_full_message(&error.to_string()))
    }
}

impl From<MigrateError> for CommandError {
    fn from(error: MigrateError) -> Self {
        Self::new(replace_disk_full_message(&error.to_string()))
    }
}

impl From<KeyError> for CommandError {
    fn from(error: KeyError) -> Self {
        Self::new(replace_disk_full_message(&error.to_string()))
    }
}

impl From<TransportConfigError> for CommandError {
    fn from(error: TransportConfigError) -> Self {
        // The TLS configuration for the mail server is invalid. A mail that cannot be sent does not cause this error.
        Self::usage(error.to_string())
    }
}

const DISK_FULL: &str =
    "the disk of the database is full; free some space and try again; incomplete changes were rolled back";

/// Replaces the messages of SQLite and PostgreSQL for a full disk by [`DISK_FULL`], which names the remedy.
fn replace_disk_full_message(message: &str) -> String {
    let disk_full_messages = ["database or disk is full", "No space left on device", "could not extend file"];
    if disk_full_messages.iter().any(|text| message.contains(text)) {
        DISK_FULL.to_owned()
    } else {
        message.to_owned()
    }
}
