//! Defines the scopes of API keys.

use std::fmt;
use std::str::FromStr;

macro_rules! scopes {
    ($($variant:ident = $text:literal, $grants:literal;)*) => {
        /// A permission of an API key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scope { $(#[doc = $grants] $variant),* }

        impl Scope {
            /// All scopes, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the name of the scope, such as `read:courses`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl FromStr for Scope {
            type Err = UnknownScope;

            fn from_str(text: &str) -> Result<Self, UnknownScope> {
                match text { $($text => Ok(Self::$variant),)* _ => Err(UnknownScope(text.to_owned())) }
            }
        }
    };
}

scopes! {
    ReadCourses = "read:courses", "List and retrieve courses.";
    ReadStudents = "read:students", "List students.";
    WriteStudents = "write:students", "Create students.";
    ReadOrders = "read:orders", "List orders.";
    WriteEnrollments = "write:enrollments", "Create enrollments.";
    ReadAnalytics = "read:analytics", "Retrieve the analytics summary.";
}

/// A string that is not a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a scope; the scopes are read:courses, read:students, write:students, read:orders, \
     write:enrollments and read:analytics"
)]
pub struct UnknownScope(pub String);

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of scopes, with one bit per scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scopes(u8);

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
