//! What can go wrong in the domain: one closed list, made HTTP (or a reject line) by the caller.

use foundation::database::{Unique, is_retryable, is_unique_violation, violates};
use foundation::id::ParseIdError;

/// The outcome of a domain operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a domain operation did not happen.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something named does not exist in the workspace.
    #[error("{0}")]
    NotFound(Missing),
    /// What was given cannot be taken; every fault that was found.
    #[error("{}", .0.iter().map(Fault::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Fault>),
    /// The server's own fault; the cause is for the log only.
    #[error("internal: {0:#}")]
    Internal(#[from] anyhow::Error),
}

/// What was not found, and under which name it was looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// No such record in this workspace (absent and foreign read the same).
    #[error("no {noun} {name} in this workspace")]
    Record {
        /// What was looked for: "course".
        noun: &'static str,
        /// The id or key that was given.
        name: String,
    },
    /// No such workspace on this server.
    #[error("no workspace `{key}`; `creator-api workspaces list` shows those there are")]
    Workspace {
        /// The key that was given.
        key: String,
    },
    /// The text given is not an id of the wanted kind.
    #[error(transparent)]
    NotAnId(#[from] ParseIdError),
}

/// One thing wrong with what was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct Fault {
    /// The field, as the contract and the change formats name it: `email`, `items/0/unit_amount`.
    pub field: String,
    /// What is wrong and what to do about it, one sentence.
    pub message: String,
}

impl Error {
    /// One fault of one field.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Fault { field: field.into(), message: message.into() }])
    }

    /// A race that was lost: done again from its beginning, the operation sees the winner and says what is to be said.
    pub(crate) fn raced() -> Self {
        Self::Internal(Raced.into())
    }

    /// No such record in this workspace.
    pub fn not_found(noun: &'static str, name: impl std::fmt::Display) -> Self {
        Self::NotFound(Missing::Record { noun, name: name.to_string() })
    }
}

/// What a unique constraint says when two writers race for the same value: that fault. A race for another value is
/// [lost](Error::raced); any other error is internal.
pub(crate) fn taken(error: sea_orm::DbErr, unique: Unique, fault: impl FnOnce() -> Error) -> Error {
    if violates(&error, unique) {
        fault()
    } else if is_unique_violation(&error) {
        Error::raced()
    } else {
        error.into()
    }
}

/// Another change took the same value between the look-up and the write.
#[derive(Debug, thiserror::Error)]
#[error("another change took the same value at the same moment")]
struct Raced;

/// Whether an internal error's cause is a conflict with another transaction: see [`retrying`](super::retry::retrying).
pub(super) fn is_conflict(cause: &anyhow::Error) -> bool {
    cause
        .chain()
        .any(|cause| cause.is::<Raced>() || cause.downcast_ref::<sea_orm::DbErr>().is_some_and(is_retryable))
}

impl From<ParseIdError> for Error {
    fn from(error: ParseIdError) -> Self {
        Self::NotFound(Missing::NotAnId(error))
    }
}

impl From<sea_orm::DbErr> for Error {
    fn from(error: sea_orm::DbErr) -> Self {
        Self::Internal(error.into())
    }
}
