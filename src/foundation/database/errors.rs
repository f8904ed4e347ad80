//! Connection and migration errors, and the classification of the errors of both databases.

use std::path::PathBuf;

use sea_orm::{ConnAcquireErr, DbErr, RuntimeErr, SqlErr, sqlx};

use crate::data_folder::FolderError;

/// The error of opening a database.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The folder of the SQLite file cannot be created or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The SQLite file exists but cannot be opened.
    #[error("cannot open the database file {}: {cause}; check that it is a database of this server, and writable", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error message of the system or the database.
        cause: String,
    },
    /// The journal of an SQLite file cannot be read, since SQLite would have to create another file in a read-only folder.
    #[error(
        "{} contains changes that can be read only where files can be created, but its folder is read-only; copy the folder to \
         a writable place, and specify that with --data-dir",
        path.display()
    )]
    Journal {
        /// The journal.
        path: PathBuf,
    },
    /// The database URL is not supported. The message omits the URL, which can contain a password.
    #[error(
        "the database URL is invalid; expected sqlite:PATH or postgres://USER@HOST/NAME in --database-url"
    )]
    Url,
    /// The server is not available or rejects the connection.
    #[error(
        "cannot connect to PostgreSQL at {location}: {cause}; check that it is running and that --database-url is correct"
    )]
    Unreachable {
        /// Host, port and database name.
        location: String,
        /// What the last attempt to connect said.
        cause: String,
    },
}

/// The error of applying migrations.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The database has a migration that this version does not contain.
    #[error(
        "the database was migrated by another version, probably a newer one (migration {0}); use that version, or restore an older backup"
    )]
    Newer(String),
    /// The database has a migration of a development version before the first release.
    #[error(
        "the database was created by a development version before the first release (migration {0}), and cannot be migrated; \
         create a new database, and import the data again"
    )]
    Unreleased(String),
    /// The expand phase cannot be applied before this migration of the contract phase of an earlier release.
    #[error(
        "the contract phase of an earlier release is pending (migration {0}), and the expand phase of this version builds on \
         it; when all servers and workers run that release, run `creator-api migrate --phase contract` of that release, then \
         try again; if no server or worker runs, run `creator-api migrate` to apply both phases"
    )]
    ContractPending(&'static str),
    /// The contract phase cannot be applied before this migration of the expand phase.
    #[error(
        "the expand phase of this version is pending (migration {0}); run `creator-api migrate --phase expand`, replace all \
         servers and workers, then try again"
    )]
    ExpandPending(&'static str),
    /// PostgreSQL canceled the creation of an index.
    #[error(
        "PostgreSQL canceled the creation of an index: {0}; if this was the statement_timeout of the role, which applies \
         through pgbouncer, run `creator-api migrate` with the --database-url of the PostgreSQL server"
    )]
    IndexCanceled(DbErr),
    /// A statement or the connection failed. What was in a transaction was rolled back; earlier migrations remain applied.
    #[error(
        "cannot apply the database migrations: {0}; fix the cause and try again, which continues after the last complete step"
    )]
    Failed(#[from] DbErr),
}

/// A unique constraint, as it appears in the error messages of each database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniqueConstraint {
    /// The name of the constraint, in errors of PostgreSQL.
    name: &'static str,
    /// The columns, in errors of SQLite.
    columns: &'static str,
}

impl UniqueConstraint {
    /// The key of a workspace.
    pub const WORKSPACE_KEY: Self = Self::new("uq_workspaces_key", "workspaces.key");
    /// The email address of a user in a workspace.
    pub const USER_EMAIL: Self = Self::new("uq_users_email", "users.workspace_id, users.email_folded");
    /// The key of a course in a workspace.
    pub const COURSE_KEY: Self = Self::new("uq_courses_key", "courses.workspace_id, courses.key");
    /// The slug of a course in a workspace.
    pub const COURSE_SLUG: Self = Self::new("uq_courses_slug", "courses.workspace_id, courses.slug");
    /// The key of a module in a workspace.
    pub const MODULE_KEY: Self = Self::new("uq_modules_key", "modules.workspace_id, modules.key");
    /// The key of a lesson in a workspace.
    pub const LESSON_KEY: Self = Self::new("uq_lessons_key", "lessons.workspace_id, lessons.key");
    /// The key of a student in a workspace.
    pub const STUDENT_KEY: Self = Self::new("uq_students_key", "students.workspace_id, students.key");
    /// The email address of a student in a workspace.
    pub const STUDENT_EMAIL: Self =
        Self::new("uq_students_email", "students.workspace_id, students.email_folded");
    /// The enrollment of a student in a course.
    pub const ENROLLMENT_PAIR: Self =
        Self::new("uq_enrollments_pair", "enrollments.student_id, enrollments.course_id");
    /// The key of an order in a workspace.
    pub const ORDER_KEY: Self = Self::new("uq_orders_key", "orders.workspace_id, orders.key");
    /// The number of an order in a workspace.
    pub const ORDER_NUMBER: Self = Self::new("uq_orders_number", "orders.workspace_id, orders.number");
    /// The key of a live session in a workspace.
    pub const LIVE_SESSION_KEY: Self =
        Self::new("uq_live_sessions_key", "live_sessions.workspace_id, live_sessions.key");
    /// The key of a recording in a workspace.
    pub const RECORDING_KEY: Self = Self::new("uq_recordings_key", "recordings.workspace_id, recordings.key");
    /// The number of a certificate in a workspace.
    pub const CERTIFICATE_NUMBER: Self =
        Self::new("uq_certificates_number", "certificates.workspace_id, certificates.number");
    /// The certificate of a student for a course.
    pub const CERTIFICATE_PAIR: Self =
        Self::new("uq_certificates_pair", "certificates.student_id, certificates.course_id");

