//! The modes of workspaces.

use crate::text_enum::text_enum;

/// Whether the data of a workspace is live data or test data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Live data.
    Live,
    /// Test data: a sandbox, or the workspace of `creator-api serve --ephemeral`.
    Test,
}

text_enum!(Mode, "a mode", { Live = "live", Test = "test" });

impl Mode {
    /// Returns the mode that a column contains. An unknown one is that of a later release, whose data is not live data.
    pub fn from_column(column: &str) -> Self {
        column.parse().unwrap_or(Self::Test)
    }
}
