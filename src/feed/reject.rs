//! Rejected lines and their errors.

use std::fmt;

use domain::error::NotFound;
use domain::{Error, FieldError};

/// A line that was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedLine {
    /// The line number, starting at 1.
    pub line: u64,
    /// The id of the change, if it could be read.
    pub id: Option<String>,
    /// All errors of the line. A field is a path such as `data/items/0/unit_amount`, or empty for the whole line.
    pub errors: Vec<FieldError>,
}

impl fmt::Display for RejectedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(id) = &self.id {
            write!(f, " ({id})")?;
        }
        for (index, FieldError { field, message }) in self.errors.iter().enumerate() {
            f.write_str(if index == 0 { ": " } else { "; " })?;
            if !field.is_empty() {
                write!(f, "{field}: ")?;
            }
            f.write_str(message)?;
        }
        Ok(())
    }
}

/// Creates an error in a field, or in the whole line if `field` is empty.
pub(super) fn field_error(field: &str, message: impl Into<String>) -> FieldError {
    FieldError { field: field.to_owned(), message: message.into() }
}

/// Returns the errors for which the domain rejected a change, with fields as paths in the line.
///
/// # Errors
/// Returns the cause of [`Error::Internal`].
pub(super) fn errors(error: Error) -> Result<Vec<FieldError>, anyhow::Error> {
    match error {
        Error::Internal(cause) => Err(cause),
        Error::Invalid(errors) => Ok(errors
            .into_iter()
            .map(|FieldError { field, message }| FieldError { field: format!("data/{field}"), message })
            .collect()),
        Error::NotFound(missing) => Ok(vec![field_error(&missing_field(&missing), missing.to_string())]),
    }
}

/// Returns the path of the field that names the missing record. Such a field has the name of the kind of record.
fn missing_field(missing: &NotFound) -> String {
    match missing {
        NotFound::Workspace { .. } | NotFound::OtherMode { .. } => "workspace".to_owned(),
        // An enrollment has no field: it is named by student and course.
        NotFound::Record { noun: "enrollment", .. } => "data/course".to_owned(),
        NotFound::Record { noun, .. } => format!("data/{}", noun.replace(' ', "_")),
        NotFound::NotAnId(_) => "data".to_owned(),
    }
}
