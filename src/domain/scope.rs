//! Defines the scopes of API keys.

use std::fmt;
use std::str::FromStr;

pub use super::contract::Scope;

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let scope = Self::ALL.iter().find(|scope| scope.as_str() == text);
        scope.copied().ok_or_else(|| UnknownScope(text.to_owned()))
    }
}

/// A string that is not a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a scope; the scopes are {list}", list = scope_list())]
pub struct UnknownScope(pub String);

/// Lists the scopes for a message: `read:courses, read:students and write:students`.
fn scope_list() -> String {
    let (last, others) = Scope::NAMES.split_last().unwrap_or((&"", &[]));
    format!("{} and {last}", others.join(", "))
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of scopes, with one bit per scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scopes(u8);
const _: () = assert!(Scope::ALL.len() <= u8::BITS as usize);

impl Scopes {
    /// Returns the set of all scopes.
    pub fn all() -> Self {
        Scope::ALL.iter().copied().collect()
    }

    /// Returns whether the set contains a scope.
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// Returns the scopes of the set, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |set, scope| set | 1 << scope as u8))
    }
}
