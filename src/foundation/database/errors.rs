//! What can go wrong with a database, in sentences with a remedy, and the errors that both databases spell their way.

use std::{io, path::PathBuf};

use sea_orm::{DbErr, RuntimeErr, SqlErr, sqlx};

/// Why the database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The folder of the SQLite file cannot be made or written.
    #[error("cannot write to the data folder {}: {cause}; make it writable, or name another with --data-dir", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The SQLite file is there but cannot be opened.
    #[error("cannot open the database file {}: {cause}; is it a database of this server, and writable?", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system or the database said.
        cause: String,
    },
    /// The address is not one that this server understands. The address itself may hold a password.
    #[error(
        "the database's address is neither sqlite:PATH nor postgres://USER@HOST/NAME; correct --database-url"
    )]
    Address,
    /// The server does not answer, or refuses.
    #[error(
        "cannot reach PostgreSQL at {place}: {cause}; check that it runs and that --database-url is right"
    )]
    Unreachable {
        /// Host, port and name.
        place: String,
        /// What the driver said.
        cause: String,
    },
}

/// Why the schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A version of this server that knows more, or other, steps has changed the schema.
    #[error(
        "the database was changed by another version, most likely a newer one (step {0}); run that version, or restore an older backup"
    )]
    Newer(String),
    /// A statement failed; nothing was changed.
    #[error(
        "cannot bring the database's schema up to date: {0}; nothing was changed, correct the cause and start again"
    )]
    Failed(#[from] DbErr),
}

/// A unique constraint, as each database names it in its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unique {
    /// The constraint's name: PostgreSQL tells it.
    name: &'static str,
    /// The columns: SQLite tells them.
    columns: &'static str,
}

impl Unique {
    /// A workspace's key.
    pub const WORKSPACE_KEY: Self = Self::new("uq_workspaces_key", "workspaces.key");
    /// A person's address in a workspace.
    pub const USER_EMAIL: Self = Self::new("uq_users_email", "users.workspace_id, users.email_folded");
    /// A course's key in a workspace.
    pub const COURSE_KEY: Self = Self::new("uq_courses_key", "courses.workspace_id, courses.key");
    /// A course's slug in a workspace.
    pub const COURSE_SLUG: Self = Self::new("uq_courses_slug", "courses.workspace_id, courses.slug");
    /// A module's key in a workspace.
    pub const MODULE_KEY: Self = Self::new("uq_modules_key", "modules.workspace_id, modules.key");
    /// A lesson's key in a workspace.
    pub const LESSON_KEY: Self = Self::new("uq_lessons_key", "lessons.workspace_id, lessons.key");
    /// A student's key in a workspace.
    pub const STUDENT_KEY: Self = Self::new("uq_students_key", "students.workspace_id, students.key");
    /// A student's address in a workspace.
    pub const STUDENT_EMAIL: Self =
        Self::new("uq_students_email", "students.workspace_id, students.email_folded");
    /// A student's enrolment in a course.
    pub const ENROLLMENT_PAIR: Self =
        Self::new("uq_enrollments_pair", "enrollments.student_id, enrollments.course_id");
    /// An order's key in a workspace.
    pub const ORDER_KEY: Self = Self::new("uq_orders_key", "orders.workspace_id, orders.key");
    /// An order's number in a workspace.
    pub const ORDER_NUMBER: Self = Self::new("uq_orders_number", "orders.workspace_id, orders.number");
    /// A live session's key in a workspace.
    pub const LIVE_SESSION_KEY: Self =
        Self::new("uq_live_sessions_key", "live_sessions.workspace_id, live_sessions.key");
    /// A recording's key in a workspace.
    pub const RECORDING_KEY: Self = Self::new("uq_recordings_key", "recordings.workspace_id, recordings.key");
    /// A certificate's number in a workspace.
    pub const CERTIFICATE_NUMBER: Self =
        Self::new("uq_certificates_number", "certificates.workspace_id, certificates.number");
    /// A student's certificate for a course.
    pub const CERTIFICATE_PAIR: Self =
        Self::new("uq_certificates_pair", "certificates.student_id, certificates.course_id");

    const fn new(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns }
    }
}

/// Whether a row was refused because another has the same unique value.
///
/// On PostgreSQL the transaction is lost with it; where this is to be expected, insert with `insert_unless_taken`.
pub fn is_unique_violation(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_)))
}

/// Whether a row was refused by this unique constraint.
pub fn violates(error: &DbErr, unique: Unique) -> bool {
    is_unique_violation(error)
        && driver_error(error).is_some_and(|refusal| match refusal.constraint() {
            Some(name) => name == unique.name,
            None => refusal.message().rsplit_once(": ").is_some_and(|(_, columns)| columns == unique.columns),
        })
}

/// Whether the same transaction may succeed when it is done again from its beginning: two waited for each other
/// (PostgreSQL 40P01), could not be put in one order (40001), or the file was locked for too long (SQLite 5, 517).
pub fn is_retryable(error: &DbErr) -> bool {
    driver_error(error)
        .and_then(|refusal| refusal.code())
        .is_some_and(|code| matches!(code.as_ref(), "40P01" | "40001" | "5" | "517"))
}

/// What the database itself said, when it did.
fn driver_error(error: &DbErr) -> Option<&dyn sqlx::error::DatabaseError> {
    let (DbErr::Conn(RuntimeErr::SqlxError(cause))
    | DbErr::Exec(RuntimeErr::SqlxError(cause))
    | DbErr::Query(RuntimeErr::SqlxError(cause))) = error
    else {
        return None;
    };
    match cause.as_ref() {
        sqlx::Error::Database(refusal) => Some(refusal.as_ref()),
        _ => None,
    }
}
