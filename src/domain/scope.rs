//! Defines the scopes of API keys: those of v1, then those of the Developer API.

use std::fmt;
use std::str::FromStr;

pub use super::contract::Scope as V1Scope;
pub use super::developer_contract::Scope as DeveloperScope;

/// A scope of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A scope of v1.
    V1(V1Scope),
    /// A scope of the Developer API.
    Developer(DeveloperScope),
}

/// The number of scopes of v1, which have the first bits of [`Scopes`].
const V1_COUNT: usize = V1Scope::ALL.len();
const COUNT: usize = V1_COUNT + DeveloperScope::ALL.len();

impl Scope {
    /// All scopes, in the order of the contracts.
    pub const ALL: &'static [Self] = &Self::all();

    const fn all() -> [Self; COUNT] {
        let mut all = [Self::V1(V1Scope::ALL[0]); COUNT];
        let mut at = 0;
        while at < COUNT {
            all[at] = if at < V1_COUNT {
                Self::V1(V1Scope::ALL[at])
            } else {
                Self::Developer(DeveloperScope::ALL[at - V1_COUNT])
            };
            at += 1;
        }
        all
    }

    /// Returns the name of the scope in its contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1(scope) => scope.as_str(),
            Self::Developer(scope) => scope.as_str(),
        }
    }

    /// Returns the bit of the scope in a set.
    const fn bit(self) -> u16 {
        match self {
            Self::V1(scope) => 1 << scope as usize,
            Self::Developer(scope) => 1 << (V1_COUNT + scope as usize),
        }
    }
}

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
    let names: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} and {last}", others.join(", "))
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of scopes, with one bit per scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scopes(u16);
const _: () = assert!(COUNT <= u16::BITS as usize);

impl Scopes {
    /// Returns the set of all scopes.
    pub fn all() -> Self {
        Scope::ALL.iter().copied().collect()
    }

    /// Returns the set of the scopes of v1.
    pub fn v1() -> Self {
        V1Scope::ALL.iter().copied().map(Scope::V1).collect()
    }

    /// Returns whether the set contains a scope.
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Returns the scopes of the set, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |set, scope| set | scope.bit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_has_its_own_name_and_bit() {
        assert_eq!(Scopes::all().iter().count(), Scope::ALL.len());
        for scope in Scope::ALL {
            let only: Scopes = [*scope].into_iter().collect();
            assert_eq!(only.iter().collect::<Vec<_>>(), [*scope]);
            assert_eq!(scope.as_str().parse(), Ok(*scope), "a name belongs to one contract");
        }
        assert!(Scopes::v1().iter().all(|scope| matches!(scope, Scope::V1(_))));
    }
}
