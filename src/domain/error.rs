//! Errors of domain operations. The caller turns them into HTTP responses, rejected lines of the change feed, or errors of
//! commands.

use foundation::database::{UniqueConstraint, is_retryable, is_unique_violation, violates};
use foundation::id::ParseIdError;

/// The result of a domain operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a domain operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A record that the input refers to does not exist, or the reference is not a valid id.
    #[error("{0}")]
    NotFound(NotFound),
    /// The input is invalid. Lists every error that was found.
    #[error("{}", .0.iter().map(FieldError::to_string).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<FieldError>),
    /// The server failed. The cause is written to the log only and must not be shown to clients.
    #[error("internal: {0:#}")]
    Internal(#[from] anyhow::Error),
}

/// A record that was not found, with the id or key that was looked up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// The workspace has no such record. The message is the same when another workspace has it.
    #[error("no {noun} {name} in this workspace")]
    Record {
        /// The kind of record, without an article: "course".
        noun: &'static str,
        /// The id or key that was looked up.
        name: String,
    },
    /// The server has no such workspace.
    #[error("no workspace `{key}`; `creator-api workspaces list` lists all workspaces")]
    Workspace {
        /// The key that was looked up, truncated to 64 characters.
        key: String,
    },
    /// The server has such a workspace, but with the other mode than the changes.
    #[error("workspace `{key}` has the mode `{mode}`; import its changes with this mode")]
    OtherMode {
        /// The key that was looked up.
        key: String,
        /// The mode of the workspace.
        mode: &'static str,
    },
    /// The string is not an id of the expected kind.
    #[error(transparent)]
    NotAnId(#[from] ParseIdError),
}

/// An error in one field of the input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct FieldError {
    /// The path of the field in the contract or in the change format, such as `email` or `items/0/unit_amount`.
    pub field: String,
    /// The problem or what is expected, as the rest of a sentence that begins with the name of the field.
    pub message: String,
}

impl Error {
    /// Creates an error in one field.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError { field: field.into(), message: message.into() }])
    }

    /// Creates the error of an operation that lost a race with another transaction. A retry reads what the other
    /// transaction wrote, and then succeeds or returns the appropriate error.
    pub(crate) fn lost_race() -> Self {
        Self::Internal(LostRace.into())
    }

    /// Creates the error for a record that the workspace does not have.
    pub fn not_found(noun: &'static str, name: impl std::fmt::Display) -> Self {
        Self::NotFound(NotFound::Record { noun, name: name.to_string() })
    }
}

/// Maps a violation of the constraint `unique` to the error that `conflict` returns. A violation of another unique
/// constraint is a [lost race](Error::lost_race), and any other error is internal.
pub(crate) fn map_unique_violation(
    error: sea_orm::DbErr,
    unique: UniqueConstraint,
    conflict: impl FnOnce() -> Error,
) -> Error {
    if violates(&error, unique) {
        conflict()
    } else if is_unique_violation(&error) {
        Error::lost_race()
    } else {
        error.into()
    }
}

/// Another transaction wrote the same unique value between this one's lookup and its write.
#[derive(Debug, thiserror::Error)]
#[error("another transaction wrote the same unique value at the same time")]
struct LostRace;

/// Returns whether an internal error was caused by a conflict with another transaction, see
/// [`retry_on_conflict`](super::retry::retry_on_conflict).
pub(super) fn is_conflict(cause: &anyhow::Error) -> bool {
    cause.chain().any(|cause| {
        cause.is::<LostRace>() || cause.downcast_ref::<sea_orm::DbErr>().is_some_and(is_retryable)
    })
}

impl From<ParseIdError> for Error {
    fn from(error: ParseIdError) -> Self {
        Self::NotFound(NotFound::NotAnId(error))
    }
}

impl From<sea_orm::DbErr> for Error {
    fn from(error: sea_orm::DbErr) -> Self {
        Self::Internal(error.into())
    }
}
