//! Lines that were not applied, and why.

use std::fmt;

use domain::error::Missing;
use domain::{Error, Fault};

/// A line that was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// Its number, from 1.
    pub line: u64,
    /// The change's id, where the line had one.
    pub id: Option<String>,
    /// Every fault found. A field is the path to it, as in `data/items/0/unit_amount`; empty for the whole line.
    pub faults: Vec<Fault>,
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(id) = &self.id {
            write!(f, " ({id})")?;
        }
        for (place, Fault { field, message }) in self.faults.iter().enumerate() {
            f.write_str(if place == 0 { ": " } else { "; " })?;
            if !field.is_empty() {
                write!(f, "{field}: ")?;
            }
            f.write_str(message)?;
        }
        Ok(())
    }
}

/// A fault of a field, or with an empty one of the whole line.
pub(super) fn fault(field: &str, message: impl Into<String>) -> Fault {
    Fault { field: field.to_owned(), message: message.into() }
}

/// The faults for which the domain refused a change; the error itself when it is the server's own.
///
/// # Errors
/// [`Error::Internal`].
pub(super) fn faults(error: Error) -> Result<Vec<Fault>, anyhow::Error> {
    match error {
        Error::Internal(cause) => Err(cause),
        Error::Invalid(faults) => Ok(faults
            .into_iter()
            .map(|Fault { field, message }| Fault { field: format!("data/{field}"), message })
            .collect()),
        Error::NotFound(missing) => Ok(vec![fault(&missing_field(&missing), missing.to_string())]),
    }
}

/// The field that named what is missing: fields bear the noun of what they name.
fn missing_field(missing: &Missing) -> String {
    match missing {
        Missing::Workspace { .. } => "workspace".to_owned(),
        // A pair has no name of its own.
        Missing::Record { noun: "enrollment", .. } => "data/course".to_owned(),
        Missing::Record { noun, .. } => format!("data/{}", noun.replace(' ', "_")),
        Missing::NotAnId(_) => "data".to_owned(),
    }
}
