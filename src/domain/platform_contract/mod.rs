// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! Platform API: names that the contract defines.

/// A scope of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Required by `importChanges`.
    WriteChanges,
    /// Required by `listEvents`.
    ReadEvents,
    /// Required by `createDashboardLink`.
    WriteDashboardLinks,
}

impl Scope {
    /// All values, in the order of the contract.
    pub const ALL: &'static [Self] = &[
        Self::WriteChanges,
        Self::ReadEvents,
        Self::WriteDashboardLinks,
    ];
    /// The names of all values, in the order of the contract.
    pub const NAMES: &'static [&'static str] = &[
        "write:changes",
        "read:events",
        "write:dashboard_links",
    ];
    /// Returns the name of the value in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WriteChanges => "write:changes",
            Self::ReadEvents => "read:events",
            Self::WriteDashboardLinks => "write:dashboard_links",
        }
    }
}