    const fn new(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns }
    }
}

/// Returns whether an error is the violation of a unique constraint.
///
/// On PostgreSQL, a violation aborts the transaction. If you expect conflicts, insert rows with `insert_unless_taken`.
pub fn is_unique_violation(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_)))
}

/// Returns whether an error is the violation of this unique constraint.
pub fn violates(error: &DbErr, constraint: UniqueConstraint) -> bool {
    is_unique_violation(error)
        && driver_error(error).is_some_and(|error| match error.constraint() {
            Some(name) => name == constraint.name,
            None => {
                error.message().rsplit_once(": ").is_some_and(|(_, columns)| columns == constraint.columns)
            }
        })
}

/// Returns whether the transaction can succeed when retried: after a deadlock (PostgreSQL 40P01), a serialization failure
/// (40001), a lock timeout (55P03), or a locked file (SQLite 5, `SQLITE_BUSY`, and 517, `SQLITE_BUSY_SNAPSHOT`). Also after a
/// [row cache](entity::row_cache) has found the unique value of a new row in a row of another transaction.
pub fn is_retryable(error: &DbErr) -> bool {
    matches!(error, DbErr::RecordNotInserted)
        || driver_error(error)
            .and_then(|error| error.code())
            .is_some_and(|code| matches!(code.as_ref(), "40P01" | "40001" | "55P03" | "5" | "517"))
}

/// Returns the value of the label `reason` of the metric `database_failed_calls_total`.
pub(super) fn failure_reason(error: &DbErr) -> &'static str {
    match error {
        // A call that timed out, see `bounded`.
        DbErr::Conn(RuntimeErr::Internal(_)) | DbErr::ConnectionAcquire(ConnAcquireErr::Timeout) => "timeout",
        _ if is_canceled(error) => "timeout",
        DbErr::Conn(_) | DbErr::ConnectionAcquire(_) => "connection",
        _ if is_retryable(error) => {
            let code = driver_error(error).and_then(|error| error.code());
            match code.as_deref() {
                Some("40P01") => "deadlock",
                Some("55P03") => "lock_timeout",
                _ => "conflict",
            }
        }
        _ if error.sql_err().is_some() => "constraint",
        // The server is shutting down, has crashed or is starting.
        _ if driver_error(error)
            .and_then(|error| error.code())
            .is_some_and(|code| code.starts_with("57P")) =>
        {
            "connection"
        }
        DbErr::Exec(RuntimeErr::SqlxError(_)) | DbErr::Query(RuntimeErr::SqlxError(_))
            if driver_error(error).is_none() =>
        {
            "connection"
        }
        _ => "other",
    }
}

/// Returns whether SQLite could not use the file because it is read-only (`SQLITE_READONLY`, 8), because reading or writing
/// failed (`SQLITE_IOERR`, 10), or because the disk is full (`SQLITE_FULL`, 13).
pub(super) fn is_storage_failure(error: &DbErr) -> bool {
    // The lowest byte of an extended code is its primary code.
    driver_error(error)
        .and_then(|error| error.code()?.parse::<u32>().ok())
        .is_some_and(|code| matches!(code & 0xff, 8 | 10 | 13))
}

/// Returns whether PostgreSQL canceled the statement: after its timeout, or at the request of an administrator.
pub(super) fn is_canceled(error: &DbErr) -> bool {
    driver_error(error).and_then(|error| error.code()).is_some_and(|code| code == "57014")
}

/// Returns whether an error can mean that the PostgreSQL server is down or no longer accepts writes: the connection broke or is not
/// possible, the server is shutting down or starting (57P01 to 57P03), or it is read-only (25006).
pub(super) fn may_be_failover(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(cause)) | DbErr::Query(RuntimeErr::SqlxError(cause))) = error
    else {
        return matches!(error, DbErr::Conn(_) | DbErr::ConnectionAcquire(_));
    };
    match cause.as_ref() {
        sqlx::Error::Database(error) => {
            error.code().is_some_and(|code| matches!(code.as_ref(), "25006" | "57P01" | "57P02" | "57P03"))
        }
        error => matches!(error, sqlx::Error::Io(_) | sqlx::Error::Protocol(_)),
    }
}

/// Returns the error that the database reported, if any.
fn driver_error(error: &DbErr) -> Option<&dyn sqlx::error::DatabaseError> {
    let (DbErr::Conn(RuntimeErr::SqlxError(cause))
    | DbErr::Exec(RuntimeErr::SqlxError(cause))
    | DbErr::Query(RuntimeErr::SqlxError(cause))) = error
    else {
        return None;
    };
    match cause.as_ref() {
        sqlx::Error::Database(error) => Some(error.as_ref()),
        _ => None,
    }
}

/// Returns what the driver says about an attempt to connect, without its prefixes.
pub(super) fn connect_message(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Database(error) => error.message().to_owned(),
        error => error.to_string(),
    }
}
