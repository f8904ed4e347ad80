//! The six scopes of an API key (seed 5.3).

use std::fmt;
use std::str::FromStr;

macro_rules! scopes {
    ($($variant:ident = $text:literal, $grants:literal;)*) => {
        /// What an API key may do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scope { $(#[doc = $grants] $variant),* }

        impl Scope {
            /// All scopes, in the seed's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The scope as it is written: `read:courses`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl FromStr for Scope {
            type Err = UnknownScope;

            fn from_str(text: &str) -> Result<Self, UnknownScope> {
                match text { $($text => Ok(Self::$variant),)* other => Err(UnknownScope(other.to_owned())) }
            }
        }
    };
}

scopes! {
    ReadCourses = "read:courses", "Both course reads.";
    ReadStudents = "read:students", "The student list.";
    WriteStudents = "write:students", "Student creation.";
    ReadOrders = "read:orders", "The order list.";
    WriteEnrollments = "write:enrollments", "Enrollment creation.";
    ReadAnalytics = "read:analytics", "The analytics summary.";
}

/// A text that names no scope.
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

/// A set of scopes, small enough to copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Every scope.
    pub fn all() -> Self {
        Scope::ALL.iter().copied().collect()
    }

    /// Whether the set holds it.
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// The scopes of the set, in the seed's order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |set, scope| set | 1 << scope as u8))
    }
}
